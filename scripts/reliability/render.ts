import type { Figures, Kept, Kills, MutatedFolder } from './figures.ts';
import { worksIn } from './works.ts';

const NOT_RUN = 'Not measured: this part did not run.';

/** The document. Nothing in it is written by hand but the sentences around the figures. */
export function renderReliability(kept: Kept): string {
  return `${[
    '# Reliability',
    'What is done to Callsheet to find out whether anything is ever lost, and what came of it. Every figure on this page is written by a command that anyone can run:',
    '```sh\nnpm run reliability\n```',
    'It takes more than an hour; `npm run reliability -- torture` and `-- mutation` run one half. Short parts of each are run by `npm test`.',
    '## Killed at every step',
    'Commands are stopped dead before, in the middle of and after everything that they do to the disk or ask of the platform: from that moment on nothing of them arrives, as after SIGKILL. Then the command is run again. It must come to what is wanted, with nothing made twice and nothing left behind.',
    section(kept.kill_matrix, kills),
    '## What takes several requests',
    'Everything that is made, by every request that makes it: the answer is lost once, or three times, it is an error, 503s storm, or the process is killed before or after it; and afterwards the state is there, or was thrown away. After a few runs the next plan must be empty, and there must be one of it, whole, with its secrets. Each case is run on platforms that read the specification differently.',
    section(kept.makings, makings),
    '## Random worlds',
    'Whatever is wanted × whatever is live × whatever the specification leaves open × whatever goes wrong: answers lost after the work was done, 429 and 503 storms, connections that break, pages that are cut short, servers that fall silent. After a few runs the next plan must be empty, and a model that shares no code with the comparison or the planner says what the platform must hold: nothing outside of what is owned changed, nothing was deleted that was not planned, nothing exists twice, no secret was wiped.',
    section(kept.worlds, worlds),
    '## Stores',
    'Every kind of store by whole commands: servers that others wrote (MinIO or moto, nimbolus/terraform-backend, PostgreSQL) and stricter stand-ins of our own. Whatever happens, the run or the next one must come to what is wanted, with nothing made twice; what is refused writes nothing and says why. “–” is what cannot happen to a store, “not run” what needed a server that was not there.',
    section(kept.stores, stores),
    '## Canary secrets',
    'A value that can come from nowhere else stands in every position that the schemas call secret or sensitive, and in every credential. Every byte that every command writes, in every format, through every kind of refusal that repeats what it was sent, is searched for it: as it is, and as JSON, URLs, Base64 and hexadecimal write it.',
    section(kept.canaries, canaries),
    '## Rollouts judged by calls',
    'Fleets and their callers as numbers, which share nothing with the judgement, get a change by the default steps, with all guard rails on: 8 of 40 agents, then 20 and all. Somebody looks every three hours. Of 71 % good outcomes on average, each agent has a share of its own, which wanders from week to week and from day to day; weekdays and good or bad days move all agents. Agents get 10 to 80 calls on a working day, and each world is that and something else that happens. Stopped is rolled back or held; what has not ended after five weeks is still waiting. Late harm is there from the fourth day on, and by then half of the agents may have the change. `npm run torture -- worlds` plays the rollouts again and prints this table.',
    section(kept.rollouts, renderRollouts),
    '## Mutation testing',
    'The code of the comparison, of the planner, of rollback and of the settlement of dead runs (in `src/apply`) is broken on purpose, in one place at a time. A mutant that no test notices is a hole in the tests. The command fails below 85 %.',
    section(kept.mutation, mutation),
  ].join('\n\n')}\n`;
}

function section<F>(
  part: { readonly on: string; readonly at: string; readonly figures: F } | undefined,
  tables: (figures: F) => string,
): string {
  if (part === undefined) return NOT_RUN;
  return `${tables(part.figures)}\n\nMeasured on ${part.on}, at commit ${part.at}.`;
}

function kills(matrix: Required<Figures>['kill_matrix']): string {
  const { by_scenario: scenarios, by_step: steps } = matrix;
  const outcome = ({ points, converged }: Kills) =>
    `${whole(converged)} | ${whole(points - converged)} |`;
  const scenario = (name: string, kills: Kills) =>
    `| ${name} | ${whole(kills.points)} | ${outcome(kills)}`;
  return [
    '| command that was killed | points | came to the right end | did not |',
    '|---|--:|--:|--:|',
    ...Object.entries(scenarios).map(([name, kills]) => scenario(name, kills)),
    scenario('**all**', matrix),
    '',
    'The same points by what the command was about to do, was in the middle of, or had just done:',
    '',
    '| step | before | half-way | after | came to the right end | did not |',
    '|---|--:|--:|--:|--:|--:|',
    ...worksIn(steps).map(
      ({ name, before, within, after, ...kills }) =>
        `| ${name} | ${whole(before)} | ${whole(within)} | ${whole(after)} | ${outcome(kills)}`,
    ),
  ].join('\n');
}

function makings(made: Required<Figures>['makings']): string {
  return [
    '| requests that make something | cases on each platform | platforms | cases | came to the right end |',
    '|--:|--:|--:|--:|--:|',
    `| ${[made.requests, made.cells, made.platforms, made.points, made.converged].map(whole).join(' | ')} |`,
  ].join('\n');
}

function worlds(played: Required<Figures>['worlds']): string {
  return [
    '| worlds | configurations applied in them | faults that struck | survived |',
    '|--:|--:|--:|--:|',
    `| ${whole(played.worlds)} | ${whole(played.steps)} | ${whole(played.faults)} | ${whole(played.worlds)} |`,
    '',
    `The last run began at seed ${played.seed}.`,
  ].join('\n');
}

function stores(befallen: Required<Figures>['stores']): string {
  const names = Object.keys(befallen);
  const cases = [...new Set(Object.values(befallen).flatMap((one) => Object.keys(one)))];
  return [
    `| what happens | ${names.join(' | ')} |`,
    `|---|${names.map(() => '---|').join('')}`,
    ...cases.map(
      (what) => `| ${what} | ${names.map((name) => befallen[name]?.[what] ?? '').join(' | ')} |`,
    ),
  ].join('\n');
}

function canaries(searched: Required<Figures>['canaries']): string {
  return [
    '| positions | commands run | positions × commands | occurrences |',
    '|--:|--:|--:|--:|',
    `| ${whole(searched.positions)} | ${whole(searched.commands)} | ${whole(searched.checks)} | ${whole(searched.leaks)} |`,
  ].join('\n');
}

/** The table of rollouts that were played. */
export function renderRollouts(rows: Required<Figures>['rollouts']): string {
  return [
    '| world | the change costs | rollouts | stopped | before half of the fleet | finished | waiting | median hours to the stop | to the end |',
    '|---|---|--:|--:|--:|--:|--:|--:|--:|',
    ...rows.map((row) => {
      const share = (count: number) => `${((100 * count) / row.rollouts).toFixed(1)} %`;
      const waiting = row.rollouts - row.stopped - row.finished;
      const hours = (median: number | null) => (median === null ? '–' : whole(median));
      return `| ${[
        row.fleet,
        row.change,
        whole(row.rollouts),
        ...[row.stopped, row.early, row.finished, waiting].map(share),
        hours(row.hours_to_stop),
        hours(row.hours_to_finish),
      ].join(' | ')} |`;
    }),
  ].join('\n');
}

function mutation(folders: Required<Figures>['mutation']): string {
  const sum = (of: (folder: MutatedFolder) => number) =>
    folders.reduce((total, folder) => total + of(folder), 0);
  const all: MutatedFolder = {
    folder: '**all**',
    files: sum(({ files }) => files),
    detected: sum(({ detected }) => detected),
    undetected: sum(({ undetected }) => undetected),
  };
  return [
    '| folder | files | mutants | noticed | score |',
    '|---|--:|--:|--:|--:|',
    ...[...folders.map((one) => ({ ...one, folder: `\`${one.folder}\`` })), all].map(
      ({ folder, files, detected, undetected }) =>
        `| ${folder} | ${whole(files)} | ${whole(detected + undetected)} | ${whole(detected)} | ${((100 * detected) / Math.max(1, detected + undetected)).toFixed(1)} % |`,
    ),
  ].join('\n');
}

function whole(count: number): string {
  return count.toLocaleString('en-US');
}

import type { Rollouts } from '../../core/documents.generated.ts';
import { firstLines } from '../../core/errors.ts';
import { shortCommit } from '../../core/plan-document.ts';
import type { JsonObject } from '../../core/value.ts';
import {
  escapeMessage,
  escapeText,
  fence,
  formatMarker,
  GITHUB_LIMIT,
  type PageOptions,
} from '../../render/markdown-text.ts';
import {
  type Field,
  formatDecimal,
  formatFigure,
  tableLines,
  tableWidth,
} from '../../render/read/table.ts';
import {
  cutText,
  type Fact,
  factLines,
  type Line,
  paint,
  type RenderOptions,
  spaced,
  span,
  type Tone,
  wrap,
} from '../../render/terminal.ts';
import { sanitiseLine } from '../../render/untrusted.ts';
import {
  formatAge,
  formatCount,
  formatFirst,
  formatNumber,
  formatTime,
} from '../../render/wording.ts';
import { isUnderWay } from './record.ts';

/**
 * Rollouts for people, in a terminal and as a comment on a pull request: one list of facts, a table of measures, and the
 * commands that can follow.
 */

const VERDICTS: {
  readonly [verdict in Rollouts.Look['verdict']]: { readonly word: string; readonly tone: Tone };
} = {
  better: { word: 'better', tone: 'added' },
  no_worse: { word: 'no worse', tone: 'added' },
  worse: { word: 'worse', tone: 'error' },
  not_enough_calls: { word: 'too early', tone: 'plain' },
  no_figures: { word: 'no figures', tone: 'warning' },
};

const STEPS: { readonly [status in Rollouts.Rollout['steps'][number]['status']]: string } = {
  applied: 'applied',
  applying: 'not applied in full',
  pending: 'not applied',
  undone: 'rolled back',
};

const STATUSES: { readonly [status in Rollouts.Rollout['status']]: string } = {
  applying: 'applying step',
  judging: 'waiting at step',
  held: 'held at step',
  rolling_back: 'rolling back at step',
  done: 'done at step',
  rolled_back: 'rolled back at step',
};

/** `careful for staging: waiting at step 1 of 4 (3 of 40 agents)`; not sanitised. */
function rolloutTitle(rollout: Rollouts.Rollout, environment: string | null): string {
  const { name, status, step, steps, agents, overdue } = rollout;
  const where = environment === null ? '' : ` for ${environment}`;
  const begun = steps.findLast(({ status, runs }) => status === 'applied' || runs.length > 0);
  // A run that failed in part may have reached any agent of its step.
  const most = begun?.status === 'applying' ? 'up to ' : '';
  const reached = `${most}${formatNumber(begun?.agents ?? 0)} of ${formatCount(agents, 'agent')}`;
  return `${name}${where}: ${STATUSES[status]} ${step} of ${steps.length}${overdue ? ', overdue' : ''} (${reached})`;
}

/** A name, and the texts beside it. */
type NamedTexts = readonly [name: string, texts: readonly string[]];

/** So many texts and agents are named of a fact, unless everything is asked for. */
const MOST = 8;

/**
 * Everything that is said of a rollout but its title, measures and commands; `details` can be looked up. Without `now`
 * times have no age.
 */
function listFacts(rollout: Rollouts.Rollout, most: number, now?: Date) {
  const { status, look, steps, why, user, commit } = rollout;
  const goesOn = isUnderWay(rollout) && status !== 'rolling_back';
  const moment = (time: string | null) => {
    const age = time && now && formatAge(time, now);
    return time && `${formatTime(time)}${age ? ` (${age})` : ''}`;
  };
  const broken = look?.broken ?? [];
  const said = new Set(broken.map(({ message }) => message));
  const isUndecided = look?.verdict === 'not_enough_calls' || look?.verdict === 'no_figures';
  const missing = [look?.why, ...(look?.measures ?? []).map((measure) => measure.why)];
  // A step that is not applied in full comes again.
  const due = steps.find((step) => step.status !== 'applied');
  const selectFacts = (
    all: readonly (readonly [string, readonly (string | null | undefined)[]])[],
  ) =>
    all.flatMap(([name, texts]): NamedTexts[] => {
      const shown = texts.flatMap((text) => (text?.trim() ? [text] : []));
      const where = ': `callsheet rollout show --verbose` lists them';
      return shown.length === 0 ? [] : [[name, firstLines(shown, most, where)]];
    });
  return {
    facts: selectFacts([
      ['why', why?.split('\n').filter((line) => !said.has(line)) ?? []],
      [
        'broken',
        broken.map((one) => `${one.rail}${one.does === 'hold' ? ' (holds)' : ''}: ${one.message}`),
      ],
      ['started', [`${formatTime(rollout.started_at)}${formatOrigin(user, commit)}`]],
      ['ended', [moment(rollout.ended_at)]],
      [
        'steps',
        steps.map(({ number, agents, status, at }) => {
          const time = status === 'applied' ? moment(at) : '';
          return `${number}: ${formatCount(agents, 'agent')}, ${STEPS[status]} ${time}`.trim();
        }),
      ],
      ['calls', [look === null ? 'not looked at yet' : `${callsText(look)}; ${moment(look.at)}`]],
      ['odd', look?.odd.length ? [`${formatFirst(look.odd, most)} (count for less)`] : []],
      ['no verdict', isUndecided && goesOn ? [...new Set(missing)] : []],
      ['not undone', rollout.left],
      ['next', [rollout.next]],
      ['who is next', [goesOn && due ? formatFirst(due.adds, most) : null]],
    ]),
    details: selectFacts([
      ['id', [rollout.id]],
      ['plan', [rollout.plan_digest]],
      ['runs', steps.flatMap(({ runs }) => runs)],
      ['agents', steps.map(({ number, adds }) => `${number}: ${formatFirst(adds, most)}`)],
    ]),
  };
}

/** ` by kim at 1f3a9c2d5e6f` */
function formatOrigin(user: string | null, commit: string | null): string {
  return `${user === null ? '' : ` by ${user}`}${commit === null ? '' : ` at ${shortCommit(commit)}`}`;
}

/** `138 of 3 agents at step 1, compared with 37 others` */
function callsText({ calls, agents, step, others }: Rollouts.Look): string {
  return `${formatNumber(calls)} of ${formatCount(agents, 'agent')} at step ${step}, compared with ${formatCount(others, 'other')}`;
}

const MEASURE_FIELDS: readonly Field[] = [
  { path: 'name', title: 'measure' },
  {
    path: 'verdict',
    title: 'verdict',
    tone: (said) => Object.values(VERDICTS).find(({ word }) => word === said)?.tone ?? 'plain',
  },
  { path: 'effect', title: 'effect (interval)' },
  { path: 'margin', title: 'margin', drop: 1 },
  { path: 'changed', title: 'with the change', drop: 2 },
  { path: 'others', title: 'others', drop: 3 },
];

function measureRecord(measure: Rollouts.Measure): JsonObject {
  const { name, verdict, effect, low, high, better, margin } = measure;
  const [unit, own] = name === 'duration' ? ['%', 's'] : ['points', '%'];
  const interval =
    low === null || high === null ? '' : ` (${formatShift(low)} to ${formatShift(high)})`;
  const moved = (from: number | null, to: number | null) =>
    from === null && to === null
      ? null
      : `${formatFigure(from, 'decimal')} → ${formatFigure(to, 'decimal')} ${own}`;
  return {
    name,
    verdict: VERDICTS[verdict].word,
    effect: effect === null ? null : `${formatShift(effect)}${interval}`,
    margin: `${better === 'higher' ? '−' : '+'}${margin} ${unit}`,
    changed: moved(measure.before, measure.after),
    others: moved(measure.others_before, measure.others_after),
  };
}

/** `+0.4`, `−7.6`, `0.0` */
function formatShift(value: number): string {
  const figure = formatDecimal(Math.abs(value), 1);
  if (figure === '0.0') return figure;
  return value < 0 ? `−${figure}` : `+${figure}`;
}

/** Those under way first. */
function inOrder(rollouts: readonly Rollouts.Rollout[]): readonly Rollouts.Rollout[] {
  return rollouts.toSorted((a, b) => Number(isUnderWay(b)) - Number(isUnderWay(a)));
}

/** Rollouts in a terminal. */
export function renderRolloutsText(document: Rollouts.Document, options: RenderOptions): string {
  const { width, verbose } = options;
  if (document.rollouts.length === 0) return 'No rollout is recorded.\n';
  const blocks = inOrder(document.rollouts).flatMap((rollout) => {
    const now = new Date(document.now);
    const { facts, details } = listFacts(rollout, verbose ? Infinity : MOST, now);
    const rows = [...facts, ...(verbose ? details : [])].flatMap(([name, texts]) =>
      texts.map((text, at): Fact => [at === 0 ? name : '', text]),
    );
    const title = span(rolloutTitle(rollout, document.environment), 'strong');
    const records = (rollout.look?.measures ?? []).map(measureRecord);
    return [
      [...wrap([title], width, 2), ...factLines(rows, width, 2)],
      records.length === 0 ? [] : tableLines(MEASURE_FIELDS, records, tableWidth(options), 2),
      // Each is typed as it is, so that none is broken.
      rollout.commands.map((command): Line => [span(`  ${command}`)]),
    ];
  });
  return paint(spaced(blocks), options.color);
}

/** Characters of a text in a comment, and those kept for what is said of rollouts that do not fit. */
const MOST_TEXT = 600;
const NOTICE_ROOM = 200;

/**
 * Rollouts as one comment on a pull request, never longer than `limit` characters. Times are absolute: a comment is
 * read long after it was written.
 */
export function renderRolloutsMarkdown(
  document: Rollouts.Document,
  options: PageOptions = {},
): string {
  const { limit = GITHUB_LIMIT } = options;
  const { environment, rollouts } = document;
  const marker = formatMarker('rollouts', environment === null ? {} : { environment }, options);
  const tail = `\nAs of ${escapeText(formatTime(document.now))}; times in UTC.\n`;
  let text = `${marker}\n${rollouts.length === 0 ? '\n### No rollout is recorded.\n' : ''}`;
  let missing = 0;
  for (const rollout of inOrder(rollouts)) {
    const piece = `\n${rolloutMarkdown(rollout, environment)}\n`;
    if (text.length + piece.length + tail.length + NOTICE_ROOM > limit) missing += 1;
    else text += piece;
  }
  const notice = `\n_${formatCount(missing, 'rollout')} not shown: they do not fit in a comment. \`callsheet rollout show\` shows them._\n`;
  return `${text}${missing === 0 ? '' : notice}${tail}`.slice(0, limit);
}

function rolloutMarkdown(rollout: Rollouts.Rollout, environment: string | null): string {
  const { facts, details } = listFacts(rollout, MOST);
  const rows = (rollout.look?.measures ?? []).map(measureRecord).map((record) => {
    const cells = MEASURE_FIELDS.map(({ path }) => formatFigure(record[path]));
    return `| ${cells.map((cell) => (cell === VERDICTS.worse.word ? `**${cell}**` : cell)).join(' | ')} |`;
  });
  const heads = `| ${MEASURE_FIELDS.map(({ title }) => title).join(' | ')} |`;
  return [
    // A pipeline finds the comment of a rollout by it.
    `<!-- callsheet:rollout-id ${rollout.id.replace(/[^\w-]/g, '')} -->`,
    `### ${plainText(rolloutTitle(rollout, environment))}`,
    ...facts.map(renderFact),
    ...(rows.length === 0 ? [] : [[heads, '|---|---|---:|---:|---:|---:|', ...rows].join('\n')]),
    ...(rollout.commands.length === 0 ? [] : [fence(rollout.commands, 'sh')]),
    '<details><summary>Plan, runs and agents</summary>',
    ...details.map(renderFact),
    '</details>',
  ].join('\n\n');
}

/** One text beside its name; several as a list below it. */
function renderFact([name, texts]: NamedTexts): string {
  const head = `**${name.charAt(0).toUpperCase()}${name.slice(1)}:**`;
  const lines = texts.map(plainText);
  return lines.length === 1
    ? `${head} ${lines[0]}`
    : `${head}\n\n${lines.map((line) => `- ${line}`).join('\n')}`;
}

function plainText(text: string): string {
  return escapeMessage(cutText(sanitiseLine(text), MOST_TEXT));
}

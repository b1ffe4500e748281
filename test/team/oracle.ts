import type { Simulator } from '../../src/simulator/index.ts';
import type { Agenda } from './agenda.ts';
import { type Fields, LOCKED, readWanted, type Wanted } from './fleet.ts';
import type { Hub, Page, Pull, Run } from './hub.ts';
import type { Ran } from './program.ts';

/**
 * What a person would know who had read every file of main, every agent and every page, and remembered when. Nothing
 * of the program is asked: files and pages are read as text.
 */

/** Somewhere main and live are not the same. */
type Difference = { readonly address: string; readonly path: string; readonly since: number };

/** A change in the dashboard. Its mark is in no other text. */
export type Edit = {
  readonly id: string;
  readonly path: string;
  readonly mark: string;
  readonly by: string;
  readonly at: number;
  readonly address: string;
  fate:
    | 'lives'
    | 'is in the files'
    | 'was edited again'
    | 'undone, shown before'
    | 'deleted, shown before'
    | 'undone unseen'
    | 'deleted unseen';
};

/** What must not happen: a night in which main is not live and nobody was told, an edit that dies unseen, and a red check of nothing. */
export const RULES = ['untold', 'died unseen', 'red for nothing'] as const;

export type Finding = {
  readonly rule: (typeof RULES)[number];
  readonly at: number;
  readonly what: string;
};

/** What a plan, a run or a page said, and when. */
type Said = { readonly at: number; readonly text: string };

export type Oracle = {
  readonly findings: readonly Finding[];
  readonly edits: readonly Edit[];
  /** Something may have moved. */
  readonly look: () => void;
  readonly onPage: (page: Page) => void;
  readonly onRan: (ran: Ran) => void;
  readonly onMerge: (pull: Pull) => void;
  readonly onEnd: (run: Run) => void;
  readonly edit: (agent: string, path: string, mark: string, by: string) => void;
  /** The addresses that a pull request changes, once merged. */
  readonly changed: (pull: Pull) => readonly string[];
  /** What became of a merge by the last night. */
  readonly outcomeOf: (pull: Pull) => string;
  /** What is different right now. */
  readonly differences: () => readonly Difference[];
  /** Looks at what nobody was told. */
  readonly night: () => void;
  readonly addressOf: (agent: string) => string | undefined;
  /** Another value of the secret is wanted from now on. */
  readonly wantSecret: (value: string) => void;
};

const FIELDS = ['name', 'greeting_message', 'system_prompt', 'model', 'secret'] as const;

export function openOracle(
  { hub, sim, agenda }: { readonly hub: Hub; readonly sim: Simulator; readonly agenda: Agenda },
  first: string,
): Oracle {
  let secret = first;
  let lastNight = 0;
  let differences: readonly Difference[] = [];
  const findings: Finding[] = [];
  const edits: Edit[] = [];
  const said: Said[] = [];
  /** Pages as they are now. */
  const standing = new Map<string, Page & { readonly at: number }>();
  const cache = new Map<string, Wanted | undefined>();
  const names = new Map<string, string>();
  const changes = new Map<Pull, { readonly at: number; readonly addresses: readonly string[] }>();

  const wantedAt = (commit: string): Wanted | undefined => {
    const key = `${commit} ${secret}`;
    if (!cache.has(key)) cache.set(key, readWanted(hub.filesOf(commit), secret));
    return cache.get(key);
  };

  const live = (): ReadonlyMap<string, Fields> =>
    new Map(
      [...sim.store.agents].map(([id, { record }]) => {
        const { auth_token: token } = Object(Object(record.integrations).smsProvider);
        return [id, { ...record, ...(token === undefined ? {} : { secret: token }) }];
      }),
    );

  const compare = (): readonly Omit<Difference, 'since'>[] => {
    const wanted = wantedAt(hub.main());
    if (wanted === undefined) return [];
    const there = [...live().values()];
    const found = [...wanted].flatMap(([address, fields]) => {
      names.set(String(fields.name), address);
      const record = there.find(({ name }) => name === fields.name);
      if (record === undefined) return [{ address, path: '' }];
      return FIELDS.filter(
        (path) => fields[path] !== undefined && !isSame(record[path], fields[path]),
      ).map((path) => ({ address, path }));
    });
    const kept = new Set([...wanted.values()].map(({ name }) => name));
    const extra = there.flatMap(({ name }) =>
      kept.has(name) ? [] : [{ address: names.get(String(name)) ?? String(name), path: '' }],
    );
    return [...found, ...extra];
  };

  const settle = (edit: Edit, records: ReadonlyMap<string, Fields>) => {
    const record = records.get(edit.id);
    const isThere = record !== undefined && String(record[edit.path]).includes(edit.mark);
    // A rollback puts back what the run had undone, edits by hand among it.
    if (isThere && edit.fate.startsWith('undone')) edit.fate = 'lives';
    if (edit.fate !== 'lives') return;
    if (isThere) {
      const wanted = wantedAt(hub.main())?.get(edit.address)?.[edit.path];
      if (wanted !== undefined && isSame(wanted, record[edit.path])) edit.fate = 'is in the files';
      return;
    }
    const isShown = said.some(
      ({ at, text }) => at >= edit.at && isNamed(text, edit.mark) && text.includes(edit.by),
    );
    const what = record === undefined ? 'deleted' : 'undone';
    edit.fate = isShown ? `${what}, shown before` : `${what} unseen`;
    if (!isShown)
      report('died unseen', `${edit.address} ${edit.path}: ${edit.mark} by ${edit.by} was ${what}`);
  };

  const report = (rule: Finding['rule'], what: string) =>
    findings.push({ rule, at: agenda.at(), what });

  const look = () => {
    const now = compare();
    const before = differences;
    differences = now.map(
      (one) =>
        before.find(({ address, path }) => address === one.address && path === one.path) ?? {
          ...one,
          since: agenda.at(),
        },
    );
    const records = live();
    for (const edit of edits) settle(edit, records);
  };

  /** Where somebody could read of a difference. */
  const isTold = ({ address, path, since }: Difference): boolean => {
    const open = new Set(
      hub.github.issues.filter(({ state }) => state === 'open').map(({ number }) => number),
    );
    const inIssue = [...standing.values()].some(
      (page) =>
        page.where === 'issue' &&
        open.has(page.number) &&
        isNamed(page.text, address) &&
        (path === '' || path === 'secret' || page.text.includes(path)),
    );
    if (inIssue) return true;
    const own = [...changes]
      .filter(([, { at, addresses }]) => at >= since && addresses.includes(address))
      .map(([pull]) => pull);
    for (const page of standing.values()) {
      if (
        page.where !== 'comment' ||
        page.at < since ||
        !page.text.startsWith('<!-- callsheet:apply')
      )
        continue;
      const isGood = /^### Applied$/m.test(page.text);
      const isOwn = own.some(({ number }) => number === page.number);
      const lines = page.text.split('\n').filter((line) => isNamed(line, address));
      if (
        (isOwn && !isGood && !/^### Applied/m.test(page.text)) ||
        lines.some((line) => WAITS.test(line))
      )
        return true;
    }
    return hub.runs.some((run) => {
      if (run.state === 'waiting')
        return (
          own.some((pull) => pull === run.pull) ||
          (run.pull === undefined &&
            Object.values(run.results).some(({ summary }) => isNamed(summary, address)))
        );
      if (run.event.ref !== 'refs/heads/main' || run.conclusion !== 'failure') return false;
      return (
        (endedAt.get(run) ?? 0) >= since &&
        Object.values(run.results).some(
          ({ result, log }) => result === 'failure' && isNamed(log, address),
        )
      );
    });
  };

  const endedAt = new Map<Run, number>();
  const changedBetween = (before: string, after: string): readonly string[] => {
    const [one, other] = [wantedAt(before), wantedAt(after)];
    if (one === undefined || other === undefined) return [];
    return [...new Set([...one.keys(), ...other.keys()])].filter(
      (address) => JSON.stringify(one.get(address)) !== JSON.stringify(other.get(address)),
    );
  };

  /** What is wrong with the pull request that was planned; undefined where nothing is. */
  const wrongWith = (run: Run): string | undefined => {
    const base = String(Object(Object(run.event.payload.pull_request).base).sha);
    const [before, after] = [wantedAt(base), wantedAt(run.event.sha)];
    if (after === undefined) return 'the files are broken';
    if (before === undefined) return 'main was broken';
    const records = [...live().values()];
    for (const address of changedBetween(base, run.event.sha)) {
      const [old, fields] = [before.get(address), after.get(address)];
      const record = records.find(({ name }) => name === fields?.name);
      if (fields?.model === LOCKED && record?.model !== LOCKED)
        return `${address} moves to a locked model`;
      const edit = edits.find(
        (one) =>
          one.fate === 'lives' &&
          one.address === address &&
          (fields === undefined ||
            JSON.stringify(old?.[one.path]) !== JSON.stringify(fields[one.path])),
      );
      if (edit !== undefined) return `${address} ${edit.path} was edited by ${edit.by}`;
    }
    return undefined;
  };

  return {
    findings,
    edits,
    look,
    differences: () => differences,
    outcomeOf(pull) {
      const { at = 0, addresses = [] } = changes.get(pull) ?? {};
      const left = differences.filter(
        ({ address, since }) => addresses.includes(address) && since <= lastNight && since >= at,
      );
      if (left.length === 0) return 'live by night';
      const isUntold = findings.some(
        (one) =>
          one.rule === 'untold' &&
          one.at >= lastNight &&
          left.some(({ address }) => one.what.startsWith(`${address} `)),
      );
      return isUntold ? 'not live, nobody told' : 'not live, told';
    },
    changed: (pull) => changes.get(pull)?.addresses ?? [],
    onPage(written) {
      const page = { ...written, text: readable(written.text) };
      const key =
        page.where === 'summary'
          ? `summary ${page.number} ${agenda.at()}`
          : `${page.where} ${page.number} ${page.text.split('\n').find((line) => line.startsWith('<!--'))}`;
      standing.set(key, { ...page, at: agenda.at() });
      said.push({ at: agenda.at(), text: page.text });
    },
    onRan({ args, out, err, env }) {
      // What a job printed is read where it is shown; somebody at a desk reads the plan before anything is written.
      if (env.GITHUB_ACTIONS === undefined && !args.includes('--auto-approve'))
        said.push({ at: agenda.at(), text: out + err });
      look();
    },
    onMerge(pull) {
      changes.set(pull, { at: agenda.at(), addresses: changedBetween(pull.before, pull.commit) });
      look();
    },
    onEnd(run) {
      endedAt.set(run, agenda.at());
      if (run.event.name !== 'pull_request' || run.conclusion !== 'failure') return;
      const failed = Object.entries(run.results).filter(([, { result }]) => result === 'failure');
      if (wrongWith(run) !== undefined) return;
      const log = failed.map(([, one]) => one.log).join('\n');
      const why = log
        .split('\n')
        .filter(
          (line) =>
            /refused<|guards\.|conflict|Error|rolled back|validate/i.test(line) &&
            !line.startsWith('::'),
        )
        .slice(0, 3)
        .join(' / ');
      report(
        'red for nothing',
        `#${run.pull?.number} ${failed.map(([id]) => id).join()}: ${(why || log.slice(-300)).slice(0, 400)}`,
      );
    },
    edit(agent, path, mark, by) {
      const name = sim.store.agents.get(agent)?.record.name;
      for (const one of edits)
        if (one.id === agent && one.path === path && one.fate === 'lives')
          one.fate = 'was edited again';
      edits.push({
        id: agent,
        path,
        mark,
        by,
        at: agenda.at(),
        address: names.get(String(name)) ?? '',
        fate: 'lives',
      });
      look();
    },
    night() {
      lastNight = agenda.at();
      look();
      for (const one of differences) {
        if (!isTold(one))
          report(
            'untold',
            `${one.address}${one.path && ` ${one.path}`} since ${timeOf(one.since)}`,
          );
      }
    },
    addressOf: (agent) => names.get(String(sim.store.agents.get(agent)?.record.name)),
    wantSecret(value) {
      secret = value;
      look();
    },
  };
}

const WAITS = /\b(waits?|held|left out|not applied|still|pending)\b/i;

/** Day and time of a moment, as reports have it. */
export function timeOf(at: number): string {
  const minutes = Math.floor(at / 60_000);
  const [day, hour, minute] = [
    Math.floor(minutes / 1440) + 1,
    Math.floor(minutes / 60) % 24,
    minutes % 60,
  ];
  return `day ${day} ${String(hour).padStart(2, '0')}:${String(minute).padStart(2, '0')}`;
}

/** A page as it is shown. */
function readable(text: string): string {
  return text
    .replace(/&#(\d+);/g, (_, code) => String.fromCharCode(Number(code)))
    .replaceAll('&quot;', '"')
    .replaceAll('&amp;', '&');
}

/** Whether a text has a name, and not only as a part of a longer one. */
function isNamed(text: string, name: string): boolean {
  const at = text.indexOf(name);
  return (
    at >= 0 &&
    (!/\w/.test(text[at + name.length] ?? '') || isNamed(text.slice(at + name.length), name))
  );
}

function isSame(one: unknown, other: unknown): boolean {
  return String(one ?? '').trim() === String(other ?? '').trim();
}

import { getKind } from '../core/address.ts';
import { quoted } from '../core/command-line.ts';
import type { Log, Runs } from '../core/documents.generated.ts';
import type { Verification } from '../core/documents.ts';
import { formatDuration } from '../core/errors.ts';
import { formatEdit } from '../core/plan-document.ts';
import { getOwn, isSameJson, type Json, sum } from '../core/value.ts';
import {
  findBegan,
  findEnded,
  isMissed,
  type JournalEntry,
  type LedgerLine,
  listLedger,
  type NotUndone,
  type Override,
  type RunBegan,
} from '../state/journal.ts';
import type { RunSummary } from '../state/store.ts';
import { countUp } from './addresses.ts';
import { shownName } from './names.ts';
import { type Field, tableLines, tableWidth } from './read/table.ts';
import {
  addressLines,
  belowLines,
  besideLines,
  factLines,
  type Line,
  type Look,
  lineWidth,
  listLines,
  liveSpan,
  moreLines,
  padText,
  paint,
  type RenderOptions,
  type Span,
  sentence,
  span,
  type Way,
  wayLines,
  wholeSpan,
  wrap,
} from './terminal.ts';
import { sanitiseLine } from './untrusted.ts';
import { inlineValue, shortSides } from './value-text.ts';
import {
  countKind,
  describeWaiting,
  formatAge,
  formatCount,
  formatFirst,
  formatTime,
  tally,
  UNSEEN_SIGN,
} from './wording.ts';

/** The texts of runs: the list, the receipt of one, its ledger, and what was verified or left after a rollback. */

/** Characters of a commit, as Git shortens it. */
const SHORT_COMMIT = 7;

/** The id is never cut: it is what other commands ask for. */
const RUN_FIELDS: readonly Field[] = [
  { path: 'what', title: 'what' },
  { path: 'when', title: 'when' },
  { path: 'at', title: 'began', drop: 5 },
  { path: 'status', title: 'outcome', tone: (status) => (status === 'done' ? 'plain' : 'warning') },
  { path: 'took', title: 'took', drop: 2 },
  { path: 'user', title: 'who', drop: 1 },
  { path: 'commit', title: 'commit', least: SHORT_COMMIT, drop: 3 },
  { path: 'run', title: 'run' },
];

/** Finished runs, newest first: what each did, when, how it came out, how long it took, who ran it. */
export function renderRunsText(
  runs: readonly RunSummary[],
  options: RenderOptions,
  now: Date,
): string {
  if (runs.length === 0) return 'No run is recorded.\n';
  const records = runs.map((one) => ({
    when: formatAge(one.at, now) ?? one.at,
    at: formatTime(one.at),
    what: describeWhat(one),
    status: one.status,
    took: one.ended === null ? null : formatDuration(secondsBetween(one.at, one.ended)),
    user: one.user,
    commit: one.commit === null ? null : shortCommit(one.commit),
    run: one.run,
  }));
  const lines = tableLines(RUN_FIELDS, records, tableWidth(options));
  const restored = Map.groupBy(
    runs.filter(({ state }) => state !== undefined),
    ({ state = '' }) => state,
  );
  // Each is typed as it stands, so that none is wrapped.
  const undone = new Set(
    runs.flatMap(({ status, undoes }) => (status === 'done' ? (undoes ?? []) : [])),
  );
  const undoing = [...restored].flatMap(([state, all]): readonly Line[] => {
    const own = all.filter(
      ({ run, purpose, status }) =>
        purpose === 'restore' && HOW_OPEN[status] === undefined && !undone.has(run),
    );
    const order = own.length > 1 ? ', in this order' : '';
    if (own.length === 0) return [];
    return [
      [span(`To undo the restore, with the state that records it${order}:`)],
      ...own.map(({ run }) => [
        span(`  CALLSHEET_STATE=${quoted(state)} callsheet rollback ${run}`),
      ]),
    ];
  });
  const open = runs.flatMap(({ run, at, status, state }): readonly Line[] => {
    const how = state === undefined ? HOW_OPEN[status] : HOW_OPEN[status] && UNFINISHED_RESTORE;
    return how === undefined
      ? []
      : wrap([span(`Run ${run}, which began at ${at}, ${how}.`)], options.width, 0);
  });
  return paint([...lines, ...open, ...undoing], options.color);
}

/** Why an old record stays, by its reason, before what needs it. */
const WHY_NEEDED: { readonly [reason in NeededRun['reason']]: (of: string) => string } = {
  last_run: () => 'it is the last run',
  rollback: (of) => `\`callsheet rollback\` looks at run ${of}`,
  hold: (of) => `a hold on ${of} names it`,
  part: (of) => `${of} is open and may take it back`,
  deleted: (of) => `it deleted ${of} and can bring it back`,
  undoes: (of) => `it rolled back run ${of}, which stays`,
  brought: (of) => `it brought run ${of}, which stays`,
};

type NeededRun = Runs.Pruning['needed'][number];

/** Tells which records `runs prune` removed or would remove, and why an old one stays. */
export function renderPruning(
  { run, keep, pruned, needed, kept, most }: Runs.Pruning,
  isDry: boolean,
  options: RenderOptions,
): string {
  const count = formatCount(pruned.length, 'record');
  const what =
    pruned.length === 0
      ? 'No record is to go'
      : isDry
        ? `${count} would go, from run ${pruned.at(-1)} to run ${pruned[0]}`
        : `${count} removed, from run ${pruned.at(-1)} to run ${pruned[0]}; the edit is recorded as run ${run}`;
  const rest = `${what}. ${formatCount(kept, 'record')} ${isDry ? 'would stay' : kept === 1 ? 'stays' : 'stay'} with --keep ${keep}.`;
  const bound =
    most === null
      ? 'This store drops no record by itself.'
      : `This store keeps the newest ${most} by itself, and drops older ones.`;
  const lines = needed.flatMap(({ run, reason, of }) =>
    wrap([span(`Run ${run} stays: ${WHY_NEEDED[reason](of)}.`)], options.width, 0),
  );
  return `${paint(lines, options.color)}${sentence(rest, options)}${sentence(bound, options)}`;
}

function secondsBetween(from: string, to: string): number {
  return (Date.parse(to) - Date.parse(from)) / 1000;
}

/** Kinds that the line of a run names beside one action. */
const MOST_KINDS = 2;

/** `rollback: Old front desk deleted, 52 agents updated; 9 failed; of 1f3a9c`: commands take the end of an id, too. */
function describeWhat({ purpose, undoes, outcomes }: RunSummary): string {
  const done = outcomes
    .filter(({ status }) => status === 'done')
    .toSorted((a, b) => rank(a) - rank(b));
  // Deletes and replacements are named, however many kinds there are.
  const did = [...Map.groupBy(done, ({ action }) => action)].flatMap(([action, ones]) => {
    const isCounted = ones.length > MOST_KINDS && action !== 'delete' && action !== 'replace';
    const parts = isCounted
      ? [formatCount(sum(ones.map(({ count }) => count)), 'resource')]
      : ones.map(({ kind, count, name }) =>
          name === null ? countKind(count, kind) : shownName(name),
        );
    return parts.map((part) => `${part} ${toPastTense(action)}`);
  });
  const missed = (['failed', 'blocked', 'not_attempted'] as const).map((status) => {
    const counts = outcomes.flatMap((one) => (one.status === status ? [one.count] : []));
    return [sum(counts), LOOKS[status].word] as const;
  });
  const parts = [did.join(', '), tally(missed)].filter((part) => part !== '');
  const of = undoes === undefined ? '' : `; of ${undoes.split('-').at(-1)}`;
  return `${purpose}: ${parts.length === 0 ? 'nothing' : parts.join('; ')}${of}`;
}

/** Words for a run that has not committed, by its status. */
const HOW_OPEN: { readonly [status: string]: string | undefined } = {
  died: 'died; the next command that plans or applies settles it',
  unfinished:
    'has not finished: it is at work on another machine, or died, and then the next command settles it',
};

/** A restore has a state of its own, which no other command settles. */
const UNFINISHED_RESTORE =
  'is part of a restore that did not finish: the same `callsheet restore` continues it';

/** Shortens the hash alone: a remark after it, such as that there were changes beside the commit, stays. */
function shortCommit(commit: string): string {
  return commit.replace(/^[0-9a-f]{8,}/, (hash) => hash.slice(0, SHORT_COMMIT));
}

/**
 * One run's receipt: what it did, as its result said, then who ran what from which commit. `fields`: what it changed in each
 * resource, as far as the receipt has it. `ways`: the commands that go on from it.
 */
export function renderRunText(
  entries: readonly JournalEntry[],
  options: RenderOptions,
  {
    fields = new Map(),
    ways = [],
  }: Pick<RunDetails, 'fields'> & { readonly ways?: readonly Way[] } = {},
): string {
  const began = findBegan(entries);
  const ended = findEnded(entries);
  const { stack = null, environment = null } = began?.owner ?? {};
  const place = [stack, environment].filter((part) => part !== null).join(' · ');
  const facts: readonly (readonly [name: string, value: string | null | undefined])[] = [
    ['run', began?.run],
    ['what', describeRun(began)],
    ['part of', began?.kept && `${began.kept.feature} ${began.kept.part}`],
    ['by', began && [began.actor.user, began.actor.host].filter(Boolean).join(' on ')],
    ['commit', began?.actor.commit],
    ['pipeline', began?.actor.pipeline],
    ['pull request', began?.actor.pull_request],
    ['approved by', began?.actor.approved_by?.join(', ')],
    ['allowed', began?.allowed?.map(({ flag, by }) => `${flag} by ${by}`).join(', ')],
    ['began', began?.at],
    ['ended', ended?.at ?? 'it did not end'],
    ['status', ended && `${ended.status}${ended.verified ? ', every leaf read back' : ''}`],
    ['plan', began?.plan_digest],
    ['platform', began && `${began.base_url}, account ${began.account_id}`],
    ...(began?.overrides ?? []).map(overrideFact),
  ];
  const filledFacts = facts.map(([name, value]) => [name, value || null] as const);
  const { differs = [], left = [] } = ended ?? {};
  const lasting =
    differs.length === 0
      ? left.length === 0
        ? []
        : [renderNotUndone(left, options)]
      : [renderVerification({ differs, equal: 0, problem: null, left }, began?.undoes, options)];
  return [
    renderLedgerText(listLedger(entries), options, { place, fields }),
    ...lasting,
    paint(factLines(filledFacts, options.width), options.color),
    ...(ways.length === 0 ? [] : [paint(wayLines(ways, options), options.color)]),
  ].join('\n');
}

function describeRun(began: RunBegan | undefined): string | undefined {
  if (began?.snapshot) return `${began.purpose} to the snapshot of ${began.snapshot.made_at}`;
  return began?.undoes ? `${began.purpose} of ${began.undoes}` : began?.purpose;
}

function overrideFact({ message, reason }: Override): readonly [string, string] {
  return ['overrode', reason === null ? message : `${message}; reason: ${reason}`];
}

type Status = LedgerLine['status'];

const LOOKS: { readonly [status in Status]: Look } = {
  done: { mark: '✓', word: 'done', tone: 'added' },
  failed: { mark: '✗', word: 'failed', tone: 'error' },
  blocked: { mark: '◦', word: 'blocked', tone: 'warning' },
  not_attempted: { mark: '◦', word: 'not attempted', tone: 'plain' },
};

/** A change that the plan already said it would leave out. */
const LEFT_OUT = { mark: '◦', word: 'left out', tone: 'plain' } as const;

const PAST = {
  create: 'created',
  update: 'updated',
  replace: 'replaced',
  delete: 'deleted',
  adopt: 'adopted',
  forget: 'forgotten',
  move: 'moved',
  record: 'recorded',
  trust: 'trusted',
  edit: 'edited',
} as const;

/** The action of a line of a ledger. */
export type LedgerAction = keyof typeof PAST;

/** `updated` of `update`. */
export function toPastTense(action: string): string {
  return getOwn<string>(PAST, action) ?? action;
}

/** Ledger lines with one action that came out alike, for one cause. */
export type Outcome = Pick<LedgerLine, 'action' | 'status' | 'verdict'> & {
  readonly lines: readonly LedgerLine[];
  /** Why; with `…` for what is of each line alone. Null where nothing is said. */
  readonly cause: string | null;
  /** The requests that were answered so, by their ids. */
  readonly requests: readonly string[];
};

/** A request's id, as a message about a refusal has it. */
const REQUEST = / \(request ([^\s()]+)\)/g;

/** A message without the parts that are of one resource or one request alone. */
function splitCause({ address, id, former_id: former, message }: LedgerLine) {
  if (message === null) return { cause: null, requests: [] };
  const requests = [...message.matchAll(REQUEST)].map(([, request = '']) => request);
  const text = message.replaceAll(REQUEST, '').replaceAll(quoted(address), 'ADDRESS');
  const general = text.replaceAll(address, 'ADDRESS');
  const own = [id, former].filter((one) => one != null);
  return { cause: own.reduce((all, one) => all.replaceAll(one, '…'), general), requests };
}

/**
 * Groups what came of changes by action and cause, and of what was done also by the edit: what failed or was not come to
 * first, then what is distinct of what was done, the largest groups after it, and last what the plan left out.
 */
export function groupOutcomes(lines: readonly LedgerLine[]): readonly Outcome[] {
  const split = lines.map((line) => ({ line, ...splitCause(line) }));
  const groups = Map.groupBy(split, ({ line, cause }) => {
    const { address, action, status, verdict, undid, shared = [] } = line;
    // Fields are shown of updates alone, so that nothing else is told apart by them.
    const fields = action === 'update' ? line.fields : [];
    const edit =
      status === 'done' ? [getKind(address), shared.map(({ group }) => group), fields] : [];
    return JSON.stringify([action, status, verdict, cause, undid, edit]);
  });
  return [...groups.values()]
    .flatMap((own) => (isListed(own.map(({ line }) => line)) ? own.map((one) => [one]) : [own]))
    .flatMap((own): readonly Outcome[] => {
      const [first] = own;
      if (first === undefined) return [];
      const { action, status, verdict } = first.line;
      return [
        {
          ...{ action, status, cause: first.cause },
          ...(verdict === undefined ? {} : { verdict }),
          lines: own.map(({ line }) => line),
          requests: own.flatMap(({ requests }) => requests),
        },
      ];
    })
    .sort((a, b) => rank(a) - rank(b) || a.lines.length - b.lines.length);
}

/** More than this that was done in different ways is grouped all the same. */
const MAX_LISTED = 10;

/** Tells lines that stand one by one: what comes and goes is read by its name, and each edit that no other shares by itself. */
function isListed([first, ...others]: readonly LedgerLine[]): boolean {
  if (first?.status !== 'done' || others.length >= MAX_LISTED) return false;
  return DISTINCT.includes(first.action) || (first.action === 'update' && !isShared(first));
}

/** Tells a change of which each field is an edit that others share. */
function isShared({ fields, shared = [] }: LedgerLine): boolean {
  return fields.every((path) => shared.some((edit) => edit.path === path));
}

const ORDER: readonly Status[] = ['failed', 'blocked', 'not_attempted', 'done'];

const DISTINCT = ['delete', 'replace', 'create'];

function rank({
  status,
  action,
  verdict,
}: Pick<LedgerLine, 'status' | 'action' | 'verdict'>): number {
  const place = DISTINCT.indexOf(action);
  if (verdict !== undefined) return ORDER.length + DISTINCT.length + 1;
  return ORDER.indexOf(status) + (status !== 'done' ? 0 : place < 0 ? DISTINCT.length : place);
}

/** Columns of `not attempted`, the longest word of a line. */
const WORD_WIDTH = 13;
const INDENT = 4;

/** The place of a run, and its changes by resource, as far as its receipt has them. */
type RunDetails = {
  readonly place?: string;
  readonly fields?: ReadonlyMap<string, readonly Log.Field[]>;
};

/** Tells a run: the counts, failures, what is distinct, and what is alike with every address. */
export function renderLedgerText(
  lines: readonly LedgerLine[],
  options: RenderOptions,
  { place = '', fields = new Map() }: RunDetails = {},
): string {
  const recorded = ({ action, address, shared = [] }: LedgerLine) =>
    (action === 'update' ? (fields.get(address) ?? []) : []).filter(
      ({ path }) => !shared.some((edit) => edit.path === path),
    );
  const groups = options.verbose
    ? lines.flatMap((line) => groupOutcomes([line])).sort((a, b) => rank(a) - rank(b))
    : groupOutcomes(lines);
  const listed = groups.flatMap((group) => {
    const [first, ...others] = group.lines;
    if (first === undefined) return [];
    const values = recorded(first);
    const isAlike = others.every((one) => isSameJson(recorded(one), values));
    const shown = isAlike ? values : [];
    return [
      ...(others.length === 0
        ? changeLines(first, options, shown)
        : groupLines(group, first, options, shown)),
      ...recordedLines(shown, options),
    ];
  });
  return paint(
    [
      ...besideLines(span(countOutcomes(lines), 'strong'), span(place), options.width),
      ...(listed.length > 0 ? [[], ...listed] : []),
      ...overwritten(lines, options),
    ],
    options.color,
  );
}

/** Tells that an edit of somebody else may be gone although everything was done. */
function overwritten(lines: readonly LedgerLine[], options: RenderOptions): readonly Line[] {
  const count = lines.filter((line) =>
    line.interleaved?.some(({ order }) => order === 'before'),
  ).length;
  if (count === 0) return [];
  const what = formatCount(count, 'resource was', 'resources were');
  const text = `${what} edited by another author at the same moment. The lines above name the edits that may be overwritten.`;
  return [[], ...wrap([span(text, 'strong')], options.width, 2)];
}

function outcomeSpans({ status, action, verdict }: Outcome | LedgerLine): readonly Span[] {
  const { mark, word, tone } = verdict === undefined ? LOOKS[status] : LEFT_OUT;
  const said = status === 'done' ? toPastTense(action) : word;
  return [span('  '), span(mark, tone), span(` ${padText(sanitiseLine(said), WORD_WIDTH)}  `)];
}

/** `: model, system_prompt (prompts/night.md)` behind what was updated, without the fields whose values stand below. */
function changedSpans(
  { status, action, fields, shared = [] }: LedgerLine,
  shown: readonly Log.Field[],
): readonly Span[] {
  if (status !== 'done') return [span(`  (${action})`)];
  const below = new Set(shown.map(({ path }) => path));
  const named = fields
    .filter((path) => !below.has(path))
    .map((path) => {
      const source = shared.find((edit) => edit.path === path)?.source ?? null;
      return source === null ? path : `${path} (${source})`;
    });
  if (action !== 'update' || named.length === 0) return [];
  return [span(`: ${formatFirst(named, MAX_FIELDS)}`)];
}

function changeLines(
  line: LedgerLine,
  options: RenderOptions,
  shown: readonly Log.Field[],
): readonly Line[] {
  const { address, name, message, undid } = line;
  const details = options.verbose ? formatDetails(line) : '';
  const first = [
    ...outcomeSpans(line),
    ...(name === undefined ? [] : [liveSpan(`${shownName(name)}  `)]),
    wholeSpan(address, 'strong'),
    ...(options.verbose && line.status === 'done' ? [] : changedSpans(line, shown)),
  ];
  return [
    ...wrap(first, options.width, INDENT),
    ...(message === null ? [] : belowLines(message, options)),
    ...(undid === undefined ? [] : belowLines(formatUndone(undid), options)),
    ...(details === '' ? [] : belowLines(details, options)),
  ];
}

/** Ids of requests that are listed where they do not count up. */
const MAX_REQUESTS = 6;

/** Lines of done addresses at most, and how many are listed where there are more. */
const MAX_ADDRESS_LINES = 12;
const MAX_NAMED = 30;

/** The addresses of a group: all of them, unless there are many of which there is nothing to do. */
function namedLines(
  status: Status,
  lines: readonly LedgerLine[],
  options: RenderOptions,
): readonly Line[] {
  const addresses = lines.map(({ address }) => address);
  const all = addressLines(addresses, options);
  if (status !== 'done' || all.length <= MAX_ADDRESS_LINES) return all;
  const hidden = addresses.length - MAX_NAMED;
  return hidden <= 0
    ? all
    : [...addressLines(addresses.slice(0, MAX_NAMED), options), ...moreLines(hidden, options)];
}

function groupLines(
  { lines, cause, requests, ...group }: Outcome,
  first: LedgerLine,
  options: RenderOptions,
  shown: readonly Log.Field[],
): readonly Line[] {
  const kinds = Map.groupBy(lines, ({ address }) => getKind(address));
  const counts = [...kinds].map(([kind, own]) => countKind(own.length, kind));
  const ids = countUp(requests, 2);
  const asked = `${ids.length === 1 && requests.length === 1 ? 'request' : 'requests'} ${formatFirst(ids, MAX_REQUESTS)}`;
  return [
    ...wrap(
      [
        ...outcomeSpans({ ...group, lines, cause, requests }),
        span(counts.join(', '), 'strong'),
        ...changedSpans(first, shown),
      ],
      options.width,
      INDENT,
    ),
    ...(cause === null ? [] : belowLines(cause, options)),
    ...(first.undid === undefined ? [] : belowLines(formatUndone(first.undid), options)),
    ...namedLines(group.status, lines, options),
    ...(requests.length === 0 ? [] : belowLines(asked, options)),
  ];
}

/** Fields of one change that are listed, unless everything is asked for. */
const MAX_FIELDS = 6;

/** `greeting_message: "Hello" → "Good day"` for each field, below it where there is no room. */
export function recordedLines(
  fields: readonly Log.Field[],
  options: RenderOptions,
): readonly Line[] {
  const drawField = (field: Log.Field): readonly Line[] => {
    const name = [span(' '.repeat(INDENT)), wholeSpan(`${field.path}:`)];
    const [first = [], ...more] = recordedSides(field, options.width, lineWidth(name) + 1);
    if (more.length === 0) return [[...name, span(' '), ...first]];
    const below = recordedSides(field, options.width, INDENT + 2);
    return [name, ...below.map((line) => [span(' '.repeat(INDENT + 2)), ...line])];
  };
  return listLines(fields, drawField, MAX_FIELDS, options, 'more fields');
}

/**
 * Both sides of a field behind so many columns: in one line where they fit, else below each other, and cut from a little
 * before where they differ. Then what cannot be seen of the difference.
 */
export function recordedSides(
  { before, after, secret, kept, other_source: isOther }: Log.Field,
  width: number,
  indent: number,
): readonly Line[] {
  const room = Math.max(width, 40) - indent;
  const word = (isKept: boolean, text: string) => liveSpan(isKept ? text : NOT_KEPT);
  const source = isOther === true ? [span(', from another source')] : [];
  const arrow = span('→ ');
  const sidesIn = (columns: number) => {
    // Two masked secrets have no parts to compare.
    const short =
      secret || before === after
        ? { before: inlineValue(before), after: inlineValue(after), unseen: [] }
        : shortSides(before, after, columns);
    const unseen = kept.before && kept.after ? short.unseen : [];
    return {
      old: word(kept.before, short.before),
      fresh: word(kept.after, short.after),
      unseen: unseen.map((text): Line => [span(`${UNSEEN_SIGN} ${text}`)]),
    };
  };
  const whole = sidesIn(Number.POSITIVE_INFINITY);
  const line = [whole.old, span(' '), arrow, whole.fresh, ...source];
  if (lineWidth(line) <= room) return [line, ...whole.unseen];
  const { old, fresh, unseen } = sidesIn(room - 2);
  return [[old], [arrow, fresh, ...source], ...unseen];
}

/** The mark for a long text of which a receipt has a digest alone. */
const NOT_KEPT = '(not kept)';

/** Edits that are named; the receipt has all. */
const MAX_EDITS = 3;

/** `undid the edit of greeting_message by user:maria via dashboard at 2026-11-21T10:12:03Z` */
function formatUndone({ fields, edits }: NonNullable<LedgerLine['undid']>): string {
  const what = formatFirst(fields, MAX_LEFT);
  if (edits.length === 0) return `undid an edit of ${what} by an unknown author`;
  const who = formatFirst(edits.map(formatEdit), MAX_EDITS);
  return `undid ${edits.length === 1 ? 'the edit' : `${edits.length} edits`} of ${what} by ${who}`;
}

/** `id 5d2b…; history entry 41 → 43; fields: model, status` */
function formatDetails({ id, history, fields }: LedgerLine): string {
  return [
    ...(id === null ? [] : [`id ${id}`]),
    ...(history === null
      ? []
      : [`history entry ${history.before ?? '–'} → ${history.after ?? '–'}`]),
    ...(fields.length === 0 ? [] : [`fields: ${fields.join(', ')}`]),
  ].join('; ');
}

/** `Partly done: 52 updated, 1 created; 9 failed` */
function countOutcomes(lines: readonly LedgerLine[]): string {
  const left = leftOut(lines);
  const tried = lines.filter(({ verdict }) => verdict === undefined);
  if (tried.length === 0) return `Nothing was written${left}`;
  const done = tried.filter(({ status }) => status === 'done');
  const actions = [...Map.groupBy(done, ({ action }) => action)].map(
    ([action, own]) => [own.length, toPastTense(action)] as const,
  );
  if (!tried.some(isMissed)) return `Done: ${tally(actions)}${left}`;
  const others = (['failed', 'blocked', 'not_attempted'] as const).map(
    (status) =>
      [tried.filter((line) => line.status === status).length, LOOKS[status].word] as const,
  );
  if (done.length === 0) return `Not done: ${tally(others)}${left}`;
  return `Partly done: ${tally(actions)}; ${tally(others)}${left}`;
}

/** `; 1 delete waits for --allow-delete; left out: 2 refused` */
function leftOut(lines: readonly LedgerLine[]): string {
  const verdicts = ['refused', 'unsupported'] as const;
  const counts = tally(
    verdicts.map((verdict) => [lines.filter((one) => one.verdict === verdict).length, verdict]),
  );
  const waits = describeWaiting(lines);
  return [...(waits ? [waits] : []), ...(counts === '' ? [] : [`left out: ${counts}`])]
    .map((part) => `; ${part}`)
    .join('');
}

/** Beyond this many they are counted, unless everything is asked for. */
const MAX_LEFT = 6;

const MAX_VALUE = 120;

/**
 * Says that everything that could be read is as it was, or what is not: address, field, what was wanted and what was
 * found; and what was not put back, with what to do about it.
 */
export function renderVerification(
  { differs, equal, problem, left }: Verification,
  run: string | undefined,
  options: RenderOptions,
): string {
  const then = run === undefined ? 'in the snapshot' : `before run ${run}`;
  const say = (text: string) =>
    paint(wrap([span(text, 'strong')], options.width, 2), options.color);
  const isNamed = ({ address, path }: Verification['differs'][number]) =>
    left.some((one) => one.address === address && one.path === path);
  const others = differs.filter((one) => !isNamed(one));
  const named = left.length === 0 ? '' : renderNotUndone(left, options);
  if (problem !== null) {
    return `${named}${say(`Not verified: the live resources could not be read again: ${problem}`)}`;
  }
  if (others.length === 0) {
    const count = formatCount(equal + countPlaces(differs), 'resource');
    const but = left.length === 0 ? '' : ', except for the fields listed above';
    const what = left.length === 0 ? 'every leaf' : 'every leaf that the platform returns';
    return `${named}${say(`Verified: ${count} read again, ${what} as ${then}${but}.`)}`;
  }
  const lines = others.flatMap(({ address, path, wanted, found }) => [
    ...placeLines({ address, path }, options),
    ...differenceLines(wanted, found, options),
  ]);
  const what = `Not as ${then}: ${formatCount(others.length, 'field')} of ${formatCount(countPlaces(others), 'resource')}.`;
  return `${named}${say(what)}${paint(lines, options.color)}`;
}

/** Lists what was not put back: address, field, why, and advice; once if that is the same of several. */
export function renderNotUndone(left: readonly NotUndone[], options: RenderOptions): string {
  const alike = Map.groupBy(left, ({ path, why, advice }) => JSON.stringify([path, why, advice]));
  const groups = [...alike.values()];
  const groupLines = (group: readonly NotUndone[]) => {
    const [{ path, why, advice } = NOTHING] = group;
    const most = options.verbose ? Infinity : MAX_LEFT;
    const address = formatFirst(
      group.map((one) => one.address),
      most,
    );
    return [...placeLines({ address, path }, options), ...belowLines(`${why}. ${advice}`, options)];
  };
  const resources = formatCount(countPlaces(left), 'resource');
  const values = left.filter(({ path }) => path !== null).length;
  const what = values === 0 ? resources : `${formatCount(values, 'value')} of ${resources}`;
  return paint(
    [
      ...wrap([span(`Not restored: ${what}.`, 'strong')], options.width, 2),
      ...listLines(groups, groupLines, MAX_LEFT, options),
    ],
    options.color,
  );
}

const NOTHING: NotUndone = { address: '', path: null, why: '', advice: '' };

function placeLines(
  { address, path }: { readonly address: string; readonly path: string | null },
  options: RenderOptions,
) {
  const field = path === null ? '' : `  ${path}`;
  const place = [span('  '), span(address, 'strong'), span(field)];
  return wrap(place, options.width, INDENT);
}

function differenceLines(wanted: Json, found: Json, options: RenderOptions): readonly Line[] {
  const { before, after, unseen } = shortSides(wanted, found, MAX_VALUE);
  const sides = [span('    '), span('wanted '), span(before), span(', found '), span(after)];
  return [
    ...wrap(sides, options.width, 4),
    ...unseen.flatMap((text) => belowLines(`${UNSEEN_SIGN} ${text}`, options)),
  ];
}

function countPlaces(places: readonly { readonly address: string }[]): number {
  return new Set(places.map(({ address }) => address)).size;
}

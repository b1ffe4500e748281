import { byAddress, nameInWords } from '../core/address.ts';
import { commandLine, commandSpan, quoted } from '../core/command-line.ts';
import {
  formatCount,
  formatDuration,
  formatFirst,
  formatList,
  formatNumber,
  unreachable,
} from '../core/errors.ts';
import {
  type Action,
  allowanceFlags,
  type Callout,
  type Change,
  type ChangeGroup,
  type FieldChange,
  isAbsent,
  isOnBase,
  isRefused,
  isRefusedByBranch,
  isSecretMoved,
  isStateless,
  listUnready,
  type PlanDocument,
  type PlannedOperation,
  type PlanSummary,
  type SnapshotMark,
  shortCommit,
  summarise,
  toFlag,
  type Verdict,
} from '../core/plan-document.ts';
import { inSeconds } from '../core/value.ts';
import { sanitiseLine } from './untrusted.ts';

/** The words that the renderers share, so that a terminal and a pull request say the same. */

export { formatCount, formatFirst, formatList, formatNumber, formatSize } from '../core/errors.ts';

export const SYMBOLS: { readonly [action in Action]: string } = {
  create: '+',
  update: '~',
  replace: '±',
  delete: '-',
  adopt: '=',
  forget: 'x',
  no_op: ' ',
};

/** Before what cannot be seen of a value and is said in words. */
export const UNSEEN_SIGN = '≈';

/** `2 failed, 1 held`: those of some counts that are not zero; empty where all are. */
export function tally(counts: readonly (readonly [count: number, what: string])[]): string {
  return counts
    .filter(([count]) => count > 0)
    .map(([count, what]) => `${formatNumber(count)} ${what}`)
    .join(', ');
}

/** `2 min 10 s ago`; undefined where it is no moment. The clock of `now` may be another one than that of `at`. */
export function formatAge(at: string, now: Date): string | undefined {
  const seconds = (now.getTime() - Date.parse(at)) / 1000;
  if (Number.isNaN(seconds)) return undefined;
  if (seconds < 0) return 'ahead of the clock here';
  return seconds < 1 ? 'just now' : `${formatDuration(seconds)} ago`;
}

/** A moment that the platform or a file tells. */
export function formatTime(text: string): string {
  return inSeconds(sanitiseLine(text));
}

/** `1 retry policy`, `4 retry policies`. */
export function countKind(count: number, kind: string): string {
  return formatCount(count, nameInWords(kind), kindTitle(kind));
}

/** `60 agents alike`: what a group says of its resources. Of new ones without fields nothing is shown that is alike. */
export function formatGroup(
  kind: string,
  action: ChangeGroup['action'],
  count: number,
  hasFields = true,
): string {
  const isNamed = action === 'create' && !hasFields;
  return `${countKind(count, kind)}${isNamed ? ', new' : GROUPED[action]}`;
}

/** Which values of the example of a group are those of its own row; undefined where none is. */
export function varyingMessage(varying: readonly string[]): string | undefined {
  if (varying.length === 0) return undefined;
  const verb = varying.length === 1 ? 'differs' : 'differ';
  return `the first of them is shown; ${formatList(varying)} ${verb} from row to row`;
}

const GROUPED: { readonly [action in ChangeGroup['action']]: string } = {
  create: ', new and alike',
  update: ' alike',
  delete: ' to delete',
  forget: ' to forget, which stay as they are',
};

/** `retry policies` of `retry_policy`: a kind's name in running text. */
export function kindTitle(kind: string): string {
  const words = nameInWords(kind);
  return words.endsWith('y') ? `${words.slice(0, -1)}ies` : `${words}s`;
}

/** `9 to create, 2 to update; of these 1 refused; 2 adopted`, or undefined when nothing is to be done. */
function formatCounts(summary: PlanSummary): string | undefined {
  const actions = ['create', 'update', 'replace', 'delete', 'forget'] as const;
  const todo = tally(actions.map((action) => [summary[action], `to ${action}`]));
  const verdicts = ['refused', 'held', 'unsupported'] as const;
  const left = tally(verdicts.map((verdict) => [summary[verdict], verdict]));
  // They are counted among what is to be done.
  return (
    [todo, left === '' ? '' : `of these ${left}`, tally([[summary.adopt, 'adopted']])]
      .filter((part) => part !== '')
      .join('; ') || undefined
  );
}

const WAITING: { readonly [action: string]: string | undefined } = {
  delete: 'delete',
  replace: 'replacement',
};

/**
 * `1 delete waits for --allow-delete`: what a plan holds back, by the flag that would lift it. Undefined where it holds
 * nothing back.
 */
export function describeWaiting(
  lines: readonly {
    readonly action: string;
    readonly verdict?: Verdict;
    readonly lifted_by?: NonNullable<Change['lifted_by']>;
  }[],
): string | undefined {
  const held = lines.filter(({ verdict }) => verdict === 'held');
  const parts = [...Map.groupBy(held, (line) => line.lifted_by)].map(([lift, own]) => {
    const nouns = Map.groupBy(own, ({ action }) => (lift && WAITING[action]) ?? 'change');
    const counts = [...nouns].map(([noun, some]) => formatCount(some.length, noun));
    const what = counts.join(' and ');
    return `${what} ${own.length === 1 ? 'waits' : 'wait'}${lift === undefined ? '' : ` for ${toFlag(lift)}`}`;
  });
  return parts.length === 0 ? undefined : parts.join(', ');
}

/** True if a plan sends no writes to the platform and drops nothing from the state. */
export function isEmpty({ summary }: PlanDocument): boolean {
  return summary.create + summary.update + summary.replace + summary.delete + summary.forget === 0;
}

/** `main` of `origin/main`: a base as people call it. */
export function baseName({ ref }: Pick<NonNullable<PlanDocument['base']>, 'ref'>): string {
  const name = ref.replace(/^refs\/(?:heads|remotes|tags)\//, '').replace(/^origin\//, '');
  return /^[0-9a-f]{40,64}$/.test(name) ? name.slice(0, 12) : name;
}

/** All resources that the plan looked at. */
export function comparedCount({ summary }: PlanDocument): number {
  const { create, update, replace, delete: deleted, adopt, forget, no_op } = summary;
  return create + update + replace + deleted + adopt + forget + no_op;
}

/** Says in one line what the plan comes to, its worst first: the first and the last thing that is said. */
export function headline(plan: PlanDocument): string {
  const where = plan.environment === undefined ? '' : ` for ${plan.environment}`;
  const facts = worstFirst(plan.changes, columnFacts(plan));
  const all = isRefused(plan) ? `refused; ${facts}` : facts;
  switch (plan.purpose) {
    case 'apply':
      if (plan.base !== undefined && !isEmpty(plan)) return headlineBesideBase(plan, where);
      return isEmpty(plan)
        ? `No changes${where}. The platform matches the configuration${apartFrom(plan)}.`
        : `Plan: ${all}`;
    case 'rollback': {
      if (plan.snapshot !== undefined) return headlineToSnapshot(plan, plan.snapshot, where);
      const run = plan.undoes === undefined ? '' : ` of run ${plan.undoes}`;
      return isEmpty(plan)
        ? `No changes${where}. Nothing${run} is left to roll back.`
        : `Rollback${run}: ${all}`;
    }
    case 'restore':
      return isEmpty(plan)
        ? `No changes${where}. The platform matches the snapshot${apartFrom(plan)}.`
        : `Restore: ${all}`;
    case 'drift': {
      const drifted = plan.changes.length;
      if (isStateless(plan)) return headlineWithoutState(plan, where);
      const unready = besides(countUnready(plan));
      const isReturned = plan.notes.some((note) => note.returned !== undefined);
      const elsewhere = isReturned ? 'Nothing that is managed' : 'Nothing';
      return drifted === 0
        ? `No drift${where}. ${elsewhere} changed outside Callsheet${unready}.`
        : `Drift${where}: ${formatCount(drifted, 'resource')} changed outside Callsheet${unready}`;
    }
    case 'comparison':
      return isEmpty(plan)
        ? 'No resource differs'
        : `Difference: ${formatDifference(plan.summary)}`;
    default:
      return unreachable(plan.purpose);
  }
}

/** `Plan of this pull request: 1 agent changes; main has 2 changes already`. */
function headlineBesideBase(plan: PlanDocument, where: string): string {
  const { changes, base } = plan;
  const own = changes.filter((change) => !isOnBase(change));
  const others = changes.length - own.length;
  const count = formatCount(others, 'change');
  const already =
    base?.behind === 0
      ? `; ${baseName(base)} has ${count} already`
      : `; ${count} ${others === 1 ? 'is' : 'are'} not its own`;
  const acting = own.filter(({ action }) => action !== 'adopt');
  if (acting.length === 0) return `No changes of this pull request${where}${already}`;
  const refused = isRefusedByBranch(plan) ? 'refused; ' : '';
  return `Plan of this pull request: ${refused}${worstFirst(own)}${others === 0 ? '' : already}`;
}

/** Facts of a headline at most; the counts below it have all. */
const MOST_FACTS = 4;

/** `62 agents change; 1 deleted, 1 secret to a new host`: what some changes come to, the worst first. */
function worstFirst(changes: readonly Change[], more: readonly Fact[] = []): string {
  const acting = changes.filter(({ action }) => action !== 'adopt' && action !== 'no_op');
  const [first] = acting;
  if (first === undefined) return formatCount(0, 'change');
  const isOneKind = acting.every(({ kind }) => kind === first.kind);
  const isAlike = acting.every(
    ({ action, verdict }) => action === first.action && verdict !== 'held',
  );
  const count = (adjective = '') => {
    const one = `${adjective}${isOneKind ? nameInWords(first.kind) : 'resource'}`;
    const several = `${adjective}${isOneKind ? kindTitle(first.kind) : 'resources'}`;
    return formatCount(acting.length, one, several);
  };
  const said: SaidOfAll = isAlike ? (first.action as SaidOfAll) : 'update';
  const facts = [...worstFacts(acting), ...more].filter(
    ({ of, count: some }) => some > 0 && of !== said,
  );
  const listed = facts.slice(0, MOST_FACTS).map(({ text }) => text);
  return [SAID_OF_ALL[said](count, acting.length === 1), listed.join(', ')]
    .filter((part) => part !== '')
    .join('; ');
}

type SaidOfAll = 'create' | 'update' | 'replace' | 'delete' | 'forget';

/** A sentence about changes that are all of one action; of mixed ones that of updates is said. */
const SAID_OF_ALL: {
  readonly [action in SaidOfAll]: (count: (adjective?: string) => string, isOne: boolean) => string;
} = {
  create: (count) => count('new '),
  update: (count, isOne) => `${count()} ${isOne ? 'changes' : 'change'}`,
  replace: (count, isOne) => `${count()} ${isOne ? 'is' : 'are'} replaced`,
  delete: (count, isOne) => `${count()} ${isOne ? 'is' : 'are'} deleted`,
  forget: (count, isOne) => `${count()} ${isOne ? 'is' : 'are'} forgotten`,
};

type Fact = { readonly count: number; readonly text: string; readonly of?: Action };

/** `2 columns of clinics.csv`: the tables whose values a plan changes. */
function columnFacts({ groups = [] }: PlanDocument): readonly Fact[] {
  const columns = groups.flatMap(({ fields }) => fields.flatMap((field) => field.columns ?? []));
  const files = Map.groupBy(columns, ({ source }) => source);
  return [...files].flatMap(([file, own]): Fact[] => {
    const count = new Set(own.map(({ column, expression }) => column ?? expression)).size;
    return file === null ? [] : [{ count, text: `${formatCount(count, 'column')} of ${file}` }];
  });
}

/** Counts what a reviewer must know of some changes, the worst first; some counts may be 0. */
function worstFacts(changes: readonly Change[]): readonly Fact[] {
  const of = (action: Action, word: string): Fact => {
    const count = changes.filter((one) => one.action === action && one.verdict !== 'held').length;
    return { count, text: `${formatNumber(count)} ${word}`, of: action };
  };
  const counted = (
    all: readonly unknown[],
    one: string,
    after: string,
    several?: string,
  ): Fact => ({
    count: all.length,
    text: `${formatCount(all.length, one, several)}${after}`,
  });
  const sent = changes.flatMap(({ secrets = [] }) => secrets.filter(isSecretMoved));
  const known = sent.filter(({ before }) => before !== null);
  // A held change undoes nothing yet.
  const causes = changes
    .filter(({ verdict }) => verdict !== 'held')
    .flatMap(({ fields }) => fields.map(({ cause }) => cause));
  // The same edit of many is one.
  const called = (isMeant: (callout: Callout) => boolean) => [
    ...new Set(
      changes
        .flatMap(({ callouts = [] }) => callouts.filter(isMeant))
        .map(({ path, before, after }) => JSON.stringify([path, before, after])),
    ),
  ];
  const prices = called(isPrice);
  return [
    of('delete', 'deleted'),
    counted(
      changes.filter(({ action, verdict }) => action === 'delete' && verdict === 'held'),
      'delete',
      ' held',
    ),
    of('replace', 'replaced'),
    counted(
      known.filter(({ to, before }) => to !== null && to !== before),
      'secret',
      ' to a new host',
    ),
    counted(
      known.filter(({ to }) => to === null),
      'secret',
      ' removed',
    ),
    counted(
      called(({ sort }) => sort === 'reversed'),
      'rule',
      ' reversed',
    ),
    counted(prices, 'price', ` changed${amounts(prices)}`),
    counted(
      causes.filter((cause) => cause === 'conflict'),
      'conflict',
      '',
    ),
    counted(
      causes.filter((cause) => cause === 'drifted'),
      'edit',
      ' outside Callsheet undone',
    ),
    of('create', 'new'),
    of('forget', 'forgotten'),
  ];
}

const MONEY = /[$€£¥]\s?\d|\d\s?(?:[$€£¥]|(?:dollars?|euros?|pounds?|cents?|USD|EUR|GBP)\b)/i;

function isPrice({ sort, before, after }: Callout): boolean {
  return sort === 'number' && [before, after].some((side) => side !== null && MONEY.test(side));
}

/** ` ($90 → $190)` where one price alone changed, wherever it stands: it is what a reviewer would open first. */
function amounts(prices: readonly string[]): string {
  const sides = new Set(prices.map((price) => JSON.stringify(JSON.parse(price).slice(1))));
  const [only] = sides;
  if (only === undefined || sides.size > 1) return '';
  const [before, after]: readonly (string | null)[] = JSON.parse(only);
  if (before == null || after == null) return '';
  const text = ` (${sanitiseLine(before)} → ${sanitiseLine(after)})`;
  return text.length > MOST_AMOUNTS ? '' : text;
}

const MOST_AMOUNTS = 40;

/** Resources that a question names; more are counted. */
const MOST_ASKED = 3;

/** `Apply 61 updates and delete agent.old_front?`: the question before a plan is carried out, with what is worst of it. */
export function applyQuestion({ changes }: Pick<PlanDocument, 'changes'>): string {
  const counts = (['update', 'create'] as const).flatMap((action) => {
    const { length } = changes.filter((one) => one.action === action && one.verdict === 'ok');
    return length === 0 ? [] : [formatCount(length, action)];
  });
  const [first = 'apply this plan', ...others] = [
    ...(counts.length === 0 ? [] : [`apply ${counts.join(', ')}`]),
    ...listWorst(changes),
  ];
  return `${first.charAt(0).toUpperCase()}${formatList([first.slice(1), ...others])}?`;
}

/** `Roll back run r1 and delete agent.new?` */
export function rollbackQuestion(what: string, { changes }: Pick<PlanDocument, 'changes'>): string {
  return `${formatList([`Roll back ${what}`, ...listWorst(changes)])}?`;
}

/** `delete agent.old_front`, `send 1 secret to a new host`: what cannot be taken back of some changes. */
function listWorst(changes: readonly Change[]): readonly string[] {
  const carried = changes.filter(({ verdict }) => verdict === 'ok');
  const named = (['replace', 'delete'] as const).flatMap((action) => {
    const own = carried.filter((one) => one.action === action).map(({ address }) => address);
    if (own.length === 0) return [];
    const isMany = own.length > MOST_ASKED;
    return [`${action} ${isMany ? formatCount(own.length, 'resource') : formatList(own)}`];
  });
  const secrets = carried
    .flatMap(({ secrets: sent = [] }) => sent.filter(isSecretMoved))
    .filter(({ to, before }) => before !== null && to !== null && to !== before);
  if (secrets.length === 0) return named;
  return [...named, `send ${formatCount(secrets.length, 'secret')} to a new host`];
}

/** `Already on main: 2 changes`: what stands above those that the base of a plan has. */
export function titleOnBase({ changes, base }: PlanDocument): string {
  const place = base?.behind === 0 ? `Already on ${baseName(base)}` : 'Not of this pull request';
  return `${place}: ${formatCount(changes.filter(isOnBase).length, 'change')}`;
}

/** Says if a change is of the pull request or of its base; undefined if the plan has no base. */
export function describeOrigin(change: Change, plan: PlanDocument): string | undefined {
  const { base } = plan;
  if (base === undefined || change.origin === undefined) return undefined;
  if (isOnBase(change))
    return base.behind === 0 ? `${baseName(base)} has it already` : 'not of this pull request';
  const known = fieldsOnBase(change, plan);
  return ['of this pull request', ...(known === undefined ? [] : [known])].join('; ');
}

/** Which fields of a change of this pull request its base has already; undefined where it has none. */
export function fieldsOnBase(
  { fields, action }: Change,
  { base }: PlanDocument,
): string | undefined {
  const [known, own] = [true, false].map((isThere) =>
    fields.filter(({ origin }) => (origin === 'base') === isThere).map(({ path }) => path),
  ) as [string[], string[]];
  if (base === undefined || known.length === 0) return undefined;
  // A new resource shows only the fields that the pull request adds.
  return action === 'create'
    ? `${baseName(base)} has it already, but for ${formatFirst(own, MOST_PATHS)}`
    : `${baseName(base)} has ${formatFirst(known, MOST_PATHS)} already`;
}

const MOST_PATHS = 5;

/** `; 1 resource that is not ready` */
function besides(words: string | undefined): string {
  return words === undefined ? '' : `; ${words}`;
}

function headlineWithoutState(plan: PlanDocument, where: string): string {
  const drifted = plan.changes.length;
  const unready = besides(countUnready(plan));
  const why = 'There is no state, so edits cannot be told from changes of the files.';
  return drifted === 0
    ? `No difference${where} from the files${unready}. ${why}`
    : `Drift${where}: ${formatCount(drifted, 'resource')} not as in the files${unready}. ${why}`;
}

/** `1 resource that is not ready`; undefined where all are, as far as the platform tells. */
function countUnready(plan: PlanDocument): string | undefined {
  const { length } = listUnready(plan);
  if (length === 0) return undefined;
  return formatCount(length, 'resource that is not ready', 'resources that are not ready');
}

/** A headline promises nothing of edits that are kept, or of secrets that are set and cannot be compared. */
function apartFrom(plan: PlanDocument): string {
  const { notes, kept = [] } = plan;
  const unready = countUnready(plan);
  const edits = kept.reduce((sum, { fields }) => sum + fields.length, 0);
  const secrets = notes.reduce((sum, { uncompared = 0 }) => sum + uncompared, 0);
  const parts = [
    ...(unready === undefined ? [] : [unready]),
    ...(edits === 0 ? [] : [formatCount(edits, 'kept edit')]),
    ...(secrets === 0 ? [] : [`${formatCount(secrets, 'secret')} that cannot be compared`]),
  ];
  return parts.length === 0 ? '' : `, apart from ${formatList(parts)}`;
}

/** `1 made, 2 changed, 1 gone`: what happened between two snapshots. */
function formatDifference({ create, update, replace, delete: deleted }: PlanSummary): string {
  return tally([
    [create, 'made'],
    [update, 'changed'],
    [replace, 'replaced'],
    [deleted, 'gone'],
  ]);
}

function headlineToSnapshot(
  plan: PlanDocument,
  { made_at: at }: SnapshotMark,
  where: string,
): string {
  const to = `the snapshot of ${inSeconds(at)}`;
  const isApart = plan.notes.some(({ severity, address }) => severity === 'warning' && address);
  const how = isApart
    ? `Not everything is as in ${to}: see the warnings.`
    : `Everything is as in ${to}.`;
  return isEmpty(plan)
    ? `No changes${where}. ${how}`
    : `Rollback to ${to}: ${worstFirst(plan.changes)}`;
}

/** `9 to create, 2 to update; 1 adopted`: the counts below a headline; empty where the headline says all of them. */
export function countsBelow({ changes, base, summary: all }: PlanDocument): string {
  const summary =
    base === undefined
      ? all
      : summarise(
          changes.filter((one) => !isOnBase(one)),
          0,
        );
  const { create, update, replace, delete: deleted, forget, refused, held, unsupported } = summary;
  const several =
    [create, update, replace, deleted, forget].filter((count) => count > 0).length > 1;
  const isMore = several || refused + held + unsupported + summary.adopt > 0;
  return isMore ? (formatCounts(summary) ?? '') : '';
}

/** Says where a plan is from: `clinics · production · 1f3a9c0d2b44`. Empty if that is unknown. */
export function formatPlanPlace({ stack, environment }: PlanDocument): string {
  const { commit } = stack ?? {};
  const id = commit === undefined ? '' : shortCommit(commit.id);
  const parts = [
    stack === undefined ? '' : stackName(stack),
    environment ?? '',
    commit?.is_changed === true ? `${id} with uncommitted changes` : id,
  ];
  return parts.filter((part) => part !== '').join(' · ');
}

/** Names a stack by its name, or, where that is a path, by its folder. */
export function stackName({ name }: NonNullable<PlanDocument['stack']>): string {
  const isPath = name.startsWith('/') || /^[A-Za-z]:\\/.test(name);
  return isPath ? (name.split(/[\\/]/).findLast((part) => part !== '') ?? name) : name;
}

/** `412 calls in 7 days`: who will notice a change; undefined where that is not known. */
export function formatCalls({ calls }: Pick<Change, 'calls'>): string | undefined {
  if (calls === undefined) return undefined;
  return `${calls === 0 ? 'no calls' : formatCount(calls, 'call')} in 7 days`;
}

/** `Apply sends about 24 requests (14 reads, 10 writes): about 3 s.`; empty where nothing is asked. */
export function formatForecast({ requests, purpose }: PlanDocument): string {
  const { reads, writes, seconds } = requests;
  if (reads + writes === 0) return '';
  const sum = formatCount(reads + writes, 'request');
  const split = `${formatCount(reads, 'read')}, ${formatCount(writes, 'write')}`;
  const who =
    purpose === 'rollback' ? 'The rollback' : purpose === 'restore' ? 'Restoring' : 'Apply';
  return `${who} sends about ${sum} (${split}): about ${formatDuration(seconds)}.`;
}

/** `updateSmsTemplate is called at PUT /v2/texts/{id} instead of PATCH …`, one for each operation that the stack moved. */
export function movedEndpointLines({ endpoints = [] }: PlanDocument): readonly string[] {
  return endpoints.map(
    ({ operation, method, path, instead_of: was }) =>
      `${operation} is called at ${method} ${path} instead of ${was.method} ${was.path} (platform.endpoints).`,
  );
}

/** Advises on drift, a line for each sort of it: commands that are not refused because of the other sorts. */
export function driftAdvice({ changes, environment: env }: PlanDocument): readonly string[] {
  const bySort = Map.groupBy(changes, driftSort);
  // A command that takes one sort refuses another.
  const isMixed = bySort.size > 1;
  const skip = isMixed ? ' --skip-refused' : '';
  const typed = (command: string) => commandSpan(command, { dir: '.', env });
  const listPulls = (sort: DriftSort, asked: string, isApart: boolean) =>
    pullWays(bySort.get(sort) ?? []).map(({ way, isPartial }) => {
      const flags = [way, isApart || isPartial ? '--skip-refused' : '', '--dry-run'];
      const words = [asked, ...flags].filter((word) => word !== '');
      return { way, command: typed(words.join(' ')) };
    });
  // For the others, --theirs would take back the changes in the files.
  const named = (bySort.get('conflict') ?? []).map(({ address }) => quoted(address));
  const advice: { readonly [sort in DriftSort]: () => string } = {
    edited: () =>
      [
        `To put it back: ${typed(`apply${skip}`)}.`,
        ...listPulls('edited', 'pull', isMixed).map(
          ({ way, command }) => `${KEEPING[way]}: ${command}.`,
        ),
      ].join(' '),
    unconfigured: () =>
      `Edited and no longer configured: ${typed('apply --allow-delete')} deletes them with the edits. To keep them, configure them again.`,
    conflict: () =>
      `Conflicts: ${typed(`apply --accept-conflicts${skip}`)} writes the values of the files. ${listPulls('conflict', `pull ${named.join(' ')} --theirs`, false)[0]?.command} shows how to keep the live values.`,
    gone: () =>
      `Deleted resources: ${typed(`apply${skip}`)} creates them again. To keep them deleted, remove their blocks.`,
    successor: () =>
      `Resources with a new id: ${typed('plan')} shows what apply would write to them.`,
  };
  return DRIFT_SORTS.filter((sort) => bySort.has(sort)).map((sort) => advice[sort]());
}

type PullWay = NonNullable<FieldChange['pull_flags']>[number] | '';

const KEEPING: { readonly [way in PullWay]: string } = {
  '': 'To keep it',
  '--override': 'To keep it in these resources alone',
  '--change-shared': 'To keep it for all that share the value',
};

/** How pull writes live values: without a flag, or with one of those that some of them need. `isPartial`: it leaves some out. */
function pullWays(changes: readonly Change[]) {
  const needs = changes.flatMap(({ fields }) =>
    fields.flatMap(({ pull_flags: own }) => (own === undefined ? [] : [own])),
  );
  const flags = (['--override', '--change-shared'] as const).filter((flag) =>
    needs.some((own) => own.includes(flag)),
  );
  const ways: readonly PullWay[] = flags.length === 0 ? [''] : flags;
  return ways.map((way) => ({
    way,
    isPartial: needs.some((own) => way === '' || !own.includes(way)),
  }));
}

/** Describes the loss that a delete is, though a rollback makes the resource again; undefined where none is planned. */
export function describeLoss(
  { action, kind }: Pick<Change, 'action' | 'kind'>,
  { purpose }: Pick<PlanDocument, 'purpose'>,
): string | undefined {
  return action === 'delete' && purpose === 'apply'
    ? `a rollback makes a new ${sanitiseLine(nameInWords(kind))}, with another id and without its history`
    : undefined;
}

/** Tells what an approval of a plan is worth that is refused. */
export const BLOCKED = 'This plan cannot be applied as it is, even if it is approved.';

/** Tells whether approving a plan does nothing, as something of it is refused. */
export function isBlocked(plan: PlanDocument): boolean {
  const { purpose, summary, options, base } = plan;
  if (purpose !== 'apply' || summary.refused === 0 || options.skip_refused) return false;
  return base === undefined || isRefusedByBranch(plan);
}

/** The command that applies a plan without its refused changes, with all that the plan was allowed. */
export function leaveOutCommand({ options, environment: env }: PlanDocument): string {
  const { strategy, ...allowed } = { ...options, skip_refused: true };
  // A strategy has its resources from its own selection.
  const own = strategy === undefined ? ['apply'] : [`${strategy.command} ${strategy.name}`];
  const flags = allowanceFlags(strategy === undefined ? allowed : { ...allowed, target: [] });
  return commandLine([...own, ...flags].join(' '), { dir: '.', env });
}

const DRIFT_SORTS = ['edited', 'unconfigured', 'conflict', 'gone', 'successor'] as const;

type DriftSort = (typeof DRIFT_SORTS)[number];

/** Returns how pull and apply treat a drifted resource. */
function driftSort(change: Change): DriftSort {
  const { missing_id: missing, fields } = change;
  if (isAbsent(change)) return 'gone';
  if (change.before === null && change.after !== null) return 'unconfigured';
  if (missing !== null) return 'successor';
  return fields.some(({ cause }) => cause === 'conflict') ? 'conflict' : 'edited';
}

/** Counts the notes that the run which recorded the state reported already; empty if there are none. */
export function notesAsBefore({ notes }: PlanDocument): string {
  const { length } = notes.filter(({ known }) => known === true);
  if (length === 0) return '';
  return `${formatCount(length, 'note')} as in the last run; --verbose shows ${length === 1 ? 'it' : 'them'}`;
}

/** The assumptions that no run of the stack has rested on before. */
export function newAssumptions({ assumptions, known_assumptions: known = [] }: PlanDocument) {
  return assumptions.filter((one) => !known.includes(one));
}

/** `Relies on 2 assumptions: …`, with what an assumption is and which command lists all. */
export function reliesOn(assumptions: readonly string[], verb = 'Relies'): string {
  const count = formatCount(assumptions.length, 'assumption');
  return `${verb} on ${count}: ${assumptions.join(', ')}. An assumption fills a gap of the platform’s documentation. To list them: \`callsheet explain assumptions\``;
}

/** Returns `Who changed what relies on 2 assumptions: history.entries, …`; undefined if drift names no author. */
export function namesRelyOn({ assumptions }: PlanDocument): string | undefined {
  if (assumptions.length === 0) return undefined;
  return reliesOn(assumptions, 'Who changed what relies');
}

/** The changes of one kind in one organization. */
type Group<T> = {
  /** `harbor · agents`, not sanitised; kinds that belong to the account stand alone. */
  readonly title: string;
  readonly changes: readonly T[];
};

/** The account's own kinds first, organizations by name, kinds in the order of the plan, changes in natural order. */
export function groupByOwner<T extends Pick<Change, 'kind' | 'address'>>(
  changes: readonly T[],
  getOwner: (change: T) => string,
): readonly Group<T>[] {
  const kinds = [...new Set(changes.map(({ kind }) => kind))];
  return [...Map.groupBy(changes, getOwner)]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .flatMap(([owner, owned]) => {
      const byKind = Map.groupBy(owned, ({ kind }) => kind);
      return kinds.map((kind) => ({
        title: [owner, kindTitle(kind)].filter((part) => part !== '').join(' · '),
        changes: (byKind.get(kind) ?? []).sort((a, b) => byAddress(a.address, b.address)),
      }));
    })
    .filter((group) => group.changes.length > 0);
}

/** A missing resource would be created again; as drift it is a deleted resource. */
export function gone(change: Change): Change {
  return isAbsent(change) ? { ...change, action: 'delete' } : change;
}

/** `revert to history entry 41 (model), then update (status): a revert does not restore status` */
export function describeHow({
  operations,
  undoing,
}: Pick<Change, 'operations' | 'undoing'>): string {
  const steps = operations.map(stepText).join(', then ');
  return undoing === undefined ? steps : `${steps}: ${undoing.why}`;
}

/** `revert to history entry 41 (model, system_prompt)` */
function stepText({ step, fields, version }: PlannedOperation): string {
  const names = fields.length > 0 ? ` (${fields.join(', ')})` : '';
  switch (step) {
    case 'create':
    case 'delete':
      return step;
    case 'update':
      return `update${names}`;
    case 'revert':
      return `revert to history entry ${version ?? '?'}${names}`;
    case 'facet':
      return `set ${fields.join(', ')}`;
    case 'again':
      return 'ingest again';
    default:
      return unreachable(step);
  }
}

/** Says of a secret how many other resources read it from the same source. */
export function sharedMessage(others: number): string {
  const [read, those] = others === 1 ? ['reads', 'that one'] : ['read', 'those'];
  return `${formatCount(others, 'other resource')} ${read} it, and a new value reaches ${those}, too`;
}

import { checkLevels, DOCUMENT_LEVELS, Excess } from '../core/bounds.ts';
import { computeDigest } from '../core/digest.ts';
import { CallsheetError, formatList } from '../core/errors.ts';
import {
  type Change,
  type FindCallouts,
  isWritten,
  type PlanDocument,
  type PlanOptions,
  type RequestForecast,
} from '../core/plan-document.ts';
import { withTexts } from '../core/texts.ts';
import { isList, type JsonObject, oncePer } from '../core/value.ts';
import { PACKAGE_VERSION } from '../core/version.ts';
import { kindNamed, kinds } from '../kinds/index.ts';

/** Forecasts what apply asks of the platform. `secondsPerRequest` was measured while reading. */
export function forecastRequests(
  changes: readonly Change[],
  secondsPerRequest: number,
): RequestForecast {
  let reads = 0;
  let writes = 0;
  for (const { kind: name, operations, fields, id, pin } of changes.filter(isWriting)) {
    const kind = kindNamed(name);
    const isUpload = fields.some(({ path }) => path === 'file');
    writes += operations.length + (isUpload ? WRITES_PER_FILE - 1 : 0);
    // The check right before and the proof, of a create the proof alone; the history where the plan read it, too.
    reads += (kind.get && id !== null ? 2 : 1) + (pin?.history_id == null ? 0 : 1);
  }
  const seconds = Math.ceil((reads + writes) * secondsPerRequest);
  return { reads, writes, seconds };
}

/** A plan before it has its digests. */
export type Undigested = Omit<PlanDocument, 'digest' | 'checks'>;

/**
 * Parts of a plan that its digest is made of: all that apply acts on, and all that a reviewer is shown. Nothing in them
 * varies from run to run or means nothing, as the order of fields.
 */
const COVERED: { readonly [part: string]: (plan: Undigested) => unknown } = {
  basis: (plan) => ({
    format: plan.format,
    version: plan.version,
    purpose: plan.purpose,
    undoes: plan.undoes,
    snapshot: plan.snapshot,
    platform: plan.platform,
    environment: plan.environment,
    lineage: plan.state.lineage,
    options: plan.options,
    overridden_limits: plan.overridden_limits,
    endpoints: plan.endpoints,
    kept: plan.kept,
  }),
  agreed: ({ agreed = [] }) =>
    agreed.flatMap(({ pin: _, is_read_again: isReadAgain, ...one }) => (isReadAgain ? [] : [one])),
  // One by one: what is taken over has no document before it is asked for.
  changes: ({ changes }) => changes.map((change) => ({ toJSON: () => actedOn(change) })),
  reasons: ({ changes }) =>
    changes.map(({ address, reason, undoing }) => [address, reason, undoing]),
  groups: ({ groups = [] }) =>
    groups.map(({ fields, ...group }) => ({
      ...group,
      fields: fields.map(({ source: _, columns, ...field }) => ({
        ...field,
        ...(columns && { columns: columns.map(({ source: __, ...column }) => column) }),
      })),
    })),
  callouts: ({ changes }) =>
    changes.flatMap(({ address, callouts }) =>
      callouts === undefined ? [] : [[address, callouts]],
    ),
  summary: ({ summary }) => summary,
  organizations: ({ organizations }) => organizations,
  notes: ({ notes }) => notes.filter(({ varies }) => varies !== true),
};

/** Parts that are shown and may be others when the same is planned again: no digest that was agreed to is over them. */
const SHOWN: { readonly [part: string]: (plan: Undigested) => unknown } = {
  'made from': ({
    config_digest: configuration,
    state,
    changes,
    agreed,
    base,
    stack,
    allowed,
    made_by,
  }) => [
    configuration,
    state,
    changes.map(({ pin }) => pin),
    agreed,
    ...(base === undefined ? [] : [base, changes.map(listOrigins)]),
    ...(stack === undefined ? [] : [stack]),
    ...(allowed === undefined ? [] : [allowed]),
    ...(made_by === undefined ? [] : [made_by]),
  ],
  refusals: ({ refusals, behind, freeze, revert }) =>
    [behind, freeze, revert].every((one) => one === undefined)
      ? refusals
      : [refusals, behind, freeze, ...(revert === undefined ? [] : [revert])],
  // Facts about a resource from elsewhere than its record: its calls, and the run that deleted it.
  calls: ({ changes }) =>
    changes.flatMap(({ address, calls, deleted_by: deleted }) => [
      ...(calls === undefined ? [] : [[address, calls]]),
      ...(deleted === undefined ? [] : [[address, deleted]]),
    ]),
  names: ({ names }) => names,
  requests: ({ requests }) => requests,
  assumptions: ({ assumptions, known_assumptions: known }) => [assumptions, known],
  'notes of here': ({ notes }) => notes.filter(({ varies }) => varies === true),
  places: ({ changes, groups = [] }) => [
    changes.map(({ source, fields }) => [source, fields.map((field) => field.source)]),
    groups.map(({ fields }) =>
      fields.map(({ source, columns }) =>
        columns === undefined ? source : [source, columns.map((column) => column.source)],
      ),
    ),
  ],
};

/** The digest of the changes of a plan, which takes the longest: other parts are put beside them afterwards. */
const changesDigest = oncePer((changes: PlanDocument['changes']) =>
  computeDigest(COVERED.changes?.({ changes } as Undigested)),
);

/** A digest for each part of a plan, by which an edit of a plan file is found and named. */
function checkParts(plan: Undigested): PlanDocument['checks'] {
  const parts = Object.entries({ ...COVERED, ...SHOWN });
  return Object.fromEntries(
    parts.map(([name, part]) => [
      name,
      name === 'changes' ? changesDigest(plan.changes) : computeDigest(part(plan)),
    ]),
  );
}

/** The digest of a plan, by which it is agreed to. */
export function planDigest(plan: Undigested): string {
  return digestChecks(checkParts(plan));
}

function digestChecks(checks: PlanDocument['checks']): string {
  return computeDigest(Object.keys(COVERED).map((name) => checks[name]));
}

/** A change with the call-outs of its texts. What is masked has none. */
export function withCallouts({ callouts: _, ...change }: Change, find: FindCallouts): Change {
  const callouts = change.fields.flatMap((field) => {
    const { path, before, after, secret } = field;
    if (typeof before !== 'string' || typeof after !== 'string') return [];
    if (secret || !isWritten(field)) return [];
    return find(before, after).map((callout) => ({ path, ...callout }));
  });
  return callouts.length === 0 ? change : { ...change, callouts };
}

/** A plan with the digest of what it now is. */
export function withDigest(plan: Undigested): PlanDocument {
  const checks = checkParts(plan);
  return { ...plan, checks, digest: digestChecks(checks) };
}

/** A plan as a file holds it: with the version of Callsheet, which its digest leaves out. */
export function signed(plan: PlanDocument): PlanDocument {
  return withDigest({ ...plan, made_by: PACKAGE_VERSION });
}

/** The origin of a change, as the plan says it. */
function listOrigins({ origin, refused_on_base: isRefused, fields }: Change): unknown {
  return [origin, isRefused, fields.map((field) => field.origin)];
}

function actedOn({
  reason: _,
  source: __,
  origin: _______,
  deleted_by: _________,
  refused_on_base: ________,
  undoing: ___,
  calls: ____,
  callouts: _____,
  pin: ______,
  fields,
  operations,
  ...acted
}: Change): object {
  return {
    ...acted,
    // Which secrets can be compared may differ where the plan is applied; such a field writes nothing.
    fields: fields
      .filter(({ cause }) => cause !== 'unknown_secret')
      .map(({ source: _, origin: __, ...field }) => field)
      .sort((a, b) => (a.path < b.path ? -1 : 1)),
    operations: operations.map((one) => ({ ...one, fields: [...one.fields].sort() })),
  };
}

/** True if applying the plan would change anything on the platform. */
export function hasChanges(plan: PlanDocument): boolean {
  return plan.changes.some(({ action }) => action !== 'no_op' && action !== 'adopt');
}

/** True if a change sends requests, as the plan stands. */
export function isWriting({ verdict, operations }: Change): boolean {
  return verdict === 'ok' && operations.length > 0;
}

/**
 * True if a change would be carried out, or will be once an option lifts its refusal: nothing else then comes as news.
 */
export function isActing(
  { verdict, operations, lifted_by: lift }: Change,
  { skip_refused: isLeftOut }: PlanOptions,
): boolean {
  const isLiftable = verdict === 'refused' && lift !== undefined && !isLeftOut;
  return operations.length > 0 && (verdict === 'ok' || isLiftable);
}

/** True if a change deletes a live resource, for good or to make it again. */
export function isDelete({ operations }: Change): boolean {
  return operations.some(({ step }) => step === 'delete');
}

/** The change with the verdict that stops the plan, and the option that would lift it, if one would. */
export function refuse(change: Change, reason: string, lifted_by?: Change['lifted_by']): Change {
  return {
    ...change,
    verdict: 'refused',
    reason,
    ...(lifted_by === undefined ? {} : { lifted_by }),
  };
}

/** The checkout lacks the commit that was applied last, and no `--behind REASON` was given. */
export function isBehind({ refusals = [] }: Pick<PlanDocument, 'refusals'>): boolean {
  return refusals.some(({ guard }) => guard === 'behind');
}

/** Reads a plan file. Throws where it is not one, is of a newer version, or was changed after it was made. */
export function parsePlan(text: string, file: string): PlanDocument {
  return checkPlan(readJson(text, file), file);
}

/**
 * The same of a file that is longer than a string, line by line: it must lie as it was written, each member and each
 * element of a list on lines of its own.
 */
export async function parsePlanLines(
  lines: AsyncIterable<{ readonly text: string }> | Iterable<{ readonly text: string }>,
  file: string,
): Promise<PlanDocument> {
  const members: [string, unknown][] = [];
  let name = '';
  let list: unknown[] | undefined;
  let begun: string[] = [];
  for await (const { text } of lines) {
    const isOpen = begun.length > 0;
    const end = list === undefined ? CLOSES : CLOSES_ELEMENT;
    if (isOpen) begun.push(text);
    else if (list === undefined) {
      const [, key = '', value = ''] = MEMBER.exec(text) ?? [];
      if (key === '') continue;
      name = String(readJson(key, file));
      begun.push(value);
      if (value === '[') {
        list = [];
        begun = [];
      }
    } else if (CLOSES.test(text)) {
      members.push([name, list]);
      list = undefined;
    } else begun.push(text);
    const [first = ''] = begun;
    const isWhole = isOpen ? end.test(text) : first !== '' && !OPENS.test(first);
    if (!isWhole) continue;
    const value = readJson(begun.join('\n').replace(/,$/, ''), file);
    begun = [];
    if (list === undefined) members.push([name, value]);
    else list.push(value);
  }
  return checkPlan(Object.fromEntries(members), file);
}

/** Requests that a step makes: what it writes, and the reads before and after it. */
const WRITES_PER_FILE = 3;

/** The version of the plan document that this program writes and reads: a plan is made again rather than migrated. */
export const VERSION = 1;

/** Every member of the document, which the compiler holds against its type. */
const MEMBERS: Readonly<Record<keyof PlanDocument, true>> = {
  format: true,
  version: true,
  digest: true,
  checks: true,
  created_at: true,
  made_by: true,
  purpose: true,
  undoes: true,
  revert: true,
  snapshot: true,
  platform: true,
  organizations: true,
  names: true,
  environment: true,
  stack: true,
  config_digest: true,
  state: true,
  options: true,
  summary: true,
  requests: true,
  assumptions: true,
  known_assumptions: true,
  endpoints: true,
  changes: true,
  groups: true,
  agreed: true,
  kept: true,
  notes: true,
  freeze: true,
  refusals: true,
  overridden_limits: true,
  allowed: true,
  behind: true,
  settled: true,
  base: true,
  rehearsal: true,
  texts: true,
};

/** A member of the document, in two spaces. */
const MEMBER = /^ {2}("(?:[^"\\]|\\.)*"): (.*)$/s;

/** A member or element that the following lines continue. */
const OPENS = /[[{]$/;

/** The end of a member, and of an element of a list. */
const CLOSES = /^ {2}[\]}],?$/;

const CLOSES_ELEMENT = /^ {4}[\]}],?$/;

function readJson(text: string, file: string): unknown {
  try {
    const value: unknown = JSON.parse(text);
    checkLevels(value, DOCUMENT_LEVELS);
    return value;
  } catch (cause) {
    const why = cause instanceof Excess ? `has ${cause.what}` : 'is not JSON';
    throw new CallsheetError('usage', `${file} is not a plan: it ${why}`, {
      hint: AGAIN,
      cause,
    });
  }
}

const MADE_BY_ANOTHER = 'Apply it with the callsheet that made it, or plan again with this one.';
const AGAIN = 'Make a new one with: `callsheet plan --out plan.json`';

function checkPlan(parsed: unknown, file: string): PlanDocument {
  const version = findVersion(parsed);
  if (version !== undefined && version !== VERSION) {
    throw new CallsheetError(
      'usage',
      `${file} is a plan of version ${version}; this callsheet reads version ${VERSION}`,
      { hint: MADE_BY_ANOTHER },
    );
  }
  const plan = inFull(parsed);
  const unknown = Object.keys(Object(plan)).filter((name) => !Object.hasOwn(MEMBERS, name));
  // Unknown members would have no effect here, and no digest covers them.
  if (version !== undefined && unknown.length > 0) {
    throw new CallsheetError(
      'usage',
      `${file} has ${formatList(unknown)}, which this callsheet does not know`,
      { hint: MADE_BY_ANOTHER },
    );
  }
  if (!isPlan(plan)) {
    throw new CallsheetError('usage', `${file} is not a plan that callsheet wrote`, {
      hint: AGAIN,
    });
  }
  const { digest, checks, ...rest } = plan;
  const now = checkParts(rest);
  const edited = Object.keys(now).filter((name) => checks[name] !== now[name]);
  if (edited.length > 0 || digest !== digestChecks(now)) {
    const what = edited.length === 0 ? '' : ` (edited: ${edited.join(', ')})`;
    const message = `${file} was changed after it was made: its digest does not match${what}`;
    throw new CallsheetError('stale', message, { hint: AGAIN });
  }
  // The version belongs to the file: the plan is the one that `plan` showed.
  const { made_by: by, ...own } = rest;
  return by === undefined ? plan : withDigest(own);
}

/**
 * A plan with each text in its place. That of `--format json` is so already; a file has a list of its long texts.
 * Undefined where that is not what its marks need. The digest is over what this gives.
 */
function inFull(parsed: unknown): unknown {
  const { texts, ...packed }: Partial<JsonObject> = Object(parsed);
  if (texts === undefined) return parsed;
  try {
    return isList(texts) ? withTexts(packed as JsonObject, texts) : undefined;
  } catch {
    return undefined;
  }
}

/** The version of a plan, whatever a newer one may look like; undefined where it is no plan. */
function findVersion(value: unknown): number | undefined {
  const { format, version }: Partial<Record<string, unknown>> = Object(value);
  return format === 'callsheet-plan' && typeof version === 'number' ? version : undefined;
}

/** A validated border: the digest that follows vouches for everything that apply reads. */
function isPlan(value: unknown): value is PlanDocument {
  if (findVersion(value) !== VERSION) return false;
  const {
    digest,
    checks,
    changes,
    notes,
    groups = [],
    kept = [],
    rehearsal,
  } = value as Partial<Record<string, unknown>>;
  const known = new Set(kinds.map(({ name }) => name));
  return (
    typeof digest === 'string' &&
    typeof checks === 'object' &&
    checks !== null &&
    (rehearsal === undefined || isShown(rehearsal)) &&
    isListOf(notes, () => true) &&
    isListOf(kept, ({ fields }) => isListOf(fields, () => true)) &&
    isListOf(groups, ({ fields }) => isListOf(fields, () => true)) &&
    isListOf(changes, ({ kind, calls, fields, operations }) => {
      return (
        known.has(String(kind)) &&
        (calls === undefined || Number.isInteger(calls)) &&
        isListOf(fields, () => true) &&
        isListOf(operations, ({ fields: own }) => Array.isArray(own))
      );
    })
  );
}

type Members = Partial<Record<string, unknown>>;

function isListOf(value: unknown, test: (members: Members) => boolean): boolean {
  return (
    Array.isArray(value) &&
    value.every((one) => typeof one === 'object' && one !== null && test(one))
  );
}

const LISTS = ['steps', 'differences', 'faults', 'filled', 'assumptions'];

/** No digest vouches for a verdict, and yet it is shown: it must have all that a renderer goes through. */
function isShown(rehearsal: unknown): boolean {
  const members: Partial<Record<string, unknown>> = Object(rehearsal);
  const { digest, at, verdict, source, ...lists } = members;
  return (
    [digest, at].every((text) => typeof text === 'string') &&
    VERDICTS.includes(String(verdict)) &&
    typeof source === 'object' &&
    source !== null &&
    LISTS.every((name) => Array.isArray(lists[name])) &&
    [lists.steps].flat().every((step) => Array.isArray(Object(step).details))
  );
}

const VERDICTS = ['passed', 'partial', 'failed', 'refused', 'empty'];

import { type Address, nameInWords } from '../core/address.ts';
import { codeSpan, quoted } from '../core/command-line.ts';
import { formatCount, formatList } from '../core/errors.ts';
import { formatPath, identitySegment, startsWith, toPath } from '../core/path.ts';
import {
  type Change,
  formatEdit,
  isWritten,
  type Note,
  type PlanDocument,
  SIGNED_HERE,
} from '../core/plan-document.ts';
import { maskAt } from '../core/redact.ts';
import type { FieldSchema } from '../core/schema.ts';
import {
  Blob,
  findFilled,
  getOwn,
  inSeconds,
  isObject,
  type Json,
  type JsonObject,
  type ValueObject,
} from '../core/value.ts';
import { listDependents, listFollowers, schemaAt, type Twins, valueAt } from '../core/walk.ts';
import { isWritten as isLeafWritten, type LeafChange } from '../diff/compare.ts';
import type { Kind } from '../kinds/kind.ts';
import type { ResourceState } from '../state/model.ts';
import type { Identity, Misfit } from './identify.ts';
import type { HistoryEntry, LiveResource } from './reader.ts';
import { carryOver } from './steps.ts';

/** Why a resource is updated, for people. */
export function updateReason(
  by: Identity['by'],
  written: readonly LeafChange[],
  purpose: PlanDocument['purpose'],
  isToSnapshot = false,
): string {
  const has = (cause: LeafChange['cause']) => written.some((leaf) => leaf.cause === cause);
  // A conflict says already that both sides moved.
  const parts = has('conflict')
    ? [
        isToSnapshot
          ? 'changed since the snapshot, and again outside Callsheet since the last run'
          : purpose === 'rollback'
            ? 'the run changed it, and it was changed again since'
            : BOTH,
      ]
    : [
        ...(has('drifted') ? [OUTSIDE] : []),
        ...(has('changed') || has('cleared') ? [changedReason(by, purpose, isToSnapshot)] : []),
      ];
  return [
    ...parts,
    ...(has('secret_changed') ? ['secret changed since the last write'] : []),
    ...(has('secret_source_changed') ? ['a secret has another source than last applied'] : []),
    ...(parts.length === 0 && has('secret_account_changed')
      ? [changedReason(by, purpose, isToSnapshot)]
      : []),
    ...(has('secret_unwritten') ? ['a secret was not written to this resource yet'] : []),
    ...(has('secret_resent') ? ['secrets are sent again (--resend-secrets)'] : []),
  ].join('; ');
}

/** That what the state knows is gone, and, where apply is what is planned, what becomes of it. */
export function missingReason(id: string, purpose: PlanDocument['purpose']): string {
  const gone = `it is no longer on the platform (id ${id})`;
  return purpose === 'apply'
    ? `${gone}; apply creates it again. To keep it deleted, remove its block`
    : gone;
}

/** Why a resource is taken over in the place of the one that the state knows. */
export function successorReason(id: string | undefined): string {
  return `the resource with the recorded id ${id} is gone, and another one has its place`;
}

/** The reason of what deletes a resource, with the other name that it has: in the state, or that of the new one. */
export function withOtherName(
  { action, reason }: Pick<Change, 'action' | 'reason'>,
  live: string,
  other: string,
): string {
  return action === 'replace'
    ? `${reason}; the old one is called ${JSON.stringify(live)} on the platform`
    : `${reason}; the state calls it ${JSON.stringify(other)}`;
}

/** Why nothing is written to a resource that the record of the state does not fit, and how to say which one is meant. */
export function misfitReason(
  { address, id, reason }: Pick<Change, 'address' | 'id' | 'reason'>,
  misfit: Misfit,
  { kind, desired }: Pick<Identity, 'kind' | 'desired'>,
): string {
  const noun = nameInWords(kind.name);
  if (misfit.type === 'unmade')
    return `${reason}, says its record, but ${id} was created at ${misfit.live}, when that run did not last`;
  const forget = codeSpan(`callsheet state rm ${quoted(address)}`);
  const isThat =
    desired === undefined
      ? `To forget it: ${forget}`
      : `If it is that one, set lifecycle.adopt: ${id} in its block; otherwise run ${forget} and plan again`;
  return `${reason}; ${misfitWords(misfit, noun, id)}, so its record in the state may be about another ${noun}. ${isThat}`;
}

function misfitWords(
  misfit: Exclude<Misfit, { type: 'unmade' }>,
  noun: string,
  id: string | null,
): string {
  switch (misfit.type) {
    case 'rivals': {
      const { name, by, ids } = misfit.rivals;
      const named = by === 'state' ? 'its name in the state' : 'its name in the files';
      return `${id} is called ${JSON.stringify(misfit.live)} on the platform, and ${named}, ${JSON.stringify(name)}, is that of another live ${noun}: ${ids.join(', ')}`;
    }
    case 'created':
      return `${id} was created at ${misfit.live}, and the state has one of ${misfit.recorded}`;
    case 'scope':
      return `${id} is in the ${fieldNoun(misfit.field)} ${misfit.live}, and the state has one of ${misfit.recorded}`;
    case 'renamed':
      return `${id} is called ${JSON.stringify(misfit.live)} on the platform, and the state does not say when the one that it calls ${JSON.stringify(misfit.recorded)} was created`;
    default:
      return misfit satisfies never;
  }
}

/** `organization` of `organization_id`. */
function fieldNoun(field: string): string {
  return field.replace(/_id$/, '').replaceAll('_', ' ');
}

/** How a resource was found that the state does not know. What is put back is looked for by the id that it had. */
export function foundBy(by: Identity['by'], purpose: PlanDocument['purpose']): string {
  if (by !== 'adopt') return 'found by its name';
  return purpose === 'restore' || purpose === 'rollback'
    ? 'found by its id'
    : 'found by lifecycle.adopt';
}

/** Names our own run in a reason that says the resource was changed outside Callsheet. */
export function asOwn(reason: string, own: string): string {
  return reason.replace(OUTSIDE, own).replace(BOTH, `${own}, and the configuration changed`);
}

/** A reason with who changed the resource on the platform, beside the words that this is about. */
export function withAuthor(reason: string, who: string): string {
  const about = [OUTSIDE, BOTH].find((part) => reason.startsWith(`${part};`)) ?? reason;
  return `${about} (${who})${reason.slice(about.length)}`;
}

/** Says why a field cannot be without a value, on account of fields that the configuration may not have. */
export function unfitReason(
  field: string,
  { required = [], properties = {} }: FieldSchema,
): string {
  const valued = Object.entries(properties).flatMap(([name, { const: value }]) =>
    value === undefined ? [] : [`${name} is ${String(value)}`],
  );
  const held = (valued.length > 0 ? valued : required.map((name) => `${name} is set`)).join(
    ' and ',
  );
  return `${field} cannot be empty while ${held} on the platform: give it a value, or change that too`;
}

/** Says why nothing is written about elements of a list that share the identity that they are recognised by. */
export function twinsReason(root: FieldSchema, { list, key, name, elements }: Twins): string {
  const items = schemaAt(root, [...list, identitySegment(name)]);
  const { 'x-destination': address = '' } = items;
  const which = elements.map((element, index) => {
    const at = [...list, identitySegment(name, index + 1)];
    const id = isObject(element) ? getOwn(element, 'id') : undefined;
    const url = isObject(element) ? getOwn(element, address) : undefined;
    const where = typeof url === 'string' ? String(maskAt(root, [...at, address], url)) : '';
    return [formatPath(at), ...(typeof id === 'string' ? [`id ${id}`] : []), where]
      .filter((part) => part !== '')
      .join(' ');
  });
  return `the platform has ${elements.length} entries of ${formatPath(list)} whose ${key} is ${JSON.stringify(name)} (${which.join('; ')}), so Callsheet cannot tell which one to write: rename or delete one of them in the dashboard and plan again, or exclude the list with lifecycle.ignore: [${formatPath(list)}]`;
}

/**
 * Notes what a comparison found that writes nothing but that a person should know; for secrets see `secrets.ts`.
 * `reported`: the leaves that a run recorded; its plan reported the unknown ones.
 */
export function leafNotes(
  address: Address,
  leaves: readonly LeafChange[],
  reported: ResourceState['leaves'] = {},
): readonly Note[] {
  return leaves.flatMap((leaf) => {
    const note = leafNote(leaf, address);
    const last = getOwn(reported, leaf.text);
    const isKnown = leaf.cause === 'unknown_content' && last !== undefined && 'unknown' in last;
    return note === undefined ? [] : { ...note, ...(isKnown && { known: true as const }) };
  });
}

/** Notes on the fields that a replacement keeps although the configuration does not name them, and those that it cannot keep. */
export function carriedNotes(
  { action, address, operations }: Change,
  kind: Kind,
  { document, live }: { readonly document: ValueObject; readonly live: JsonObject },
): readonly Note[] {
  if (action !== 'replace' || operations.length === 0) return [];
  const { fields, left } = carryOver(kind, document, live);
  const lost = [...left, ...(kind.history === undefined ? [] : ['the history'])];
  const keeps = `keeps ${formatCount(fields.length, 'field')} that the configuration does not name: ${fields.join(', ')}`;
  const parts = [
    ...(fields.length === 0 ? [] : [keeps]),
    ...(lost.length === 0 ? [] : [`does not get ${formatList(lost)} of the old one`]),
  ];
  if (parts.length === 0) return [];
  const severity = left.length === 0 ? 'info' : 'warning';
  return [{ severity, address, message: `the new resource ${parts.join('; it ')}` }];
}

/**
 * Notes the parts of a resource that are assumed to be unchanged, since they cannot be read. `reported`: the resource as
 * a run recorded it, without a pin if that run could not read it either.
 */
export function extentNotes(
  { address, action }: Change,
  live: LiveResource | undefined,
  reported: ResourceState | undefined,
): readonly Note[] {
  const unread = Object.entries(live?.unread ?? {}).map(
    ([field, why]): Note => ({
      severity: 'warning',
      address,
      message: `${field} cannot be read (${why}); Callsheet compares the rest and assumes that ${field} still has the values last written. Plan again once the platform answers`,
      unread: field,
      varies: true,
    }),
  );
  if (unread.length > 0) return unread;
  if (live?.extent !== 'nothing' || action !== 'no_op') return [];
  const message = 'it cannot be read; Callsheet assumes that it still has the values last written';
  return [{ severity: 'info', address, message, ...(reported?.pin === null && { known: true }) }];
}

export function unreadHistoryNote(address: Address, why: string): Note {
  const message = `${why}; Callsheet cannot tell who edited it since the last run. Plan again once the platform answers`;
  return { severity: 'warning', address, message, unread: 'history', varies: true };
}

/** That a resource is not ready, where its kind has the platform work on it. It may be otherwise a moment later. */
export function unreadyNotes(
  { kind, desired, recorded, by }: Identity,
  { address, operations }: Pick<Change, 'address' | 'operations'>,
  live: LiveResource | undefined,
): readonly Note[] {
  const found =
    desired === undefined || live === undefined ? undefined : kind.unready?.(live.record);
  if (found === undefined) return [];
  const { phase, status, says } = found;
  const asked = by === 'state' ? recorded?.asked_at : undefined;
  const since = [found.since, asked ?? null].reduce((one, other) =>
    one === null || (other !== null && isBefore(one, other)) ? other : one,
  );
  const parts = [
    `not ready${since === null ? '' : ` since ${inSeconds(since)}`}: ${says}`,
    ...(operations.length > 0
      ? ['the next apply writes it again']
      : [
          phase === 'running'
            ? 'apply does not start another one meanwhile'
            : 'apply leaves it as it is',
          'if it stays so, delete it in the dashboard, and the next apply creates it again',
        ]),
  ];
  const unready = { phase, status, since };
  const severity = phase === 'running' ? 'info' : 'warning';
  return [{ severity, address, message: parts.join('; '), unready, varies: true }];
}

function isBefore(one: string, other: string): boolean {
  return Date.parse(one) < Date.parse(other);
}

/** That other live resources have the name of a managed one: each plan says so, until somebody deletes or renames them. */
export function namesakeNote(
  { address, kind, scope, found }: Identity,
  ids: readonly string[],
  organizations: PlanDocument['organizations'],
): Note {
  if (kind.tie === 'newest') return olderVersionsNote(address, found?.record ?? {}, ids);
  const noun = nameInWords(kind.name);
  const who =
    ids.length === 1 ? `another live ${noun} has` : `${ids.length} other live ${noun}s have`;
  const name = findFilled(found?.record.name) ?? '';
  const { organization_id: owner } = scope;
  const where =
    owner === undefined || owner === ''
      ? ''
      : ` in the organization ${organizations[owner] ?? owner}`;
  const message = `${who} the name ${JSON.stringify(name)}${where}: ${ids.join(', ')}`;
  return { severity: 'warning', address, message, varies: true };
}

/** That older versions of a resource are there, which no endpoint deletes: each plan says so while they are. */
function olderVersionsNote(
  address: Address,
  { name, url }: JsonObject,
  ids: readonly string[],
): Note {
  const what = `${formatCount(ids.length, 'older version')} of ${findFilled(url) ?? findFilled(name) ?? address}`;
  const [still, them] = ids.length === 1 ? ['still answers', 'it'] : ['still answer', 'them'];
  const message = `${what} ${still} beside it: ${ids.join(', ')}. The platform has no endpoint that deletes ${them}: delete ${them} in the dashboard`;
  return { severity: 'warning', address, message, older_versions: ids, varies: true };
}

/** That the version of now stays beside the new one that a change makes of it. */
export function replacedVersionNote(
  { kind, found }: Identity,
  { address, operations }: Pick<Change, 'address' | 'operations'>,
  leaves: readonly LeafChange[],
): readonly Note[] {
  const isMadeAnew =
    kind.tie === 'newest' &&
    operations.some(({ step }) => step === 'again') &&
    leaves.some((leaf) => isLeafWritten(leaf) && leaf.schema['x-file'] !== undefined);
  if (!isMadeAnew || found === undefined || kind.unready?.(found.record) !== undefined) return [];
  const message = `apply adds the new content beside the version of now (${found.id}), and both answer until that one is deleted: the platform has no endpoint for it, so delete it in the dashboard after apply`;
  return [{ severity: 'warning', address, message, older_versions: [found.id] }];
}

/** That a protection ends with the next apply; that it begins, where nothing else of the resource is to be written. */
export function protectionNotes(
  { recorded, desired }: Identity,
  { address, action }: Change,
): readonly Note[] {
  const before = recorded?.protect;
  const protect = desired?.lifecycle.protect;
  if (before === undefined || protect === undefined || protect === before) return [];
  if (protect && action !== 'no_op') return [];
  const message = protect
    ? 'lifecycle.protect is not recorded yet: the next apply records it, and until then it protects only while it is configured'
    : 'it is no longer protected; the next apply records that';
  return [{ severity: 'info', address, message }];
}

/**
 * Notes the fields that depend on the written ones: a field that is given while its flag is off (`x-told-while`), and a
 * field that is not given and that the platform sets with another (`x-follows`). `reported`: the leaves that a run
 * recorded; its plan reported fields whose flag was off.
 */
export function dependentNotes(
  { kind: { schema: root }, desired, recorded }: Identity,
  { address, action, fields }: Change,
  live: LiveResource | undefined,
  reported: ResourceState['leaves'] = {},
): readonly Note[] {
  if (desired === undefined || desired.isPartial) return [];
  const { document } = desired;
  const recordedValue = (text: string) => {
    const last = getOwn(reported, text);
    return last !== undefined && 'value' in last ? last.value : undefined;
  };
  const isNews = (text: string) =>
    (action !== 'no_op' && action !== 'adopt') || getOwn(recorded?.leaves, text) === undefined;
  const unreturned = listDependents(root).flatMap(({ path, schema }) => {
    const flag = schema['x-told-while'];
    const text = formatPath(path);
    const value = valueAt(root, document, path) ?? null;
    return flag !== undefined && value !== null && !isOn(root, document, live, flag) && isNews(text)
      ? [{ flag, text, isReported: recordedValue(text) === value }]
      : [];
  });
  const without = [...Map.groupBy(unreturned, ({ flag }) => flag)].map(([flag, ones]) => {
    const isKnown = recordedValue(flag) === false && ones.every(({ isReported }) => isReported);
    const message = `${ones.map(({ text }) => text).join(', ')}: ${flag} is not on, so the platform does not return them; the apply that switches it on writes them`;
    return { message, ...(isKnown && { known: true as const }) };
  });
  const written = fields.filter(isWritten).map(({ path }) => toPath(path));
  const following = action !== 'update' || live === undefined ? [] : listFollowers(root, written);
  const moving = following.flatMap(
    ({ path, leader }): readonly Pick<Note, 'message' | 'known'>[] => {
      const isOurs = valueAt(root, document, path) !== undefined;
      if (isOurs || (valueAt(root, live?.document ?? {}, path) ?? null) === null) return [];
      const message = `${formatPath(path)} is not configured, and follows ${formatPath(leader)}: it is not sent, and the platform sets it`;
      return [{ message }];
    },
  );
  return [...without, ...moving].map((said) => ({ severity: 'info', address, ...said }));
}

/** Gives a flag as the configuration has it, else as it is live. */
function isOn(
  root: FieldSchema,
  document: ValueObject,
  live: LiveResource | undefined,
  flag: string,
): boolean {
  const path = toPath(flag);
  return (valueAt(root, document, path) ?? valueAt(root, live?.document ?? {}, path)) === true;
}

/** Notes that fields which Callsheet wrote are ignored from now on: later edits of them go unnoticed. */
export function ignoreNotes(
  { recorded, desired, by }: Identity,
  { address }: Pick<Change, 'address'>,
): readonly Note[] {
  // A rollback leaves alone what its snapshot does not hold; no lifecycle.ignore says so.
  if (desired === undefined || desired.isPartial) return [];
  if (recorded === undefined || by !== 'state') return [];
  const owned = Object.keys(recorded.leaves).map(toPath);
  return desired.lifecycle.ignore.flatMap((text, at): readonly Note[] => {
    const path = toPath(text);
    if (!owned.some((leaf) => startsWith(leaf, path))) return [];
    const place = desired.locate(formatPath(['lifecycle', 'ignore', `[${at}]`]));
    const where = place === undefined ? '' : ` (${place.file}:${place.line})`;
    const message = `${text}${where}: lifecycle.ignore leaves it to the dashboard from now on; it is neither compared nor written any more`;
    return [{ severity: 'info', address, message }];
  });
}

/** Says when a resource without a history was changed last; undefined without a time. */
export function attributeUnrecorded(updated: string | null): string | undefined {
  return updated === null
    ? undefined
    : `last changed at ${inSeconds(updated)}, by an unrecorded author`;
}

/**
 * Who changed a resource since its last known history entry: the newest ones, in words.
 *
 * @param own how the account itself signs
 */
export function attributeDrift(
  history: readonly HistoryEntry[],
  since: number | null | undefined,
  own?: string,
): string {
  if (since === null || since === undefined) {
    return 'the author is unknown: no history entry of the last apply is known';
  }
  const newer = history.filter(({ id }) => id > since);
  const last = newer[0];
  if (last === undefined) return 'the author is unknown: its history has no newer entry';
  const more = newer.length > 1 ? `, ${newer.length - 1} earlier` : '';
  const signed = own !== undefined && last.actor === own ? `, ${SIGNED_HERE}` : '';
  return `last by ${formatEdit(last)}, history entry ${last.id}${more}${signed}`;
}

/** Who else changed a resource that no state knows, where its history tells: what they changed may be overwritten. */
export function attributeOthers(history: readonly HistoryEntry[], own: string): string | undefined {
  const last = history.find(({ actor }) => actor !== null && actor !== own);
  return last && `edited by ${formatEdit(last)}, history entry ${last.id}`;
}

const OUTSIDE = 'changed outside Callsheet';

const BOTH = 'the configuration and the platform both changed since the last apply';

function changedReason(
  by: Identity['by'],
  purpose: PlanDocument['purpose'],
  isToSnapshot: boolean,
): string {
  if (isToSnapshot) return 'changed since the snapshot';
  if (purpose === 'rollback') return 'the run changed it';
  return by === 'state' ? 'the configuration changed' : `${foundBy(by, purpose)} and differs`;
}

function leafNote(
  { cause, text, before, after, unreadable, sensitive }: LeafChange,
  address: Address,
): Note | undefined {
  if (cause === 'released') {
    const message = `${text} is no longer configured; the platform cannot clear it, so its value stays`;
    return { severity: 'warning', address, message };
  }
  if (cause === 'unknown_content') {
    const message =
      after instanceof Blob
        ? `${text}: the platform does not return its content; Callsheet assumes that it is this file`
        : `${text}: the platform does not return it, so Callsheet cannot compare it. It will not be changed.`;
    return { severity: 'info', address, message };
  }
  if (unreadable && !sensitive) {
    return before === undefined
      ? {
          severity: 'info',
          address,
          message: `${text}: Callsheet does not know this field, and the platform returns no field of this name now. The run reports whether it could be verified.`,
        }
      : {
          severity: 'warning',
          address,
          message: `${text}: the platform does not return it, so Callsheet cannot verify the write`,
        };
  }
  return undefined;
}

/** Says what the platform has in the place of a configured value that is not written for it. */
export function storedMessage(
  address: Address,
  path: string,
  live: Json,
  configured: Json,
  isNear: boolean,
): string {
  if (isNear)
    return `${path} is ${shorten(live)}: the platform may have changed ${shorten(configured)} on the way, so nothing is written`;
  const take = codeSpan(`callsheet pull ${quoted(address)} --theirs`);
  return `${path} is ${shorten(live)}: the platform stored ${shorten(configured)} so, and nothing is written while both stand. For the live value in the files: ${take}`;
}

/** Characters of a value that a sentence has room for. */
const MOST_SHOWN = 60;

/** A masked value within a sentence. */
export function shorten(value: Json): string {
  if (value === null) return 'nothing';
  const text = JSON.stringify(value);
  return text.length <= MOST_SHOWN
    ? text
    : `${text.slice(0, MOST_SHOWN)}… (${text.length} characters)`;
}

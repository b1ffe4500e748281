/**
 * The secrets of a plan: which ones it writes, so that apply asks for those and no others; where they go; and how many
 * were not compared.
 */

import type { Address } from '../core/address.ts';
import { redactText } from '../core/credentials.ts';
import { formatCount, formatFirst, formatList } from '../core/errors.ts';
import { formatPath, isTextBelow, isWithin, type Path, startsWith, toPath } from '../core/path.ts';
import type { Change, Note, SecretTravel } from '../core/plan-document.ts';
import { contextAt } from '../core/redact.ts';
import type { FieldSchema } from '../core/schema.ts';
import {
  Blob,
  getOwn,
  isNothing,
  isObject,
  type JsonObject,
  Secret,
  type Value,
  type ValueObject,
  valuesIn,
} from '../core/value.ts';
import { memberAt, schemaAt, schemasAlong, valueAt } from '../core/walk.ts';
import {
  compareApplied,
  hasOtherSource,
  isFromFiles,
  isNeverReturned,
  rememberLeaf,
} from '../diff/applied.ts';
import { isAccount, isSent, isWritten, type LeafChange, secretsBeside } from '../diff/compare.ts';
import { type Leaf, leafSensitivity, listLeaves, type World } from '../diff/leaves.ts';
import { kindNamed } from '../kinds/index.ts';
import type { Kind } from '../kinds/kind.ts';
import { concealedPaths, isConcealed, type ResourceState, type State } from '../state/model.ts';
import type { Barred } from './preflight.ts';

type Written = Pick<Change, 'operations' | 'fields'>;

/**
 * Returns a test for the paths of leaves that a change writes. A create or a second write sends all of them, secrets
 * and files too.
 */
export function sendsLeaf({ operations, fields }: Written): (path: string) => boolean {
  const isWhole = operations.some(({ step }) => step === 'create' || step === 'again');
  const sent = new Set(fields.filter(isSent).map(({ path }) => path));
  return (path) => isWhole || sent.has(path) || isPartOf(path, sent);
}

/** Tells whether a path leads into the value at another one. */
function isPartOf(text: string, others: ReadonlySet<string>): boolean {
  return [...others].some((other) => isTextBelow(text, other));
}

/** The secrets of a configuration that carrying a change out writes. */
export function secretsWritten(
  change: Written,
  kind: Kind,
  document: ValueObject,
): readonly { readonly path: string; readonly source: string }[] {
  const sends = sendsLeaf(change);
  return [...listLeaves(kind.schema, document).leaves.values()].flatMap(({ text, value }) =>
    value instanceof Secret && sends(text) ? [{ path: text, source: value.source }] : [],
  );
}

/**
 * Secrets that the state remembers and that went with the object that they are part of: nothing of it is in the live
 * document, although the state remembers more of it than secrets. What puts the object back cannot put them back.
 */
export function secretsGone(
  root: FieldSchema,
  leaves: ResourceState['leaves'] | undefined,
  live: JsonObject,
): readonly string[] {
  const visible = Object.entries(leaves ?? {}).flatMap(([text, leaf]) =>
    isConcealed(leaf) || ('value' in leaf && leaf.value === null) ? [] : [toPath(text)],
  );
  return concealedPaths(leaves).filter((text) => {
    const path = toPath(text);
    const along = schemasAlong(root, path);
    const isUnread = along[0]?.['x-facet'] === true && getOwn(live, path[0] ?? '') === undefined;
    if (path.length < 2 || isUnread || !isNeverReturned(along)) return false;
    const object = path.slice(0, -1);
    const isSeen = visible.some((other) => startsWith(other, object));
    return isSeen && isNothing(valueAt(root, live, object));
  });
}

/**
 * That secrets go with an object which a change clears (DESIGN §4.6): those that were written, and those that the schema
 * knows in what is live, which the platform may have and never returns.
 */
export function clearedSecretNotes(
  { action, address, fields }: Change,
  { schema }: Kind,
  { leaves, live }: Pick<Partial<ResourceState>, 'leaves'> & { readonly live: JsonObject },
): readonly Note[] {
  if (action !== 'update') return [];
  const shown = new Set(fields.map(({ path }) => path));
  const written = concealedPaths(leaves).filter((one) =>
    isNeverReturned(schemasAlong(schema, toPath(one))),
  );
  return fields.filter(isWritten).flatMap(({ path: text, after }): readonly Note[] => {
    // Each secret of an object that comes is a field of its own.
    if (isObject(after)) return [];
    const path = toPath(text);
    const below = [
      ...written.filter((one) => one !== text && startsWith(toPath(one), path)),
      ...listSecretsBelow(schema, path, live).map(formatPath),
    ];
    // A value that is returned stands in the object that is replaced.
    const isShown = (one: string) =>
      after !== null && (valueAt(schema, live, toPath(one)) ?? null) !== null;
    const gone = [...new Set(below)].filter((one) => !shown.has(one) && !isShown(one));
    if (gone.length === 0) return [];
    const message = `${text} is ${after === null ? 'cleared' : 'replaced'}, and with it ${formatList(gone)}, where the platform has them; a rollback cannot put them back`;
    return [{ severity: 'warning', address, message }];
  });
}

/**
 * Secrets of the schema below a path, in objects that are live: the platform may have each, and returns none. One that
 * belongs to an account (`x-secret-of`) is there only with it, or in an object of which nothing else is returned.
 */
export function listSecretsBelow(root: FieldSchema, path: Path, live: JsonObject): readonly Path[] {
  const object = valueAt(root, live, path);
  if (!isObject(object)) return [];
  const isEmpty = isNothing(object);
  const schema = schemaAt(root, path);
  return Object.keys(schema.properties ?? {}).flatMap((name) => {
    const at = [...path, name];
    const { 'x-secret': isSecret, 'x-secret-of': owner } = schemaAt(root, at);
    if (isSecret !== true) return listSecretsBelow(root, at, live);
    const isAlone = typeof owner === 'string' && isNothing(valueAt(root, live, [...path, owner]));
    return isAlone && !isEmpty ? [] : [at];
  });
}

/** Leaves of a configuration that a change is about and whose values its plan masks. */
function maskedLeaves({ kind, fields }: Change, document: ValueObject): readonly Leaf[] {
  const masked = fields.filter(({ secret, cause }) => secret && cause !== 'unknown_secret');
  if (masked.length === 0) return [];
  const { leaves } = listLeaves(kindNamed(kind).schema, document);
  const texts = new Set(masked.map(({ path }) => path));
  return [...leaves.values()].filter(({ text }) => texts.has(text) || isPartOf(text, texts));
}

/** Returns fingerprints of the masked values of a change, by path, so that another value is noticed later. */
export function fingerprintMasked(
  change: Change,
  document: ValueObject,
  owner: string,
  world: World,
): Readonly<Record<string, string>> {
  const found = maskedLeaves(change, document).flatMap((leaf) => {
    const applied = rememberLeaf(leaf, owner, world);
    return applied !== undefined && 'fingerprint' in applied
      ? [[leaf.text, applied.fingerprint] as const]
      : [];
  });
  return Object.fromEntries(found);
}

/** Paths of what a plan masks of a change and what has another value than those fingerprints are of. */
export function findRenewed(
  change: Change,
  document: ValueObject,
  owner: string,
  fingerprints: Readonly<Record<string, string>>,
  world: World,
): readonly string[] {
  return maskedLeaves(change, document).flatMap((leaf) => {
    const fingerprint = fingerprints[leaf.text];
    if (fingerprint === undefined) return [];
    return compareApplied(leaf, { fingerprint }, owner, world) === 'different' ? [leaf.text] : [];
  });
}

/**
 * Notes the secrets that were not compared: one note of those that are not set, one of those that are. Their number is
 * all that is the same in each run. A note is `known` if the state remembers each of its secrets: those that are not
 * set were reported by an earlier plan or an export, those that are set by the plan of the run that recorded them as
 * unknown.
 */
export function uncomparedNotes(
  compared: Iterable<{ readonly address: Address; readonly leaves: readonly LeafChange[] }>,
  { findSecret }: Pick<World, 'findSecret'>,
  { resources, last_run: lastRun }: Pick<State, 'resources' | 'last_run'>,
): readonly Note[] {
  const unset = new Map<string, Set<Address>>();
  const unknown = new Map<string, Set<Address>>();
  let isUnsetKnown = true;
  let isSetKnown = lastRun !== null;
  /** Those that are not set and have no fingerprint in the state either: their rotation would go unnoticed. */
  const unrecorded = new Map<string, Set<Address>>();
  for (const { address, leaves } of compared) {
    for (const { cause, after, text } of leaves) {
      if (cause !== 'unknown_secret') continue;
      const source = after instanceof Secret ? after.source : text;
      const isSet = after instanceof Secret && findSecret(source, text) !== undefined;
      addTo(isSet ? unknown : unset, source, address);
      const leaf = getOwn(getOwn(resources, address)?.leaves, text);
      if (!isSet && (leaf === undefined || !('fingerprint' in leaf)))
        addTo(unrecorded, source, address);
      isUnsetKnown &&= isSet || leaf !== undefined;
      isSetKnown &&= !isSet || (leaf !== undefined && 'unknown' in leaf);
    }
  }
  const note = { severity: 'info', address: null, varies: true } as const;
  const it = unset.size === 1 ? 'it' : 'them';
  return [
    ...(unset.size === 0
      ? []
      : [
          {
            ...note,
            message: `${secrets(unset)} not set here, so Callsheet did not compare ${it}. apply asks only for secrets that it writes.${unrecorded.size === 0 ? '' : ` Of ${listSources(unrecorded)} the state does not record what was written: where the value was rotated, the platform keeps the old one. ${RESEND}`}`,
            ...(isUnsetKnown && { known: true as const }),
          },
        ]),
    ...(unknown.size === 0
      ? []
      : [
          {
            ...note,
            message: `${secrets(unknown)} set here and cannot be compared (${listSources(unknown)}): the platform does not return secrets, and the state does not record what was written. The stored values will not be changed, so a value that was rotated stays the old one. If they equal the values set here, run \`callsheet state trust\`. ${RESEND}`,
            uncompared: unknown.size,
            ...(isSetKnown && { known: true as const }),
          },
        ]),
  ];
}

const RESEND = 'To write the values set here, run `callsheet plan --resend-secrets`.';

/** Sources that a note names. */
const MOST_NAMED = 3;

function listSources(readers: ReadonlyMap<string, unknown>): string {
  return formatFirst([...readers.keys()].map(redactText), MOST_NAMED);
}

/** `2 secrets, which 14 resources use, are`: one that many share is set for all of them. */
function secrets(readers: ReadonlyMap<string, ReadonlySet<Address>>): string {
  const resources = new Set([...readers.values()].flatMap((own) => [...own])).size;
  const used = resources > readers.size ? `, which ${formatCount(resources, 'resource')} use,` : '';
  return formatCount(readers.size, `secret${used} is`, `secrets${used} are`);
}

/** The destination of a value if no schema says that the platform passes it on. */
const PLATFORM = 'the platform';

type SecretSides = {
  readonly kind: Kind;
  readonly document: ValueObject;
  /** Undefined for what does not exist yet. */
  readonly live: JsonObject | undefined;
  /** Paths of secrets that no schema names: see `knownSecrets`. */
  readonly known: ReadonlySet<string>;
  /** The leaves that the state remembers; undefined if it knows nothing. */
  readonly applied: ResourceState['leaves'] | undefined;
};

/**
 * Every secret that a change writes, with where it goes; every one that stays as it is stored while where it goes
 * changes, such as a header of a webhook that gets another address; and every stored one that is removed with what it
 * stands in.
 */
export function secretTravels(change: Written, sides: SecretSides): readonly SecretTravel[] {
  // Nothing is written, so all stays where it is.
  if (change.operations.length === 0 && change.fields.length === 0) return [];
  const { kind, document, live = {}, known, applied = {} } = sides;
  const { schema } = kind;
  const sends = sendsLeaf(change);
  const wanted = listLeaves(schema, document).leaves;
  const stored = storedLeaves(schema, live, applied);
  const fields = new Map(change.fields.map((field) => [field.path, field]));
  const gone = change.fields
    .filter((field) => field.after === null && isWritten(field))
    .map(({ path }) => toPath(path));
  const isReplaced = change.operations.some(({ step }) => step === 'delete');
  const paths = new Map<string, Path>();
  for (const { text, path } of [...wanted.values(), ...stored.values()]) paths.set(text, path);

  return [...paths].flatMap(([text, path]): readonly SecretTravel[] => {
    const leaf = wanted.get(text);
    const kept = stored.get(text);
    const isHidden = [leaf, kept].some((one) => one !== undefined && isSecret(one));
    if (!(isHidden || known.has(text)) || leaf?.value instanceof Blob) return [];
    const isGone = isWithin(path, gone) || (isReplaced && leaf === undefined);
    const isStored = kept !== undefined;
    if (isGone) return isStored ? removed(kept, schema, live, applied) : [];
    if (leaf?.value === null) return [];
    const to = findDestination(schema, [document, live], path) ?? PLATFORM;
    const field = fields.get(text);
    const isNew = !isStored && (leaf === undefined || field?.cause === 'changed');
    const before =
      isNew || sides.live === undefined
        ? null
        : (findDestination(schema, [live], path) ?? PLATFORM);
    if (sends(text)) {
      // A value in clear needs no report: its author knows where it goes.
      if (leaf === undefined || !(leaf.value instanceof Secret)) return [];
      const { source } = leaf.value;
      const isOther = hasOtherSource(leaf, getOwn(applied, text));
      return [{ path: text, source, to, before, ...(isOther && { another_source: true }) }];
    }
    return before === null || before === to ? [] : [{ path: text, source: null, to, before }];
  });
}

/** The stored secrets of a resource that is deleted. */
export function secretsDeleted(
  kind: Kind,
  live: JsonObject,
  applied: ResourceState['leaves'] = {},
): readonly SecretTravel[] {
  return [...storedLeaves(kind.schema, live, applied).values()]
    .filter(isSecret)
    .flatMap((leaf) => removed(leaf, kind.schema, live, applied));
}

/** A stored secret that goes. What the files gave in clear is no loss: they still have it. */
function removed(
  { text, path, facts }: Leaf,
  root: FieldSchema,
  live: JsonObject,
  applied: ResourceState['leaves'],
): readonly SecretTravel[] {
  if (isFromFiles(getOwn(applied, text))) return [];
  const before = findDestination(root, [live], path) ?? PLATFORM;
  return [{ path: text, source: null, to: null, before, restorable: !facts.unreadable }];
}

/**
 * Accounts that a change writes although nothing has the secret that belongs to them (`x-secret-of`), while the platform
 * keeps the one of the account before. Where another secret of the same object is given, that is the credential, unless
 * the state says that this one was written, too.
 */
export function accountsWithoutSecret(
  leaves: readonly LeafChange[],
  { kind, document, ignore, applied = {}, isRollback }: AccountSides,
): readonly Barred[] {
  const { schema } = kind;
  const accounts = leaves.filter(isAccount(schema));
  if (accounts.length === 0) return [];
  const wanted = listLeaves(schema, document).leaves;
  const isGiven = (path: Path) =>
    wanted.get(formatPath(path))?.value instanceof Secret && !isWithin(path, ignore);
  return accounts.flatMap(({ path, text, before }): Barred[] => {
    const secrets = secretsBeside(schema, path);
    if ((before ?? null) === null || secrets.some(isGiven)) return [];
    const above = path.slice(0, -1);
    const isKnown = secrets.some((one) => getOwn(applied, formatPath(one)) !== undefined);
    const isOtherGiven = [...wanted.values()].some(
      (leaf) => leaf.facts.unreadable && startsWith(leaf.path, above) && isGiven(leaf.path),
    );
    if (isOtherGiven && !isKnown) return [];
    const names = secrets.map((one) => one.at(-1)).join(', ');
    return [{ path: text, why: accountMessage(text, names, isRollback) }];
  });
}

type AccountSides = Pick<SecretSides, 'kind' | 'document' | 'applied'> & {
  readonly ignore: readonly Path[];
  /** True if no configuration can have the secret, as the wanted values are those of before. */
  readonly isRollback: boolean;
};

/** Why an account is not written without its secret, and what to do. */
function accountMessage(account: string, secret: string, isRollback: boolean): string {
  const way = isRollback
    ? 'Revert the change in Git, too, and apply: that writes both'
    : `Give ${secret} as $secret, too, or change both in the dashboard`;
  return `${account} would be another account with the stored ${secret} of the account before. ${way}`;
}

/**
 * Says of each secret that the changes write how many other resources read the same source and are not written with
 * it: a value given to the source is given to those, too. From here on sources are only shown: what reads as a
 * credential in the command of one is masked.
 */
export function withSharing(
  changes: readonly Change[],
  desired: readonly { readonly address: Address; readonly document: ValueObject }[],
): readonly Change[] {
  const written = new Map<string, Set<Address>>();
  for (const { address, secrets = [] } of changes) {
    for (const { source } of secrets) {
      if (source !== null) addTo(written, source, address);
    }
  }
  if (written.size === 0) return changes;
  const readers = new Map<string, Set<Address>>();
  for (const { address, document } of desired) {
    for (const value of valuesIn(document)) {
      if (value instanceof Secret && written.has(value.source)) {
        addTo(readers, value.source, address);
      }
    }
  }
  return changes.map((change) => {
    if (change.secrets === undefined) return change;
    const secrets = change.secrets.map((travel): SecretTravel => {
      const own = written.get(travel.source ?? '');
      const all = [...(readers.get(travel.source ?? '') ?? [])];
      const others = all.filter((address) => own?.has(address) !== true).length;
      const source = travel.source === null ? null : redactText(travel.source);
      return { ...travel, source, ...(others > 0 && { shared_with: others }) };
    });
    return { ...change, secrets };
  });
}

function addTo(sets: Map<string, Set<Address>>, key: string, address: Address): void {
  const known = sets.get(key);
  if (known === undefined) sets.set(key, new Set([address]));
  else known.add(address);
}

function isSecret(leaf: Leaf): boolean {
  const { facts, value } = leaf;
  const held = leafSensitivity(leaf);
  // An address with a credential in it says itself where that goes.
  const isHeld = typeof value === 'string' ? held === 'whole' : held !== 'open';
  return isHeld || facts.unreadable || value instanceof Secret;
}

/**
 * Leaves that are live, and secrets that are not returned and must be there: what goes with them is, or the state
 * remembers that they were given.
 */
function storedLeaves(
  root: FieldSchema,
  live: JsonObject,
  applied: ResourceState['leaves'],
): ReadonlyMap<string, Leaf> {
  const { leaves } = listLeaves(root, live);
  const stored = new Map([...leaves].filter(([, { value }]) => value !== null));
  const hidden = (path: Path, facts: Leaf['facts']) => {
    const text = formatPath(path);
    if (stored.has(text)) return;
    const { node } = contextAt(root, path);
    const { schema } = node;
    stored.set(text, {
      path,
      text,
      value: null,
      schema,
      node,
      facts: { ...facts, unreadable: true },
    });
  };
  for (const { path, facts } of [...stored.values()])
    for (const own of secretsBeside(root, path)) hidden(own, facts);
  for (const text of concealedPaths(applied)) {
    const path = toPath(text);
    const { secrecy } = contextAt(root, path);
    // The object that held it is gone, and the secret with it.
    const isHeld = path.length === 1 || isObject(valueAt(root, live, path.slice(0, -1)));
    if (isNeverReturned(schemasAlong(root, path)) && isHeld)
      hidden(path, { secrecy, unreadable: true });
  }
  return stored;
}

/**
 * Finds the destination of the value at a path by `x-destination`; the innermost one counts. The first document that
 * has a member decides.
 */
export function findDestination(
  root: FieldSchema,
  documents: readonly Value[],
  path: Path,
): string | undefined {
  let found: string | undefined;
  let above = root;
  let values: readonly (Value | undefined)[] = documents;
  for (const [index, schema] of schemasAlong(root, path).entries()) {
    const segment = path[index] ?? '';
    const { 'x-destination': key } = above;
    values = values.map((value) => memberAt(above, value, segment));
    if (key === '{key}') found = [segment, ...hostsIn(values)].join(', ');
    above = schema;
    const member = schema['x-destination'];
    if (member === undefined || member === '{key}') continue;
    const address = values.map((value) => isObject(value) && getOwn(value, member)).find(Boolean);
    if (typeof address === 'string') found = getHost(address);
  }
  return found;
}

/** Hosts among the settings of a provider: no schema knows all of them. */
function hostsIn(values: readonly (Value | undefined)[]): readonly string[] {
  const settings: ValueObject = Object.assign({}, ...values.filter(isSettings).toReversed());
  return Object.values(settings)
    .filter((value) => typeof value === 'string' && HOST.test(value))
    .map((value) => getHost(String(value)));
}

function isSettings(value: Value | undefined): value is ValueObject {
  return isObject(value);
}

const HOST = /^(?:[a-z][a-z0-9+.-]*:\/\/|(?=[^/\s@]+\.[a-z]{2,}(?:[:/]|$)))[^\s/]+(?:\/\S*)?$/i;

/** Returns `crm.example.test`; with its scheme if that is not https. An invalid address loses its credentials. */
function getHost(address: string): string {
  try {
    const { protocol, host } = new URL(address.includes('://') ? address : `https://${address}`);
    return protocol === 'https:' ? host : `${protocol}//${host}`;
  } catch {
    return redactText(address);
  }
}

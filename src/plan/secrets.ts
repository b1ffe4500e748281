import { formatCount } from '../core/errors.ts';
/**
 * What a plan says of secrets: which ones it writes, so that apply asks for those and no others; where they go; and
 * how many were not compared.
 */

import type { Address } from '../core/address.ts';
import { redactText } from '../core/credentials.ts';
import { formatPath, isWithin, type Path, toPath } from '../core/path.ts';
import type { Change, Note, SecretTravel } from '../core/plan-document.ts';
import { contextAt } from '../core/redact.ts';
import type { FieldSchema } from '../core/schema.ts';
import {
  Blob,
  getOwn,
  isObject,
  type JsonObject,
  Secret,
  type Value,
  type ValueObject,
  valuesIn,
} from '../core/value.ts';
import { memberAt, schemaAt, schemasAlong } from '../core/walk.ts';
import { compareApplied, rememberLeaf } from '../diff/applied.ts';
import { isSent, isWritten, type LeafChange } from '../diff/compare.ts';
import { type Leaf, leafSensitivity, listLeaves, type World } from '../diff/leaves.ts';
import { kindNamed } from '../kinds/index.ts';
import type { Kind } from '../kinds/kind.ts';
import type { State } from '../state/model.ts';

type Written = Pick<Change, 'operations' | 'fields'>;

/** Whether carrying a change out writes the leaf at a path. What is made or written anew takes all of them, secrets and files too. */
export function sendsLeaf({ operations, fields }: Written): (path: string) => boolean {
  const isWhole = operations.some(({ step }) => step === 'create' || step === 'again');
  const sent = new Set(fields.filter(isSent).map(({ path }) => path));
  return (path) => isWhole || sent.has(path);
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

/** Leaves of a configuration that a change is about and whose values its plan masks. */
function maskedLeaves({ kind, fields }: Change, document: ValueObject): readonly Leaf[] {
  const masked = fields.filter(({ secret, cause }) => secret && cause !== 'unknown_secret');
  if (masked.length === 0) return [];
  const { leaves } = listLeaves(kindNamed(kind).schema, document);
  return masked.flatMap(({ path }) => leaves.get(path) ?? []);
}

/** Fingerprints of what a plan masks of a change, by path, so that another value is told later. `owner`: whose they are. */
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
 * What a comparison could not say of secrets: one note of those that are not set, one of those that are. Their number
 * is all that is the same in each run. Secrets that are not set and that the state remembers are `known`: an earlier
 * plan, or an export, has told of them.
 */
export function uncomparedNotes(
  compared: Iterable<{ readonly address: Address; readonly leaves: readonly LeafChange[] }>,
  { secretOf }: Pick<World, 'secretOf'>,
  { resources }: Pick<State, 'resources'>,
): readonly Note[] {
  const unset = new Map<string, Set<Address>>();
  const unknown = new Map<string, Set<Address>>();
  let isKnown = true;
  for (const { address, leaves } of compared) {
    for (const { cause, after, text } of leaves) {
      if (cause !== 'unknown_secret') continue;
      const source = after instanceof Secret ? after.source : text;
      const isSet = after instanceof Secret && secretOf(source, text) !== undefined;
      addTo(isSet ? unknown : unset, source, address);
      isKnown &&= isSet || getOwn(getOwn(resources, address)?.leaves, text) !== undefined;
    }
  }
  const note = { severity: 'info', address: null } as const;
  const it = unset.size === 1 ? 'it' : 'them';
  return [
    ...(unset.size === 0
      ? []
      : [
          {
            ...note,
            message: `${secrets(unset)} not set here, so Callsheet did not compare ${it}. apply asks only for secrets that it writes.`,
            ...(isKnown && { known: true as const }),
          },
        ]),
    ...(unknown.size === 0
      ? []
      : [
          {
            ...note,
            message: `${secrets(unknown)} set here and cannot be compared: the platform does not return secrets, and the state does not record what was written. The stored values will not be changed. If they equal the values set here, run \`callsheet state trust\`. To write the values set here, plan with --resend-secrets.`,
            uncompared: unknown.size,
          },
        ]),
  ];
}

/** `2 secrets, which 14 resources use, are`: one that many share is set for all of them. */
function secrets(readers: ReadonlyMap<string, ReadonlySet<Address>>): string {
  const resources = new Set([...readers.values()].flatMap((own) => [...own])).size;
  const used = resources > readers.size ? `, which ${formatCount(resources, 'resource')} use,` : '';
  return formatCount(readers.size, `secret${used} is`, `secrets${used} are`);
}

/** Where a value goes of which no schema says that the platform passes it on. */
const PLATFORM = 'the platform';

type SecretSides = {
  readonly kind: Kind;
  readonly document: ValueObject;
  /** Undefined for what does not exist yet. */
  readonly live: JsonObject | undefined;
  /** Paths of secrets that no schema names: see `knownSecrets`. */
  readonly known: ReadonlySet<string>;
};

/**
 * Every secret that a change writes, with where it goes; and every one that stays as it is stored while where it goes
 * changes, such as a header of a webhook that gets another address.
 */
export function secretTravels(change: Written, sides: SecretSides): readonly SecretTravel[] {
  // Nothing is written, so all stays where it is.
  if (change.operations.length === 0 && change.fields.length === 0) return [];
  const { kind, document, live = {}, known } = sides;
  const { schema } = kind;
  const sends = sendsLeaf(change);
  const wanted = listLeaves(schema, document).leaves;
  const stored = storedLeaves(schema, live);
  const fields = new Map(change.fields.map((field) => [field.path, field]));
  const gone = change.fields
    .filter((field) => field.after === null && isWritten(field))
    .map(({ path }) => toPath(path));
  const paths = new Map<string, Path>();
  for (const { text, path } of [...wanted.values(), ...stored.values()]) paths.set(text, path);

  return [...paths].flatMap(([text, path]): SecretTravel[] => {
    const leaf = wanted.get(text);
    const isHidden = [leaf, stored.get(text)].some((one) => one !== undefined && isSecret(one));
    if (!(isHidden || known.has(text)) || leaf?.value === null) return [];
    if (leaf?.value instanceof Blob || isWithin(path, gone)) return [];
    const to = findDestination(schema, [document, live], path) ?? PLATFORM;
    const field = fields.get(text);
    const isNew = !stored.has(text) && (leaf === undefined || field?.cause === 'changed');
    const before =
      isNew || sides.live === undefined
        ? null
        : (findDestination(schema, [live], path) ?? PLATFORM);
    if (sends(text)) {
      // Whoever wrote a value in clear knows where it goes.
      const { value } = leaf ?? {};
      return value instanceof Secret ? [{ path: text, source: value.source, to, before }] : [];
    }
    return before === null || before === to ? [] : [{ path: text, source: null, to, before }];
  });
}

/**
 * Says of each secret that the changes write how many other resources read the same source and are not written with
 * it: whoever gives it a value gives it to those, too. From here on sources are only shown: what reads as a credential in
 * the command of one is masked.
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

/** Leaves that are live, and secrets that are not returned and must be there, since what goes with them is. */
function storedLeaves(root: FieldSchema, live: JsonObject): ReadonlyMap<string, Leaf> {
  const { leaves } = listLeaves(root, live);
  const stored = new Map([...leaves].filter(([, { value }]) => value !== null));
  for (const { path, facts } of [...stored.values()]) {
    const above = path.slice(0, -1);
    for (const [name, schema] of secretsToldBy(schemaAt(root, above), path.at(-1) ?? '')) {
      const own = [...above, name];
      const text = formatPath(own);
      const hidden = { ...facts, unreadable: true };
      const { node } = contextAt(root, own);
      stored.set(text, { path: own, text, value: null, schema, node, facts: hidden });
    }
  }
  return stored;
}

/** The members of an object that are set where another one is there: `x-secret-of`. Asked of every leaf that is live. */
function secretsToldBy(object: FieldSchema, member: string): readonly Named[] {
  let told = toldBy.get(object);
  if (told === undefined) {
    const secrets = Object.entries(object.properties ?? {});
    told = Map.groupBy(secrets, ([, schema]) => schema['x-secret-of']);
    toldBy.set(object, told);
  }
  return told.get(member) ?? [];
}

type Named = readonly [name: string, schema: FieldSchema];

const toldBy = new WeakMap<
  FieldSchema,
  ReadonlyMap<FieldSchema['x-secret-of'], readonly Named[]>
>();

/**
 * Where the platform sends what stands at a path, as `x-destination` says; the innermost one counts. Of several
 * documents the first that has a member tells it.
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

/** `crm.example.test`; with its scheme where that is not https. What is no address is told without its credentials. */
function getHost(address: string): string {
  try {
    const { protocol, host } = new URL(address.includes('://') ? address : `https://${address}`);
    return protocol === 'https:' ? host : `${protocol}//${host}`;
  } catch {
    return redactText(address);
  }
}

import { realpathSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { STACK_FILE } from '../../config/discover.ts';
import { loadStack, type Stack } from '../../config/index.ts';
import { type Address, matchesAddress } from '../../core/address.ts';
import type { StatePlace } from '../../core/state-place.ts';
import type { Json } from '../../core/value.ts';
import { kindNamed } from '../../kinds/index.ts';
import { naturalKeyOf } from '../../plan/natural-key.ts';
import type { ResourceState, State } from '../../state/model.ts';
import type { CommonFlags, Context } from '../context.ts';
import { openStore, readState } from '../session.ts';
import { loadOptions } from '../stack.ts';
import type { FoundStack } from './find-stacks.ts';

/** What a stack takes for its own, and nobody else may. */
export type Claim = {
  /** Equal for two claims to the same thing. */
  readonly key: string;
  readonly stack: string;
  /** For people: `the agent "Front desk" of organization 3c6e…`. */
  readonly what: string;
  /** Undefined for where the state is kept, which the stack as a whole claims. */
  readonly address: Address | undefined;
  /** `clinics/harbor/agents.yaml:3`, or what else says it. */
  readonly place: string;
  /** Whether it may be somebody else's, too, as long as each says which live resource it means. */
  readonly isTold: boolean;
};

/**
 * What a stack claims: where it keeps its state, the ids in its state and in `lifecycle.adopt`, and the names by which
 * its resources are found. Nothing, where the stack cannot be loaded: then nothing of it is written either, and its own
 * result says why. `withState` is false where nothing beyond the configuration is to be read.
 */
export async function claimsOf(
  found: FoundStack,
  flags: Omit<CommonFlags, 'dir'>,
  context: Context,
  withState: boolean,
): Promise<readonly Claim[]> {
  const { stack } = await loadStack({
    ...loadOptions({ ...flags, dir: found.dir }, context),
    secrets: 'skip',
  });
  if (stack === undefined) return [];
  const account = context.env.CALLSHEET_BASE_URL ?? stack.platform.base_url ?? '';
  const state = withState ? await stateOf(stack, context) : undefined;
  return [
    stateClaim(found, stack),
    ...configuredClaims(found, stack, account),
    ...(state === undefined ? [] : recordedClaims(found, stack, state, account)),
  ];
}

/** The state, where it can be had. Where it cannot, the stack itself stops at it, and says why. */
async function stateOf(stack: Stack, context: Context): Promise<State | undefined> {
  try {
    const store = openStore(stack, context);
    try {
      return (await readState(store)).state;
    } finally {
      await store.close();
    }
  } catch {
    return undefined;
  }
}

function stateClaim({ path }: FoundStack, { state }: Stack): Claim {
  const what = `the state ${wordsOf(state)}`;
  const key = `state ${keyOf(state)}`;
  const place = fileIn(path, STACK_FILE);
  return { key, stack: path, what, address: undefined, place, isTold: false };
}

function keyOf(place: StatePlace): string {
  if ('file' in place) return realOf(place.file);
  if ('http' in place) return place.http.address;
  if ('postgres' in place) return JSON.stringify([place.postgres.url, place.postgres.stack]);
  const { endpoint = '', bucket, key } = place.s3;
  return JSON.stringify([endpoint, bucket, key]);
}

/** Two ways to one file are one place. */
function realOf(file: string): string {
  try {
    return join(realpathSync(dirname(file)), basename(file));
  } catch {
    return file;
  }
}

/** Nothing of an address that could hold more than where it is. */
function wordsOf(place: StatePlace): string {
  if ('file' in place) return place.file;
  if ('http' in place) return `at ${new URL(place.http.address).host}`;
  if ('postgres' in place) return `${place.postgres.stack} in PostgreSQL`;
  return `s3://${place.s3.bucket}/${place.s3.key}`;
}

function configuredClaims(
  { path }: FoundStack,
  { resources, organizations }: Stack,
  account: string,
): readonly Claim[] {
  return resources.flatMap(({ address, kind, document, lifecycle, position }) => {
    const { adopt } = lifecycle;
    const file = position === undefined ? path : fileIn(path, `${position.file}:${position.line}`);
    const common = { stack: path, address, place: file, isTold: adopt !== undefined };
    const name = naturalKeyOf(kindNamed(kind), document);
    return [
      ...(adopt === undefined ? [] : [{ ...common, ...byId(account, kind, adopt), isTold: false }]),
      ...(name === undefined ? [] : [{ ...common, ...byName(account, kind, name, organizations) }]),
    ];
  });
}

/**
 * What the state holds. Of what the configuration no longer has the name counts, too: another stack that has it now
 * would take over what this one deletes. What is let go of by `forget` is nobody's.
 */
function recordedClaims(
  { path }: FoundStack,
  { moves, resources, organizations }: Stack,
  { resources: recorded }: State,
  account: string,
): readonly Claim[] {
  const positions = new Map(resources.map(({ address, position }) => [address, position]));
  return Object.entries(recorded).flatMap(([address, resource]) => {
    const isKept = positions.has(address);
    if (!isKept && moves.forget.some((pattern) => matchesAddress(pattern, address))) return [];
    const at = positions.get(address);
    const place = at === undefined ? `the state of ${path}` : fileIn(path, `${at.file}:${at.line}`);
    const common = { stack: path, address, place, isTold: false };
    const name = isKept ? undefined : naturalKeyOf(kindNamed(resource.kind), documentOf(resource));
    return [
      { ...common, ...byId(account, resource.kind, resource.id) },
      ...(name === undefined
        ? []
        : [{ ...common, ...byName(account, resource.kind, name, organizations) }]),
    ];
  });
}

/** As much of what was written last as stands there in clear, which names are. */
function documentOf({ scope, leaves }: ResourceState): { readonly [field: string]: Json } {
  const values = Object.entries(leaves).flatMap(([path, leaf]) =>
    'value' in leaf ? [[path, leaf.value] as const] : [],
  );
  return { ...Object.fromEntries(values), ...scope };
}

function byId(account: string, kind: string, id: string): Pick<Claim, 'key' | 'what'> {
  return { key: `id ${account} ${kind} ${id}`, what: `the live ${wordOf(kind)} ${id}` };
}

function byName(
  account: string,
  kind: string,
  name: string,
  organizations: Stack['organizations'],
): Pick<Claim, 'key' | 'what'> {
  const fields: readonly (readonly [string, string])[] = JSON.parse(name);
  const names = new Map(Object.entries(organizations).map(([given, id]) => [id, given]));
  const [last, ...others] = fields.toReversed();
  const where = others.map(
    ([field, value]) =>
      `${field.replace(/_id$/, '').replaceAll('_', ' ')} ${names.get(value) ?? value}`,
  );
  return {
    key: `name ${account} ${kind} ${name}`,
    what: [`the ${wordOf(kind)} ${JSON.stringify(last?.[1] ?? '')}`, ...where].join(' of '),
  };
}

function wordOf(kind: string): string {
  return kind.replaceAll('_', ' ');
}

function fileIn(path: string, file: string): string {
  return path === '.' ? file : `${path}/${file}`;
}

import { resolve } from 'node:path';
import type { Stack } from '../../config/index.ts';
import { ownOf } from '../../core/own.ts';
import type { State } from '../../state/model.ts';
import type { CommonFlags, Context } from '../context.ts';
import { findSettings } from '../platform-session.ts';
import { openStore, readState } from '../session.ts';
import { openStack } from '../stack.ts';
import type { Holding } from './holding.ts';

/** The stack of the folder, if there is one. Its secrets are read when it is known which are needed. */
export async function findStack(flags: CommonFlags, context: Context): Promise<Stack | undefined> {
  if (findSettings(flags, context) === undefined) return undefined;
  return (await openStack(flags, context, 'skip')).stack;
}

/** A stack that says nothing: for a restoration where there is none. */
export function blankStack(dir: string): Stack {
  return {
    dir: resolve(dir),
    environment: undefined,
    platform: { base_url: undefined, assume: true, endpoints: {} },
    organizations: {},
    state: { file: '' },
    guards: {},
    moves: { moved: [], forget: [] },
    rules: () => ({ refusals: [], notes: [] }),
    resources: [],
    secrets: [],
    originOf: () => undefined,
    digest: '',
  };
}

/** Where the state of a restoration lies, and whether that is the stack's own. */
export type StatePlace = { readonly file: string; readonly isStacks: boolean };

/**
 * The file that was named; the state of the stack where every resource has its address there, and the state
 * is of this account or of none; otherwise a file of the restoration's own. The same command always finds the
 * same one again.
 */
export async function placeState(
  given: string | undefined,
  holding: Holding,
  { addresses, account }: { readonly addresses: Iterable<string>; readonly account: string },
  stack: Stack | undefined,
  context: Context,
): Promise<StatePlace> {
  if (given !== undefined) return { file: resolve(given), isStacks: false };
  if (stack !== undefined && (await isOf(stack, holding, addresses, account, context)))
    return { file: stack.state.file, isStacks: true };
  const snapshot = holding.header.id.slice(0, 8);
  const target = account.replaceAll(/[^A-Za-z0-9]/g, '').slice(0, 8);
  const dir = stack?.dir ?? process.cwd();
  return {
    file: resolve(dir, '.callsheet', `restore-${snapshot}-${target}.json`),
    isStacks: false,
  };
}

async function isOf(
  stack: Stack,
  { header }: Holding,
  addresses: Iterable<string>,
  account: string,
  context: Context,
): Promise<boolean> {
  if (header.stack === null) return false;
  const configured = new Map(stack.resources.map((one) => [one.address, one]));
  if (![...addresses].every((address) => configured.has(address))) return false;
  const state = await stateIn(stack, context);
  return (state.account_id ?? account) === account;
}

async function stateIn(stack: Stack, context: Context): Promise<State> {
  const store = openStore(stack, context);
  try {
    return (await readState(store)).state;
  } finally {
    await store.close();
  }
}

/** What organizations are called, by id. */
export function organizationNames(
  { organizations }: Holding,
  places: ReadonlyMap<string, string>,
  stack: Stack | undefined,
): Readonly<Record<string, string>> {
  const named: Record<string, string> = {};
  for (const [id, name] of organizations) if (name !== null && !places.has(id)) named[id] = name;
  for (const [name, id] of Object.entries(stack?.organizations ?? {}))
    if (ownOf(named, id) === undefined) named[id] = name;
  return named;
}

import { resolve } from 'node:path';
import type { Stack } from '../../config/index.ts';
import { CallsheetError } from '../../core/errors.ts';
import { ownOf } from '../../core/own.ts';
import type { CommonFlags, Context } from '../context.ts';
import { findSettings } from '../platform-session.ts';
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

/**
 * Where a restoration remembers what it made: the file that was named, or one beside the stack's state, called
 * after the snapshot and the account, so that the same command finds it again. It is never the state of a
 * stack: a restored resource is owned as a whole, and a stack owns only what its configuration says.
 */
export function placeState(
  given: string | undefined,
  { header }: Holding,
  account: string,
  stack: Stack | undefined,
): string {
  if (given !== undefined) {
    const file = resolve(given);
    if (file !== stack?.state.file) return file;
    throw new CallsheetError('usage', `--state ${given} is the state of the stack`, {
      hint: 'A restoration keeps one of its own; the next plan of the stack finds by their names what was made.',
    });
  }
  const short = (id: string) => id.replaceAll(/[^A-Za-z0-9]/g, '').slice(0, 8);
  const name = `restore-${short(header.id)}-${short(account)}.json`;
  return resolve(stack?.dir ?? '.', '.callsheet', name);
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

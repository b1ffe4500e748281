import { resolve } from 'node:path';
import { type Stack, unreadableVariables } from '../../config/index.ts';
import type { DesiredResource } from '../../core/desired.ts';
import { digestOf } from '../../core/digest.ts';
import { CallsheetError } from '../../core/errors.ts';
import { ownOf } from '../../core/own.ts';
import { kindNamed } from '../../kinds/index.ts';
import { scopeOf } from '../../plan/natural-key.ts';
import type { Places } from '../../restore/held.ts';
import type { State } from '../../state/model.ts';
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
    platform: { base_url: undefined, by: 'operator', assume: true, endpoints: {} },
    organizations: {},
    organization: undefined,
    state: { file: '' },
    guards: {},
    moves: { moved: [], forget: [] },
    rules: () => ({ refusals: [], notes: [] }),
    resources: [],
    secrets: [],
    originOf: () => undefined,
    written: () => ({
      resources: [],
      variables: unreadableVariables,
      files: [],
      organization: undefined,
    }),
    digest: '',
  };
}

/**
 * Where a restoration remembers what it made: the file that was named, or one beside the stack's state, called
 * after the snapshot, the account and what is mapped, so that the same command finds it again. It is never the state of a
 * stack: a restored resource is owned as a whole, and a stack owns only what its configuration says.
 */
export function placeState(
  given: string | undefined,
  { header }: Holding,
  account: string,
  places: Places,
  stack: Stack | undefined,
): string {
  if (given !== undefined) {
    const file = resolve(given);
    if (stack === undefined || !('file' in stack.state) || file !== stack.state.file) return file;
    throw new CallsheetError('usage', `--state ${given} is the state of the stack`, {
      hint: 'A restoration keeps one of its own; the next plan of the stack finds by their names what was made.',
    });
  }
  const short = (id: string) => id.replaceAll(/[^A-Za-z0-9]/g, '').slice(0, 8);
  const mapped = [...places].sort(([a], [b]) => (a < b ? -1 : 1));
  const where = mapped.length === 0 ? '' : `-${short(digestOf(mapped).replace('sha256:', ''))}`;
  const name = `restore-${short(header.id)}-${short(account)}${where}.json`;
  return resolve(stack?.dir ?? '.', '.callsheet', name);
}

/** A state that was made by restoring into other places would have its resources moved from there. */
export function checkPlaces(
  file: string,
  { resources }: State,
  desired: readonly DesiredResource[],
): void {
  for (const { address, kind, document } of desired) {
    const recorded = ownOf(resources, address);
    if (recorded === undefined) continue;
    const wanted = scopeOf(kindNamed(kind), document);
    const field = Object.keys(wanted).find((name) => recorded.scope[name] !== wanted[name]);
    if (field === undefined) continue;
    throw new CallsheetError(
      'usage',
      `the state ${file} is of another restoration: ${address} was made in ${field} ${recorded.scope[field]}, and now it is to be in ${wanted[field]}`,
      { hint: 'Name another file with --state, or leave it out.' },
    );
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

import { readFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { CallsheetError } from '../../core/errors.ts';
import { Blob } from '../../core/value.ts';
import type { ResourceState, State } from '../../state/model.ts';
import type { Context } from '../context.ts';
import type { PlatformSession } from '../platform-session.ts';
import { NO_LINEAGE, say } from '../session.ts';

/** The state of the stack, if there is a stack and it has one. */
export async function stateOf(session: PlatformSession): Promise<State | undefined> {
  if (session.settings === undefined) return undefined;
  const state = await session.state();
  return state.lineage === NO_LINEAGE ? undefined : state;
}

/** Addresses of another account would stand for nothing in the snapshot. */
export function checkAccount(state: State | undefined, account: string): void {
  const known = state?.account_id;
  if (known === undefined || known === account) return;
  throw new CallsheetError(
    'state',
    `the state of this stack belongs to account ${known}; these credentials are for account ${account}`,
    { hint: 'Check the credentials, or take the snapshot outside of the stack (--dir).' },
  );
}

/** What a resource is called in the stack, by kind and id. */
export function ownersIn(
  state: State | undefined,
): (
  kind: string,
  id: string,
) => { readonly address: string; readonly state: ResourceState } | undefined {
  const owners = new Map(
    Object.entries(state?.resources ?? {}).map(([address, one]) => [
      `${one.kind} ${one.id}`,
      { address, state: one },
    ]),
  );
  return (kind, id) => owners.get(`${kind} ${id}`);
}

/** The ids that the state has of a kind. */
export function idsOf(state: State | undefined, kind: string): readonly string[] {
  return Object.values(state?.resources ?? {}).flatMap((one) =>
    one.kind === kind ? [one.id] : [],
  );
}

/**
 * Knowledge bases, which the platform does not list: those of the command line, the stack and its state. A stack
 * that is wrong does not stand in the way of a backup, but then it is said that it could not be asked.
 */
export async function knowledgeBasesOf(
  given: readonly string[],
  session: PlatformSession,
  state: State | undefined,
  { terminal }: Context,
): Promise<readonly string[]> {
  const recorded = Object.values(state?.resources ?? {}).map(
    ({ scope }) => scope.knowledge_base_id,
  );
  let configured: readonly unknown[] = [];
  if (session.settings !== undefined) {
    try {
      const { resources } = await session.stack();
      configured = resources.map(({ document }) => document.knowledge_base_id);
    } catch (error) {
      if (!(error instanceof CallsheetError)) throw error;
      say(
        terminal,
        'Warning: the configuration has errors (callsheet validate), so only the knowledge bases that the state knows are looked for.',
      );
    }
  }
  const all = [...given, ...recorded, ...configured];
  return [...new Set(all.filter((id): id is string => typeof id === 'string' && id !== ''))];
}

/** The files of the stack that its resources are made of. The platform returns no bytes of them. */
export async function mediaOf(session: PlatformSession) {
  if (session.settings === undefined) {
    throw new CallsheetError('usage', '--media needs a stack, whose files are kept', {
      hint: 'The platform returns no bytes. Give the folder of the stack with --dir, or leave --media out.',
    });
  }
  const { resources, dir } = await session.stack();
  const blobs = resources.flatMap(({ document }) =>
    Object.values(document).filter((value) => value instanceof Blob),
  );
  const byDigest = new Map(blobs.map((blob) => [blob.sha256, blob]));
  return [...byDigest.values()].map(({ path, sha256, mime, size }) => ({
    sha256,
    mime,
    size,
    name: basename(path),
    read: () => readFile(join(dir, path)),
  }));
}

import { join } from 'node:path';
import * as commands from '../../src/cli/commands/state.ts';
import type { Context } from '../../src/console/context.ts';
import { onTerminal } from '../../src/console/events.ts';
import { isUuid } from '../../src/core/value.ts';
import { openFileStore } from '../../src/state/file/store.ts';
import type { ResourceState, State } from '../../src/state/model.ts';
import { openStateSeals } from '../../src/state/open.ts';
import { emptyState } from '../../src/state/replay.ts';
import { formatState } from '../../src/state/state-text.ts';
import { FINGERPRINT_KEY } from '../e2e/clinic.ts';
import type { StackCopy } from '../e2e/stack-copy.ts';
import { openKeyed } from '../state/keyed.ts';

type Options = { readonly exit?: number | 'any'; readonly env?: Context['env'] };

/** As much of a stage as these need. */
type Stage = Pick<StackCopy, 'folder'> & {
  readonly run: (
    command: (context: Context) => Promise<number>,
    options?: Options,
  ) => Promise<{ readonly out: string; readonly err: string }>;
};

/** Lines so long that none breaks: where a text breaks depends on where temporary files lie. */
function unbroken(context: Context): Context {
  const { terminal } = context;
  const render = { ...terminal.render, width: 1000 };
  return { ...context, ...onTerminal({ ...terminal, render }) };
}

/** The state commands of a stage, as JSON unless a test wants text, whose lines are as long as they like. */
export function stateCommands(stage: Stage, format: 'text' | 'json' = 'json') {
  const flags = { dir: stage.folder, format };
  const act = (run: (to: Context) => Promise<number>, options?: Options) =>
    stage.run((to) => run(unbroken(to)), options);
  return {
    list: (patterns: readonly string[] = [], options?: Options) =>
      act((to) => commands.list(patterns, flags, to), options),
    show: (address: string, options?: Options) =>
      act((to) => commands.showResource(address, flags, to), options),
    mv: (from: string, to: string, options?: Options) =>
      act((context) => commands.mv([from, to], flags, context), options),
    rm: (addresses: readonly string[], forgetProtected = false, options?: Options) =>
      act((to) => commands.rm(addresses, { ...flags, forgetProtected }, to), options),
    trust: (addresses: readonly string[], dryRun: boolean, options?: Options) =>
      act((to) => commands.trust(addresses, { ...flags, dryRun }, to), options),
    pull: (options?: Options) => act((to) => commands.pull(flags, to), options),
    push: (file: string, overwrite = false, options?: Options) =>
      act((to) => commands.push(join(stage.folder, file), { ...flags, overwrite }, to), options),
    migrate: (to: string, options?: Options) =>
      act((context) => commands.migrate({ ...flags, to }, context), options),
    unlock: (lease?: string, stopRun = false, options?: Options) =>
      act((to) => commands.unlock(lease, { ...flags, stopRun }, to), options),
    adopt: (options?: Options) => act((to) => commands.adopt(flags, to), options),
    repair: (options?: Options) => act((to) => commands.repair(flags, to), options),
  };
}

/** Where a stage keeps its state. */
export const STATE = '.callsheet/state.json';

/** The store of a stage, for what another process would do to it. */
export function storeOf({ folder }: Pick<Stage, 'folder'>) {
  return openKeyed(join(folder, STATE));
}

/** The state of a stage, whether it is sealed or not. */
export async function stateIn({ folder }: Pick<Stage, 'folder'>): Promise<State> {
  const file = join(folder, STATE);
  const env = { CALLSHEET_FINGERPRINT_KEY: FINGERPRINT_KEY };
  const seals = openStateSeals({ file }, { env, vouches: 'everything' });
  return (await openFileStore(file, { seals }).load()).state ?? emptyState('none');
}

type Written = Pick<StackCopy, 'folder' | 'write'>;

/** Writes a state by hand whose checksum fits, as whoever can write where it lies may do. */
export async function forgeState(stage: Written, change: (state: State) => State): Promise<void> {
  await stage.write(STATE, await formatState(change(await stateIn(stage))));
}

/** The same of its resources. */
export function forge(
  stage: Written,
  change: (resources: State['resources']) => State['resources'],
): Promise<void> {
  return forgeState(stage, (state) => ({ ...state, resources: change(state.resources) }));
}

/** Reads what the state remembers, without what is another in every run: ids, times, and what depends on them. */
export async function rememberedIn(stage: Pick<Stage, 'folder'>): Promise<object> {
  const { resources } = await stateIn(stage);
  const addresses = new Map(Object.entries(resources).map(([address, { id }]) => [id, address]));
  return Object.fromEntries(
    Object.entries(resources).map(
      ([
        address,
        { id, pin, created_at: created, asked_at: asked, leaves, restored_by: by, ...rest },
      ]) => [
        address,
        {
          ...rest,
          isAsked: asked !== undefined,
          isRestored: by !== undefined,
          isPinned: pin !== null,
          isDated: created !== undefined,
          leaves: leavesIn(leaves, addresses),
        },
      ],
    ),
  );
}

function leavesIn(
  leaves: ResourceState['leaves'],
  addresses: ReadonlyMap<string, string>,
): Readonly<Record<string, unknown>> {
  return Object.fromEntries(
    Object.entries(leaves).map(([path, leaf]) => {
      if ('fingerprint' in leaf) return [path, 'fingerprint'];
      const id = 'value' in leaf && typeof leaf.value === 'string' ? leaf.value : '';
      // One of what is gone has no address.
      return [path, addresses.get(id) ?? (isUuid(id) ? 'an id' : leaf)];
    }),
  );
}

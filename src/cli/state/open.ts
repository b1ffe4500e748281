import { hostname } from 'node:os';
import { loadSettings, type StackSettings } from '../../config/index.ts';
import { CallsheetError } from '../../core/errors.ts';
import type { Actor } from '../../state/journal.ts';
import type { Holder, StateStore } from '../../state/store.ts';
import type { CommonFlags, Context } from '../context.ts';
import { openStore } from '../session.ts';
import { loadOptions } from '../stack.ts';

/** What the commands that work on the state alone need. */
export type OpenState = { readonly store: StateStore; readonly settings: StackSettings };

/**
 * Opens the state that `callsheet.yaml` names, works with it and closes it. The rest of the configuration
 * is not read: it may be broken while somebody mends the state.
 */
export async function withStore<T>(
  flags: CommonFlags,
  context: Context,
  work: (open: OpenState) => Promise<T>,
): Promise<T> {
  const { settings, diagnostics } = loadSettings({
    ...loadOptions(flags, context),
  });
  if (settings === undefined)
    throw new CallsheetError('config', 'the configuration has errors', { diagnostics });
  const store = openStore(settings, context);
  try {
    return await work({ store, settings });
  } finally {
    await store.close();
  }
}

/** Who takes the lease for a command; `run` is empty for what is no run. */
export function holderFor(
  run: string,
  command: string,
  { user, pid }: Pick<Actor, 'user' | 'pid'>,
  { now }: Context,
): Holder {
  return { run, command, user, host: hostname(), pid, since: now().toISOString() };
}

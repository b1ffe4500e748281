import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { CallsheetError } from '../core/errors.ts';
import type { Client } from '../platform/client.ts';
import { readEndpoints } from '../platform/endpoints.ts';
import type { Stack, StackSettings } from '../stack/index.ts';
import type { State } from '../state/model.ts';
import { openClient } from './client.ts';
import type { RunContext, StackOptions } from './context.ts';
import { openStore, readState } from './session.ts';
import { openSettings, openStack } from './stack.ts';

/**
 * The commands that only look at the platform work with this. They need no stack: if the folder has one, its
 * `callsheet.yaml` says where the platform is and what organizations are called. Its state and its resources are read
 * when an address asks for them, and nothing is ever written or locked.
 */
export type PlatformSession = {
  readonly client: Client;
  /** Undefined where the folder has no stack. */
  readonly settings: StackSettings | undefined;
  readonly state: () => Promise<State>;
  readonly stack: () => Promise<Stack>;
};

/** Opens a session for looking at the platform, works with it and closes it, however that ended. Sends nothing itself. */
export async function withPlatform<T>(
  flags: StackOptions,
  context: RunContext,
  work: (session: PlatformSession) => Promise<T>,
): Promise<T> {
  const settings = findSettings(flags, context);
  const source = settings ?? {
    dir: flags.dir,
    platform: { base_url: undefined, by: 'operator' as const },
  };
  const endpoints = settings && readEndpoints(settings.platform);
  const client = await openClient(source, context, flags.concurrency, endpoints);
  const interrupt = () => void client.close();
  context.stop.addEventListener('abort', interrupt);
  let stack: Promise<Stack> | undefined;
  const session: PlatformSession = {
    client,
    settings,
    async state() {
      const store = openStore(needStack(settings, flags.dir), context);
      try {
        return (await readState(store)).state;
      } finally {
        await store.close();
      }
    },
    stack() {
      needStack(settings, flags.dir);
      stack ??= openStack(flags, context, 'skip').then((loaded) => loaded.stack);
      return stack;
    },
  };
  try {
    return await work(session);
  } finally {
    context.stop.removeEventListener('abort', interrupt);
    await client.close();
  }
}

/**
 * Finds the stack's settings, if there is a stack: the working directory need not be one, a folder that was named
 * must.
 */
export function findSettings(flags: StackOptions, context: RunContext): StackSettings | undefined {
  if (flags.dir === '.' && !existsSync(join(flags.dir, 'callsheet.yaml'))) return undefined;
  return openSettings(flags, context);
}

function needStack(settings: StackSettings | undefined, dir: string): StackSettings {
  if (settings !== undefined) return settings;
  throw new CallsheetError(
    'usage',
    `there is no callsheet.yaml in ${dir}, so no address is known`,
    {
      hint: 'Give an id or a name, or the folder of the stack with --dir. `callsheet init` and `callsheet export --out FOLDER` write a stack.',
    },
  );
}

import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { Scale, Surroundings } from '../benchmark.ts';
import type { Layout } from './stack.ts';

/** A hundred thousand agents with prompts are more than Node takes by itself. */
const HEAP = '--max-old-space-size=8192';

/** A simulated platform in a process of its own. */
export type Platform = {
  readonly env: Surroundings['env'];
  /** Forgets what it was asked for so far, and where it was started without a fleet what was made since. */
  readonly forget: () => Promise<void>;
  /** The requests that came since, refused ones included. Writes them into a file, too. */
  readonly tell: (file?: string) => Promise<Told>;
  readonly close: () => Promise<void>;
};

/** How many requests came, and how many of them in a row. */
export type Told = { readonly requests: number; readonly roundTrips: number };

/** A message to the process of a platform. It does this before it answers how many requests came. */
export type PlatformRequest = {
  readonly forget?: boolean;
  readonly empty?: boolean;
  readonly file?: string | undefined;
};

/** Starts a platform that a fleet is live on. It takes any number of requests unless `perSecond` limits them. */
export async function startPlatform(
  { size, latency }: Scale,
  perSecond?: number,
  layout: Layout = 'rows',
): Promise<Platform> {
  const argv = [layout, size, latency, ...(perSecond === undefined ? [] : [perSecond])].map(String);
  const child = fork(join(import.meta.dirname, 'serve.ts'), argv, { execArgv: [HEAP] });
  const env = (await answerOf(child)) as Surroundings['env'];
  const ask = async (request: PlatformRequest) => {
    child.send(request);
    return (await answerOf(child)) as Told;
  };
  return {
    env,
    async forget() {
      await ask({ forget: true, empty: size === 0 });
    },
    tell: (file) => ask({ file }),
    async close() {
      child.disconnect();
      await once(child, 'exit');
    },
  };
}

/** Its next message. Throws where it ends instead. */
async function answerOf(child: ChildProcess): Promise<unknown> {
  const over = new AbortController();
  const { signal } = over;
  try {
    return await Promise.race([
      once(child, 'message', { signal }).then(([message]) => message),
      once(child, 'exit', { signal }).then(([code]) => {
        throw new Error(`the simulated platform ended with ${code}`);
      }),
    ]);
  } finally {
    over.abort();
  }
}

import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { Scale, Surroundings } from '../benchmark.ts';

/** A hundred thousand agents with prompts are more than Node takes by itself. */
const HEAP = '--max-old-space-size=8192';

/** A simulated platform in a process of its own. */
export type Platform = {
  readonly env: Surroundings['env'];
  /** Forgets what it was asked for so far. */
  readonly forget: () => Promise<void>;
  /** Writes down what it was asked for since. */
  readonly tell: (file: string) => Promise<void>;
  readonly close: () => Promise<void>;
};

/** Starts a platform that a fleet is live on. */
export async function startPlatform({ size, latency }: Scale): Promise<Platform> {
  const argv = [String(size), String(latency)];
  const child = fork(join(import.meta.dirname, 'serve.ts'), argv, { execArgv: [HEAP] });
  const env = (await answerOf(child)) as Surroundings['env'];
  const ask = async (wanted: string) => {
    child.send(wanted);
    await answerOf(child);
  };
  return {
    env,
    forget: () => ask(''),
    tell: (file) => ask(file),
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

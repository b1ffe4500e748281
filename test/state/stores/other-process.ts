import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { onTestFinished } from 'vitest';
import type { StatePlace } from '../../../src/core/stores.ts';
import type { JournalEntry } from '../../../src/state/journal.ts';
import type { Holder } from '../../../src/state/store.ts';

export type Order =
  | {
      readonly do: 'acquire';
      readonly place: StatePlace;
      readonly env: Readonly<Record<string, string>>;
      readonly holder: Holder;
    }
  | { readonly do: 'append'; readonly entry: JournalEntry };

export type Answer = { readonly done: true } | { readonly done: false; readonly message: string };

const SCRIPT = fileURLToPath(new URL('fixtures/holder.ts', import.meta.url));

/** Starts a process that works a store as it is told. It is ended with the test. */
export function startProcess() {
  const child = fork(SCRIPT, { execArgv: [] });
  const gone = once(child, 'exit');
  const kill = async () => {
    child.kill('SIGKILL');
    await gone;
  };
  onTestFinished(kill);
  return {
    async tell(order: Order): Promise<Answer> {
      const answered = once(child, 'message');
      child.send(order);
      const [answer] = await answered;
      return answer;
    },
    kill,
  };
}

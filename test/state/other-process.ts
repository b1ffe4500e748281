import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { onTestFinished } from 'vitest';
import type { StatePlace } from '../../src/core/stores.ts';
import type { JournalEntry } from '../../src/state/journal.ts';
import type { Holder } from '../../src/state/store.ts';

export type Order =
  | {
      readonly do: 'acquire';
      readonly place: StatePlace;
      readonly env?: Readonly<Record<string, string>>;
      readonly holder: Holder;
    }
  | { readonly do: 'append'; readonly entry: JournalEntry }
  | { readonly do: 'release' };

export type Answer =
  | { readonly done: true }
  | { readonly done: false; readonly code: string; readonly message: string };

export type OtherProcess = {
  readonly pid: number;
  readonly tell: (order: Order) => Promise<Answer>;
  readonly signal: (signal: NodeJS.Signals) => void;
  /** Leaves it with nothing to wait for, and resolves to its exit code. */
  readonly leave: () => Promise<number | null>;
  /** Ends it at once, and resolves when the system has seen it go. */
  readonly kill: () => Promise<void>;
};

const SCRIPT = fileURLToPath(new URL('fixtures/holder.ts', import.meta.url));

/** Starts a process that works a store as it is told. It is ended with the test. */
export function startProcess(): OtherProcess {
  const child: ChildProcess = fork(SCRIPT, { execArgv: [] });
  const gone = once(child, 'exit');
  const kill = async () => {
    child.kill('SIGKILL');
    await gone;
  };
  onTestFinished(kill);
  return {
    pid: child.pid ?? 0,
    async tell(order) {
      const answered = once(child, 'message');
      child.send(order);
      const [answer] = await answered;
      return answer;
    },
    signal: (signal) => {
      child.kill(signal);
    },
    async leave() {
      child.disconnect();
      const [code] = await gone;
      return code;
    },
    kill,
  };
}

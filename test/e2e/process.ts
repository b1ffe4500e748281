import { spawn } from 'node:child_process';
import { inject } from 'vitest';
import { checkPrinted } from '../documents.ts';
import './build.ts';

/** How a command ended, and all that it said. */
export type Outcome = {
  readonly args: readonly string[];
  /** Null where a signal ended it. */
  readonly exit: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly out: string;
  readonly err: string;
};

/** A command under way. */
export type Running = {
  readonly ended: Promise<Outcome>;
  /** Resolves once what it said so far matches; rejects where it ends without. */
  readonly says: (pattern: RegExp) => Promise<void>;
  readonly signal: (signal: NodeJS.Signals) => void;
  /** Stops reading what it prints, as `head` does. */
  readonly closeOutput: () => void;
  /** The same for its messages. */
  readonly closeMessages: () => void;
  /** Whether it, or anything that it started, still runs. */
  readonly isLeft: () => boolean;
};

/** Where a command runs. */
export type Place = {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
};

/** Starts the built bin in a process group of its own, with a pipe for each output and no terminal. */
export function start(args: readonly string[], { cwd, env }: Place): Running {
  const child = spawn(process.execPath, [inject('bin'), ...args], {
    cwd,
    env: { NODE_COMPILE_CACHE: inject('compiled'), ...env },
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const said = { out: '', err: '' };
  const listeners = new Set<() => void>();
  const tell = () => {
    for (const listener of listeners) listener();
  };
  for (const [name, stream] of [
    ['out', child.stdout],
    ['err', child.stderr],
  ] as const) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      said[name] += text;
      tell();
    });
  }
  let hasEnded = false;
  let isClosed = false;
  const ended = new Promise<Outcome>((resolve, reject) => {
    child.on('error', reject).on('close', (exit, signal) => {
      hasEnded = true;
      tell();
      // What was cut off is no document.
      const isWhole = exit !== null && !isClosed;
      const checked = isWhole ? checkPrinted(said.out, args) : Promise.resolve();
      checked.then(() => resolve({ args, exit, signal, ...said }), reject);
    });
  });
  const all = () => `${said.out}${said.err}`;
  const group = child.pid ?? 0;

  return {
    ended,
    says: (pattern) =>
      new Promise((resolve, reject) => {
        const look = () => {
          if (!pattern.test(all()) && !hasEnded) return;
          listeners.delete(look);
          if (pattern.test(all())) resolve();
          else reject(new Error(`it ended without saying ${pattern}:\n${all()}`));
        };
        listeners.add(look);
        look();
      }),
    signal(signal) {
      if (!isGone(group)) process.kill(-group, signal);
    },
    closeOutput() {
      isClosed = true;
      child.stdout.destroy();
    },
    closeMessages: () => void child.stderr.destroy(),
    isLeft: () => !isGone(group),
  };
}

/** Whether no process of the group is left. */
function isGone(group: number): boolean {
  try {
    process.kill(-group, 0);
    return false;
  } catch {
    return true;
  }
}

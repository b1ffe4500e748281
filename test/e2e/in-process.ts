import packageJson from '../../package.json' with { type: 'json' };
import { type Deps, runProgram } from '../../src/cli/program.ts';
import { features } from '../../src/features/index.ts';
import { checkPrinted } from '../documents.ts';
import type { Outcome, Place } from './process.ts';

/** No signal ends a command here. */
type Ended = Outcome & { readonly exit: number };

/** Of the world that a command works with, what is not to be as a process has it. */
type Outside = Partial<Pick<Deps, 'now' | 'stop' | 'pause' | 'disk' | 'wire'>>;

let last: Promise<unknown> = Promise.resolve();

/**
 * Runs a command line in this process, which costs a tenth of a process of its own: in its working directory, with
 * its variables, and with what it writes to the two outputs caught. All three are the process's, so one runs after
 * the other: what is to run beside another, or to be killed, is a process (`process.ts`).
 */
export function runHere(
  args: readonly string[],
  place: Place,
  outside: Outside = {},
): Promise<Ended> {
  const mine = last.then(() => runAlone(args, place, outside));
  last = mine.catch(() => undefined);
  return mine;
}

async function runAlone(
  args: readonly string[],
  { cwd, env }: Place,
  outside: Outside,
): Promise<Ended> {
  const said = { out: '', err: '' };
  const before = process.cwd();
  const restore = [
    catchWrites(process.stdout, (text) => {
      said.out += text;
    }),
    catchWrites(process.stderr, (text) => {
      said.err += text;
    }),
    setVariables(env),
    () => process.chdir(before),
  ];
  try {
    process.chdir(cwd);
    const { version } = packageJson;
    const { signal: stop } = new AbortController();
    const exit = await runProgram(args, {
      features,
      env,
      now: () => new Date(),
      stop,
      version,
      ...outside,
    });
    await checkPrinted(said.out, args);
    return { args, exit, signal: null, ...said };
  } finally {
    for (const undo of restore) undo();
  }
}

/** Gives what is written to a stream to `take` instead, until the function that it returns is called. */
function catchWrites(stream: NodeJS.WriteStream, take: (text: string) => void): () => void {
  const { write } = stream;
  stream.write = (chunk: string | Uint8Array) => {
    take(typeof chunk === 'string' ? chunk : Buffer.from(chunk).toString());
    return true;
  };
  return () => {
    stream.write = write;
  };
}

/** Sets variables of this process, and takes away those that are undefined; undone likewise. */
function setVariables(env: Place['env']): () => void {
  const before = Object.keys(env).map((name) => [name, process.env[name]] as const);
  const set = (entries: readonly (readonly [string, string | undefined])[]) => {
    for (const [name, value] of entries) {
      if (value === undefined) delete process.env[name];
      else process.env[name] = value;
    }
  };
  set(Object.entries(env));
  return () => set(before);
}

#!/usr/bin/env node
import { writeSync } from 'node:fs';
import packageJson from '../package.json' with { type: 'json' };

const { version, engines } = packageJson;
const argv = process.argv.slice(2);
const oldest = engines.node.replace('>=', '');

outliveOutput(process);

if (argv.length === 1 && (argv[0] === '--version' || argv[0] === '-V')) {
  process.stdout.write(`${version}\n`);
} else if (isOlder(process.versions.node, oldest)) {
  process.stderr.write(
    `Callsheet needs Node ${oldest} or newer, and this is ${process.versions.node}. Install a newer one from https://nodejs.org.\n`,
  );
  process.exitCode = 1;
} else if (argv[0] === '__complete') {
  // A shell asks what may come next, and waits for it at every press of a key.
  const { features } = await import('./features/index.ts');
  const complete = await features.find((one) => one.complete !== undefined)?.complete?.();
  const answer = await complete?.(argv.slice(1), process.env, features);
  process.stdout.write(answer ?? 'words\n');
} else {
  const stop = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    process.on(signal, () => {
      // The journal has all that was begun, so that the next command settles it.
      if (stop.signal.aborted) process.exit(130);
      stop.abort();
    });
  const { runProgram } = await import('./cli/program.ts');
  const { features } = await import('./features/index.ts');
  process.exitCode = await runProgram(argv, {
    env: process.env,
    features,
    now: () => new Date(),
    stop: stop.signal,
    version,
  });
}

/** By number, part by part. To collate texts would take longer than all the rest of a start. */
function isOlder(version: string, than: string): boolean {
  const [a = [], b = []] = [version, than].map((text) => text.split('.').map(Number));
  const at = a.findIndex((part, index) => part !== (b[index] ?? 0));
  return at >= 0 && (a[at] ?? 0) < (b[at] ?? 0);
}

/**
 * Keeps a command going whatever becomes of its output: a run that has begun must not die half-way because nobody
 * looks any more. A reader that went away (`| head`) is no error. Anything else, such as a full disk, is told at the
 * end, and a command that would have ended well ends with 1: what it was to show is missing.
 */
function outliveOutput({ stdout, stderr }: Pick<NodeJS.Process, 'stdout' | 'stderr'>): void {
  let lost: NodeJS.ErrnoException | undefined;
  for (const stream of [stdout, stderr]) {
    // The first error of a stream gives the reason; later ones only say that it is closed.
    let isBroken = false;
    stream.on('error', (error: NodeJS.ErrnoException) => {
      if (!isBroken && error.code !== 'EPIPE') lost ??= error;
      isBroken = true;
    });
  }
  process.once('exit', () => {
    if (lost === undefined) return;
    process.exitCode = process.exitCode || 1;
    tell(
      `Not all of the output could be written: ${lost.message}. The command itself is complete; only its output is cut off.\n`,
    );
  });
}

/** Standard error may be what is broken. */
function tell(text: string): void {
  try {
    writeSync(2, text);
  } catch {
    // Then there is nobody to tell.
  }
}

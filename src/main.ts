#!/usr/bin/env node
import packageJson from '../package.json' with { type: 'json' };

const { version, engines } = packageJson;
const argv = process.argv.slice(2);
const oldest = engines.node.replace('>=', '');

// A reader that goes away (`| head`) is not an error.
for (const stream of [process.stdout, process.stderr]) {
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error;
  });
}

if (argv.length === 1 && (argv[0] === '--version' || argv[0] === '-V')) {
  process.stdout.write(`${version}\n`);
} else if (isOlder(process.versions.node, oldest)) {
  process.stderr.write(
    `Callsheet needs Node ${oldest} or newer, and this is ${process.versions.node}. Install a newer one from https://nodejs.org.\n`,
  );
  process.exitCode = 1;
} else {
  const stop = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stop.abort());
  const { runProgram } = await import('./cli/program.ts');
  process.exitCode = await runProgram(argv, {
    env: process.env,
    now: () => new Date(),
    stop: stop.signal,
    version,
  });
}

function isOlder(version: string, than: string): boolean {
  return version.localeCompare(than, 'en', { numeric: true }) < 0;
}

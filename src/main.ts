#!/usr/bin/env node
import packageJson from '../package.json' with { type: 'json' };

const { version } = packageJson;
const argv = process.argv.slice(2);

// A reader that goes away (`| head`) is not an error.
for (const stream of [process.stdout, process.stderr]) {
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error;
  });
}

if (argv.length === 1 && (argv[0] === '--version' || argv[0] === '-V')) {
  process.stdout.write(`${version}\n`);
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

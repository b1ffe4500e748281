#!/usr/bin/env node
import packageJson from '../package.json' with { type: 'json' };
import { outliveOutput } from './cli/lost-output.ts';

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
  const { answer } = await import('./cli/completion/answer.ts');
  process.stdout.write(await answer(argv.slice(1), process.env));
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

/** By number, part by part. To collate texts would take longer than all the rest of a start. */
function isOlder(version: string, than: string): boolean {
  const [a = [], b = []] = [version, than].map((text) => text.split('.').map(Number));
  const at = a.findIndex((part, index) => part !== (b[index] ?? 0));
  return at >= 0 && (a[at] ?? 0) < (b[at] ?? 0);
}

// The one gate, the same on every machine and in CI: what is generated is fresh, types, lint and format,
// dead code, the built command line, and every test. Each part runs even when another one failed, so
// that one run shows everything. The tests wait for much: the other parts, which take one core each, run beside them
// and print when they end.
import { spawn } from 'node:child_process';
import { globSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { dirname, join } from 'node:path';
import { styleText } from 'node:util';
import pLimit from 'p-limit';

type Part = readonly [name: string, command: string, args: readonly string[]];

/** Tools keep their caches here: the home directory is left alone, and need not be writable. */
const kept = join(dirname(import.meta.dirname), 'node_modules', '.cache');
/** Several cores check the same types several times; what is kept says which files are as they were. */
const TYPES = ['--singleThreaded', '--incremental', '--tsBuildInfoFile'];

const BESIDE: readonly Part[] = [
  ['generated files are fresh', 'node', ['scripts/generate.ts', '--check']],
  ['editor schema is fresh', 'node', ['scripts/generate-config-schema.ts', '--check']],
  ['reference is fresh', 'node', ['scripts/generate-reference.ts', '--check']],
  ['outputs in the docs are fresh', 'node', ['scripts/docs.ts', '--check']],
  ['words of pages and messages', 'node', ['scripts/prose.ts']],
  ['OpenAPI document', 'node', ['scripts/lint-openapi.ts']],
  ['types', 'tsc', [...TYPES, join(kept, 'types.tsbuildinfo')]],
  ...globSync('src/features/*/browser').map(
    (folder): Part => [`types in ${folder}`, 'tsc', ['-p', folder]],
  ),
  ['lint and format', 'biome', ['check', '--error-on-warnings']],
  ['a feature less', 'node', ['scripts/features.ts', '--types', '--turn']],
  ['dead code', 'knip', ['--cache', '--cache-location', join(kept, 'knip')]],
];
/** The tests start what is built. */
const BUILD: Part = ['build', 'node', ['scripts/build.ts']];
const TESTS: Part = ['tests', 'vitest', ['run']];

const env = {
  ...process.env,
  // The output of a part is printed later, but is to have colors as if it were printed now.
  ...(process.stdout.isTTY && { FORCE_COLOR: '1' }),
  NODE_COMPILE_CACHE: join(kept, 'node'),
  XDG_CACHE_HOME: kept,
  XDG_DATA_HOME: kept,
};

const failed: string[] = [];
await check(BUILD);
const limit = pLimit(Math.max(1, availableParallelism() - 1));
await Promise.all([check(TESTS, true), ...BESIDE.map((part) => limit(() => check(part)))]);
if (failed.length > 0) {
  console.log(`\nNot clean: ${failed.join(', ')}.`);
  process.exitCode = 1;
}

/** Runs a part. What it says is printed in one piece at its end, or as it comes. */
async function check([name, command, args]: Part, asItComes = false): Promise<void> {
  const start = performance.now();
  let said = '';
  const exit = await run(command, args, (text) => {
    if (asItComes) process.stdout.write(text);
    else said += text;
  });
  const seconds = ((performance.now() - start) / 1000).toFixed(1);
  const mark = exit === 0 ? styleText('green', '✓') : styleText('red', '✗');
  process.stdout.write(`${said}${mark} ${name} (${seconds} s)\n`);
  if (exit !== 0) failed.push(name);
}

/** Runs a command to its end, and gives its exit code. */
function run(
  command: string,
  args: readonly string[],
  hear: (text: string) => void,
): Promise<number | null> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { env, stdio: ['inherit', 'pipe', 'pipe'] });
    for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', hear);
    child.on('error', reject).on('close', resolve);
  });
}

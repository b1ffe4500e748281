// The one gate, the same on every machine and in CI: what is generated is fresh, types, lint and format,
// dead code, the built command line, and every test. Each part runs even when another one failed, so
// that one run shows everything. Parts that take one core run side by side, and print when they end.
import { spawn } from 'node:child_process';
import { availableParallelism } from 'node:os';
import { dirname, join } from 'node:path';
import { styleText } from 'node:util';
import pLimit from 'p-limit';

type Part = readonly [name: string, command: string, args: readonly string[]];

/** Where tools keep what they keep: the home is left alone, and need not be writable. */
const kept = join(dirname(import.meta.dirname), 'node_modules', '.cache');
/** Several cores check the same types several times; what is kept says which files are as they were. */
const TYPES = ['--singleThreaded', '--incremental', '--tsBuildInfoFile'];

const SIDE_BY_SIDE: readonly Part[] = [
  ['generated files are fresh', 'node', ['scripts/generate.ts', '--check']],
  ['editor schema is fresh', 'node', ['scripts/generate-config-schema.ts', '--check']],
  ['reference is fresh', 'node', ['scripts/generate-reference.ts', '--check']],
  ['outputs in the docs are fresh', 'node', ['scripts/docs.ts', '--check']],
  ['words of pages and messages', 'node', ['scripts/prose.ts']],
  ['OpenAPI document', 'node', ['scripts/lint-openapi.ts']],
  ['types', 'tsc', [...TYPES, join(kept, 'types.tsbuildinfo')]],
  ['types in the browser', 'tsc', ['-p', 'src/page/browser']],
  ['lint and format', 'biome', ['check', '--error-on-warnings']],
  ['dead code', 'knip', ['--cache', '--cache-location', join(kept, 'knip')]],
];
const ONE_BY_ONE: readonly Part[] = [
  ['build', 'node', ['scripts/build.ts']],
  ['tests', 'vitest', ['run']],
];

const env = {
  ...process.env,
  // What is printed later is to look as if it were printed now.
  ...(process.stdout.isTTY && { FORCE_COLOR: '1' }),
  NODE_COMPILE_CACHE: join(kept, 'node'),
  XDG_CACHE_HOME: kept,
  XDG_DATA_HOME: kept,
};

const failed: string[] = [];
const limit = pLimit(availableParallelism());
await Promise.all(SIDE_BY_SIDE.map((part) => limit(() => check(part, 'pipe'))));
for (const part of ONE_BY_ONE) await check(part, 'inherit');
if (failed.length > 0) {
  console.log(`\nNot clean: ${failed.join(', ')}.`);
  process.exitCode = 1;
}

async function check([name, command, args]: Part, output: 'pipe' | 'inherit'): Promise<void> {
  const start = performance.now();
  const { exit, said } = await run(command, args, output);
  const seconds = ((performance.now() - start) / 1000).toFixed(1);
  const mark = exit === 0 ? styleText('green', '✓') : styleText('red', '✗');
  process.stdout.write(said);
  console.log(`${mark} ${name} (${seconds} s)`);
  if (exit !== 0) failed.push(name);
}

function run(command: string, args: readonly string[], output: 'pipe' | 'inherit') {
  return new Promise<{ readonly exit: number | null; readonly said: string }>((resolve, reject) => {
    const child = spawn(command, args, { env, stdio: ['inherit', output, output] });
    let said = '';
    for (const stream of [child.stdout, child.stderr])
      stream?.setEncoding('utf8').on('data', (text: string) => {
        said += text;
      });
    child.on('error', reject).on('close', (exit) => resolve({ exit, said }));
  });
}

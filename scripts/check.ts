// The one gate, the same on every machine and in CI: what is generated is fresh, types, lint and format,
// dead code, the built command line, and every test. Each part runs even when an earlier one failed, so
// that one run shows everything.
import { spawn } from 'node:child_process';
import { dirname, join } from 'node:path';
import { styleText } from 'node:util';

const PARTS: readonly (readonly [string, string, readonly string[]])[] = [
  ['generated files are fresh', 'node', ['scripts/generate.ts', '--check']],
  ['editor schema is fresh', 'node', ['scripts/generate-config-schema.ts', '--check']],
  ['reference is fresh', 'node', ['scripts/generate-reference.ts', '--check']],
  ['outputs in the docs are fresh', 'node', ['scripts/docs.ts', '--check']],
  ['OpenAPI document', 'node', ['scripts/lint-openapi.ts']],
  ['types', 'tsc', []],
  ['types in the browser', 'tsc', ['-p', 'src/page/browser']],
  ['lint and format', 'biome', ['check', '--error-on-warnings']],
  ['dead code', 'knip', []],
  ['build', 'node', ['scripts/build.ts']],
  ['tests', 'vitest', ['run']],
];

/** Where tools keep what they keep: the home is left alone, and need not be writable. */
const kept = join(dirname(import.meta.dirname), 'node_modules', '.cache');
const env = {
  ...process.env,
  NODE_COMPILE_CACHE: join(kept, 'node'),
  XDG_CACHE_HOME: kept,
  XDG_DATA_HOME: kept,
};

const failed: string[] = [];
for (const [name, command, args] of PARTS) {
  const start = performance.now();
  const exit = await run(command, args);
  const seconds = ((performance.now() - start) / 1000).toFixed(1);
  const mark = exit === 0 ? styleText('green', '✓') : styleText('red', '✗');
  console.log(`${mark} ${name} (${seconds} s)`);
  if (exit !== 0) failed.push(name);
}
if (failed.length > 0) {
  console.log(`\nNot clean: ${failed.join(', ')}.`);
  process.exitCode = 1;
}

function run(command: string, args: readonly string[]): Promise<number | null> {
  return new Promise((resolve, reject) => {
    spawn(command, args, { env, stdio: 'inherit' }).on('error', reject).on('close', resolve);
  });
}

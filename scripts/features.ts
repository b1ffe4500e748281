// Proves the border of the core: in a copy, the folder of each feature and its line are deleted, with features that are
// built on it, the rest type-checks, and the tests of the core pass.
// `node scripts/features.ts [--quick|--types] [--turn] [NAME…]`: `--quick` runs a part of those tests and `--types` none,
// `--turn` takes one feature, another one each day.
import { spawnSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  globSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join, normalize } from 'node:path';
import { parseArgs } from 'node:util';

const ROOT = join(import.meta.dirname, '..');
const BIN = join(ROOT, 'node_modules/.bin');
const LIST = 'src/features/index.ts';

/** The tests that say what the engine does; the others start the whole program. */
const CORE = ['core', 'stack', 'diff', 'plan', 'rollback', 'apply', 'run', 'state', 'render'];
const QUICK = ['core', 'diff', 'plan', 'stack'];

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    quick: { type: 'boolean', default: false },
    types: { type: 'boolean', default: false },
    turn: { type: 'boolean', default: false },
  },
});
const all = readdirSync(join(ROOT, 'src/features'), { withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .map(({ name }) => name);
const today = Math.floor(Date.now() / 86_400_000) % all.length;
const chosen = values.turn ? all.slice(today, today + 1) : all;
const names = positionals.length === 0 ? chosen : positionals;
const rows = names.map(takeAway);
for (const { name, files, lines, types, tests } of rows)
  console.log(`${name}: ${files} files and ${lines} lines less; types ${types}; tests ${tests}`);
if (rows.some(({ isSound }) => !isSound)) process.exitCode = 1;

/** Deletes one feature in a copy, and looks at what is left. */
function takeAway(name: string) {
  const copy = mkdtempSync(join(tmpdir(), 'callsheet-feature-'));
  try {
    for (const file of tracked()) cpSync(join(ROOT, file), join(copy, file));
    symlinkSync(join(ROOT, 'node_modules'), join(copy, 'node_modules'));
    const together = [name, ...builtOn(copy, name)];
    const folders = together.flatMap((one) => [`src/features/${one}`, `test/features/${one}`]);
    const gone = globSync(
      together.map((one) => `src/features/${one}/**/*.*`),
      { cwd: copy },
    );
    const lines = gone.map((file) => readFileSync(join(copy, file), 'utf8').split('\n').length - 1);
    for (const folder of folders) rmSync(join(copy, folder), { recursive: true, force: true });
    for (const file of withoutFeature(copy, folders)) rmSync(join(copy, file));
    for (const one of together) deleteLine(copy, one);
    const types = run(copy, 'tsc', ['-p', '.', '--noEmit', '--incremental', 'false']);
    const ofCore = (values.quick ? QUICK : CORE).map((one) => `test/${one}`);
    const tests = values.types
      ? { isSound: true, out: 'Tests  not run' }
      : run(copy, 'vitest', ['run', '--maxWorkers=2', ...ofCore]);
    for (const { isSound, out } of [types, tests]) if (!isSound) console.log(out.slice(-4000));
    return {
      name: together.join(' with '),
      files: gone.length,
      lines: lines.reduce((sum, one) => sum + one, 0),
      types: types.isSound ? 'pass' : 'FAIL',
      tests: /Tests {2}(.*)/.exec(tests.out)?.[1] ?? 'FAIL',
      isSound: types.isSound && tests.isSound,
    };
  } finally {
    rmSync(copy, { recursive: true, force: true });
  }
}

/** The features that import from this one: they go with it. */
function builtOn(copy: string, name: string): readonly string[] {
  return all.filter(
    (one) =>
      one !== name &&
      globSync(`src/features/${one}/**/*.{ts,tsx}`, { cwd: copy })
        .flatMap((file) => importsOf(copy, file))
        .some((target) => target.startsWith(`src/features/${name}/`)),
  );
}

/** Deletes the import of a feature and its entry in the list. */
function deleteLine(copy: string, name: string): void {
  const path = join(copy, LIST);
  const text = readFileSync(path, 'utf8');
  const imported = new RegExp(String.raw`^import \{ (\w+) \} from '\./${name}/index\.ts';\n`, 'm');
  const [line = '', entry = ''] = imported.exec(text) ?? [];
  const rest = text.replace(line, '').replace(new RegExp(String.raw`\b${entry}\b(?:,\s*)?`), '');
  writeFileSync(path, rest);
}

/** Scripts and tests of the whole program that import from the folder, themselves or by another one. */
function withoutFeature(copy: string, folders: readonly string[]): readonly string[] {
  const files = globSync('{test,scripts,bench}/**/*.{ts,tsx}', { cwd: copy });
  const gone = new Set<string>();
  const isGone = (file: string) =>
    importsOf(copy, file).some(
      (target) => folders.some((one) => target.startsWith(`${one}/`)) || gone.has(target),
    );
  for (let before = -1; before < gone.size; ) {
    before = gone.size;
    for (const file of files) if (!gone.has(file) && isGone(file)) gone.add(file);
  }
  return [...gone];
}

/** The files of the project that a file imports. */
function importsOf(copy: string, file: string): readonly string[] {
  return [
    ...readFileSync(join(copy, file), 'utf8').matchAll(/from '(\.[^']+)'|import\('(\.[^']+)'\)/g),
  ].map(([, one, other]) => normalize(join(dirname(file), one ?? other ?? '')));
}

function run(cwd: string, command: string, args: readonly string[]) {
  const { status, stdout, stderr } = spawnSync(join(BIN, command), args, {
    cwd,
    encoding: 'utf8',
    env: { ...process.env, NO_COLOR: '1', PATH: `${BIN}${delimiter}${process.env.PATH}` },
    maxBuffer: 64 * 1024 * 1024,
  });
  return { isSound: status === 0, out: `${stdout}${stderr}` };
}

function tracked(): readonly string[] {
  const { stdout } = spawnSync('git', ['ls-files', '--cached', '--others', '--exclude-standard'], {
    cwd: ROOT,
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
  });
  return stdout.split('\n').filter((file) => file !== '' && existsSync(join(ROOT, file)));
}

import { globSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { describe, expect, test } from 'vitest';

/**
 * Imports run one way (DESIGN §12). Each folder of `src/` with those that it may import:
 *
 *     main ─▶ features ─▶ feature, cli ─▶ console ─▶ run ─▶ apply, live, snapshot, stack, platform, simulator, state ─▶ plan, diff, rollback, render ─▶ kinds ─▶ core
 *
 * `run` is the engine, which the command line, fleets, rehearsals and the library call; it knows no terminal.
 * `console` is what a command has of a terminal, and the commands that work on one stack, which fleets run too.
 * `model` is the pure part of `state/`, which plans and journals are made of. The rest keeps a state in a file, and opens
 * the stores of features.
 * `contract` is the table of operations in `platform/`, which is data; the rest of it calls them.
 */
const ALLOWED: { readonly [folder: string]: readonly string[] } = {
  main: ['features', 'cli'],
  feature: ['cli', 'run'],
  index: ['features', 'run', 'plan', 'render', 'platform', 'contract', 'core'],
  cli: [
    'feature',
    'console',
    'run',
    'apply',
    'live',
    'stack',
    'platform',
    'contract',
    'simulator',
    'state',
    'model',
    'plan',
    'diff',
    'rollback',
    'snapshot',
    'render',
    'kinds',
    'core',
  ],
  console: [
    'run',
    'apply',
    'stack',
    'platform',
    'contract',
    'snapshot',
    'state',
    'plan',
    'render',
    'core',
  ],
  run: [
    'apply',
    'live',
    'stack',
    'platform',
    'contract',
    'state',
    'model',
    'plan',
    'diff',
    'rollback',
    'snapshot',
    'render',
    'kinds',
    'core',
  ],
  apply: ['platform', 'plan', 'diff', 'model', 'kinds', 'core'],
  live: ['platform', 'plan', 'kinds', 'core'],
  snapshot: ['live', 'platform', 'contract', 'plan', 'diff', 'render', 'model', 'kinds', 'core'],
  stack: ['contract', 'kinds', 'core'],
  platform: ['contract', 'kinds', 'core'],
  contract: ['core'],
  simulator: ['platform', 'contract', 'kinds', 'core'],
  state: ['model', 'kinds', 'core'],
  rollback: ['plan', 'diff', 'model', 'kinds', 'core'],
  plan: ['diff', 'model', 'kinds', 'core'],
  diff: ['model', 'core'],
  render: ['model', 'core'],
  model: ['core'],
  kinds: ['core'],
  core: [],
};

const MODEL = ['model', 'journal', 'store', 'replay', 'fingerprint'].map(
  (name) => `src/state/${name}.ts`,
);

const CONTRACT = ['operation', 'operations.generated'].map((name) => `src/platform/${name}.ts`);

/** Folders that only compute: everything they know comes in as an argument. */
const PURE = ['core', 'kinds', 'model', 'diff', 'plan', 'rollback', 'render'];
/** What those may have of Node: hashing has no effect. */
const HARMLESS = ['node:crypto', 'node:zlib'];

/** Features that truly build on others: those, by the name of the first. At most three. */
const BUILT_ON: { readonly [feature: string]: readonly string[] } = {
  fleet: ['stores'],
  page: ['log', 'review'],
};

/**
 * A feature imports the core, and no other feature but the named one; the list of features imports each. Nothing else
 * imports a feature.
 */
function mayImport(from: string, to: string): boolean {
  if (from === 'features') return true;
  const [, feature] = from.split('/');
  if (feature === undefined) return ALLOWED[from]?.includes(to) === true;
  if (!to.startsWith('features')) return to !== 'main';
  return BUILT_ON[feature]?.some((other) => to === `features/${other}`) === true;
}

/** Packages that one folder keeps to itself, or a part of one. */
const OWNERS: { readonly [name: string]: string | readonly string[] } = {
  'deep-diff': 'diff',
  diff: ['core', 'render', 'features/writing'],
  undici: 'platform',
  commander: ['cli', 'console', 'features/editor'],
  fastify: 'simulator',
  '@fastify/multipart': 'simulator',
  '@marcbachmann/cel-js': 'features/rules',
  'age-encryption': 'snapshot',
  pg: 'features/stores',
  'pg-boss': 'features/fleet',
  aws4fetch: 'features/stores',
  '@aws-sdk/credential-providers': 'features/stores',
  '@smithy/core/config': 'features/stores',
  '@smithy/core/protocols': 'features/stores',
  '@opentelemetry/sdk-trace': 'features/telemetry',
  '@opentelemetry/otlp-transformer': 'features/telemetry',
};

type Import = { readonly file: string; readonly specifier: string };

const ROOT = join(import.meta.dirname, '..');
const FILES = globSync('src/**/*.{ts,tsx}', { cwd: ROOT }).map((file) =>
  file.replaceAll('\\', '/'),
);
const SOURCES = new Map(FILES.map((file) => [file, readFileSync(join(ROOT, file), 'utf8')]));

function withoutComments(source: string): string {
  return source.replace(/\/\*[\s\S]*?\*\//g, '').replace(/^\s*\/\/.*$/gm, '');
}

/** Static and dynamic imports, and what is passed on. */
function importsOf(file: string): readonly Import[] {
  const source = withoutComments(SOURCES.get(file) ?? '');
  const found = [
    ...source.matchAll(/^(?:import|export)\s[^'";]*?\bfrom\s+(['"])(?<specifier>.+?)\1/gm),
    ...source.matchAll(/^import\s+(['"])(?<specifier>.+?)\1/gm),
    ...source.matchAll(/\bimport\(\s*(['"])(?<specifier>.+?)\1/g),
  ];
  return found.map(({ groups }) => ({ file, specifier: groups?.specifier ?? '' }));
}

/** The file of the project that an import means; undefined for a package. */
function targetOf({ file, specifier }: Import): string | undefined {
  if (!specifier.startsWith('.')) return undefined;
  return normalize(join(dirname(file), specifier)).replaceAll('\\', '/');
}

function folderOf(file: string): string {
  if (MODEL.includes(file)) return 'model';
  if (CONTRACT.includes(file)) return 'contract';
  // Each feature is a folder of its own.
  if (/^src\/features\/[^/]+\//.test(file)) return file.split('/').slice(1, 3).join('/');
  const [, folder = ''] = file.split('/');
  return folder.replace(/\.ts$/, '');
}

const IMPORTS = FILES.flatMap(importsOf);
const told = ({ file, specifier }: Import) => `${file} imports ${specifier}`;

describe('an import', () => {
  test('is found, however it is written', () => {
    // Fewer would mean that the patterns above have stopped to match.
    expect(IMPORTS.length).toBeGreaterThan(FILES.length);
    const dynamic = IMPORTS.filter(
      ({ file, specifier }) =>
        file === 'src/cli/command-table.ts' && specifier.startsWith('./commands/'),
    );
    expect(dynamic.length).toBeGreaterThan(5);
  });

  test('runs one way', () => {
    const wrong = IMPORTS.filter((one) => {
      const target = targetOf(one);
      if (target === undefined || !target.startsWith('src/')) return false;
      const [from, to] = [folderOf(one.file), folderOf(target)];
      return from !== to && !mayImport(from, to);
    });
    expect(wrong.map(told)).toEqual([]);
  });

  test('of a folder that only computes has no effects', () => {
    const wrong = IMPORTS.filter(
      ({ file, specifier }) =>
        PURE.includes(folderOf(file)) &&
        specifier.startsWith('node:') &&
        !HARMLESS.includes(specifier),
    );
    expect(wrong.map(told)).toEqual([]);
  });

  test('of a package stays in the folder that owns it', () => {
    const wrong = IMPORTS.filter(({ file, specifier }) => {
      const owner = OWNERS[specifier];
      return owner !== undefined && ![owner].flat().some((one) => file.startsWith(`src/${one}/`));
    });
    expect(wrong.map(told)).toEqual([]);
  });

  test('that leaves src is a schema or the package itself', () => {
    const wrong = IMPORTS.filter((one) => {
      const target = targetOf(one);
      const isInside = target === undefined || target.startsWith('src/');
      return !isInside && target !== 'package.json' && !/^schemas\/.+\.json$/.test(target);
    });
    expect(wrong.map(told)).toEqual([]);
  });

  test('names a file, with its ending', () => {
    const wrong = IMPORTS.filter((one) => {
      const target = targetOf(one);
      return target?.startsWith('src/') === true && !/\.(tsx?|json)$/.test(target);
    });
    expect(wrong.map(told)).toEqual([]);
  });

  test('that is dynamic names its file in full, so that these rules see it', () => {
    const wrong = FILES.filter((file) =>
      /\bimport\((?!\s*['"])/.test(withoutComments(SOURCES.get(file) ?? '')),
    );
    expect(wrong).toEqual([]);
  });
});

/** What a file loads before it does anything, itself included. */
function loadedBy(file: string, found = new Set<string>()): ReadonlySet<string> {
  if (found.has(file)) return found;
  found.add(file);
  const source = withoutComments(SOURCES.get(file) ?? '');
  for (const { groups } of source.matchAll(
    /^(?:import|export)\s(?!type\b)[^'";]*?\bfrom\s+(['"])(?<specifier>.+?)\1/gm,
  )) {
    const specifier = groups?.specifier ?? '';
    const target = targetOf({ file, specifier });
    if (target === undefined) found.add(specifier);
    else loadedBy(target, found);
  }
  return found;
}

test('the command line loads what a command needs when it is asked for', () => {
  const loaded = [...loadedBy('src/cli/program.ts')];
  expect(loaded).toContain('src/core/errors.ts');
  const packages = loaded.filter((one) => !one.startsWith('src/') && !one.startsWith('node:'));
  expect(packages).toEqual(['commander']);
  expect(loaded.filter((one) => /^src\/(simulator|stack|plan|apply|live|run)\//.test(one))).toEqual(
    [],
  );
});

test('a command that reads files alone loads no more than that', () => {
  for (const command of [
    'console/validate',
    'features/writing/edit/fmt',
    'cli/commands/explain',
    'features/writing/init/init',
  ]) {
    const loaded = [...loadedBy(`src/${command}.ts`)];
    expect(loaded).toContain('src/core/errors.ts');
    const more =
      /^src\/(snapshot|simulator|apply|plan|state|live)\/|^(age-encryption|undici|fastify)$/;
    expect(loaded.filter((one) => more.test(one))).toEqual([]);
  }
});

test('a plan is shown in a terminal without what makes its page', () => {
  for (const command of [
    'console/plan',
    'cli/commands/drift',
    'features/rehearse/command',
    'features/recovery/snapshot-show',
  ]) {
    const loaded = [...loadedBy(`src/${command}.ts`)];
    expect(loaded).toContain('src/render/json.ts');
    expect(loaded.filter((one) => one.startsWith('src/features/page/'))).toEqual([]);
  }
  const listed = [...loadedBy('src/features/index.ts')];
  expect(listed.filter((one) => /^src\/features\/(page|log)\/(?!index\.ts)/.test(one))).toEqual([]);
});

test('a document is printed by what breaks up commands of a runner and hidden characters', () => {
  // What is not printed: files of a stack, and the answer of a health check.
  const written = ['src/features/writing/init/files.ts', 'src/console/monitor/serve.ts'];
  const wrong = FILES.filter(
    (file) =>
      /^src\/(cli|console|features)\//.test(file) &&
      !written.includes(file) &&
      /JSON\.stringify\([^;]*?, null, 2\)/.test(SOURCES.get(file) ?? ''),
  );
  expect(wrong).toEqual([]);
});

const FOLDERS = [...new Set(FILES.map((file) => file.split('/')[1] ?? ''))].filter(
  (name) => !name.endsWith('.ts'),
);

describe('a folder of src', () => {
  test('has its rule here', () => {
    const ruled = Object.keys(ALLOWED).filter(
      (name) => !['main', 'index', 'feature', 'model', 'contract'].includes(name),
    );
    expect(FOLDERS.filter((name) => name !== 'features').sort()).toEqual(ruled.sort());
  });

  test.each(FOLDERS)('%s/ says in one place what it owns, first thing in a file', (folder) => {
    const opening = new RegExp(
      String.raw`^(?:import[^;]+;\s*)*\/\*\*\s*\n \* ${'`'}${folder}\/${'`'} `,
    );
    const saying = FILES.filter(
      (file) => file.startsWith(`src/${folder}/`) && opening.test(SOURCES.get(file) ?? ''),
    );
    expect(saying).toHaveLength(1);
  });
});

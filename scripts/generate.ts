/**
 * Writes what follows from the schemas: the operation table, the types, the records and bodies of each
 * kind, what bodies hold and which of it is secret, and the bundled contract that the simulator validates with.
 * `--check` writes nothing and exits with 1 where a file is stale.
 */
import { globSync, readFileSync, writeFileSync } from 'node:fs';
import { DOCUMENTS } from '../src/console/show.ts';
import { kinds } from '../src/kinds/index.ts';
import { drawArchitecture } from './generate/architecture.ts';
import { renderBodies } from './generate/bodies.ts';
import { readSources } from './generate/document.ts';
import { renderDocumentTypes } from './generate/document-types.ts';
import { renderOperations } from './generate/operations.ts';
import {
  renderGuardTable,
  withGuardInputs,
  withGuardVariables,
} from './generate/pipeline-guards.ts';
import { renderTypes } from './generate/types.ts';

const root = new URL('../', import.meta.url);
const { document, wire } = readSources(new URL('schemas/', root));
const json = (value: unknown) => `${JSON.stringify(value, null, 2)}\n`;

const pipelines = (file: string) => readFileSync(new URL(`examples/ci/${file}`, root), 'utf8');
const APPLY = 'github/workflows/callsheet-apply.yaml';
const FORK = 'github/workflows/callsheet-plan-fork.yaml';
const TREE = 'tree/github/callsheet.yaml';
const GITLAB = 'gitlab/.gitlab/callsheet/pipeline.yml';
const GITLAB_TREE = 'tree/gitlab/pipeline.yml';

const outputs = {
  'examples/ci/github/actions/callsheet/guards.mjs': renderGuardTable(),
  // Trees run the scripts of both services where the package has them.
  'examples/ci/gitlab/.gitlab/callsheet/guards.mjs': renderGuardTable(),
  [`examples/ci/${APPLY}`]: withGuardInputs(pipelines(APPLY)),
  [`examples/ci/${FORK}`]: withGuardInputs(pipelines(FORK)),
  [`examples/ci/${TREE}`]: withGuardInputs(pipelines(TREE)),
  [`examples/ci/${GITLAB}`]: withGuardVariables(pipelines(GITLAB)),
  [`examples/ci/${GITLAB_TREE}`]: withGuardVariables(pipelines(GITLAB_TREE)),
  'schemas/wire.schema.generated.json': json(wire),
  'src/platform/bodies.generated.json': json(renderBodies(document)),
  'src/platform/operations.generated.ts': renderOperations(document),
  'src/platform/types.generated.ts': await renderTypes(document),
  'src/simulator/contract.generated.json': `${JSON.stringify(document, withoutMapping, 2)}\n`,
  'src/stack/sections.generated.json': json(featureSections()),
  'docs/contributing/architecture.svg': drawArchitecture(sourcesOf('src/**/*.{ts,tsx}')),
  'src/core/documents.generated.ts': await renderDocumentTypes(
    schemasIn('schemas', [...new Set(Object.values(DOCUMENTS))]),
    { from: 'schemas/*.schema.json', core: '.' },
  ),
  'src/simulator/documents.generated.ts': await renderDocumentTypes(
    schemasIn('src/simulator', ['seed', 'simulation']),
    { from: 'src/simulator/*.schema.json', core: '../core' },
  ),
};

/** Generators of clients need `mapping`, and ajv refuses it: it goes by the constants of the branches. */
function withoutMapping(key: string, value: unknown): unknown {
  return key === 'discriminator' ? { ...Object(value), mapping: undefined } : value;
}

/** The texts of source files, by their paths. */
function sourcesOf(pattern: string): ReadonlyMap<string, string> {
  const files = globSync(pattern, { cwd: root }).map((file) => file.replaceAll('\\', '/'));
  return new Map(
    files.sort().map((file) => [file, readFileSync(new URL(file, root), 'utf8')] as const),
  );
}

/** Sections of callsheet.yaml that features read. Where one has the kinds for its values, they are filled in. */
function featureSections() {
  const files = globSync('src/features/*/settings.schema.json', { cwd: root }).sort();
  const names = kinds.map(({ name }) => name);
  const fill = (_: string, value: unknown) => (value === '$kinds' ? names : value);
  const read = files.map((file) => JSON.parse(readFileSync(new URL(file, root), 'utf8'), fill));
  return Object.assign({}, ...read);
}

const check = process.argv.includes('--check');
const stale = Object.entries(outputs).filter(([path, text]) => current(path) !== text);
for (const [path, text] of stale) {
  if (check) console.error(`stale: ${path} (npm run generate writes it)`);
  else {
    writeFileSync(new URL(path, root), text);
    console.log(`wrote ${path}`);
  }
}
if (check && stale.length > 0) process.exitCode = 1;

/** The schemas of documents, by the name of their file. */
function schemasIn(folder: string, names: readonly string[]) {
  return new Map(
    names.map((name) => [
      name,
      JSON.parse(readFileSync(new URL(`${folder}/${name}.schema.json`, root), 'utf8')),
    ]),
  );
}

function current(path: string): string | undefined {
  try {
    return readFileSync(new URL(path, root), 'utf8');
  } catch {
    return undefined;
  }
}

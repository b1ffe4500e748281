/**
 * Writes `schemas/callsheet.schema.json`, the schema that editors use, from the kinds' schemas. `--check`
 * writes nothing and exits with 1 where the file is stale.
 */
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { kinds } from '../src/kinds/index.ts';
import { editorSchema } from './generate/editor-schema.ts';

const root = new URL('../', import.meta.url);
const path = 'schemas/callsheet.schema.json';

/** JSON as the formatter leaves it, so that generating and formatting agree. */
function format(value: unknown): string {
  const biome = fileURLToPath(new URL('node_modules/.bin/biome', root));
  const input = JSON.stringify(value, null, 2);
  return execFileSync(biome, ['format', `--stdin-file-path=${path}`], {
    input,
    cwd: root,
    encoding: 'utf8',
  });
}

function current(): string | undefined {
  try {
    return readFileSync(new URL(path, root), 'utf8');
  } catch {
    return undefined;
  }
}

const text = format(editorSchema(kinds));
if (current() !== text) {
  if (process.argv.includes('--check')) {
    console.error(`stale: ${path} (node scripts/generate-config-schema.ts writes it)`);
    process.exitCode = 1;
  } else {
    writeFileSync(new URL(path, root), text);
    console.log(`wrote ${path}`);
  }
}

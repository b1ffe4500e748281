import { existsSync, readFileSync } from 'node:fs';
import { stringify } from 'yaml';
import { kindNamed } from '../../src/kinds/index.ts';

/** A configuration that the pages show; of a kind that has none, its fields with their first examples. */
export function exampleOf(name: string): string {
  const file = new URL(`examples/${name}.yaml`, import.meta.url);
  return existsSync(file) ? readFileSync(file, 'utf8') : firstExamples(name);
}

function firstExamples(name: string): string {
  const { section, schema } = kindNamed(name);
  const members = Object.entries(schema.properties ?? {}).flatMap(
    ([field, { readOnly, examples = [], ...facts }]) =>
      readOnly === true || facts['x-config'] === false
        ? []
        : [[facts['x-config'] ?? field, examples[0]] as const],
  );
  return stringify({ [section]: { sample: Object.fromEntries(members) } });
}

import { readFileSync } from 'node:fs';

/** The example of a page. A test loads each of them. */
export function exampleOf(name: string): string {
  return readFileSync(new URL(`examples/${name}.yaml`, import.meta.url), 'utf8');
}

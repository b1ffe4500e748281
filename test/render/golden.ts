import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';

const FOLDER = join(import.meta.dirname, 'golden');

/**
 * Compares a text with the file of that name under `golden/`. `UPDATE_GOLDEN=1` rewrites the file instead:
 * read what it then holds before it is committed.
 */
export function expectGolden(name: string, text: string): void {
  const file = join(FOLDER, name);
  if (process.env.UPDATE_GOLDEN === '1') writeFileSync(file, text);
  expect(text, `differs from golden/${name}`).toBe(readFileSync(file, 'utf8'));
}

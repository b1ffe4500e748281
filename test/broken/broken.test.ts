import { existsSync, globSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { validate } from '../../src/console/validate.ts';
import { openAuthorStage } from '../cli/author-stage.ts';

// A folder is a case: a stack with something wrong, and all that is said of it, at 100 columns.
// UPDATE_GOLDEN=1 writes what is said now; read the difference.
const root = fileURLToPath(new URL('./', import.meta.url));
const cases = globSync('*/', { cwd: root })
  .map((name) => name.replace(/\/$/, ''))
  .filter((name) => existsSync(`${root}${name}/callsheet.yaml`))
  .sort();

test('there are thirty of them and more', () => {
  expect(cases.length).toBeGreaterThanOrEqual(30);
});

test.each(cases)('%s', async (name) => {
  const dir = `${root}${name}`;
  const flags = existsSync(`${dir}/flags.json`)
    ? JSON.parse(readFileSync(`${dir}/flags.json`, 'utf8'))
    : {};
  const { context, said } = openAuthorStage(100);
  const exit = await validate({ dir, format: 'text', strict: false, ...flags }, context);
  const found = `${said().replace(/[ \t]+$/gm, '').trimEnd()}\n\nexit ${exit}\n`;
  const golden = `${dir}/said.txt`;
  if (process.env.UPDATE_GOLDEN === '1') writeFileSync(golden, found);
  expect(found).toBe(readFileSync(golden, 'utf8'));
});

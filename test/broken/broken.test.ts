import { existsSync, globSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { validate } from '../../src/cli/commands/validate.ts';
import type { Context } from '../../src/cli/context.ts';

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
  let said = '';
  const say = (text: string) => {
    said += `${text}\n`;
  };
  const render = { width: 100, color: false, verbose: false };
  const terminal: Context['terminal'] = {
    out: say,
    err: say,
    render,
    renderErr: render,
    wrapsErr: false,
    canAsk: false,
    ask: () => Promise.reject(new Error('nobody is there')),
  };
  const context: Context = {
    terminal,
    env: {},
    now: () => new Date('2026-11-21T09:45:00Z'),
    stop: new AbortController().signal,
    version: '0.0.0',
  };
  const exit = await validate({ dir, format: 'text', strict: false, ...flags }, context);
  const found = `${said.replace(/[ \t]+$/gm, '').trimEnd()}\n\nexit ${exit}\n`;
  const golden = `${dir}/said.txt`;
  if (process.env.UPDATE_GOLDEN === '1') writeFileSync(golden, found);
  expect(found).toBe(readFileSync(golden, 'utf8'));
});

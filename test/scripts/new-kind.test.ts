import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, test } from 'vitest';
import { readSources } from '../../scripts/generate/document.ts';
import { findOperations } from '../../scripts/generate/operations.ts';
import { temporaryFolder } from '../temporary.ts';

const EDITED = [
  'schemas',
  'scripts/new-kind.ts',
  'src/kinds/index.ts',
  'src/simulator/tables.ts',
] as const;

/** A copy of what the command reads and writes, and the command in it. */
function workshop() {
  const folder = temporaryFolder();
  for (const path of EDITED)
    cpSync(join(import.meta.dirname, '../..', path), join(folder, path), { recursive: true });
  const run = (...names: readonly string[]) =>
    spawnSync(process.execPath, [join(folder, 'scripts/new-kind.ts'), ...names], {
      encoding: 'utf8',
    });
  return { folder, run };
}

test('a new kind is five files and a golden case, which the generator takes', () => {
  const { folder, run } = workshop();
  const { status, stdout, stderr } = run('call_policy');
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  const written = [...stdout.matchAll(/^wrote (.*)$/gm)].map(([, path]) => path);
  expect(written).toEqual([
    'schemas/kinds/call_policy.schema.json',
    'src/kinds/call-policy.ts',
    'src/kinds/index.ts',
    'schemas/platform.openapi.yaml',
    'src/simulator/tables.ts',
    'test/golden/new-call-policy/stack/callsheet.yaml',
    'test/golden/new-call-policy/live.json',
  ]);
  const { document, wire } = readSources(pathToFileURL(join(folder, 'schemas/')));
  expect(Object.keys(Object(wire.$defs))).toContain('call_policy_create');
  const operations = findOperations(document).map(({ id }) => id);
  expect(operations).toEqual(
    expect.arrayContaining(['listCallPolicies', 'createCallPolicy', 'deleteCallPolicy']),
  );
  const kinds = readFileSync(join(folder, 'src/kinds/index.ts'), 'utf8');
  expect(kinds).toContain("import { callPolicy } from './call-policy.ts';");
});

test.each([
  [[], 'usage'],
  [['CallPolicy'], 'usage'],
  [['agent'], 'there is a kind agent already'],
])('%j is refused and nothing is written', (names, reason) => {
  const { folder, run } = workshop();
  const { status, stderr } = run(...names);
  expect(status).toBe(2);
  expect(stderr).toContain(reason);
  expect(existsSync(join(folder, 'test'))).toBe(false);
});

import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { DOCUMENTS, type DocumentFormat } from '../../src/console/show.ts';
import { parsePlan } from '../../src/plan/document.ts';
import { parseState } from '../../src/state/state-text.ts';
import { isFormat, problemsOf } from '../documents.ts';

/**
 * Documents that were printed by the release that a version of their format began with. They are never changed: what
 * was true of them must go on being true, and whoever reads them must go on reading them.
 */
const FIXTURES = join(import.meta.dirname, 'fixtures');

/** Snapshots are binary: `test/snapshot/fixtures` has theirs. */
const ELSEWHERE: readonly DocumentFormat[] = ['callsheet-snapshot'];

/** What Callsheet prints and reads again. */
const READERS: { readonly [format: string]: (text: string) => unknown } = {
  'callsheet-plan': (text) => parsePlan(text, 'plan.json'),
  'callsheet-state': (text) => parseState(text, 'state.json'),
};

const files = globSync('v*/*', { cwd: FIXTURES }).sort();

test('every document has a fixture of its first version', () => {
  const first = files.filter((file) => file.startsWith('v1/'));
  const names = first.map((file) => file.replace(/^v1\/|\.jsonl?$/g, ''));
  expect([...names, ...ELSEWHERE].sort()).toEqual(Object.keys(DOCUMENTS).sort());
});

describe.each(files)('%s', (file) => {
  const [, version, name] = /^v(\d+)\/(.*?)\.jsonl?$/.exec(file) ?? [];
  const text = readFileSync(join(FIXTURES, file), 'utf8');

  test('is as the schema of its version says', async () => {
    if (!isFormat(name)) throw new Error(`${name} is no document`);
    const documents = file.endsWith('l') ? text.trimEnd().split('\n') : [text];
    expect(JSON.parse(documents[0] ?? '')).toMatchObject({
      format: name,
      version: Number(version),
    });
    for (const one of documents) expect(await problemsOf(name, JSON.parse(one))).toEqual([]);
  });
});

describe.each(Object.entries(READERS))('%s', (name, read) => {
  test.each(files.filter((file) => file.endsWith(`/${name}.json`)))('%s is read', async (file) => {
    await read(readFileSync(join(FIXTURES, file), 'utf8'));
  });

  test('of a newer version is refused in so many words', async () => {
    const newer = readFileSync(join(FIXTURES, `v1/${name}.json`), 'utf8').replace(
      /"version": ?1/,
      '"version": 2',
    );
    await expect((async () => read(newer))()).rejects.toThrow('version 2');
  });
});

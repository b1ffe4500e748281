import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { Json, JsonObject } from '../../src/core/value.ts';
import { agentOf, folder, HEADER, refusal, zipped } from './files.ts';

/** A file that somebody wrote by hand, or a Callsheet that knows more: whole, but not what it claims to be. */
const rows: readonly (readonly [type: string, member: string, value: Json | undefined])[] = [
  ['header', 'base', undefined],
  ['header', 'base', { file: '../elsewhere.snapshot', id: 'x', sha256: 'y' }],
  ['header', 'platform', { base_url: 'https://voice.example.test', account_id: 5 }],
  ['header', 'made_by', { version: 1 }],
  ['resource', 'kind', 'phone_number'],
  ['resource', 'kind', '__proto__'],
  ['resource', 'id', undefined],
  ['resource', 'scope', null],
  ['resource', 'scope', { organization_id: 5 }],
  ['resource', 'record', [1]],
  ['resource', 'facets', null],
  ['resource', 'history', 'newest'],
  ['resource', 'withheld', null],
  ['resource', 'address', '../../evil'],
  ['resource', 'state', { kind: 'agent' }],
  ['same', 'digest', 5],
  ['media', 'part', -1],
  ['list', 'scope', undefined],
  ['end', 'records', null],
];

const SOUND: { readonly [type: string]: JsonObject } = {
  header: HEADER,
  resource: { ...agentOf(1) } as unknown as JsonObject,
  same: { type: 'same', key: 'agent 1', digest: 'sha256:1' },
  media: {
    type: 'media',
    sha256: '00',
    name: 'a.wav',
    mime: 'audio/wav',
    size: 1,
    part: 0,
    parts: 1,
    data: 'AA==',
  },
  list: { type: 'list', kind: 'agent', scope: {} },
  end: { type: 'end', records: {}, resources: {}, withheld: 0, sha256: 'sha256:other' },
};

const linesWith = (type: string, line: JsonObject) =>
  zipped((type === 'header' ? [line] : [HEADER, line]).map((one) => JSON.stringify(one)));

test.each(rows)('a %s whose %s is %j is refused in words', async (type, member, value) => {
  const file = join(await folder(), 'odd.snapshot');
  const { [member]: _, ...rest } = SOUND[type] ?? {};
  await writeFile(file, linesWith(type, value === undefined ? rest : { ...rest, [member]: value }));
  expect(await refusal(file)).toMatch(
    new RegExp(`is damaged: a record of type ${type}( of \\S+)? has no ${member} that can be read`),
  );
});

test.each(Object.entries(SOUND))('a sound %s is none of these', async (type, line) => {
  const file = join(await folder(), 'sound.snapshot');
  await writeFile(file, linesWith(type, line));
  expect(await refusal(file)).toMatch(/its end is missing|contents were changed/);
});

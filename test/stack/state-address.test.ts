import { mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { CallsheetError } from '../../src/core/errors.ts';
import { placeKey, type StatePlace } from '../../src/core/stores.ts';
import { withoutLinks } from '../../src/stack/folder.ts';
import { parsePlace } from '../../src/stack/index.ts';
import { addressProblem } from '../../src/stack/state-place.ts';
import { temporaryFolder } from '../temporary.ts';

test.each([
  ['http', 'https://gitlab.example.test/api/v4/projects/7/terraform/state/desk'],
  ['postgres', 'postgres://callsheet@db.example.test/callsheet?sslmode=require'],
  ['postgres', 'postgresql://[::1]:5433/callsheet'],
  ['s3', 'http://127.0.0.1:9000'],
])('%s takes %s', (store, text) => {
  expect(addressProblem(store, 'x', text)).toBeUndefined();
});

test.each([
  ['http', 'env:ADDRESS', /not taken from the environment/, /CALLSHEET_STATE/],
  [
    'http',
    'gitlab.example.test/state',
    /begins with https:\/\/ or http:\/\//,
    /callsheet help stores/,
  ],
  ['http', 'postgres://db/x', /begins with https/, /callsheet help stores/],
  ['postgres', 'https://db/x', /begins with postgres:\/\//, /callsheet help stores/],
  ['postgres', 'db.example.test/callsheet', /begins with postgres:\/\//, /callsheet help stores/],
  ['postgres', 'postgres:///callsheet', /begins with postgres:\/\//, /callsheet help stores/],
  ['s3', 'minio:9000', /begins with https/, /callsheet help stores/],
])('%s refuses %s', (store, text, message, hint) => {
  const problem = addressProblem(store, 'state.x.y', text);
  expect(problem?.message).toMatch(/^state\.x\.y is /);
  expect(problem?.message).toMatch(message);
  expect(problem?.hint).toMatch(hint);
});

test.each([
  'postgres:///x?stack=a',
  's3://bucket/key?endpoint=minio:9000',
  's3://bucket/100%.json',
])('a place of %s is refused before it is opened', (text) => {
  expect(() => parsePlace(text, '/stack')).toThrow(CallsheetError);
});

/** A folder with a link to another one in it. */
const FOLDER = (() => {
  const folder = temporaryFolder();
  mkdirSync(join(folder, 'states'));
  symlinkSync('states', join(folder, 'link'));
  return folder;
})();

const by = 'operator';
const postgres = (url: string, stack = 'desk'): StatePlace => ({ postgres: { url, stack }, by });
const s3 = (key: string, endpoint?: string): StatePlace => ({
  s3: { bucket: 'states', key, ...(endpoint === undefined ? {} : { endpoint }) },
  by,
});

/** Spellings of one place each: those of a row are the same, those of two rows are not. */
const SPELLINGS: readonly (readonly [string, readonly (string | StatePlace)[]])[] = [
  [
    'a file',
    ['states/a.json', 'link/a.json', 'states/../link/./a.json', join(FOLDER, 'states/a.json')],
  ],
  ['another file', ['states/b.json']],
  [
    'a server',
    [
      'https://State.example.test/desk?b=2&a=1',
      'https://state.example.test:443/desk/?a=1&b=2',
      'https://sam@state.example.test./x/../desk?a=1&b=2#top',
      'https://state.example.test/d%65sk?a=1&b=2',
      { http: { address: 'HTTPS://state.example.test/desk?a=1&b=2', username: 'sam' }, by },
    ],
  ],
  ['another path of it', ['https://state.example.test/Desk?a=1&b=2']],
  ['another query of it', ['https://state.example.test/desk?a=1']],
  ['another port of it', ['https://state.example.test:8443/desk?a=1&b=2']],
  [
    'a database',
    [
      'postgres://db.example.test/fleet?stack=desk',
      'postgresql://sam@DB.example.test:5432/fleet?sslmode=require&stack=desk',
      postgres('postgres://db.example.test/fleet/'),
    ],
  ],
  [
    'the database that needs no name',
    [postgres('postgres://db.example.test'), postgres('postgres://db.example.test/postgres')],
  ],
  ['another stack of it', [postgres('postgres://db.example.test/fleet', 'line')]],
  [
    'a bucket',
    [
      's3://states/team/desk.json',
      's3://states/team/d%65sk.json?region=eu-central-1',
      s3('team/desk.json'),
      s3('team/desk.json', 'https://s3.eu-central-1.amazonaws.com'),
    ],
  ],
  [
    'one at another service',
    [
      's3://states/team/desk.json?endpoint=http://Minio.example.test:80/',
      s3('team/desk.json', 'http://minio.example.test'),
    ],
  ],
  ['another key of it', [s3('team/Desk.json', 'http://minio.example.test')]],
];

test('a place has one key, however it is spelled, and no other place has it', () => {
  const keys = SPELLINGS.map(([name, spellings]) => {
    const own = spellings.map((one) =>
      placeKey(typeof one === 'string' ? parsePlace(one, FOLDER) : one, withoutLinks),
    );
    expect([...new Set(own)], name).toHaveLength(1);
    return own[0];
  });
  expect([...new Set(keys)]).toHaveLength(SPELLINGS.length);
});

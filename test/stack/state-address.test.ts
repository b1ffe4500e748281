import { expect, test } from 'vitest';
import { CallsheetError } from '../../src/core/errors.ts';
import { parsePlace } from '../../src/stack/index.ts';
import { addressProblem } from '../../src/stack/state-place.ts';

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

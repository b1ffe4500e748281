import { describe, expect, test } from 'vitest';
import { computeDigest } from '../../src/core/digest.ts';
import type { FieldSchema } from '../../src/core/schema.ts';
import { Blob, type Json } from '../../src/core/value.ts';
import { matchesApplied, rememberLeaf } from '../../src/diff/applied.ts';
import { listLeaves } from '../../src/diff/leaves.ts';
import { agent } from '../../src/kinds/agent.ts';
import { knowledgeSource } from '../../src/kinds/knowledge-source.ts';
import { desiredResource, KEY, type Written, world } from '../world.ts';

const AT = 'agent.desk';
const KNOWN = world()
  .secrets({ 'env:TOKEN': 'canary' })
  .given((address) => (address === 'retry_policy.gentle' ? 'p-1' : undefined));

function remembered(written: Written, path: string, kind = agent) {
  const { document } = desiredResource(AT, written);
  const leaf = listLeaves(kind.schema, document).leaves.get(path);
  if (leaf === undefined) throw new Error(`${path} is no leaf`);
  return rememberLeaf(leaf, AT, KNOWN);
}

const LONG = 'Answer the phone. '.repeat(10);
const MANY = ['a', 'b', 'c'].map((name) => `${name.repeat(30)}@x.test`);
const TOKEN = { $secret: 'env:TOKEN' };
const tool = (value: Written | string) => ({
  extensions: { tools: [{ name: 'crm', headers: [{ key: 'X', value }] }] },
});

describe('the state remembers', () => {
  test.each([
    ['a short value as it is', { model: 'alpha-4o' }, 'model', { value: 'alpha-4o' }],
    ['a flag', { echo_detection: false }, 'echo_detection', { value: false }],
    ['an explicit null', { description: null }, 'description', { value: null }],
    [
      'a long value as a digest',
      { system_prompt: LONG },
      'system_prompt',
      { digest: computeDigest(LONG) },
    ],
    [
      'a text of eighty characters, quotes and all',
      { model: 'x'.repeat(78) },
      'model',
      { value: 'x'.repeat(78) },
    ],
    [
      'one that is longer as a digest',
      { model: 'x'.repeat(79) },
      'model',
      { digest: computeDigest('x'.repeat(79)) },
    ],
    ['a long list as a digest', { email: MANY }, 'email', { digest: computeDigest(MANY) }],
    [
      'a text without its final newline',
      { system_prompt: 'Hi\n' },
      'system_prompt',
      { value: 'Hi' },
    ],
    ['a set in order', { email: ['b@x', 'a@x', 'b@x'] }, 'email', { value: ['a@x', 'b@x'] }],
    ['an empty set as nothing', { email: [] }, 'email', { value: null }],
    [
      'the id behind a reference',
      { default_retry_policy_id: { $ref: 'retry_policy.gentle' } },
      'default_retry_policy_id',
      { value: 'p-1' },
    ],
    [
      'nothing of an id that is not known',
      { default_retry_policy_id: { $ref: 'retry_policy.unborn' } },
      'default_retry_policy_id',
      undefined,
    ],
    [
      'nothing of a secret that was not read',
      { integrations: { smsProvider: { auth_token: { $secret: 'env:UNREAD' } } } },
      'integrations.smsProvider.auth_token',
      undefined,
    ],
  ] as const)('%s', (_title, written, path, expected) => {
    expect(remembered(written, path)).toEqual(expected);
  });

  test.each<[string, Written, string, (string | null)?]>([
    [
      'a secret',
      { integrations: { smsProvider: { auth_token: TOKEN } } },
      'integrations.smsProvider.auth_token',
    ],
    ['a sensitive value from a secret', tool(TOKEN), 'extensions.tools[crm].headers[X].value'],
    [
      'a sensitive value as it stands',
      tool('canary'),
      'extensions.tools[crm].headers[X].value',
      null,
    ],
    [
      'a value below a sensitive one',
      { extensions: { mcp_servers: [{ connection_name: 'C', auth_headers: { A: 'canary' } }] } },
      'extensions.mcp_servers[C].auth_headers.A',
      null,
    ],
  ])('%s as a fingerprint, and its source', (_title, written, path, source = TOKEN.$secret) => {
    const leaf = remembered(written, path);
    expect(leaf).toEqual({
      fingerprint: KNOWN.fingerprints.of(AT, path, 'canary'),
      source: computeDigest(source),
    });
    expect(JSON.stringify(leaf)).not.toContain('canary');
  });

  test.each<[string, FieldSchema, Json]>([
    ['an empty text that is never returned', { writeOnly: true }, ''],
    ['a flag that is never returned', { writeOnly: true }, false],
    ['an empty text that is sensitive', { 'x-sensitive': true }, ''],
    ['a flag that is sensitive', { 'x-sensitive': true }, true],
  ])('%s as a fingerprint', (_title, field, value) => {
    const leaf = listLeaves({ properties: { pin: field } }, { pin: value }).leaves.get('pin');
    expect(leaf && rememberLeaf(leaf, AT, KNOWN)).toEqual({
      fingerprint: KNOWN.fingerprints.of(AT, 'pin', value),
      source: computeDigest(null),
    });
  });

  test('a file by its content', () => {
    const leaf = listLeaves(knowledgeSource.schema, {
      file: new Blob('a.pdf', 'ab12', 3, 'application/pdf'),
    }).leaves.get('file');
    expect(leaf && rememberLeaf(leaf, AT, KNOWN)).toEqual({ digest: 'sha256:ab12' });
  });
});

describe('what is remembered', () => {
  const fingerprint = KNOWN.fingerprints.of(AT, 'p', 'one');
  test.each([
    [{ value: 'a' }, 'a', 'equal'],
    [{ value: 'a' }, 'b', 'different'],
    [{ value: { a: 1, b: 2 } }, { b: 2, a: 1 }, 'equal'],
    [{ value: null }, null, 'equal'],
    [{ value: 1 }, '1', 'different'],
    [{ digest: computeDigest(LONG) }, LONG, 'equal'],
    [{ digest: computeDigest(LONG) }, `${LONG}!`, 'different'],
    [{ fingerprint }, 'one', 'equal'],
    [{ fingerprint }, 'two', 'different'],
    [{ unknown: true }, 'one', 'unknown'],
    [{ unsettled: true }, 'one', 'different'],
    [{ unsettled: true }, null, 'different'],
  ] as const)('%j of %j is %s', (leaf, value: Json, expected) => {
    expect(matchesApplied(leaf, value, AT, 'p', KNOWN)).toBe(expected);
  });

  test.each([
    ['another address', 'agent.other', 'p'],
    ['another path', AT, 'q'],
  ])('fits nothing at %s', (_title, address, path) => {
    expect(matchesApplied({ fingerprint }, 'one', address, path, KNOWN)).toBe('different');
  });

  test('says nothing under another key', () => {
    const other = world().keys('another key', KEY).given();
    expect(matchesApplied({ fingerprint }, 'one', AT, 'p', other)).toBe('unknown');
    expect(matchesApplied({ fingerprint }, 'two', AT, 'p', other)).toBe('unknown');
  });
});

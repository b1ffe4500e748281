import { describe, expect, test } from 'vitest';
import { knownSecrets } from '../../src/diff/applied.ts';
import { agent } from '../../src/kinds/agent.ts';
import type { AppliedLeaf } from '../../src/state/model.ts';
import { desiredResource, type Written } from '../world.ts';

const TOKEN = { $secret: 'env:TOKEN' };
const CODE = 'integrations.smsProvider.code';
const FINGERPRINT = { fingerprint: 'hmac:1' };

function known(written: Written, applied?: Readonly<Record<string, AppliedLeaf>>) {
  const { document } = desiredResource('agent.desk', written);
  return [...knownSecrets(agent.schema, document, applied)];
}

describe('a secret that no schema names is known', () => {
  test('where the configuration gives a $secret, and only there', () => {
    const code = { code: TOKEN, account_sid: 'AC1' };
    expect(known({ name: 'Desk', integrations: { smsProvider: code } })).toEqual([CODE]);
  });

  test.each<[string, AppliedLeaf]>([
    ['has a fingerprint', FINGERPRINT],
    ['knows of one that was taken over', { unknown: true }],
    ['knows of one that may have been written', { unsettled: true }],
  ])('where the state %s', (_what, leaf) => {
    expect(known({ name: 'Desk' }, { [CODE]: leaf })).toEqual([CODE]);
  });

  test('of both, once', () => {
    const integrations = { smsProvider: { code: TOKEN } };
    const other = 'integrations.ehrProvider.code';
    const applied = { [CODE]: FINGERPRINT, [other]: FINGERPRINT };
    expect(known({ integrations }, applied)).toEqual([CODE, other]);
  });

  test.each<[string, string, AppliedLeaf]>([
    ['a value', CODE, { value: 'AC1' }],
    ['a digest', CODE, { digest: 'sha256:aa' }],
    ['a fingerprint of a text with a credential in it', 'system_prompt', FINGERPRINT],
  ])('not where the state has %s', (_what, path, leaf) => {
    expect(known({ name: 'Desk' }, { [path]: leaf })).toEqual([]);
  });

  test('by its name where the state has a text that is no path', () => {
    const applied = { 'access_token..': FINGERPRINT, '..': FINGERPRINT };
    expect(known({ name: 'Desk' }, applied)).toEqual(['access_token..']);
  });

  test('nowhere where nothing is configured or remembered', () => {
    expect([...knownSecrets(agent.schema)]).toEqual([]);
  });
});

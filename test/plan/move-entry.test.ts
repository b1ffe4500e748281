import { describe, expect, test } from 'vitest';
import { computeDigest } from '../../src/core/digest.ts';
import { kindNamed } from '../../src/kinds/index.ts';
import { moveEntry } from '../../src/plan/state-entry.ts';
import type { AppliedLeaf } from '../../src/state/model.ts';
import { desiredResource, fingerprinter, KEY, type Written, world } from '../world.ts';

const FROM = 'agent.desk';
const TO = 'agent.front';
const AT = 'integrations.smsProvider.auth_token';
const TOKEN = { 'env:TOKEN': 'canary-token-1' };
const SMS = { account_sid: 'AC1', auth_token: { $secret: 'env:TOKEN' } };
const WRITTEN: Written = {
  name: 'Desk',
  system_prompt: 'You answer the phone of a clinic, politely. '.repeat(5),
  integrations: { smsProvider: SMS },
};

type Given = {
  readonly wanted?: Written;
  readonly secrets?: Readonly<Record<string, string>>;
  readonly key?: string;
  readonly leaves?: Readonly<Record<string, AppliedLeaf>>;
};

const RECORDED = world()
  .applied({ [FROM]: { id: 'a1', history_id: 7, ...WRITTEN } })
  .secrets(TOKEN)
  .state().resources[FROM];

/** What is remembered of the resource, at the address that it was moved to. */
function moved({ wanted = WRITTEN, secrets = TOKEN, key = KEY, leaves = {} }: Given = {}) {
  if (RECORDED === undefined) throw new Error('nothing was written');
  const recorded = { ...RECORDED, leaves: { ...RECORDED.leaves, ...leaves } };
  const desired = desiredResource(TO, wanted);
  const looked = world().secrets(secrets).keys(key, key).given();
  return { recorded, after: moveEntry(kindNamed('agent'), desired, recorded, FROM, looked) };
}

test('what is remembered of a moved resource stays, but for fingerprints', () => {
  const { recorded, after } = moved({ wanted: { name: 'Front' } });
  expect(after).toEqual({
    ...recorded,
    leaves: { ...recorded.leaves, [AT]: { unknown: true, source: SOURCE } },
  });
  expect(Object.keys(after.leaves)).toEqual(
    expect.arrayContaining(['name', 'system_prompt', 'integrations.smsProvider.account_sid']),
  );
});

/** The source that was recorded of it. */
const SOURCE = computeDigest('env:TOKEN');

describe('the fingerprint of a secret, where its resource has another address,', () => {
  const bound = {
    fingerprint: fingerprinter(KEY).of(TO, AT, 'canary-token-1'),
    source: SOURCE,
  };
  const unknown = { unknown: true, source: SOURCE } as const;
  const fromOther = { smsProvider: { ...SMS, auth_token: { $secret: 'env:OTHER' } } };
  const other = { ...WRITTEN, integrations: { smsProvider: { account_sid: 'AC1' } } };
  const unborn = { smsProvider: { ...SMS, auth_token: { $ref: 'retry_policy.gentle' } } };
  test.each<[string, Given, AppliedLeaf | undefined]>([
    ['is made anew where the secret is the same', {}, bound],
    [
      'is left out where the secret is another one, so that it is written',
      { secrets: { 'env:TOKEN': 'canary-token-2' } },
      undefined,
    ],
    ['says only that there was one under another key', { key: 'another key' }, unknown],
    ['says only that there was one where it is not at hand', { secrets: {} }, unknown],
    [
      'says where it came from where it has another source by now, whatever its value is',
      {
        wanted: { ...WRITTEN, integrations: fromOther },
        secrets: { 'env:OTHER': 'canary-token-1' },
      },
      unknown,
    ],
    ['says only that there was one where it is no longer configured', { wanted: other }, unknown],
    [
      'is left out where what is wanted is not known yet, so that it is written',
      { wanted: { ...WRITTEN, integrations: unborn } },
      undefined,
    ],
    ['stays unknown where it was', { leaves: { [AT]: { unknown: true } } }, { unknown: true }],
    [
      'stays unsettled where it was',
      { leaves: { [AT]: { unsettled: true } } },
      { unsettled: true },
    ],
    [
      'of another address is not taken for one of this',
      { leaves: { [AT]: { fingerprint: fingerprinter(KEY).of('agent.x', AT, 'canary-token-1') } } },
      undefined,
    ],
  ])('%s', (_name, given, leaf) => {
    const { recorded, after } = moved(given);
    const { [AT]: _, ...rest } = recorded.leaves;
    expect(after.leaves).toEqual(leaf === undefined ? rest : { ...rest, [AT]: leaf });
  });

  test('is made of what is compared: a text without its last line break', () => {
    const { after } = moved({ secrets: { 'env:TOKEN': 'canary-token-1\n' } });
    expect(after.leaves[AT]).toEqual(bound);
  });
});

describe('a moved resource with a secret', () => {
  const live = { id: 'a1', name: 'Desk', integrations: { smsProvider: { account_sid: 'AC1' } } };
  const made = world()
    .desired({ [TO]: { name: 'Desk', integrations: { smsProvider: SMS } } })
    .applied({ [FROM]: { id: 'a1', name: 'Desk', integrations: { smsProvider: SMS } } })
    .live({ agent: [live] })
    .having({ priorAddresses: (address) => (address === TO ? [FROM] : []) });
  test.each([
    ['is not written where that is the same', TOKEN, 'adopt', []],
    ['is written where that changed', { 'env:TOKEN': 'canary-token-2' }, 'update', [{ path: AT }]],
  ])('%s', async (_name, secrets, action, fields) => {
    const changes = await made.secrets(secrets, TOKEN).changes();
    expect(changes.get(TO)).toMatchObject({ action, fields });
  });
});

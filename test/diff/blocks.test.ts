import { describe, expect, test } from 'vitest';
import type { FieldSchema } from '../../src/core/schema.ts';
import type { JsonObject } from '../../src/core/value.ts';
import { compare } from '../../src/diff/compare.ts';
import { world } from '../world.ts';
import { compares, findingsOf, type Row } from './rows.ts';

const block = <T>(interpreter_config: T) => ({ interpreter_config });
const PAIR = { pair: 'en-es' };
const BOTH = { pair: 'en-es', tone: 'formal' };

describe('an object that null takes away as a whole', () => {
  compares([
    {
      title: 'is cleared once where nothing would be left of it',
      applied: block(BOTH),
      desired: {},
      live: block(BOTH),
      finds: { interpreter_config: 'cleared' },
    },
    {
      title: 'is cleared beside other fields that go',
      applied: { greeting_message: 'Hello', ...block(PAIR) },
      desired: { model: 'alpha-4o' },
      live: { greeting_message: 'Hello', model: 'alpha-4.1', ...block(PAIR) },
      finds: { greeting_message: 'cleared', model: 'changed', interpreter_config: 'cleared' },
    },
    {
      title: 'is cleared where what is left of it is empty',
      applied: block(PAIR),
      desired: {},
      live: block({ ...PAIR, tone: null, tags: [] }),
      finds: { interpreter_config: 'cleared' },
    },
    {
      title: 'is cleared where the configuration has nulls in it',
      desired: block({ pair: null, tone: null }),
      live: block(PAIR),
      finds: { interpreter_config: 'changed' },
    },
    {
      title: 'stays where something in it is not ours',
      applied: block(PAIR),
      desired: {},
      live: block(BOTH),
      finds: { 'interpreter_config.pair': 'cleared' },
    },
    {
      title: 'stays where the configuration keeps something of it',
      applied: block(BOTH),
      desired: block(PAIR),
      live: block(BOTH),
      finds: { 'interpreter_config.tone': 'cleared' },
    },
    {
      title: 'stays where the configuration has something new in it',
      applied: block(PAIR),
      desired: block({ tone: 'formal' }),
      live: block(PAIR),
      finds: { 'interpreter_config.tone': 'changed', 'interpreter_config.pair': 'cleared' },
    },
    {
      title: 'is in conflict where somebody edited anything in it',
      applied: block(BOTH),
      desired: {},
      live: block({ ...BOTH, tone: 'casual' }),
      finds: { interpreter_config: 'conflict' },
    },
    {
      title: 'is in conflict where somebody edited the first of it',
      applied: block(BOTH),
      desired: {},
      live: block({ ...BOTH, pair: 'en-de' }),
      finds: { interpreter_config: 'conflict' },
    },
    {
      title: 'is cleared with the secret in it',
      applied: {
        integrations: { smsProvider: { account_sid: 'AC1', auth_token: { $secret: 'env:TOKEN' } } },
      },
      desired: { integrations: {} },
      live: { integrations: { smsProvider: { account_sid: 'AC1' } } },
      having: (made) => made.secrets({ 'env:TOKEN': 'canary' }),
      finds: { 'integrations.smsProvider': 'cleared' },
    },
    {
      title: 'is cleared alone, and what only holds it stays',
      desired: { integrations: { smsProvider: { account_sid: null, fromNumber: null } } },
      live: { integrations: { smsProvider: { account_sid: 'AC1', fromNumber: '+15550100' } } },
      finds: { 'integrations.smsProvider': 'changed' },
    },
  ]);

  const removed = (members: JsonObject): Row => ({
    title: '',
    address: 'retry_policy.gentle',
    applied: { contact_policy: members },
    desired: {},
    live: { contact_policy: members },
    finds: {},
  });

  test('is shown whole, as it is live', async () => {
    expect(await findingsOf(removed({ per_day: 3, per_week: 9 }))).toMatchObject([
      {
        path: ['contact_policy'],
        text: 'contact_policy',
        before: { per_day: 3, per_week: 9 },
        after: undefined,
        sensitive: false,
        unreadable: false,
        schema: { additionalProperties: true },
      },
    ]);
  });

  test('is sensitive where anything in it is', async () => {
    const [found] = await findingsOf(removed({ per_day: 3, access_token: 'canary' }));
    expect(found).toMatchObject({ text: 'contact_policy', sensitive: true });
  });

  test('that the configuration itself wants to be null is left so', async () => {
    const [found] = await findingsOf({
      title: '',
      desired: { interpreter_config: null },
      live: block(PAIR),
      finds: {},
    });
    expect(found).toMatchObject({ text: 'interpreter_config', after: null, cause: 'changed' });
  });
});

const SIDES = { address: 'agent.desk', ignore: [], isPartial: false, resend: false };

function removes(root: FieldSchema, live: JsonObject, applied: Readonly<Record<string, string>>) {
  const remembered = Object.entries(applied).map(([path, value]) => [path, { value }]);
  const sides = { ...SIDES, applied: Object.fromEntries(remembered) };
  return compare(root, {}, live, sides, world().given());
}

describe('wherever such an object stands', () => {
  const inner: FieldSchema = {
    additionalProperties: true,
    properties: { mode: { 'x-clearable': false }, pair: {}, deep: {} },
  };
  const root: FieldSchema = {
    properties: { outer: { properties: { inner, beside: {} } } },
  };

  test('it goes alone', () => {
    const live = { outer: { inner: { pair: 'a', deep: { er: 'b' } }, beside: 'c' } };
    const applied = { 'outer.inner.pair': 'a', 'outer.inner.deep.er': 'b' };
    expect(removes(root, live, applied)).toMatchObject([
      {
        path: ['outer', 'inner'],
        text: 'outer.inner',
        before: { pair: 'a', deep: { er: 'b' } },
        schema: inner,
      },
    ]);
  });

  test('it stays where a member refuses null', () => {
    const live = { outer: { inner: { mode: 'm', pair: 'a' } } };
    const applied = { 'outer.inner.mode': 'm', 'outer.inner.pair': 'a' };
    const found = removes(root, live, applied).map(({ text, cause }) => [text, cause]);
    expect(Object.fromEntries(found)).toEqual({
      'outer.inner.mode': 'released',
      'outer.inner.pair': 'cleared',
    });
  });
});

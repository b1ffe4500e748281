import { expect, test } from 'vitest';
import { kindNamed } from '../../src/kinds/index.ts';
import { listKnown } from '../../src/plan/natural-key.ts';
import type { Reader } from '../../src/plan/reader.ts';
import { HARBOR } from '../world.ts';

const SCOPE = { organization_id: HARBOR };

/** What a platform is asked for where resources of a kind are looked for. */
async function askedOf(kind: string) {
  const asked: Parameters<Reader['list']>[] = [];
  const found = [{ id: 'x-1', scope: SCOPE, record: {} }];
  const list: Reader['list'] = async (...given) => {
    asked.push(given);
    return found;
  };
  expect(await listKnown({ list }, kindNamed(kind), SCOPE)).toBe(found);
  expect(asked).toHaveLength(1);
  const [of, scope, fresh, fields] = asked[0] ?? [];
  expect(of?.name).toBe(kind);
  expect(scope).toBe(SCOPE);
  return { fresh, fields };
}

test('of a kind that has a read of its own, a list keeps what tells resources apart', async () => {
  const { fields = [] } = await askedOf('agent');
  expect([...fields].sort()).toEqual([
    'agent_type',
    'created_at',
    'language',
    'model',
    'name',
    'organization_id',
    'status',
    'timezone',
    'updated_at',
  ]);
});

test.each(['retry_policy', 'sms_template', 'email_template'])(
  'of %s, the fields that are kept are each asked for once, with both times',
  async (kind) => {
    const { fields = [] } = await askedOf(kind);
    expect(new Set(fields).size).toBe(fields.length);
    expect(fields).toEqual(expect.arrayContaining(['name', 'created_at', 'updated_at']));
  },
);

test.each(['custom_voice', 'knowledge_source'])(
  'of %s, whose list items are all that can be read, all is kept',
  async (kind) => {
    expect((await askedOf(kind)).fields).toBeUndefined();
  },
);

test('a list that was asked for before is not asked for afresh', async () => {
  expect((await askedOf('agent')).fresh).toBe(false);
});

import { expect, test } from 'vitest';
import { memoryReader } from '../memory-reader.ts';
import { HARBOR, type WorldBuilder, world } from '../world.ts';

const GENTLE = '4be1f0c2-7a55-4c58-9d5e-0f3f8a3f2a11';
const HARD = '91cc52c1-1111-4000-8000-0000000000aa';
const STRAY = '00000000-1111-4000-8000-0000000000ff';
const DESK = 'd1d1d1d1-1111-4000-8000-0000000000dd';

const policy = (id: string, name: string) => ({ id, name, rules: {}, on_exhausted: 'end' });
const desk = (more: object) => ({ organization_id: HARBOR, name: 'Desk', ...more });

const two = world()
  .desired({
    'retry_policy.hard': { name: 'Hard redial', on_exhausted: 'end' },
    'agent.desk': desk({ default_retry_policy_id: { $ref: 'retry_policy.hard' } }),
  })
  .live({
    agent: [{ id: DESK, ...desk({ default_retry_policy_id: GENTLE }) }],
    retry_policy: [policy(GENTLE, 'Gentle redial'), policy(HARD, 'Hard redial')],
  });

const namesOf = async (one: WorldBuilder) => (await one.plan()).plan.names;

test.each<[string, WorldBuilder, object | undefined]>([
  [
    'the lists that were read',
    two,
    { [GENTLE]: 'Gentle redial', 'retry_policy.hard': 'Hard redial' },
  ],
  [
    'the state, where nothing else tells it',
    two
      .live({ agent: [{ id: DESK, ...desk({ default_retry_policy_id: STRAY }) }] })
      .applied({ 'retry_policy.hard': { id: STRAY, name: 'Once hard', on_exhausted: 'end' } }),
    { [STRAY]: 'Once hard', 'retry_policy.hard': 'Hard redial' },
  ],
  [
    'nothing',
    two.live({ agent: [{ id: DESK, ...desk({ default_retry_policy_id: STRAY }) }] }),
    { 'retry_policy.hard': 'Hard redial' },
  ],
  [
    'the organizations, within an object',
    world()
      .desired({ 'agent.desk': desk({ config: { owner: HARBOR, text: `of ${HARBOR}` } }) })
      .live({ agent: [{ id: DESK, ...desk({ config: { owner: STRAY } }) }] }),
    { [HARBOR]: 'harbor' },
  ],
  [
    'what is alike is not named',
    world()
      .desired({ 'agent.desk': desk({ greeting_message: 'Hello' }) })
      .live({ agent: [{ id: DESK, ...desk({ greeting_message: 'Hi' }) }] }),
    undefined,
  ],
])('names of ids come from %s', async (_, one, names) => {
  expect(await namesOf(one)).toEqual(names);
});

test('a note of what does not change has its name', async () => {
  const { plan } = await world()
    .desired({ 'agent.desk': desk({ lifecycle: { protect: true } }) })
    .live({ agent: [{ id: DESK, ...desk({}) }] })
    .applied({ 'agent.desk': { id: DESK, ...desk({}) } })
    .plan();
  expect(plan.notes.map(({ address }) => address)).toContain('agent.desk');
  expect(plan.names).toEqual({ 'agent.desk': 'Desk' });
});

test('names take no list that is not read anyway', async () => {
  const asked: string[] = [];
  const reader = memoryReader({
    records: {
      agent: [{ id: DESK, ...desk({ default_retry_policy_id: GENTLE }) }],
      retry_policy: [policy(GENTLE, 'Gentle redial')],
    },
  });
  const list: typeof reader.list = (kind, scope, ...more) => {
    asked.push(`${kind.name} ${JSON.stringify(scope)}`);
    return reader.list(kind, scope, ...more);
  };
  const { plan } = await world()
    .desired({ 'agent.desk': desk({ default_retry_policy_id: HARD }) })
    .having({ reader: { ...reader, list } })
    .plan();
  expect(plan.names).toBeUndefined();
  expect(new Set(asked)).toEqual(new Set([`agent {"organization_id":"${HARBOR}"}`]));
});

import { describe, expect, test } from 'vitest';
import { executePlan, listDependencies } from '../../src/apply/execute.ts';
import type { RunDeps } from '../../src/apply/work.ts';
import { emptyState } from '../../src/state/replay.ts';
import { memoryReader } from '../memory-reader.ts';
import {
  type Documents,
  desiredResource,
  fingerprinter,
  HARBOR,
  LINEAGE,
  type WorldBuilder,
  world,
} from '../world.ts';

/** What each change of a world's plan waits for, sorted. */
async function waitsOf(made: WorldBuilder): Promise<Readonly<Record<string, readonly string[]>>> {
  const { plan } = await made.options({ allow_delete: true }).plan();
  const desired = new Map(made.wanted().map((one) => [one.address, one]));
  const waits = listDependencies(plan.changes, desired);
  expect([...waits.keys()]).toEqual(plan.changes.map(({ address }) => address));
  return Object.fromEntries([...waits].map(([address, before]) => [address, [...before].sort()]));
}

/** Updates that each take the name that the next one gives up. */
async function rowOf(count: number) {
  const { plan } = await world()
    .desired({ 'retry_policy.p': { name: 'P1' } })
    .live({ retry_policy: [{ id: 'p', name: 'P0' }] })
    .applied({ 'retry_policy.p': { id: 'p', name: 'P0' } })
    .plan();
  const addresses = Array.from({ length: count }, (_, index) => `retry_policy.p${index}`);
  const changes = plan.changes.flatMap((one) =>
    addresses.map((address, index) => ({ ...one, address, before: { name: `P${index}` } })),
  );
  const desired = addresses.map((address, index) =>
    desiredResource(address, { name: `P${index + 1}` }),
  );
  return {
    plan: { ...plan, changes },
    desired: new Map(desired.map((one) => [one.address, one])),
  };
}

const POLICY = { name: 'Gentle' };
const VOICE = { name: 'Harbor', language: 'en', consent: true };

describe('a change waits', () => {
  test('for what its document refers to', async () => {
    const desired: Documents = {
      'retry_policy.gentle': POLICY,
      'custom_voice.harbor': VOICE,
      'agent.desk': {
        name: 'Desk',
        default_retry_policy_id: { $ref: 'retry_policy.gentle' },
        voice_settings: { voice_id: { $ref: 'custom_voice.harbor' } },
      },
      'agent.plain': { name: 'Plain' },
    };
    expect(await waitsOf(world().desired(desired))).toEqual({
      'custom_voice.harbor': [],
      'retry_policy.gentle': [],
      'agent.desk': ['custom_voice.harbor', 'retry_policy.gentle'],
      'agent.plain': [],
    });
  });

  test('not for what it refers to by a field that is written once both exist', async () => {
    const made = world().desired({
      'retry_policy.gentle': {
        ...POLICY,
        on_exhausted_target: { agent_id: { $ref: 'agent.desk' } },
      },
      'agent.desk': { name: 'Desk', default_retry_policy_id: { $ref: 'retry_policy.gentle' } },
    });
    expect(await waitsOf(made)).toEqual({
      'retry_policy.gentle': [],
      'agent.desk': ['retry_policy.gentle'],
    });
    const { plan } = await made.plan();
    expect(plan.changes.map(({ operations }) => operations)).toEqual([
      [
        { step: 'create', fields: ['name'] },
        { step: 'update', fields: ['on_exhausted_target'] },
      ],
      [expect.objectContaining({ step: 'create' })],
    ]);
  });

  test('not for what is there already and refers back to it', async () => {
    const made = world()
      .desired({
        'agent.a': { name: 'A', contact_policy: { next: { $ref: 'agent.b' } } },
        'agent.b': { name: 'B', contact_policy: { next: { $ref: 'agent.a' } } },
      })
      .live({
        agent: [
          { id: 'a', name: 'A', organization_id: HARBOR },
          { id: 'b', name: 'B', organization_id: HARBOR },
        ],
      });
    expect(await waitsOf(made)).toEqual({ 'agent.a': [], 'agent.b': [] });
  });

  test('for what gives up the name that it takes', async () => {
    const waits = await waitsOf(
      world()
        .desired({
          'retry_policy.fresh': POLICY,
          'retry_policy.old': { name: 'Harsh' },
          'sms_template.fresh': { name: 'Gentle', message_type: 'sms' },
        })
        .live({ retry_policy: [{ id: 'p1', name: 'Gentle' }] })
        .applied({ 'retry_policy.old': { id: 'p1', name: 'Gentle' } }),
    );
    expect(waits).toEqual({
      'retry_policy.fresh': ['retry_policy.old'],
      'retry_policy.old': [],
      'sms_template.fresh': [],
    });
  });

  test('for one after the other where each takes the name of the next, and for none that exchange theirs', async () => {
    const named = (names: Readonly<Record<string, string>>) =>
      Object.fromEntries(
        Object.entries(names).map(([id, name]) => [`retry_policy.${id}`, { name, id }]),
      );
    const applied = named({ a: 'A', b: 'B', c: 'C', x: 'X', y: 'Y', z: 'Z' });
    const wanted = { a: 'B', b: 'C', c: 'D', x: 'Y', y: 'X', z: 'X' };
    const desired = Object.fromEntries(
      Object.entries(wanted).map(([id, name]) => [`retry_policy.${id}`, { name }]),
    );
    const made = world()
      .desired(desired)
      .live({ retry_policy: Object.values(applied) })
      .applied(applied);
    expect(await waitsOf(made)).toEqual({
      'retry_policy.a': ['retry_policy.b'],
      'retry_policy.b': ['retry_policy.c'],
      'retry_policy.c': [],
      'retry_policy.x': [],
      'retry_policy.y': [],
      'retry_policy.z': ['retry_policy.x'],
    });
  });

  describe('for the delete of what has the name that it takes', () => {
    const policies = world()
      .live({
        retry_policy: [
          { id: 'p1', name: 'Harsh' },
          { id: 'p2', name: 'Gentle' },
        ],
        agent: [{ id: 'a1', name: 'Desk', default_retry_policy_id: 'p2' }],
      })
      .applied({
        'retry_policy.old': { id: 'p1', name: 'Harsh' },
        'retry_policy.fresh': { id: 'p2', name: 'Gentle' },
        'agent.desk': { id: 'a1', name: 'Desk', default_retry_policy_id: 'p2' },
      });
    const desk = (more: Documents[string]) => ({
      'retry_policy.old': { name: 'Gentle' },
      'agent.desk': { name: 'Desk', ...more },
    });

    test('alone', async () => {
      const unchanged = desk({ default_retry_policy_id: 'p2' });
      const waits = await waitsOf(policies.desired(unchanged));
      expect(waits['retry_policy.old']).toEqual(['retry_policy.fresh']);
      expect(waits['retry_policy.fresh']).toEqual([]);
    });

    test('which itself waits for what refers to both: the id of what has it is known', async () => {
      const moved = desk({ default_retry_policy_id: { $ref: 'retry_policy.old' } });
      expect(await waitsOf(policies.desired(moved))).toEqual({
        'retry_policy.old': ['retry_policy.fresh'],
        'retry_policy.fresh': ['agent.desk'],
        'agent.desk': [],
      });
    });
  });

  test('for the next one, in a row of thousands that each take the name of the next', async () => {
    const { plan, desired } = await rowOf(6000);
    const waits = listDependencies(plan.changes, desired);
    const next = plan.changes.slice(1).map(({ address }) => [address]);
    expect([...waits.values()]).toEqual([...next, []]);
  });

  test('for nothing where nothing is referred to', async () => {
    const desired: Documents = {
      'email_template.a': { name: 'A' },
      'sms_template.a': { name: 'A', message_type: 'sms' },
      'knowledge_source.kb.faq': { knowledge_base_id: 'kb1', url: 'https://x.test' },
    };
    const waits = await waitsOf(world().desired(desired));
    expect(Object.values(waits)).toEqual([[], [], []]);
  });
});

describe('a delete waits', () => {
  const live = {
    retry_policy: [{ id: 'p1', name: 'Old' }],
    agent: [
      { id: 'a1', name: 'Desk', default_retry_policy_id: 'p1' },
      { id: 'a2', name: 'Gone', default_retry_policy_id: 'p1' },
    ],
    sms_template: [{ id: 's1', name: 'Old', message_type: 'sms' }],
  };
  const applied: Documents = {
    'retry_policy.old': { id: 'p1', name: 'Old' },
    'agent.desk': { id: 'a1', name: 'Desk', default_retry_policy_id: 'p1' },
    'agent.gone': { id: 'a2', name: 'Gone' },
    'sms_template.old': { id: 's1', name: 'Old', message_type: 'sms' },
  };

  test('for every change of a kind that could still refer to what goes, deletes among them', async () => {
    const desired: Documents = {
      'retry_policy.gentle': POLICY,
      'agent.desk': { name: 'Desk', default_retry_policy_id: { $ref: 'retry_policy.gentle' } },
    };
    expect(await waitsOf(world().desired(desired).live(live).applied(applied))).toEqual({
      'retry_policy.gentle': [],
      'retry_policy.old': ['agent.desk', 'agent.gone'],
      'sms_template.old': [],
      'agent.desk': ['retry_policy.gentle'],
      'agent.gone': [],
    });
  });
});

test('nothing ever waits for itself, directly or by others', async () => {
  const desired: Documents = {
    'retry_policy.gentle': POLICY,
    'custom_voice.harbor': VOICE,
    ...Object.fromEntries(
      ['a', 'b', 'c'].map((name) => [
        `agent.${name}`,
        { name, default_retry_policy_id: { $ref: 'retry_policy.gentle' } },
      ]),
    ),
  };
  const made = world()
    .desired(desired)
    .live({ retry_policy: [{ id: 'p1', name: 'Old' }], agent: [{ id: 'z', name: 'Z' }] })
    .applied({ 'retry_policy.old': { id: 'p1', name: 'Old' }, 'agent.z': { id: 'z', name: 'Z' } });
  const waits = await waitsOf(made);
  const reach = (address: string, seen: ReadonlySet<string>): void => {
    expect(seen.has(address)).toBe(false);
    for (const before of waits[address] ?? []) reach(before, new Set([...seen, address]));
  };
  for (const address of Object.keys(waits)) reach(address, new Set());
});

test('a row of thousands is gone through to its end', async () => {
  const { plan, desired } = await rowOf(6000);
  const nothing = async () => {};
  const unasked = async () => Promise.reject(new Error('a stopped run asks nothing'));
  const deps: RunDeps = {
    run: 'r1',
    client: {
      writing: () => ({ call: unasked, upload: unasked }),
      backOff: () => async () => false,
      platformTime: () => undefined,
    },
    reader: memoryReader({}),
    lease: { append: nothing, note: nothing, confirm: nothing, unconfirmed: () => [] },
    state: emptyState(LINEAGE),
    desired,
    world: { findSecret: () => undefined, fingerprints: fingerprinter(undefined) },
    concurrency: 4,
    now: () => new Date(0),
    sleep: nothing,
    stop: AbortSignal.abort(),
  };
  const { ledger } = await executePlan(plan, deps, () => {});
  expect(new Set(ledger.map(({ status }) => status))).toEqual(new Set(['not_attempted']));
  expect(ledger.map(({ address }) => address)).toEqual(plan.changes.map(({ address }) => address));
});

import { describe, expect, test } from 'vitest';
import type { PlanFlags } from '../../src/console/context.ts';
import { plan } from '../../src/console/plan.ts';
import { kindNamed } from '../../src/kinds/index.ts';
import { buildPin } from '../../src/plan/refresh.ts';
import type { State } from '../../src/state/model.ts';
import { VIEWS } from '../apply/stage.ts';
import { forge, stateCommands } from '../cli/state-stage.ts';
import { ofEvent, startWatching } from '../features/watch/watching.ts';
import { HARBOR, refreshStage, type Stack } from '../refresh/stage.ts';

/**
 * Whoever can write a state, and nothing else, gives it a text whose checksum fits. What the platform is asked anyway is
 * not taken from it.
 */
const STACK: Stack = {
  agents: {
    ann: { name: 'ann', greeting_message: 'Hello' },
    ben: { name: 'ben', greeting_message: 'Hello' },
  },
};

const UNSEALED = { env: { CALLSHEET_FINGERPRINT_KEY: undefined } };

const AGENT = kindNamed('agent');

test('the pin of an edit beside leaves that equal the files hides it from nothing that reads all', async () => {
  const stage = await refreshStage(STACK, {}, UNSEALED);
  await stage.settle();
  stage.alter('ben', { greeting_message: 'By hand' });
  const record = stage.sim.store.agents.get(stage.record('ben').id)?.record ?? {};
  await forge(stage, (resources) => {
    const ben = resources['agent.ben'];
    if (ben === undefined) throw new Error('the state has no agent.ben');
    const live = {
      id: ben.id,
      scope: ben.scope,
      extent: 'whole',
      document: record,
      record,
    } as const;
    const pin = { ...buildPin(AGENT, live), certain: true } as const;
    return { ...resources, 'agent.ben': { ...ben, pin } };
  });
  const edit = [{ address: 'agent.ben', fields: [{ path: 'greeting_message', cause: 'drifted' }] }];
  expect((await stage.plan({ refresh: 'full' })).changes).toMatchObject(edit);
  expect((await stage.drift({ refresh: 'full' })).changes).toMatchObject(edit);
  expect((await stage.drift()).changes).toMatchObject(edit);
  await stage.apply({ refresh: 'full' });
  expect(stage.record('ben').greeting_message).toBe('Hello');
});

/** An agent of somebody else's, beside those of the stack. */
const OTHER = {
  name: 'Emergency line',
  organization_id: HARBOR,
  greeting_message: 'This is an emergency line',
  created_at: '2026-01-05T09:00:00.000Z',
};

const besideAnother = async (stack: Stack = STACK) => {
  const seed = { organizations: [{ id: HARBOR, name: 'Harbor' }], agents: [OTHER] };
  const stage = await refreshStage(stack, {}, { ...UNSEALED, seed });
  await stage.settle();
  const other = stage.record('Emergency line').id;
  const text = async (format: string, flags: Partial<PlanFlags> = {}) =>
    (await stage.run((to) => plan({ dir: stage.folder, format, ...flags }, to), { exit: 'any' }))
      .out;
  return { ...stage, other, text };
};

type Entry = State['resources'][string];

/** A change of entries of the state. */
type Forgery = (entries: { readonly ann: Entry; readonly ben: Entry; readonly other: string }) => {
  readonly [address: string]: Entry;
};

const forging = (stage: Awaited<ReturnType<typeof besideAnother>>, forgery: Forgery) =>
  forge(stage, (resources) => {
    const { 'agent.ann': ann, 'agent.ben': ben } = resources;
    if (ann === undefined || ben === undefined) throw new Error('the state has no ann or ben');
    return { ...resources, ...forgery({ ann, ben, other: stage.other }) };
  });

const withoutTime = ({ created_at: _, ...entry }: Entry): Entry => entry;

describe('the id of another live agent', () => {
  test.each<[string, Forgery]>([
    ['in the place of its own', ({ ann, other }) => ({ 'agent.ann': { ...ann, id: other } })],
    [
      'in the place of its own, without the time of its creation',
      ({ ann, other }) => ({ 'agent.ann': { ...withoutTime(ann), id: other } }),
    ],
    [
      'with its name and without leaves, never read',
      ({ ann, other }) => ({
        'agent.ann': {
          ...withoutTime(ann),
          id: other,
          name: OTHER.name,
          leaves: {},
          pin: null,
        },
      }),
    ],
    [
      'exchanged with that of another address',
      ({ ann, ben }) => ({
        'agent.ann': { ...ann, id: ben.id },
        'agent.ben': { ...ben, id: ann.id },
      }),
    ],
    [
      'exchanged with that of another address, with the times of their creation',
      ({ ann, ben }) => ({
        'agent.ann': { ...withoutTime(ann), id: ben.id },
        'agent.ben': { ...withoutTime(ben), id: ann.id },
      }),
    ],
  ])('%s is a conflict that names both, and nothing is written', async (_name, forgery) => {
    const stage = await besideAnother();
    const own = stage.record('ann').id;
    await forging(stage, forgery);
    const before = stage.sim.dump();
    const { changes } = await stage.plan({ refresh: 'full' }, { exit: 4 });
    const ann = changes.find(({ address }) => address === 'agent.ann');
    expect(ann).toMatchObject({ action: 'update', verdict: 'refused' });
    for (const told of [
      own,
      String(ann?.id),
      'ann',
      String(ann?.before?.name),
      'callsheet state rm agent.ann',
    ])
      expect(ann?.reason).toContain(told);
    for (const format of ['text', 'markdown', ...VIEWS])
      expect(await stage.text(format)).toContain(own);
    await stage.apply({}, { exit: 4 });
    expect(stage.sim.dump()).toEqual(before);
  });

  test('in the place of its own is settled by the command that the plan names', async () => {
    const stage = await besideAnother();
    await forging(stage, ({ ann, other }) => ({ 'agent.ann': { ...ann, id: other } }));
    await stateCommands(stage).rm(['agent.ann'], false, UNSEALED);
    const { changes } = await stage.plan();
    expect(changes).toMatchObject([
      { address: 'agent.ann', action: 'adopt', id: stage.record('ann').id },
    ]);
    await stage.apply();
  });

  test('is what the files name themselves', async () => {
    const lifecycle = { adopt: '' };
    const stage = await besideAnother();
    await forging(stage, ({ ann, other }) => ({ 'agent.ann': { ...ann, id: other } }));
    lifecycle.adopt = stage.other;
    await stage.configure({ agents: { ...STACK.agents, ann: { ...STACK.agents.ann, lifecycle } } });
    const { changes } = await stage.plan();
    expect(changes).toMatchObject([{ address: 'agent.ann', action: 'update', verdict: 'ok' }]);
  });
});

test.each<[string, Forgery]>([
  ['in the place of its own', ({ ann, other }) => ({ 'agent.ann': { ...ann, id: other } })],
  [
    'with its name and leaves as they are live',
    ({ ann, other }) => ({
      'agent.ann': { ...withoutTime(ann), id: other, name: OTHER.name, pin: null },
    }),
  ],
  [
    'exchanged with that of another address',
    ({ ann, ben }) => ({
      'agent.ann': { ...withoutTime(ann), id: ben.id, name: ben.name },
      'agent.ben': { ...withoutTime(ben), id: ann.id, name: ann.name },
    }),
  ],
])('the id of another agent %s: nothing is healed', async (_name, forgery) => {
  const heal = { lifecycle: { heal: true } };
  const { ann = {}, ben = {} } = STACK.agents;
  const stage = await besideAnother({
    agents: { ann: { ...ann, ...heal }, ben: { ...ben, ...heal } },
  });
  await forging(stage, forgery);
  const before = stage.sim.dump();
  const watching = await startWatching(stage, { flags: { heal: true }, ...UNSEALED });
  expect(ofEvent(watching.lines, 'heal_left').length).toBeGreaterThan(0);
  await watching.pass();
  expect(ofEvent(watching.lines, 'heal_ended')).toEqual([]);
  expect(stage.sim.dump()).toEqual(before);
});

describe('an address, a name and the id of another live agent', () => {
  const OLD = { name: 'Old desk', leaves: {}, pin: null };
  test.each<[string, Forgery, string | undefined]>([
    [
      'that the state calls otherwise',
      ({ ann, other }) => ({ 'agent.old_desk': { ...withoutTime(ann), ...OLD, id: other } }),
      'does not say when',
    ],
    [
      'of another time',
      ({ ann, other }) => ({ 'agent.old_desk': { ...ann, ...OLD, id: other } }),
      'created at',
    ],
    [
      'that the state calls as one of the stack is called',
      ({ ann, other }) => ({
        'agent.old_desk': { ...withoutTime(ann), ...OLD, name: 'ben', id: other },
      }),
      'another live agent',
    ],
    [
      'by its own name',
      ({ ann, other }) => ({
        'agent.old_desk': { ...withoutTime(ann), ...OLD, name: OTHER.name, id: other },
      }),
      undefined,
    ],
  ])('%s: it is named by its live name in every view', async (_name, forgery, refused) => {
    const stage = await besideAnother();
    await forging(stage, forgery);
    const flags = { allowDelete: true };
    const { changes } = await stage.plan(flags, { exit: refused === undefined ? 0 : 4 });
    expect(changes).toMatchObject([
      {
        address: 'agent.old_desk',
        name: OTHER.name,
        action: 'delete',
        verdict: refused === undefined ? 'ok' : 'refused',
      },
    ]);
    for (const format of ['text', 'markdown', ...VIEWS])
      expect(await stage.text(format, flags)).toContain(OTHER.name);
    if (refused === undefined) return;
    expect(changes[0]?.reason).toContain(refused);
    const before = stage.sim.dump();
    await stage.apply(flags, { exit: 4 });
    expect(stage.sim.dump()).toEqual(before);
  });
});

describe('not refused is', () => {
  const RENAMED = 'ann, renamed';
  test('the change of an agent that was renamed in the dashboard', async () => {
    const stage = await besideAnother();
    stage.alter('ann', { name: RENAMED });
    const { changes } = await stage.plan();
    expect(changes).toMatchObject([
      { name: 'ann', verdict: 'ok', fields: [{ path: 'name', before: RENAMED, after: 'ann' }] },
    ]);
    await stage.apply();
  });

  test('its deletion, which names it by both', async () => {
    const stage = await besideAnother();
    stage.alter('ann', { name: RENAMED });
    const { ben = {} } = STACK.agents;
    await stage.configure({ agents: { ben } });
    const { changes } = await stage.plan({ allowDelete: true });
    expect(changes).toMatchObject([{ name: RENAMED, action: 'delete', verdict: 'ok' }]);
    expect(changes[0]?.reason).toContain('the state calls it "ann"');
    await stage.apply({ allowDelete: true });
  });

  test('names that the files exchange', async () => {
    const stage = await besideAnother();
    const { ann = {}, ben = {} } = STACK.agents;
    await stage.configure({
      agents: { ann: { ...ann, name: 'ben' }, ben: { ...ben, name: 'ann' } },
    });
    expect((await stage.plan()).summary).toMatchObject({ update: 2, refused: 0 });
    await stage.apply();
  });

  test('a name that an agent gives up by its deletion', async () => {
    const stage = await besideAnother();
    const { ann = {} } = STACK.agents;
    await stage.configure({ agents: { ann: { ...ann, name: 'ben' } } });
    expect((await stage.plan({ allowDelete: true })).summary).toMatchObject({
      delete: 1,
      refused: 0,
    });
    await stage.apply({ allowDelete: true });
  });

  test('the deletion of what a state without times has under its live name', async () => {
    const stage = await besideAnother();
    await forging(stage, ({ ann, ben }) => ({
      'agent.ann': withoutTime(ann),
      'agent.ben': withoutTime(ben),
    }));
    const { ben = {} } = STACK.agents;
    await stage.configure({ agents: { ben } });
    await stage.apply({ allowDelete: true });
  });
});

import { describe, expect, test } from 'vitest';
import type { ResourceState } from '../../src/state/model.ts';
import { HARBOR, type WorldBuilder, type Written, world } from '../world.ts';

/** Which sides of a value with the name of a secret a plan shows: see the table in decision 14. */

const MASK = '(secret)';
const NOTE = 'integrations.ehrProvider.note';
const note = (value: Written[string]): Written => ({
  integrations: { ehrProvider: { note: value } },
});
const CONFIG = 'config.settings[0].value';
const settings = (value: Written[string]) => [{ key: 'api_key', value }];
const config = (value: Written[string]): Written => ({ config: { settings: settings(value) } });

type Given = {
  readonly desired: Written;
  readonly live: Written;
  readonly applied?: Written;
  /** Paths that the files have in clear, and had then. */
  readonly inClear?: readonly string[];
  readonly before?: readonly string[];
};

function worldOf({ desired, live, applied, inClear = [], before = inClear }: Given): WorldBuilder {
  const base = world()
    .desired({ 'agent.desk': { name: 'Desk', ...desired } })
    .live({ agent: [{ id: 'a1', name: 'Desk', organization_id: HARBOR, ...live }] as never })
    .secrets({ 'env:A': 'old', 'env:B': 'new' })
    .inClear(inClear, before);
  return applied === undefined
    ? base
    : base.applied({ 'agent.desk': { id: 'a1', name: 'Desk', ...applied } });
}

async function sidesOf(of: WorldBuilder): Promise<readonly unknown[]> {
  const change = (await of.changes()).get('agent.desk');
  const [field] = change?.fields ?? [];
  return [field?.before, field?.after, field?.secret];
}

describe('a plan shows of a value with the name of a secret', () => {
  test.each<readonly [string, Given, readonly unknown[]]>([
    [
      'both sides, where the files had what is live',
      { desired: note('new'), live: note('old'), applied: note('old'), inClear: [NOTE] },
      ['old', 'new', false],
    ],
    [
      'what the files have, where nothing is known of what is live',
      { desired: note('new'), live: note('old'), inClear: [NOTE] },
      [MASK, 'new', false],
    ],
    [
      'what the files have, where somebody edited what is live',
      { desired: note('new'), live: note('theirs'), applied: note('old'), inClear: [NOTE] },
      [MASK, 'new', false],
    ],
    [
      'the host of what is live, which may be a secret of somebody else',
      { desired: note('new'), live: note('https://u:p@h.test/x'), inClear: [NOTE] },
      ['https://h.test/(secret)', 'new', false],
    ],
    [
      'nothing of what comes from outside of the files',
      { desired: note('new'), live: note('old'), applied: note('old') },
      [MASK, MASK, true],
    ],
    [
      'what the files had, where a variable from outside takes its place',
      {
        ...{ desired: note('new'), live: note('old'), applied: note('old') },
        ...{ inClear: [], before: [NOTE] },
      },
      ['old', MASK, false],
    ],
    [
      'what the files have in the place of a variable from outside',
      {
        ...{ desired: note('new'), live: note('old'), applied: note('old') },
        ...{ inClear: [NOTE], before: [] },
      },
      [MASK, 'new', false],
    ],
    [
      'what the files have in the place of a secret',
      {
        desired: note('new'),
        live: note('old'),
        applied: note({ $secret: 'env:A' }),
        inClear: [NOTE],
      },
      [MASK, 'new', false],
    ],
    [
      'nothing of what is a secret now, even if the files had it',
      {
        ...{ desired: note({ $secret: 'env:B' }), live: note('old'), applied: note('old') },
        ...{ inClear: [], before: [NOTE] },
      },
      [null, { $secret: 'env:B' }, true],
    ],
    [
      'what goes away and the files had',
      {
        ...{ desired: note(null), live: note('old'), applied: note('old') },
        ...{ inClear: [], before: [NOTE] },
      },
      [{ note: 'old' }, null, true],
    ],
    [
      'an object that is compared as one, whose values the files have',
      { desired: config('new'), live: config('old'), applied: config('old'), inClear: [CONFIG] },
      [settings('old'), settings('new'), false],
    ],
    [
      'such an object without what somebody edited in it',
      { desired: config('new'), live: config('x'), applied: config('old'), inClear: [CONFIG] },
      [settings(MASK), settings('new'), false],
    ],
  ])('%s', async (_, given, expected) => {
    expect(await sidesOf(worldOf(given))).toEqual(expected);
  });
});

const BOTH: Given = {
  desired: note('new'),
  live: note('old'),
  applied: note('old'),
  inClear: [NOTE],
};

/** The same world with a state that somebody wrote. */
function edited(of: WorldBuilder, edit: (leaf: object) => object): WorldBuilder {
  const state = of.state();
  const desk = state.resources['agent.desk'];
  if (desk === undefined) throw new Error('the state has no agent');
  const leaves = { ...desk.leaves, [NOTE]: edit(desk.leaves[NOTE] ?? {}) };
  const resources = { 'agent.desk': { ...desk, leaves } as ResourceState };
  return of.having({ state: { ...state, resources } });
}

describe('a state that somebody else can write', () => {
  test('shows no live value by saying that the files had it', async () => {
    const secret = worldOf({ ...BOTH, applied: note({ $secret: 'env:A' }) });
    const forged = edited(secret, (leaf) =>
      'fingerprint' in leaf ? { ...leaf, in_clear: leaf.fingerprint } : leaf,
    );
    expect(await sidesOf(forged)).toEqual([MASK, 'new', false]);
  });

  test('holds fingerprints of values that plans show, and not the values', () => {
    const { resources } = worldOf(BOTH).state();
    expect(Object.keys(resources['agent.desk']?.leaves[NOTE] ?? {})).toEqual([
      'fingerprint',
      'source',
      'in_clear',
    ]);
    expect(JSON.stringify(resources)).not.toContain('"old"');
  });

  test('hides a value that it does not know to have been in the files', async () => {
    const former = edited(worldOf(BOTH), ({ in_clear: _, ...leaf }: { in_clear?: string }) => leaf);
    expect(await sidesOf(former)).toEqual([MASK, 'new', false]);
    const same = worldOf({ ...BOTH, desired: note('old') });
    expect((await same.changes()).get('agent.desk')).toBeUndefined();
  });
});

test('no document of a change shows what is a secret now, even if the files had it', async () => {
  const change = (
    await worldOf({
      desired: note({ $secret: 'env:B' }),
      live: note('old'),
      applied: note('old'),
      before: [NOTE],
    }).changes()
  ).get('agent.desk');
  expect(change?.before).toMatchObject(note(MASK));
});

test('both documents of a change show what did not change and the files have', async () => {
  const more = { ...note('same'), newToken: 'x' };
  const change = (
    await worldOf({
      desired: { ...more, greeting_message: 'new' },
      live: { ...more, newToken: 'theirs', greeting_message: 'old' },
      inClear: [NOTE, 'newToken'],
    }).changes()
  ).get('agent.desk');
  expect(change?.before).toMatchObject({ ...note('same'), newToken: MASK });
  expect(change?.after).toMatchObject({ ...note('same'), newToken: 'x' });
});

import { describe, expect, test } from 'vitest';
import { computeDigest } from '../../src/core/digest.ts';
import type { PlanOptions } from '../../src/core/plan-document.ts';
import { isRefused } from '../../src/core/plan-document.ts';
import { parsePlan } from '../../src/plan/document.ts';
import { keepDrift } from '../../src/plan/drift.ts';
import { checkGuards } from '../../src/plan/guards.ts';
import type { PlanInput } from '../../src/plan/make.ts';
import { renderPlanJson } from '../../src/render/json.ts';
import type { Hold, Holds, State } from '../../src/state/model.ts';
import { world } from '../world.ts';

// The clock of these worlds stands at Monday, 2026-03-02 08:30 UTC.
const WINDOW = { reason: 'Audit', zone: 'Europe/Berlin', source: 'callsheet.yaml:9' } as const;
const MORNING = { ...WINDOW, weekdays: ['mon'], hours: { from: 540, to: 660 } } as const;
const EVENING = { ...WINDOW, hours: { from: 1080, to: 1200 } };
const ROLLBACK = { undid: 'r1', by: 'r2', at: '2026-03-01T08:30:00.123Z', user: 'sam' };
const HOLD: Hold = {
  ...{ address: 'agent.desk', id: 'a1', path: 'status', value: computeDigest('inactive') },
  ...ROLLBACK,
};

const DESK = { id: 'a1', name: 'Desk', status: 'active' };
const CHANGED = world()
  .desired({ 'agent.desk': { name: 'Desk', status: 'inactive' } })
  .live({ agent: [DESK] })
  .applied({ 'agent.desk': DESK });
const SAME = CHANGED.desired({ 'agent.desk': { name: 'Desk', status: 'active' } });
const HELD = CHANGED.desired({ 'agent.other': { name: 'Other' } }).options({
  target: ['agent.desk'],
});

/** Found by its name, and as it should be: the state will know it, and nothing is written. */
const FOUND = SAME.applied({});
const ALWAYS = { zone: 'Europe/Berlin', source: 'callsheet.yaml:12' } as const;

const held = (more: Partial<Hold> = {}) => ({
  state: { ...CHANGED.state(), holds: { k1: { ...HOLD, ...more } } },
});
const frozen = { guards: { freeze: [EVENING, MORNING] } };
const FREEZE =
  'guards.freeze is in force until Mon 2026-03-02 11:00 Europe/Berlin: "Audit" (callsheet.yaml:9)';
const ROLLED =
  'agent.desk status was rolled back by sam at 2026-03-01T08:30:00Z: run r2 undid run r1';

describe('a plan', () => {
  test.each<
    [
      string,
      {
        readonly of?: typeof CHANGED;
        readonly input: Partial<PlanInput>;
        readonly options?: Partial<PlanOptions>;
        readonly refused?: readonly string[];
        readonly notes?: readonly string[];
      },
    ]
  >([
    ['in a freeze window is refused', { input: frozen, refused: [FREEZE] }],
    ['out of every window is not', { input: { guards: { freeze: [EVENING] } } }],
    ['that writes nothing is not', { of: SAME, input: { ...frozen, ...held() } }],
    ['whose deletes are only held is not', { of: HELD, input: frozen }],
    ['that only takes note of what is there is not', { of: FOUND, input: frozen }],
    [
      'in several windows is told all of them, by their reason or their place',
      {
        input: { guards: { freeze: [MORNING, ALWAYS] } },
        refused: [
          'guards.freeze is in force with no end within a year: "Audit" (callsheet.yaml:9) and the window of callsheet.yaml:12',
        ],
      },
    ],
    [
      'of what was rolled back by nobody knows whom is refused',
      {
        input: held({ user: null }),
        refused: [ROLLED.replace('sam', 'someone')],
      },
    ],
    [
      'is not when a reason is given, and says so',
      {
        input: frozen,
        options: { override_freeze: 'INC-1' },
        notes: [`${FREEZE}; overridden: INC-1`],
      },
    ],
    ['of what was rolled back is refused', { input: held(), refused: [ROLLED] }],
    ['of another value is not', { input: held({ value: 'sha256:other' }) }],
    [
      'is not when the hold is released, and says so',
      {
        input: held(),
        options: { release_hold: true },
        notes: [`${ROLLED}; the hold is released`],
      },
    ],
    [
      'says all that stands against it',
      { input: { ...frozen, ...held() }, refused: [FREEZE, ROLLED] },
    ],
    [
      'is refused for the one where only the other is overridden',
      {
        input: { ...frozen, ...held() },
        options: { release_hold: true },
        refused: [FREEZE],
        notes: [`${ROLLED}; the hold is released`],
      },
    ],
    [
      'of a rollback is frozen, but not held',
      { input: { ...frozen, ...held(), purpose: 'rollback' }, refused: [FREEZE] },
    ],
    [
      'is refused whatever --skip-refused and --delete-used say',
      {
        input: { ...frozen, ...held() },
        options: { skip_refused: true, force: true },
        refused: [FREEZE, ROLLED],
      },
    ],
  ])('%s', async (_name, { of = CHANGED, input, options = {}, refused = [], notes = [] }) => {
    const target = of === HELD ? { target: ['agent.desk'] } : {};
    const { plan } = await of.options({ ...target, ...options }).plan(input);
    expect((plan.refusals ?? []).map(({ message }) => message)).toEqual(refused);
    expect(isRefused(plan)).toBe(refused.length > 0);
    expect(plan.notes).toEqual(
      notes.map((message) => ({ severity: 'warning', address: null, message, varies: true })),
    );
  });

  test('says when it is over, for programs, and what to do', async () => {
    const { plan } = await CHANGED.plan({ ...frozen, ...held() });
    expect(plan.refusals).toMatchObject([
      {
        guard: 'freeze',
        until: '2026-03-02T10:00:00.000Z',
        advice:
          'Wait until then, or pass --override-freeze REASON, which is recorded with the run.',
      },
      { guard: 'hold', until: null, advice: expect.stringContaining('--release-hold') },
    ]);
  });

  test('says how to go on where there is no end to wait for', async () => {
    const { plan } = await CHANGED.plan({ guards: { freeze: [ALWAYS] } });
    expect(plan.refusals).toMatchObject([
      {
        until: null,
        advice:
          'To continue anyway, pass --override-freeze REASON, which is recorded with the run.',
      },
    ]);
  });

  test('has the same digest in a window and out of it, and another one with an override', async () => {
    const digestOf = async (input: Partial<PlanInput>, options: Partial<PlanOptions> = {}) =>
      (await CHANGED.options(options).plan(input)).plan.digest;
    const digest = await digestOf({});
    expect(await digestOf(frozen)).toBe(digest);
    expect(await digestOf({}, { override_freeze: 'INC-1' })).not.toBe(digest);
    expect(await digestOf({}, { release_hold: true })).not.toBe(digest);
  });

  test('is read back from its file with what stood against it', async () => {
    const { plan } = await CHANGED.plan({ ...frozen, ...held() });
    expect(parsePlan(renderPlanJson(plan), 'plan.json')).toEqual(plan);
  });
});

describe('a plan that would write again what was rolled back', () => {
  const FIELDS = {
    greeting_message: 'Hi',
    description: 'Calls',
    status: 'active',
    timezone: 'UTC',
  };
  const hold = (path: keyof typeof FIELDS | 'name', more: Partial<Hold> = {}): Hold => ({
    ...HOLD,
    path,
    value: computeDigest(path === 'name' ? 'Desk' : FIELDS[path]),
    ...more,
  });
  const made = world()
    .desired({ 'agent.desk': { name: 'Desk', ...FIELDS } })
    .live({ agent: [{ id: 'a1', name: 'Old' }] })
    .applied({ 'agent.desk': { id: 'a1', name: 'Old' } });
  const planned = (holds: State['holds'] = {}, options: Partial<PlanOptions> = {}) =>
    made.options(options).plan({ state: { ...made.state(), holds } });
  const by = 'rolled back by sam at 2026-03-01T08:30:00Z: run r2 undid run r1';
  const ADVICE =
    'Change the configured value, or pass --release-hold to write the same value again.';

  test.each<[string, Holds, readonly string[]]>([
    ['names the value', { k1: hold('name') }, [`agent.desk name was ${by}`]],
    [
      'names several',
      { k1: hold('name'), k2: hold('status') },
      [`agent.desk name, agent.desk status were ${by}`],
    ],
    [
      'names three',
      { k1: hold('name'), k2: hold('status'), k3: hold('timezone') },
      [`agent.desk name, agent.desk status, agent.desk timezone were ${by}`],
    ],
    [
      'counts those beyond three',
      {
        k1: hold('name'),
        k2: hold('status'),
        k3: hold('timezone'),
        k4: hold('description'),
        k5: hold('greeting_message'),
      },
      [`agent.desk name, agent.desk status, agent.desk timezone and 2 more were ${by}`],
    ],
    [
      'names each rollback with its own',
      { k1: hold('name'), k2: hold('status', { by: 'r4', undid: 'r3' }), k3: hold('timezone') },
      [
        `agent.desk name, agent.desk timezone were ${by}`,
        'agent.desk status was rolled back by sam at 2026-03-01T08:30:00Z: run r4 undid run r3',
      ],
    ],
    [
      'leaves out values that it does not write',
      { k1: hold('name'), k2: hold('status', { value: computeDigest('inactive') }) },
      [`agent.desk name was ${by}`],
    ],
  ])('%s', async (_name, holds, refused) => {
    const { refusals = [] } = (await planned(holds)).plan;
    expect(refusals).toEqual(
      refused.map((message) => ({ guard: 'hold', message, until: null, advice: ADVICE })),
    );
  });

  test('says what is released', async () => {
    const { plan } = await planned({ k1: hold('name') }, { release_hold: true });
    expect(plan.refusals).toBeUndefined();
    expect(plan.notes.map(({ message }) => message)).toContain(
      `agent.desk name was ${by}; the hold is released`,
    );
  });

  test('would break just the holds that it is refused for, by their keys', async () => {
    const holds = {
      k1: hold('name'),
      k2: hold('status', { value: computeDigest('inactive') }),
      k3: hold('timezone'),
    };
    const { plan } = await planned(holds);
    const now = new Date('2026-03-02T08:30:00.000Z');
    const circumstances = { holds, desired: made.wanted(), world: made.given(), guards: {}, now };
    expect(checkGuards(plan, circumstances).map(({ holds: keys }) => keys)).toEqual([['k1', 'k3']]);
  });
});

test('nothing stands against looking at drift', async () => {
  const { plan } = await CHANGED.plan({ ...frozen, ...held() });
  expect(keepDrift(plan, () => [])).not.toHaveProperty('refusals');
});

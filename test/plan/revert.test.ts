import { describe, expect, test } from 'vitest';
import type { Change, FieldChange, PlannedOperation } from '../../src/core/plan-document.ts';
import { type JsonObject, Secret, type ValueObject } from '../../src/core/value.ts';
import { UNCLEARABLE } from '../../src/diff/compare.ts';
import { kindNamed } from '../../src/kinds/index.ts';
import type { Kind } from '../../src/kinds/kind.ts';
import { findRefusals } from '../../src/plan/preflight.ts';
import { chooseRevertOrUpdate, leaveOut, leaveOutUnclearable } from '../../src/plan/revert.ts';
import { desiredResource, HARBOR, type Written, world } from '../world.ts';
import { entitlementsOf, HERE, type Said } from './entitlements.ts';
import { lockedModel } from './preflighted.ts';
import { stepsOf } from './rows.ts';

const AGENT = kindNamed('agent');

/** A field that the rollback writes. */
const field = (path: string, more: Partial<FieldChange> = {}): FieldChange => ({
  path,
  before: 'now',
  after: 'then',
  secret: false,
  cause: 'changed',
  ...more,
});
const emptied = (path: string, more: Partial<FieldChange> = {}) =>
  field(path, { after: null, ...more });
const update = (...fields: readonly string[]): PlannedOperation => ({ step: 'update', fields });
const revert = (...fields: readonly string[]): PlannedOperation => ({
  step: 'revert',
  fields,
  version: 41,
});

function changeWith(fields: readonly FieldChange[], more: Partial<Change> = {}): Change {
  return {
    address: 'agent.desk',
    kind: 'agent',
    name: 'Desk',
    organization_id: HARBOR,
    id: 'a1',
    action: 'update',
    verdict: 'ok',
    reason: 'the run changed it',
    adopted: false,
    missing_id: null,
    before: {},
    after: {},
    fields,
    pin: null,
    operations: [update(...fields.map(({ path }) => path.replace(/[.[].*/, '')))],
    source: null,
    ...more,
  };
}

const refusals = ({ fields }: Change) =>
  Object.fromEntries(fields.map(({ path, refused }) => [path, refused]));

const LOCKED: Said = { harbor: { 'llm.alpha-4o': HERE } };
const MODEL = lockedModel('for organization harbor at the organization itself');
const CLOSED = 'updateAgent is closed to this key, which is limited to one organization';

/** What is left of a change that writes these fields to a bare agent, on a platform that says this. */
async function leftOf(
  then: Written,
  said: Said,
  fields: readonly FieldChange[],
  more: Partial<Change> = {},
) {
  const now: Record<string, JsonObject[]> = {
    agent: [{ id: 'a1', organization_id: HARBOR, name: 'Desk' }],
  };
  const made = world()
    .desired({ 'agent.desk': { name: 'Desk', ...then } })
    .live(now)
    .entitlements(entitlementsOf(said));
  const reader = made.reader();
  const written = {
    document: made.wanted()[0]?.document ?? {},
    leaves: await made.compare(),
    live: now.agent?.[0] ?? {},
  };
  const change = changeWith(fields, more);
  const { barred, notes } = await findRefusals(change, written, {
    reader,
    entitlements: reader.entitlements(),
    organizations: { [HARBOR]: 'harbor' },
    findOwner: () => undefined,
    likelyOwner: HARBOR,
  });
  return { change: leaveOut(change, barred), notes };
}

describe('what the platform would refuse now', () => {
  const both = { model: 'alpha-4o', greeting_message: 'Hello' };
  const fields = [field('model'), field('greeting_message')];

  test('is left out of the fields and steps, and the rest is done', async () => {
    const { change, notes } = await leftOf(both, LOCKED, fields);
    expect(change).toMatchObject({ verdict: 'ok', reason: 'the run changed it' });
    expect(change.fields).toEqual([
      { ...field('model'), refused: MODEL },
      field('greeting_message'),
    ]);
    expect(stepsOf(change)).toEqual(['update greeting_message']);
    expect(notes).toEqual([]);
  });

  test('takes a step with it that has nothing else to write', async () => {
    const { change } = await leftOf(both, LOCKED, fields, {
      operations: [update('model'), revert('greeting_message')],
    });
    expect(stepsOf(change)).toEqual(['revert to 41 greeting_message']);
  });

  test('takes no step with it that names no fields', async () => {
    const { change } = await leftOf(both, LOCKED, fields, {
      action: 'replace',
      operations: [{ step: 'delete', fields: [] }, update('model', 'greeting_message')],
    });
    expect(stepsOf(change)).toEqual(['delete', 'update greeting_message']);
  });

  test('is nothing where the platform refuses nothing', async () => {
    const { change } = await leftOf(both, {}, fields, { operations: [update('model', 'status')] });
    expect(change).toEqual(changeWith(fields, { operations: [update('model', 'status')] }));
  });

  test('is left out with all that is below it and with what holds it', async () => {
    const then = {
      integrations: { smsProvider: { account_sid: 'AC1', fromNumber: '+1' } },
      greeting_message: 'Hello',
    };
    const said: Said = { harbor: { 'integration.smsProvider': HERE } };
    const { change } = await leftOf(then, said, [
      field('integrations.smsProvider.account_sid'),
      field('integrations.smsProvider.fromNumber'),
      field('integrations.calendarA.client_id'),
      field('integrations'),
      field('greeting_message'),
    ]);
    const why = expect.stringContaining('integrations.smsProvider needs the feature');
    expect(refusals(change)).toEqual({
      'integrations.smsProvider.account_sid': why,
      'integrations.smsProvider.fromNumber': why,
      'integrations.calendarA.client_id': undefined,
      integrations: why,
      greeting_message: undefined,
    });
    expect(stepsOf(change)[0]).toMatch(/^update integrations .*greeting_message$/);
  });

  test('leaves nothing to do where nothing else is written', async () => {
    const { change } = await leftOf(both, LOCKED, [
      field('model'),
      field('description', { cause: 'released' }),
    ]);
    expect(change).toMatchObject({
      verdict: 'unsupported',
      reason: `it cannot be put back now: ${MODEL} (the run changed it)`,
      operations: [],
      fields: [{ path: 'model', refused: MODEL }, { path: 'description' }],
    });
  });

  test('is all of it where the key may not make the request, with every reason once', async () => {
    const { change } = await leftOf(both, { ...LOCKED, key: 'organization' }, fields);
    expect(change).toMatchObject({ verdict: 'unsupported', operations: [] });
    const closed = `${CLOSED}; use a key of the whole account`;
    expect(change.reason).toBe(
      `it cannot be put back now: ${closed}; ${MODEL} (the run changed it)`,
    );
    expect(refusals(change)).toEqual({
      model: `${closed}; ${MODEL}`,
      greeting_message: closed,
    });
  });

  test('is told with what the platform does not say', async () => {
    const { change, notes } = await leftOf(both, { offers: 'silence' }, fields);
    expect(change).toEqual(changeWith(fields));
    expect(notes).toMatchObject([{ severity: 'warning', address: null }]);
  });

  test.each(['held', 'refused', 'unsupported'] as const)(
    'is not asked of a change that is %s',
    async (verdict) => {
      const { change, notes } = await leftOf(both, LOCKED, fields, { verdict });
      expect(change).toEqual(changeWith(fields, { verdict }));
      expect(notes).toEqual([]);
    },
  );
});

describe('what null cannot clear', () => {
  test.each<readonly [string, Change]>([
    ['a field of the record', changeWith([emptied('status'), field('description')])],
    [
      'one that a revert would restore, without a revert',
      changeWith([emptied('model'), field('description')]),
    ],
    [
      'one that no revert restores, beside a revert',
      changeWith([emptied('status'), field('description')], {
        operations: [revert('description'), update('status')],
      }),
    ],
    [
      'a member of a facet, beside a revert',
      changeWith([emptied('payments.success_url'), field('description')], {
        operations: [revert('description'), { step: 'facet', fields: ['payments'] }],
      }),
    ],
  ])('%s stays as it is', (_, change) => {
    const left = leaveOutUnclearable(change, AGENT);
    expect(left.verdict).toBe('ok');
    expect(left.fields.map(({ refused }) => refused)).toEqual([UNCLEARABLE, undefined]);
    expect(left.operations.flatMap(({ fields }) => fields)).toEqual(['description']);
  });

  test('leaves nothing to do where it is all that the run set', () => {
    expect(leaveOutUnclearable(changeWith([emptied('status')]), AGENT)).toMatchObject({
      verdict: 'unsupported',
      reason: `it cannot be put back now: ${UNCLEARABLE} (the run changed it)`,
      operations: [],
    });
  });

  test.each<readonly [string, Change]>([
    ['a field that null clears', changeWith([emptied('description')])],
    ['a field with another value', changeWith([field('status')])],
    [
      'one that a revert brings back',
      changeWith([emptied('model'), field('status')], {
        operations: [revert('model'), update('status')],
      }),
    ],
    ['one that is only let go of', changeWith([emptied('status', { cause: 'released' })])],
    ['a change that is refused', changeWith([emptied('status')], { verdict: 'refused' })],
    ['what is made', changeWith([emptied('status')], { action: 'create' })],
  ])('is not %s', (_, change) => {
    expect(leaveOutUnclearable(change, AGENT)).toEqual(change);
  });
});

type Case = {
  readonly kind?: Kind;
  /** What is undone, and what is live. */
  readonly wanted?: Written;
  readonly now?: JsonObject;
  /** All of it as it was. */
  readonly whole?: ValueObject;
  readonly withheld?: readonly string[];
  readonly ignore?: readonly string[];
};

function wayOf(
  change: Change,
  { kind = AGENT, wanted = {}, now = {}, whole, withheld = [], ignore = [] }: Case = {},
): Change {
  const desired = desiredResource('agent.desk', { ...wanted, lifecycle: { ignore } });
  return chooseRevertOrUpdate(change, {
    isOtherNow: () => false,
    kind,
    desired: whole === undefined ? desired : { ...desired, whole: { document: whole, withheld } },
    live: { organization_id: HARBOR, ...now },
    version: 41,
    entries: { read: [{ id: 41 } as never], isAll: true },
    world: world().secrets({ 'env:TEXT': 'Set here' }).given(),
  });
}

const ALONE = { way: 'revert', why: 'history records all of it' };

describe('the way back', () => {
  test.each<readonly [string, Change]>([
    ['of what is refused', changeWith([field('description')], { verdict: 'refused' })],
    [
      'of facets alone',
      changeWith([field('payments.tool_enabled')], {
        operations: [{ step: 'facet', fields: ['payments'] }],
      }),
    ],
    ['of what is only let go of', changeWith([field('description', { cause: 'released' })])],
  ])('is not chosen %s', (_, change) => {
    expect(wayOf(change)).toEqual(change);
  });

  test.each<readonly [string, readonly FieldChange[], readonly string[]]>([
    [
      'a field that no revert restores is only let go of',
      [field('description'), field('status', { cause: 'released' })],
      ['revert to 41 description'],
    ],
    [
      'one that no revert restores is left out',
      [field('description'), field('status', { refused: 'locked' })],
      ['revert to 41 description'],
    ],
    [
      'a facet is put back beside it',
      [field('description'), field('payments.tool_enabled')],
      ['revert to 41 description', 'facet payments'],
    ],
    [
      'several members of a field are put back',
      [field('voice_settings.speed'), field('voice_settings.language')],
      ['revert to 41 voice_settings'],
    ],
  ])('is a revert where %s', (_, fields, steps) => {
    const change = wayOf(changeWith(fields));
    expect(stepsOf(change)).toEqual(steps);
    expect(change.undoing).toEqual(ALONE);
  });

  test('names every field that a revert does not restore', () => {
    const change = wayOf(
      changeWith(['status', 'description', 'agent_type'].map((one) => field(one))),
    );
    expect(stepsOf(change)).toEqual(['revert to 41 description', 'update status agent_type']);
    expect(change.undoing).toEqual({
      way: 'revert_and_update',
      why: 'a revert does not restore status, agent_type',
    });
  });

  test('is an update where the platform would refuse a part of what a revert restores', () => {
    const fields = [field('description'), field('model', { refused: 'alpha-4o is locked' })];
    const change = wayOf(changeWith(fields));
    expect(stepsOf(change)).toEqual(['update description']);
    expect(change.undoing).toEqual({
      way: 'update',
      why: 'the platform would refuse a revert: alpha-4o is locked',
    });
  });
});

describe('a revert that would take back what the run did not change', () => {
  const change = changeWith([field('greeting_message')]);
  const THEN = { organization_id: HARBOR, greeting_message: 'Hello' };
  const NOW = { greeting_message: 'Good day' };

  test('is not made, and all of that is named', () => {
    const whole = { ...THEN, description: 'Then', voice_settings: { speed: 1 } };
    const made = wayOf(change, {
      whole,
      now: { ...NOW, description: 'Edited', voice_settings: { speed: 2 } },
    });
    expect(stepsOf(made)).toEqual(['update greeting_message']);
    expect(made.undoing).toEqual({
      way: 'update',
      why: 'a revert would also take back description, voice_settings.speed, which the run did not change',
    });
  });

  test('is not made where it would clear what was set since', () => {
    const made = wayOf(change, { whole: THEN, now: { ...NOW, description: 'New' } });
    expect(made.undoing).toEqual({
      way: 'update',
      why: 'a revert would also take back description, which the run did not change',
    });
  });

  test('is not made for the sake of what the rollback lets go of', () => {
    const fields = [field('greeting_message'), field('description', { cause: 'released' })];
    const made = wayOf(changeWith(fields), {
      whole: { ...THEN, description: 'Then' },
      now: { ...NOW, description: 'Edited' },
    });
    expect(made.undoing?.way).toBe('update');
  });

  test.each<readonly [string, Case]>([
    [
      'nothing else differs',
      { whole: { ...THEN, description: 'Same' }, now: { ...NOW, description: 'Same' } },
    ],
    ['nobody kept what else there was', { now: { ...NOW, description: 'Edited' } }],
    [
      'no revert restores it',
      { whole: { ...THEN, status: 'active' }, now: { ...NOW, status: 'inactive' } },
    ],
    [
      'the configuration ignores it',
      {
        whole: { ...THEN, voice_settings: { speed: 1 } },
        now: { ...NOW, voice_settings: { speed: 2 } },
        ignore: ['voice_settings.speed'],
      },
    ],
    [
      'nobody kept what it was',
      {
        whole: THEN,
        now: { ...NOW, voice_settings: { speed: 2 } },
        withheld: ['voice_settings.speed'],
      },
    ],
    [
      'it was a secret, which nobody can compare',
      {
        whole: { ...THEN, description: new Secret('env:UNSET') },
        now: { ...NOW, description: 'Edited' },
      },
    ],
  ])('is made all the same where %s', (_, given) => {
    expect(wayOf(change, given).undoing).toEqual(ALONE);
  });

  test.each<readonly [string, string]>([
    ['the field that holds it', 'voice_settings'],
    ['the field itself', 'voice_settings.speed'],
    ['a part of it', 'voice_settings.speed.unit'],
  ])('is made where %s is to be undone', (_, path) => {
    const made = wayOf(changeWith([field(path)]), {
      whole: { ...THEN, greeting_message: 'Good day', voice_settings: { speed: 1 } },
      now: { ...NOW, voice_settings: { speed: 2 } },
    });
    expect(made.undoing).toEqual(ALONE);
  });
});

describe('what a revert switches off along with call transfer', () => {
  const ON = { transfer_enabled: true, web_transfer_enabled: true };
  const OFF = { transfer_enabled: false, web_transfer_enabled: true };
  const TAKEN = 'a revert that switches transfer_enabled off takes web_transfer_enabled with it';
  const change = changeWith([field('transfer_enabled')]);

  test('is put back after the revert, where the rollback wants it on', () => {
    const made = wayOf(change, { wanted: OFF, now: ON });
    expect(stepsOf(made)).toEqual(['revert to 41 transfer_enabled', 'update web_transfer_enabled']);
    expect(made.undoing).toEqual({ way: 'revert_and_update', why: TAKEN });
  });

  test('is told beside what no revert restores, and by the field alone that takes it', () => {
    const fields = ['transfer_enabled', 'status', 'email_tool_enabled'].map((one) => field(one));
    const made = wayOf(changeWith(fields), {
      wanted: { ...OFF, email_tool_enabled: false },
      now: { ...ON, email_tool_enabled: true },
    });
    expect(made.undoing?.why).toBe(`a revert does not restore status; ${TAKEN}`);
  });

  test.each<readonly [string, Case]>([
    [
      'the rollback wants it off',
      { wanted: { transfer_enabled: false, web_transfer_enabled: false }, now: ON },
    ],
    [
      'it is off already',
      { wanted: OFF, now: { transfer_enabled: true, web_transfer_enabled: false } },
    ],
    ['call transfer is off already', { wanted: { ...OFF, transfer_enabled: null }, now: OFF }],
    ['call transfer is switched on', { wanted: ON, now: OFF }],
    [
      'it was off before the run',
      {
        wanted: { transfer_enabled: false },
        whole: { organization_id: HARBOR, transfer_enabled: false, web_transfer_enabled: false },
        now: ON,
      },
    ],
  ])('is left alone where %s', (_, given) => {
    expect(wayOf(change, given).undoing).toEqual(ALONE);
  });

  test('is all that the platform says, and every field that does it', () => {
    const { properties = {} } = AGENT.schema;
    const takes = {
      type: 'boolean',
      'x-revert-takes': ['web_transfer_enabled', 'screenshare_enabled'],
    };
    const takesOne = { type: 'boolean', 'x-revert-takes': [] };
    const kind: Kind = {
      ...AGENT,
      schema: {
        ...AGENT.schema,
        properties: { ...properties, transfer_enabled: takes, email_tool_enabled: takesOne },
      },
    };
    const made = wayOf(changeWith([field('transfer_enabled'), field('email_tool_enabled')]), {
      kind,
      wanted: { ...OFF, screenshare_enabled: true },
      now: { ...ON, screenshare_enabled: true, email_tool_enabled: true },
    });
    expect(made.undoing?.why).toBe(
      'a revert that switches transfer_enabled, email_tool_enabled off takes web_transfer_enabled, screenshare_enabled with it',
    );
  });
});

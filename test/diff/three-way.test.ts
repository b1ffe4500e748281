import { describe, expect, test } from 'vitest';
import type { FieldSchema } from '../../src/core/schema.ts';
import type { JsonObject, Value } from '../../src/core/value.ts';
import { compare, isUnclearable, isWritten } from '../../src/diff/compare.ts';
import { agent } from '../../src/kinds/agent.ts';
import { world } from '../world.ts';
import { compares, findingsOf, partially } from './rows.ts';

/** Longer than what the state keeps as it is: of such a value it knows a digest only. */
const LONG = 'Answer the phone. '.repeat(40);

describe.each([
  { type: 'a text', field: 'greeting_message', a: 'Hello', b: 'Good day', c: 'Hi' },
  { type: 'a long text', field: 'system_prompt', a: LONG, b: `${LONG}B`, c: `${LONG}C` },
  { type: 'a flag', field: 'enable_recording', a: true, b: false, c: null },
  { type: 'a set', field: 'email', a: ['a@x.test'], b: ['b@x.test'], c: ['a@x.test', 'c@x.test'] },
])('$type, as the table of DESIGN 4.5 has it', ({ field, a, b, c }) => {
  compares([
    {
      title: 'a a a',
      applied: { [field]: a },
      desired: { [field]: a },
      live: { [field]: a },
      finds: {},
    },
    {
      title: 'a b a',
      applied: { [field]: a },
      desired: { [field]: b },
      live: { [field]: a },
      finds: { [field]: 'changed' },
    },
    {
      title: 'a a c',
      applied: { [field]: a },
      desired: { [field]: a },
      live: { [field]: c },
      finds: { [field]: 'drifted' },
    },
    {
      title: 'a a –',
      applied: { [field]: a },
      desired: { [field]: a },
      live: {},
      finds: { [field]: 'drifted' },
    },
    {
      title: 'a b c',
      applied: { [field]: a },
      desired: { [field]: b },
      live: { [field]: c },
      finds: { [field]: 'conflict' },
    },
    {
      title: 'a b b',
      applied: { [field]: a },
      desired: { [field]: b },
      live: { [field]: b },
      finds: {},
    },
    {
      title: 'a removed a',
      applied: { [field]: a },
      desired: {},
      live: { [field]: a },
      finds: { [field]: 'cleared' },
    },
    { title: 'a removed –', applied: { [field]: a }, desired: {}, live: {}, finds: {} },
    { title: '– not owned c', applied: {}, desired: {}, live: { [field]: c }, finds: {} },
    {
      title: '– b –',
      applied: {},
      desired: { [field]: b },
      live: {},
      finds: { [field]: 'changed' },
    },
    { title: '– b b', applied: {}, desired: { [field]: b }, live: { [field]: b }, finds: {} },
    {
      title: '– b a',
      applied: {},
      desired: { [field]: b },
      live: { [field]: a },
      finds: { [field]: 'changed' },
    },
    {
      title: 'no state, b a',
      desired: { [field]: b },
      live: { [field]: a },
      finds: { [field]: 'changed' },
    },
    { title: 'no state, b b', desired: { [field]: b }, live: { [field]: b }, finds: {} },
    { title: 'no state, not owned a', desired: {}, live: { [field]: a }, finds: {} },
  ]);
});

describe('what the configuration wants to be null', () => {
  const server = (auth_headers: JsonObject): JsonObject => ({
    extensions: { mcp_servers: [{ connection_name: 'C', auth_headers }] },
  });
  const EMPTY = { extensions: { mcp_servers: [{ connection_name: 'C', auth_headers: null }] } };
  const AT = 'extensions.mcp_servers[C].auth_headers';
  compares([
    {
      title: 'is changed where nobody else changed it',
      applied: { greeting_message: 'Hello' },
      desired: { greeting_message: null },
      live: { greeting_message: 'Hello' },
      finds: { greeting_message: 'changed' },
    },
    {
      title: 'is a conflict where somebody changed it meanwhile',
      applied: { greeting_message: 'Hello' },
      desired: { greeting_message: null },
      live: { greeting_message: 'Hi' },
      finds: { greeting_message: 'conflict' },
    },
    {
      title: 'is changed where nobody changed what was below it, secrets among that',
      applied: server({ Authorization: 'one' }),
      desired: EMPTY,
      live: server({ Authorization: 'one' }),
      finds: { [AT]: 'changed' },
    },
    {
      title: 'is a conflict where somebody changed a secret below it',
      applied: server({ Authorization: 'one' }),
      desired: EMPTY,
      live: server({ Authorization: 'two' }),
      finds: { [AT]: 'conflict' },
    },
    {
      title: 'is changed where a secret below it cannot be seen',
      applied: server({ Authorization: 'one', Other: 'x' }),
      desired: EMPTY,
      live: server({ Other: 'x' }),
      finds: { [AT]: 'changed' },
    },
  ]);

  test('is compared although the state has a path that is none', () => {
    const applied = { 'config..': { value: 1 }, 'config.user_timezone': { value: 'UTC' } };
    const sides = { address: 'agent.desk', applied, ignore: [], isPartial: true, resend: false };
    const live = { config: { user_timezone: 'Europe/Oslo' } };
    expect(compare(agent.schema, { config: null }, live, sides, world().given())).toMatchObject([
      { text: 'config', cause: 'conflict' },
    ]);
  });
});

test.each([
  ['have another value', { greeting_message: 'Bye', voice_settings: { speed: 1.2 } }],
  ['want nothing', { greeting_message: null, voice_settings: { speed: null } }],
  ['no longer say anything', { voice_settings: { language: 'en' } }],
])('a conflict has what was last written where the files %s', async (title, desired) => {
  const found = await findingsOf({
    title: '',
    applied: { greeting_message: 'Hello', voice_settings: { speed: 1.1, language: 'en' } },
    desired,
    live: { greeting_message: 'Hi', voice_settings: { speed: 1, language: 'en' } },
    finds: {},
  });
  const conflicts = found.filter(({ cause }) => cause === 'conflict');
  expect(new Map(conflicts.map(({ text, base }) => [text, base]))).toEqual(
    new Map<string, unknown>([
      ['greeting_message', 'Hello'],
      // Nothing is left of it, so it goes as a whole.
      title === 'want nothing'
        ? ['voice_settings', { speed: 1.1, language: 'en' }]
        : ['voice_settings.speed', 1.1],
    ]),
  );
});

describe('what the configuration no longer has', () => {
  compares([
    {
      title: 'stays where null is refused',
      applied: { status: 'inactive', model: 'alpha-4o' },
      desired: {},
      live: { status: 'inactive', model: 'alpha-4o' },
      finds: { status: 'released', model: 'released' },
    },
    {
      title: 'stays, even where it moved, where null is refused',
      applied: { model: 'alpha-4o' },
      desired: {},
      live: { model: 'alpha-4.1' },
      finds: { model: 'released' },
    },
    {
      title: 'is a conflict where somebody changed it meanwhile',
      applied: { greeting_message: 'Hello' },
      desired: {},
      live: { greeting_message: 'Hi' },
      finds: { greeting_message: 'conflict' },
    },
    {
      title: 'is cleared leaf by leaf',
      applied: { voice_settings: { speed: 1.1, language: 'en' } },
      desired: { voice_settings: { language: 'en' } },
      live: { voice_settings: { speed: 1.1, language: 'en', stability: 3 } },
      finds: { 'voice_settings.speed': 'cleared' },
    },
    {
      title: 'is cleared where the whole object went',
      applied: { config: { user_timezone: 'Europe/Oslo' } },
      desired: {},
      live: { config: { user_timezone: 'Europe/Oslo', inactivity_timeout: 9 } },
      finds: { 'config.user_timezone': 'cleared' },
    },
    {
      title: 'is cleared where an empty object is left',
      applied: { config: { user_timezone: 'Europe/Oslo' } },
      desired: { config: {} },
      live: { config: { user_timezone: 'Europe/Oslo', inactivity_timeout: 9 } },
      finds: { 'config.user_timezone': 'cleared' },
    },
    {
      title: 'is not gone where an object takes its place',
      applied: { config: { limits: 3 } },
      desired: { config: { limits: { calls: 3 } } },
      live: { config: { limits: 3 } },
      finds: { 'config.limits': 'changed' },
    },
    {
      title: 'is not gone where it takes the place of an object',
      applied: { config: { limits: { calls: 3 } } },
      desired: { config: { limits: 3 } },
      live: { config: { limits: { calls: 3 } } },
      finds: { 'config.limits': 'changed' },
    },
    {
      title: 'is said of facets, which are not read any more',
      applied: { sip: { registration_enabled: true }, payments: { tool_enabled: true } },
      desired: {},
      live: {},
      finds: { 'sip.registration_enabled': 'released', 'payments.tool_enabled': 'released' },
    },
  ]);

  test('is left alone where only what is mentioned is meant', async () => {
    const row = {
      title: '',
      applied: { greeting_message: 'Hello', model: 'alpha-4o' },
      desired: { model: 'alpha-4o' },
      live: { greeting_message: 'Hello', model: 'alpha-4o' },
      finds: {},
    };
    expect(await findingsOf(row)).toHaveLength(1);
    const partial = { having: partially };
    expect(await findingsOf({ ...row, ...partial })).toEqual([]);
  });
});

describe('a finding', () => {
  test('holds both sides as they are', async () => {
    const [found] = await findingsOf({
      title: '',
      applied: { model: 'alpha-4.1' },
      desired: { model: 'alpha-4o' },
      live: { model: 'alpha-4.1' },
      finds: {},
    });
    expect(found).toMatchObject({
      path: ['model'],
      before: 'alpha-4.1',
      after: 'alpha-4o',
      sensitive: false,
    });
  });

  test.each([
    ['changed', true],
    ['drifted', true],
    ['conflict', true],
    ['cleared', true],
    ['secret_changed', true],
    ['secret_resent', true],
    ['released', false],
    ['unknown_secret', false],
    ['unknown_content', false],
  ] as const)('that is %s is written: %s', (cause, expected) => {
    const finding = {
      path: [],
      text: '',
      before: 1,
      after: 2,
      sensitive: false,
      unreadable: false,
      schema: {},
    };
    expect(isWritten({ ...finding, cause })).toBe(expected);
  });

  test.each<[string, Value | undefined, FieldSchema, boolean]>([
    ['goes away', undefined, { 'x-clearable': false }, true],
    ['is to be null', null, { 'x-clearable': false }, true],
    ['gets another value', 'alpha-4o', { 'x-clearable': false }, false],
    ['gets an empty value', '', { 'x-clearable': false }, false],
    ['goes away where null clears it', undefined, {}, false],
    ['goes away where null is said to clear it', null, { 'x-clearable': true }, false],
  ])('of what %s: whether null would be refused', (_what, after, schema, expected) => {
    expect(isUnclearable({ after, schema })).toBe(expected);
  });
});

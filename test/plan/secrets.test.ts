import { describe, expect, test } from 'vitest';
import type {
  Change,
  FieldChange,
  Note,
  PlannedOperation,
  SecretTravel,
} from '../../src/core/plan-document.ts';
import {
  Blob,
  type JsonObject,
  Secret,
  type Value,
  type ValueObject,
} from '../../src/core/value.ts';
import type { LeafChange } from '../../src/diff/compare.ts';
import { kindNamed } from '../../src/kinds/index.ts';
import {
  findRenewed,
  fingerprintMasked,
  secretsWritten,
  secretTravels,
  sendsLeaf,
  uncomparedNotes,
} from '../../src/plan/secrets.ts';
import type { AppliedLeaf, ResourceState, State } from '../../src/state/model.ts';
import { changeOf } from '../render/sample.ts';
import { type Documents, materialise, world } from '../world.ts';

const AGENT = kindNamed('agent');

type Given = Pick<Change, 'operations' | 'fields'>;

/** A change that takes these steps and writes these paths. */
const writing = (
  steps: readonly PlannedOperation['step'][],
  paths: readonly string[] = [],
  more: Partial<FieldChange> = {},
): Given => ({
  operations: steps.map((step) => ({ step, fields: [] })),
  fields: paths.map((path) => ({
    path,
    before: null,
    after: 'new',
    secret: true,
    cause: 'changed',
    ...more,
  })),
});

const TOOL = { type: 'webhook', name: 'crm', condition: 'during_call', method: 'GET' };
const tool = (url: string, more: JsonObject = {}): JsonObject => ({
  extensions: { tools: [{ ...TOOL, url, ...more }] },
});
const server = (url: string, more: JsonObject = {}): JsonObject => ({
  extensions: {
    mcp_servers: [{ connection_name: 'm', mcp_endpoint_url: url, transport_type: 'http', ...more }],
  },
});
const sms = (more: JsonObject): JsonObject => ({ integrations: { smsProvider: more } });
const header = (value: JsonObject | string) => ({ headers: [{ key: 'X-Key', value }] });
const SECRET = { $secret: 'env:KEY' };
const TOKEN = 'integrations.smsProvider.auth_token';
const HOST = 'integrations.smsProvider.api_base';
const KEY_SECRET = 'integrations.smsProvider.api_key_secret';
const VALUE = 'extensions.tools[crm].headers[X-Key].value';
const removed = (path: string, before: string, restorable: boolean): SecretTravel => {
  return { path, source: null, to: null, before, restorable };
};
const travel = (path: string, source: string | null, to: string, before: string | null) => ({
  path,
  source,
  to,
  before,
});

describe('a change writes the secret at a path', () => {
  test.each<readonly [string, Given, boolean]>([
    ['that it changes', writing(['update'], [TOKEN]), true],
    ['that is not among its fields', writing(['update'], [KEY_SECRET]), false],
    ['that nobody could compare', writing(['update'], [TOKEN], { cause: 'unknown_secret' }), false],
    ['that the platform would refuse', writing(['update'], [TOKEN], { refused: 'locked' }), false],
    ['of what it makes, facets and all', writing(['create', 'facet']), true],
    ['of what it writes anew', writing(['again']), true],
    ['of what it makes again after a delete', writing(['delete', 'create']), true],
    ['of what it deletes', writing(['delete']), false],
  ])('%s', (_, change, isSent) => {
    expect(sendsLeaf(change)(TOKEN)).toBe(isSent);
  });

  const document = materialise(
    sms({ account_sid: 'AC1', auth_token: SECRET, api_key_secret: { $secret: 'env:OTHER' } }),
  ) as ValueObject;

  test('and apply asks for that one alone', () => {
    expect(secretsWritten(writing(['update'], [TOKEN, 'name']), AGENT, document)).toEqual([
      { path: TOKEN, source: 'env:KEY' },
    ]);
  });

  test('and apply asks for all of what it makes', () => {
    expect(secretsWritten(writing(['create']), AGENT, document)).toEqual([
      { path: TOKEN, source: 'env:KEY' },
      { path: KEY_SECRET, source: 'env:OTHER' },
    ]);
  });
});

describe('secrets that were not compared', () => {
  const unknown = (text: string, after?: Value): LeafChange => ({
    path: [text],
    text,
    before: undefined,
    after,
    cause: 'unknown_secret',
    sensitive: true,
    unreadable: true,
    schema: {},
  });
  const [one, other] = [unknown('one', new Secret('env:A')), unknown('other', new Secret('env:B'))];
  const remembering = (
    leaves: ResourceState['leaves'],
    lastRun: string | null = null,
  ): Pick<State, 'last_run' | 'resources'> => ({
    last_run: lastRun,
    resources: {
      'agent.a': {
        kind: 'agent',
        id: 'a',
        scope: {},
        name: 'A',
        leaves,
        pin: null,
        protect: false,
      },
    },
  });
  const EMPTY = { last_run: null, resources: {} };
  const ASKED = 'apply asks only for secrets that it writes.';
  const RESEND = 'To write the values set here, run `callsheet plan --resend-secrets`.';
  const KEPT = `the platform does not return secrets, and the state does not record what was written. The stored values will not be changed, so a value that was rotated stays the old one. If they equal the values set here, run \`callsheet state trust\`. ${RESEND}`;

  const unset = (message: string, sources: string): Note => ({
    severity: 'info',
    address: null,
    message: `${message} ${ASKED} Of ${sources} the state does not record what was written: where the value was rotated, the platform keeps the old one. ${RESEND}`,
    varies: true,
  });
  const kept = (message: string, uncompared: number, sources: string): Note => ({
    severity: 'info',
    address: null,
    message: `${message} set here and cannot be compared (${sources}): ${KEPT}`,
    uncompared,
    varies: true,
  });

  test.each<readonly [string, readonly LeafChange[], readonly string[], readonly Note[]]>([
    [
      'one that is not set',
      [one],
      [],
      [unset('1 secret is not set here, so Callsheet did not compare it.', 'env:A')],
    ],
    [
      'several that are not set',
      [one, other],
      [],
      [unset('2 secrets are not set here, so Callsheet did not compare them.', 'env:A, env:B')],
    ],
    ['one that is set', [one], ['env:A'], [kept('1 secret is', 1, 'env:A')]],
    [
      'several that are set',
      [one, other],
      ['env:A', 'env:B'],
      [kept('2 secrets are', 2, 'env:A, env:B')],
    ],
    [
      'one of each',
      [one, other],
      ['env:B'],
      [
        unset('1 secret is not set here, so Callsheet did not compare it.', 'env:A'),
        kept('1 secret is', 1, 'env:B'),
      ],
    ],
    [
      'one source that stands in two places',
      [one, unknown('again', new Secret('env:A'))],
      ['env:A'],
      [kept('1 secret is', 1, 'env:A')],
    ],
    [
      'those that the configuration no longer has, each for itself',
      [unknown('one'), unknown('other')],
      ['one', 'other'],
      [unset('2 secrets are not set here, so Callsheet did not compare them.', 'one, other')],
    ],
  ])('are counted: %s', (_, leaves, set, notes) => {
    const findSecret = (source: string) => (set.includes(source) ? 'value' : undefined);
    expect(uncomparedNotes([{ address: 'agent.a', leaves }], { findSecret }, EMPTY)).toEqual(notes);
  });

  test('name the resources where there are more of them than secrets', () => {
    const noted = (...addresses: readonly string[]) =>
      uncomparedNotes(
        addresses.map((address) => ({ address, leaves: [one] })),
        { findSecret: () => undefined },
        EMPTY,
      );
    expect(noted('agent.a', 'agent.b')).toEqual([
      unset(
        '1 secret, which 2 resources use, is not set here, so Callsheet did not compare it.',
        'env:A',
      ),
    ]);
  });

  test('that are known are not told again because another one is set', () => {
    const state = remembering({ [one.text]: { unknown: true }, [other.text]: { unknown: true } });
    const findSecret = (source: string) => (source === 'env:B' ? 'value' : undefined);
    const notes = uncomparedNotes(
      [{ address: 'agent.a', leaves: [one, other] }],
      { findSecret },
      state,
    );
    expect(notes.map(({ known }) => known)).toEqual([true, undefined]);
  });

  test('are no note where there are none', () => {
    const changed: LeafChange = { ...one, cause: 'secret_changed' };
    const compared = [{ address: 'agent.a', leaves: [changed] }];
    expect(uncomparedNotes(compared, { findSecret: () => undefined }, EMPTY)).toEqual([]);
  });

  test('are told once: what the state remembers is known, until one is new or set', () => {
    const state = remembering({ [one.text]: { unknown: true } });
    const noted = (leaves: readonly LeafChange[], set = '') =>
      uncomparedNotes(
        [{ address: 'agent.a', leaves }],
        { findSecret: (source) => (source === set ? 'value' : undefined) },
        state,
      )[0]?.known;
    expect(noted([one])).toBe(true);
    expect(noted([one, other])).toBeUndefined();
    expect(noted([one], 'env:A')).toBeUndefined();
  });

  test('that are set are told once: a run recorded that nobody knows what was written', () => {
    const noted = (leaf: AppliedLeaf, leaves = [one], lastRun: string | null = 'run') =>
      uncomparedNotes(
        [{ address: 'agent.a', leaves }],
        { findSecret: () => 'value' },
        remembering({ [one.text]: leaf }, lastRun),
      ).map(({ known, uncompared }) => [known, uncompared]);
    expect(noted({ unknown: true })).toEqual([[true, 1]]);
    expect(noted({ unknown: true }, [one, other])).toEqual([[undefined, 2]]);
    expect(noted({ unknown: true }, [one], null)).toEqual([[undefined, 1]]);
    // A fingerprint that no longer compares is news: the key is another one.
    expect(noted({ fingerprint: 'hmac-sha256:other' })).toEqual([[undefined, 1]]);
  });
});

/** What the configuration wants and what is live of an agent, without a state. */
const rows: readonly (readonly [string, JsonObject, JsonObject, readonly SecretTravel[]])[] = [
  [
    'a literal header whose webhook moves',
    tool('https://new.test/x', header('same')),
    tool('https://old.test/x', header('same')),
    [travel(VALUE, null, 'new.test', 'old.test')],
  ],
  [
    'another path on the same host',
    tool('https://old.test/y', header('a')),
    tool('https://old.test/x', header('a')),
    [],
  ],
  ['no secret', tool('https://new.test/y'), tool('https://old.test/x'), []],
  [
    'a header that nobody declares, of a connection that moves',
    server('https://new.test'),
    server('https://old.test', { auth_headers: { Authorization: 'canary' } }),
    [travel('extensions.mcp_servers[m].auth_headers.Authorization', null, 'new.test', 'old.test')],
  ],
  [
    'a header that goes away with its webhook',
    tool('https://new.test/x', { name: 'other' }),
    tool('https://old.test/x', header('canary')),
    [removed(VALUE, 'old.test', true)],
  ],
  [
    'an option of a connection that is named like a secret',
    server('https://new.test', { initialization_options: { password: 'a' } }),
    server('https://old.test', { initialization_options: { password: 'a' } }),
    [travel('extensions.mcp_servers[m].initialization_options', null, 'new.test', 'old.test')],
  ],
  [
    'a provider that is new',
    sms({ account_sid: 'AC1', auth_token: SECRET }),
    {},
    [travel(TOKEN, 'env:KEY', 'smsProvider', null)],
  ],
  [
    'a provider that gets a host of its own, with what is stored and not returned',
    sms({ account_sid: 'AC1', api_base: 'https://sms.new.test/v1' }),
    sms({ account_sid: 'AC1' }),
    [travel(TOKEN, null, 'smsProvider, sms.new.test', 'smsProvider')],
  ],
  [
    'an address with a placeholder',
    tool('https://{{host}}/x', header(SECRET)),
    tool('https://old.test/x'),
    [travel(VALUE, 'env:KEY', '{{host}}', null)],
  ],
  [
    'a text that is given as a secret, which goes nowhere else',
    { description: SECRET },
    {},
    [travel('description', 'env:KEY', 'the platform', null)],
  ],
  [
    'an address with a credential in it, which says itself where that goes',
    tool('https://me:canary@new.test/x?token=canary'),
    tool('https://me:canary@old.test/x?token=canary'),
    [],
  ],
  [
    'what is no address',
    tool('https://[half', header('a')),
    tool('https://old.test/x', header('a')),
    [travel(VALUE, null, 'https://[half', 'old.test')],
  ],
  [
    'an address that is a secret itself',
    { extensions: { tools: [{ ...TOOL, url: SECRET, ...header('a') }] } },
    tool('https://old.test/x', header('a')),
    [
      travel('extensions.tools[crm].url', null, 'the platform', 'old.test'),
      travel(VALUE, null, 'the platform', 'old.test'),
    ],
  ],
  [
    'an address whose scheme is not https',
    tool('http://old.test/x', header('a')),
    tool('https://old.test/x', header('a')),
    [travel(VALUE, null, 'http://old.test', 'old.test')],
  ],
  [
    'a host without a scheme, which a setting of the provider is',
    sms({ account_sid: 'AC1', region_host: 'sms.new.test:8443/v1' }),
    sms({ account_sid: 'AC1' }),
    [travel(TOKEN, null, 'smsProvider, sms.new.test:8443', 'smsProvider')],
  ],
  [
    'a provider that moves from one host to another',
    sms({ account_sid: 'AC1', api_base: 'https://new.test' }),
    sms({ account_sid: 'AC1', api_base: 'https://old.test' }),
    [travel(TOKEN, null, 'smsProvider, new.test', 'smsProvider, old.test')],
  ],
  [
    'a provider of which another secret is stored',
    sms({ api_key_sid: 'SK1', api_base: 'https://new.test' }),
    sms({ api_key_sid: 'SK1' }),
    [travel(KEY_SECRET, null, 'smsProvider, new.test', 'smsProvider')],
  ],
  [
    'a secret that is to be cleared where its provider moves',
    sms({ account_sid: 'AC1', auth_token: null, api_base: 'https://new.test' }),
    sms({ account_sid: 'AC1' }),
    [],
  ],
  [
    'a secret of which only the configuration tells, of a provider that moves',
    sms({ fromNumber: '+1', auth_token: SECRET, api_base: 'https://new.test' }),
    sms({ fromNumber: '+1' }),
    [travel(TOKEN, null, 'smsProvider, new.test', 'smsProvider')],
  ],
];

test.each(rows)('where secrets go: %s', async (_, wanted, live, travels) => {
  const { plan: made } = await world()
    .desired({ 'agent.desk': { name: 'Desk', ...wanted } })
    .live({ agent: [{ id: 'a1', name: 'Desk', ...live }] })
    .plan();
  expect(made.changes.flatMap(({ secrets = [] }) => secrets)).toEqual(travels);
});

/** Where a change of an agent sends secrets. */
function travelsOf(
  change: Given,
  wanted: JsonObject,
  live?: JsonObject,
  known: readonly string[] = [],
  applied?: ResourceState['leaves'],
): readonly SecretTravel[] {
  const document = materialise(wanted) as ValueObject;
  return secretTravels(change, { kind: AGENT, document, live, known: new Set(known), applied });
}

describe('where secrets go', () => {
  const provider = (host: string, more: JsonObject = {}) =>
    sms({ fromNumber: '+1', api_base: `https://${host}`, ...more });

  test('is told of one that was written before and that the platform does not return', async () => {
    const then = { id: 'a1', name: 'Desk', ...provider('old.test', { auth_token: SECRET }) };
    const { plan: made } = await world()
      .desired({ 'agent.desk': { name: 'Desk', ...provider('new.test', { auth_token: SECRET }) } })
      .live({ agent: [{ id: 'a1', name: 'Desk', ...provider('old.test') }] })
      .applied({ 'agent.desk': then })
      .secrets({ 'env:KEY': 'same' })
      .plan();
    expect(made.changes[0]?.secrets).toEqual([
      travel(TOKEN, null, 'smsProvider, new.test', 'smsProvider, old.test'),
    ]);
  });

  test('has no before for one that the platform says is not set', () => {
    const wanted = provider('new.test', { auth_token: SECRET });
    const live = provider('old.test', { auth_token: null });
    expect(travelsOf(writing(['update'], [HOST, TOKEN]), wanted, live)).toEqual([
      travel(TOKEN, 'env:KEY', 'smsProvider, new.test', null),
    ]);
  });

  test('has no before for what is made', () => {
    const wanted = provider('new.test', { auth_token: SECRET });
    expect(travelsOf(writing(['create']), wanted)).toEqual([
      travel(TOKEN, 'env:KEY', 'smsProvider, new.test', null),
    ]);
  });

  test('is not told of a new one that the platform would refuse', () => {
    const wanted = provider('new.test', { auth_token: SECRET });
    const { operations, fields } = writing(['update'], [HOST]);
    const refused = writing(['update'], [TOKEN], { refused: 'locked' });
    const change = { operations, fields: [...fields, ...refused.fields] };
    expect(travelsOf(change, wanted, provider('old.test'))).toEqual([]);
  });

  test('is not told of a value in clear that whoever wrote it knows', () => {
    const wanted = tool('https://new.test/x', header('clear'));
    const live = tool('https://old.test/x', header('canary'));
    expect(travelsOf(writing(['update'], [VALUE]), wanted, live)).toEqual([]);
  });

  test('is told of a value that is known to be a secret, although no schema says so', () => {
    const path = 'integrations.smsProvider.fromNumber';
    const sides = [provider('new.test'), provider('old.test')] as const;
    const change = writing(['update'], [HOST]);
    expect(travelsOf(change, ...sides, [path])).toEqual([
      travel(path, null, 'smsProvider, new.test', 'smsProvider, old.test'),
    ]);
    expect(travelsOf(change, ...sides)).toEqual([]);
  });

  test.each<readonly [string, string, FieldChange['cause'], string | null]>([
    ['removed with what is cleared', 'extensions.tools[crm].headers', 'cleared', null],
    ['kept by what is only let go of', 'extensions.tools[crm].headers', 'released', 'new.test'],
    ['kept beside what is cleared', 'description', 'cleared', 'new.test'],
  ])('is %s', (_, path, cause, to) => {
    const change = writing(['update'], [path], { after: null, cause });
    const live = tool('https://old.test/x', header('canary'));
    expect(travelsOf(change, tool('https://new.test/x'), live)).toMatchObject([{ to }]);
  });

  test('is not told of files, which are not returned either', async () => {
    const clip = new Blob('voices/harbor.wav', 'aa', 9, 'audio/wav');
    const desired: Documents = { 'custom_voice.harbor': { name: 'Harbor', clip, consent: true } };
    const { plan: made } = await world().desired(desired).plan();
    expect(made.changes).toMatchObject([{ action: 'create' }]);
    expect(made.changes[0]?.secrets).toBeUndefined();
  });
});

describe('what a plan masks is told apart later by its fingerprint', () => {
  const OWNER = 'a-1';
  const given = (value: string) =>
    world()
      .secrets({ 'env:KEY': value })
      .given(() => undefined);
  const document = materialise(
    sms({ account_sid: 'AC1', auth_token: SECRET, api_key_secret: { $secret: 'env:UNSET' } }),
  ) as ValueObject;
  const change = (fields: readonly (Partial<FieldChange> & { readonly path: string })[]): Change =>
    changeOf({ fields: fields.flatMap(({ path, ...more }) => writing([], [path], more).fields) });
  const fingerprint = given('one').fingerprints.of(OWNER, TOKEN, 'one');

  test.each<readonly [string, string, Partial<FieldChange>, readonly string[]]>([
    ['a secret of which it has one', TOKEN, {}, [TOKEN]],
    ['no field that it shows', TOKEN, { secret: false }, []],
    ['no secret that nobody could compare', TOKEN, { cause: 'unknown_secret' }, []],
    ['no secret that is not set', KEY_SECRET, {}, []],
    ['nothing that the state remembers as it is', 'integrations.smsProvider.account_sid', {}, []],
    ['nothing that is no longer configured', VALUE, {}, []],
  ])('and %s', (_, path, more, paths) => {
    const found = fingerprintMasked(change([{ path, ...more }]), document, OWNER, given('one'));
    expect(found).toEqual(Object.fromEntries(paths.map((one) => [one, fingerprint])));
  });

  test.each<readonly [string, Readonly<Record<string, string>>, string, readonly string[]]>([
    ['another value', { [TOKEN]: fingerprint }, 'two', [TOKEN]],
    ['the same value', { [TOKEN]: fingerprint }, 'one', []],
    ['one of which there is no fingerprint', {}, 'two', []],
  ])('which finds %s', (_, fingerprints, now, renewed) => {
    const written = change([{ path: TOKEN }, { path: KEY_SECRET }]);
    expect(findRenewed(written, document, OWNER, fingerprints, given(now))).toEqual(renewed);
  });
});

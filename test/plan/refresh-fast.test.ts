import { describe, expect, test } from 'vitest';
import { computeDigest } from '../../src/core/digest.ts';
import { Blob, type JsonObject } from '../../src/core/value.ts';
import { kindNamed } from '../../src/kinds/index.ts';
import type { Identity } from '../../src/plan/identify.ts';
import { compareUnread, isWhollyRemembered } from '../../src/plan/refresh.ts';
import type { AppliedLeaf, RememberedPin, ResourceState } from '../../src/state/model.ts';
import { BAY, desiredResource, KEY, type Written, world } from '../world.ts';

const DESK = 'agent.desk';
const AT = '2026-03-01T08:30:00Z';
const PROMPT = 'You answer the phone of a clinic, politely. '.repeat(5);
const AGENT = kindNamed('agent');

const CERTAIN: RememberedPin = {
  digest: 'sha256:then',
  updated_at: AT,
  history_id: null,
  certain: true,
};

type Given = {
  readonly address?: string;
  /** What was last written; `name` is Desk unless given. */
  readonly written?: Written;
  /** What the configuration has now, where that is something else. */
  readonly wanted?: Written;
  /** Leaves that the state remembers instead of those that the run would leave. */
  readonly leaves?: Readonly<Record<string, AppliedLeaf>>;
  /** What the list shows beside id, name and time. */
  readonly listed?: JsonObject;
  readonly recorded?: Partial<ResourceState>;
  readonly pin?: Partial<RememberedPin> | null;
  readonly identity?: Partial<Identity>;
  /** Secrets now, and when it was written. */
  readonly secrets?: Readonly<Record<string, string>>;
  readonly secretsThen?: Readonly<Record<string, string>>;
  readonly keyThen?: string;
  /** Ids of other resources, which were the same when it was written. */
  readonly ids?: Readonly<Record<string, string>>;
  readonly isResent?: boolean;
};

/** What is said of the leaves of a resource that is not read: `path cause`; `read` where it has to be. */
function outcome({ address = DESK, ids = {}, secrets = {}, isResent = false, ...given }: Given) {
  const written = { name: 'Desk', ...given.written };
  const wanted = given.wanted === undefined ? written : { name: 'Desk', ...given.wanted };
  const others = Object.entries(ids).map(([at, id]) => [at, { id, name: at }]);
  const made = world()
    .applied({ [address]: { id: 'a1', ...written }, ...Object.fromEntries(others) })
    .secrets(secrets, given.secretsThen ?? secrets)
    .keys(KEY, given.keyThen ?? KEY);
  const state = made.state().resources[address];
  if (state === undefined) throw new Error('nothing was written');
  const desired = desiredResource(address, wanted);
  const identity: Identity = {
    address,
    kind: kindNamed(desired.kind),
    scope: state.scope,
    desired,
    recorded: {
      ...state,
      pin: given.pin === null ? null : { ...CERTAIN, ...given.pin },
      leaves: { ...state.leaves, ...given.leaves },
      ...given.recorded,
    },
    found: {
      id: 'a1',
      scope: state.scope,
      record: { id: 'a1', name: state.name, created_at: AT, updated_at: AT, ...given.listed },
    },
    by: 'state',
    isListed: true,
    missing: undefined,
    ...given.identity,
  };
  const looked = made.given((at) => ids[at]);
  const found = compareUnread(identity, looked, isResent);
  return found?.map(({ text, cause }) => `${text} ${cause}`) ?? 'read';
}

const NOTHING: readonly string[] = [];
const desired = (written: Written = {}) => desiredResource(DESK, { name: 'Desk', ...written });
const ignoring = (...ignore: readonly string[]) => ({ lifecycle: { ignore } });
const tool = (name: string) => ({
  type: 'webhook',
  name,
  method: 'GET',
  url: 'https://crm.test',
});

describe('a resource whose time in the list is that of the state', () => {
  test.each<[string, Given]>([
    ['of a name alone', {}],
    [
      'of short values, as the list shows them',
      { written: { status: 'active' }, listed: { status: 'active' } },
    ],
    ['of a long text', { written: { system_prompt: PROMPT } }],
    [
      'of a set, in whatever order',
      {
        written: { email: ['b@x.test', 'a@x.test'] },
        wanted: { email: ['a@x.test', 'b@x.test'] },
      },
    ],
    ['of a list with elements', { written: { extensions: { tools: [tool('crm')] } } }],
    ['of a list that is to be empty', { written: { extensions: { tools: [] } } }],
    ['with a field that is set to nothing', { written: { greeting_message: null } }],
    [
      'with a part that is written apart and moves its time',
      { written: { sip: { registration_enabled: true } } },
    ],
    [
      'that follows a policy which is there',
      {
        written: { default_retry_policy_id: { $ref: 'retry_policy.gentle' } },
        ids: { 'retry_policy.gentle': 'p1' },
      },
    ],
    ['that follows no policy', { written: { default_retry_policy_id: null } }],
    [
      'of which a part is left alone, whatever is configured there',
      {
        written: { greeting_message: 'Hello', ...ignoring('greeting_message') },
        wanted: { greeting_message: 'Good day', ...ignoring('greeting_message') },
      },
    ],
    [
      'of which a list is left alone',
      {
        written: { extensions: { tools: [] }, ...ignoring('extensions.tools') },
        wanted: { extensions: { tools: [] }, ...ignoring('extensions.tools') },
      },
    ],
    [
      'with a field that the schema does not name',
      {
        written: { brand_new: 'yes' },
        leaves: { brand_new: { value: 'yes' } },
        listed: { brand_new: 'yes' },
      },
    ],
    ['that leaves alone what is no path', { written: ignoring('tools[') }],
    ['that has nothing to send again', { isResent: true }],
    ['that is protected as before', { written: { lifecycle: { protect: true } } }],
  ])('is not read: one %s', (_name, given) => {
    expect(outcome(given)).toEqual(NOTHING);
  });

  test.each<[string, Given]>([
    ['of a kind whose time says nothing', { address: 'retry_policy.gentle' }],
    [
      'of a kind that is due again after a time',
      { identity: { kind: { ...AGENT, due: () => '' } } },
    ],
    ['that is not in the list', { identity: { found: undefined } }],
    ['that was found by its name', { identity: { by: 'natural_key' } }],
    ['that is taken over', { identity: { by: 'adopt' } }],
    ['that has another address now', { identity: { movedFrom: 'agent.front' } }],
    ['that the state does not know', { identity: { recorded: undefined } }],
    ['whose making has not ended', { recorded: { unfinished: [] } }],
    ['that is no longer configured', { identity: { desired: undefined } }],
    ['of which only a part is meant', { identity: { desired: { ...desired(), isPartial: true } } }],
    [
      'beside which nothing else may be there',
      { identity: { desired: { ...desired(), isExact: true } } },
    ],
    ['that was never read', { pin: null }],
    [
      'whose time was not long over when it was read',
      { recorded: { pin: { digest: 'sha256:then', updated_at: AT, history_id: null } } },
    ],
    ['that somebody changed since', { listed: { updated_at: '2026-03-01T08:30:01Z' } }],
    ['that is protected now', { wanted: { lifecycle: { protect: true } } }],
    ['that is no longer protected', { written: { lifecycle: { protect: true } }, wanted: {} }],
    [
      'with another name, which is left alone',
      { written: ignoring('name'), wanted: { name: 'Front', ...ignoring('name') } },
    ],
    [
      'that is in another organization',
      {
        identity: {
          found: {
            id: 'a1',
            scope: { organization_id: BAY },
            record: { id: 'a1', updated_at: AT },
          },
        },
      },
    ],
    [
      'of which the list shows something else',
      { written: { status: 'active' }, listed: { status: 'inactive' } },
    ],
    [
      'of which the list shows nothing any more',
      { written: { status: 'active' }, listed: { status: null } },
    ],
    [
      'of which the list shows something else in a part that is left alone by now',
      {
        written: { status: 'active' },
        wanted: { status: 'inactive', ...ignoring('status') },
        listed: { status: 'inactive' },
      },
    ],
    [
      'with another value',
      { written: { greeting_message: 'Hello' }, wanted: { greeting_message: 'Good day' } },
    ],
    [
      'with another long text',
      { written: { system_prompt: PROMPT }, wanted: { system_prompt: `${PROMPT}!` } },
    ],
    ['with one more field', { written: {}, wanted: { greeting_message: 'Hello' } }],
    ['with one field less', { written: { greeting_message: 'Hello' }, wanted: {} }],
    [
      'with one field less and another one more',
      { written: { greeting_message: 'Hello' }, wanted: { description: 'Calls' } },
    ],
    [
      'of which a part is no longer left alone',
      {
        written: { greeting_message: 'Hello', ...ignoring('greeting_message') },
        wanted: { greeting_message: 'Hello' },
      },
    ],
    [
      'of which a part is left alone from now on',
      {
        written: { greeting_message: 'Hello' },
        wanted: { greeting_message: 'Hello', ...ignoring('greeting_message') },
      },
    ],
    [
      'with a list that is to be empty from now on',
      { written: {}, wanted: { extensions: { tools: [] } } },
    ],
    [
      'with a list whose elements are to go',
      { written: { extensions: { tools: [tool('crm')] } }, wanted: { extensions: { tools: [] } } },
    ],
    [
      'with a list that is remembered as a value',
      { written: { extensions: { tools: [] } }, leaves: { 'extensions.tools': { value: 'x' } } },
    ],
    [
      'with a list that is remembered by its digest',
      { written: { extensions: { tools: [] } }, leaves: { 'extensions.tools': { digest: 'x' } } },
    ],
    [
      'with an element that is another one',
      {
        written: { extensions: { tools: [tool('crm')] } },
        wanted: { extensions: { tools: [tool('erp')] } },
      },
    ],
    [
      'with settings of payments, whose change moves no time',
      { written: { payments: { tool_enabled: false } } },
    ],
    [
      'that follows a policy by its id, which may be gone',
      { written: { default_retry_policy_id: 'p1' } },
    ],
    [
      'that follows a policy which is not there yet',
      {
        wanted: { default_retry_policy_id: { $ref: 'retry_policy.gentle' } },
        leaves: { default_retry_policy_id: { value: 'p1' } },
      },
    ],
    [
      'that follows another policy',
      {
        written: { default_retry_policy_id: { $ref: 'retry_policy.gentle' } },
        ids: { 'retry_policy.gentle': 'p2' },
        leaves: { default_retry_policy_id: { value: 'p1' } },
      },
    ],
  ])('is read: one %s', (_name, given) => {
    expect(outcome(given)).toBe('read');
  });
});

describe('of a resource with a secret', () => {
  const at = 'integrations.smsProvider.auth_token';
  const sms = { account_sid: 'AC1', auth_token: { $secret: 'env:TOKEN' } };
  const written = { integrations: { smsProvider: sms } };
  const TOKEN = { 'env:TOKEN': 'canary-token-1' };
  test.each<[string, Given, 'read' | readonly string[]]>([
    ['that is the same, nothing is read or said', { secrets: TOKEN }, NOTHING],
    [
      'that changed, all is read',
      { secrets: { 'env:TOKEN': 'canary-token-2' }, secretsThen: TOKEN },
      'read',
    ],
    ['that is to be sent again, all is read', { secrets: TOKEN, isResent: true }, 'read'],
    [
      'that is not at hand, it is said that nobody knows',
      { secrets: {}, secretsThen: TOKEN },
      [`${at} unknown_secret`],
    ],
    [
      'that was taken over, it is said that nobody knows',
      { secrets: TOKEN, leaves: { [at]: { unknown: true, source: computeDigest('env:TOKEN') } } },
      [`${at} unknown_secret`],
    ],
    [
      'that was taken over without its source, all is read, so that it is recorded',
      { secrets: TOKEN, leaves: { [at]: { unknown: true } } },
      'read',
    ],
    [
      'that has another source, all is read, at hand or not',
      { secrets: {}, leaves: { [at]: { unknown: true, source: computeDigest('env:OTHER') } } },
      'read',
    ],
    [
      'that was written under another key, it is said that nobody knows',
      { secrets: TOKEN, keyThen: 'another key' },
      [`${at} unknown_secret`],
    ],
    [
      'of which nobody knows whether it was written, all is read',
      { secrets: TOKEN, leaves: { [at]: { unsettled: true } } },
      'read',
    ],
    [
      'of which a digest is left, all is read, so that it gives way to a fingerprint',
      { secrets: TOKEN, leaves: { [at]: { digest: computeDigest('canary-token-1') } } },
      'read',
    ],
  ])('%s', (_name, given, says) => {
    expect(outcome({ written, ...given })).toEqual(says);
  });

  test('that the platform returns, a key that does not fit means that it is read', () => {
    const headers = [{ key: 'X-Api-Key', value: 'canary-header-1' }];
    const extensions = { tools: [{ ...tool('crm'), headers }] };
    expect(outcome({ written: { extensions } })).toEqual(NOTHING);
    expect(outcome({ written: { extensions }, keyThen: 'another key' })).toBe('read');
  });
});

test('a file is never taken for the one that is there', () => {
  const clip = new Blob('clip.wav', 'ab'.repeat(32), 10, 'audio/wav');
  const kind = { ...kindNamed('custom_voice'), stamp: { assumption: 'x' } };
  const given = { address: 'custom_voice.mia', written: { clip }, identity: { kind } };
  expect(outcome({ ...given, written: {} })).toEqual(NOTHING);
  expect(outcome(given)).toBe('read');
  expect(outcome({ ...given, leaves: { clip: { unknown: true } } })).toBe('read');
});

describe('what the state remembers is all that matters', () => {
  const extensions = { tools: [tool('crm')], mcp_servers: [] };
  test.each<[string, boolean, Written]>([
    ['where nothing is left alone', true, { extensions }],
    ['where a value is', true, { extensions, ...ignoring('greeting_message') }],
    ['where a list is, as a whole', true, { extensions, ...ignoring('extensions.tools') }],
    ['where more than the list is', true, { extensions, ...ignoring('extensions') }],
    ['where what is left alone is no path', true, { extensions, ...ignoring('tools[') }],
    [
      'but not where an element of a list is',
      false,
      { extensions, ...ignoring('extensions.tools[crm]') },
    ],
    [
      'but not where a part of one is',
      false,
      { extensions, ...ignoring('extensions.tools[crm].url') },
    ],
    [
      'but not where one is that nobody configured',
      false,
      { extensions, ...ignoring('extensions.tools[theirs]') },
    ],
    [
      'but not where one is, beside other things',
      false,
      { extensions, ...ignoring('tools[', 'name', 'extensions.mcp_servers[x]', 'status') },
    ],
    ['where the list is not configured', true, ignoring('extensions.tools[crm]')],
  ])('%s', (_name, says, written) => {
    expect(isWhollyRemembered(AGENT, desired(written))).toBe(says);
  });
});

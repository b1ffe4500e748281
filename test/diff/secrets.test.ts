import { describe, expect, test } from 'vitest';
import { KEY } from '../world.ts';
import { compares, findingsOf, type Row } from './rows.ts';

const TOKEN = { $secret: 'env:TOKEN' };
const sms = (auth_token: typeof TOKEN) => ({
  integrations: { smsProvider: { account_sid: 'AC1', auth_token } },
});
const SMS = sms(TOKEN);
/** As the platform returns it: the secret is left out. */
const LIVE = { integrations: { smsProvider: { account_sid: 'AC1' } } };
const PATH = 'integrations.smsProvider.auth_token';

describe('a secret', () => {
  compares([
    {
      title: 'that is the one last written is equal',
      applied: SMS,
      desired: SMS,
      live: LIVE,
      having: (world) => world.secrets({ 'env:TOKEN': 'one' }),
      finds: {},
    },
    {
      title: 'that is another one has changed since the last write',
      applied: SMS,
      desired: SMS,
      live: LIVE,
      having: (world) => world.secrets({ 'env:TOKEN': 'two' }, { 'env:TOKEN': 'one' }),
      finds: { [PATH]: 'secret_changed' },
    },
    {
      title: 'that comes from another source with the same value is another one all the same',
      applied: SMS,
      desired: sms({ $secret: 'file:token' }),
      live: LIVE,
      having: (world) => world.secrets({ 'env:TOKEN': 'one', 'file:token': 'one' }),
      finds: { [PATH]: 'secret_source_changed' },
    },
    {
      title: 'without state is unknown',
      desired: SMS,
      live: LIVE,
      having: (world) => world.secrets({ 'env:TOKEN': 'one' }),
      finds: { [PATH]: 'unknown_secret' },
    },
    {
      title: 'that the configuration has only now is a change',
      applied: { integrations: { smsProvider: { account_sid: 'AC1' } } },
      desired: SMS,
      live: LIVE,
      having: (world) => world.secrets({ 'env:TOKEN': 'one' }),
      finds: { [PATH]: 'changed' },
    },
    {
      title: 'that the configuration has only now is a change although it is not at hand',
      applied: { integrations: { smsProvider: { account_sid: 'AC1' } } },
      desired: SMS,
      live: LIVE,
      having: (world) => world.secrets({}),
      finds: { [PATH]: 'changed' },
    },
    {
      title: 'of a fleet is sent again with all of its rows',
      desired: SMS,
      live: LIVE,
      having: (world) =>
        world.secrets({ 'env:TOKEN': 'one' }).options({ resend_secrets: ['agent'] }),
      finds: { [PATH]: 'secret_resent' },
    },
    {
      title: 'whose key is gone is unknown',
      applied: SMS,
      desired: SMS,
      live: LIVE,
      having: (world) =>
        world.secrets({ 'env:TOKEN': 'two' }, { 'env:TOKEN': 'one' }).keys('new', KEY),
      finds: { [PATH]: 'unknown_secret' },
    },
    {
      title: 'whose value was not read is unknown',
      applied: SMS,
      desired: SMS,
      live: LIVE,
      having: (world) => world.secrets({}, { 'env:TOKEN': 'one' }),
      finds: { [PATH]: 'unknown_secret' },
    },
    {
      title: 'of a resource that took the place of a gone one was not written to it, set or not',
      applied: { id: 'id-0', ...SMS },
      desired: SMS,
      live: LIVE,
      having: (world) => world.secrets({}, { 'env:TOKEN': 'one' }),
      finds: { [PATH]: 'secret_unwritten' },
    },
    {
      title: 'that is to be sent again is sent, although it is equal',
      applied: SMS,
      desired: SMS,
      live: LIVE,
      having: (world) => world.secrets({ 'env:TOKEN': 'one' }).options({ resend_secrets: true }),
      finds: { [PATH]: 'secret_resent' },
    },
    {
      title: 'that is to be sent again is sent, although it is unknown',
      desired: SMS,
      live: LIVE,
      having: (world) =>
        world.secrets({ 'env:TOKEN': 'one' }).options({ resend_secrets: ['agent.desk'] }),
      finds: { [PATH]: 'secret_resent' },
    },
    {
      title: 'of another address is not sent again',
      desired: SMS,
      live: LIVE,
      having: (world) =>
        world.secrets({ 'env:TOKEN': 'one' }).options({ resend_secrets: ['agent.other'] }),
      finds: { [PATH]: 'unknown_secret' },
    },
    {
      title: 'of an integration that the platform does not have yet is written with it',
      applied: {},
      desired: SMS,
      live: {},
      having: (world) => world.secrets({ 'env:TOKEN': 'one' }),
      finds: { 'integrations.smsProvider.account_sid': 'changed', [PATH]: 'changed' },
    },
    {
      title: 'of an integration that somebody took away is written with it',
      applied: SMS,
      desired: SMS,
      live: { integrations: {} },
      having: (world) => world.secrets({ 'env:TOKEN': 'one' }),
      finds: { 'integrations.smsProvider.account_sid': 'drifted', [PATH]: 'drifted' },
    },
    {
      title: 'that is all there is of an integration is not lost where nothing of that is returned',
      applied: { integrations: { smsProvider: { auth_token: TOKEN } } },
      desired: { integrations: { smsProvider: { auth_token: TOKEN } } },
      live: {},
      having: (world) => world.secrets({ 'env:TOKEN': 'one' }),
      finds: {},
    },
    {
      title: 'is not lost either where all that is wanted beside it is empty',
      applied: { integrations: { smsProvider: { account_sid: null, auth_token: TOKEN } } },
      desired: { integrations: { smsProvider: { account_sid: null, auth_token: TOKEN } } },
      live: {},
      having: (world) => world.secrets({ 'env:TOKEN': 'one' }),
      finds: {},
    },
    {
      title: 'that is null in the configuration is never emptied, which is said',
      applied: SMS,
      desired: { integrations: { smsProvider: { account_sid: 'AC1', auth_token: null } } },
      live: LIVE,
      having: (world) => world.secrets({ 'env:TOKEN': 'one' }),
      finds: { [PATH]: 'released' },
    },
    {
      title: 'that the configuration no longer has stays on the platform, which is said',
      applied: SMS,
      desired: { integrations: { smsProvider: { account_sid: 'AC1' } } },
      live: LIVE,
      having: (world) => world.secrets({ 'env:TOKEN': 'one' }),
      finds: { [PATH]: 'released' },
    },
    {
      title: 'of a calendar is one too',
      applied: { integrations: { calendarA: { calendar_name: 'Main', access_token: TOKEN } } },
      desired: { integrations: { calendarA: { calendar_name: 'Main', access_token: TOKEN } } },
      live: { integrations: { calendarA: { calendar_name: 'Main' } } },
      having: (world) => world.secrets({ 'env:TOKEN': 'two' }, { 'env:TOKEN': 'one' }),
      finds: { 'integrations.calendarA.access_token': 'secret_changed' },
    },
    {
      title: 'under a name that the specification does not give is one too',
      applied: { integrations: { ehrProvider: { pass_phrase: TOKEN } } },
      desired: { integrations: { ehrProvider: { pass_phrase: TOKEN } } },
      live: { integrations: { ehrProvider: { username: 'u' } } },
      having: (world) => world.secrets({ 'env:TOKEN': 'two' }, { 'env:TOKEN': 'one' }),
      finds: { 'integrations.ehrProvider.pass_phrase': 'secret_changed' },
    },
    {
      title: 'under a name that the specification does not give stays, which is said',
      applied: { integrations: { ehrProvider: { username: 'u', pass_phrase: TOKEN } } },
      desired: { integrations: { ehrProvider: { username: 'u' } } },
      live: { integrations: { ehrProvider: { username: 'u' } } },
      having: (world) => world.secrets({ 'env:TOKEN': 'one' }),
      finds: { 'integrations.ehrProvider.pass_phrase': 'released' },
    },
  ]);

  test('is never held as a value, only as its source', async () => {
    const [found] = await findingsOf({
      title: '',
      applied: SMS,
      desired: SMS,
      live: LIVE,
      having: (world) => world.secrets({ 'env:TOKEN': 'canary-2' }, { 'env:TOKEN': 'canary-1' }),
      finds: {},
    });
    expect(found).toMatchObject({ sensitive: true, before: undefined });
    expect(JSON.stringify(found?.after)).toBe('{"$secret":"env:TOKEN"}');
    expect(JSON.stringify(found)).not.toContain('canary');
  });
});

const TOOL = {
  type: 'webhook',
  name: 'crm',
  condition: 'during_call',
  method: 'GET',
  url: 'https://x.test',
};
const HEADER = 'extensions.tools[crm].headers[X-Key].value';
const header = (value: string) => ({
  extensions: { tools: [{ ...TOOL, headers: [{ key: 'X-Key', value }] }] },
});
const GIVEN = { extensions: { tools: [{ ...TOOL, headers: [{ key: 'X-Key', value: TOKEN }] }] } };

/** The platform returns these in clear, so that they can be compared; they are masked all the same. */
describe('a sensitive value', () => {
  compares([
    {
      title: 'is compared with what is live',
      applied: GIVEN,
      desired: GIVEN,
      live: header('one'),
      having: (world) => world.secrets({ 'env:TOKEN': 'one' }),
      finds: {},
    },
    {
      title: 'is compared without state as well',
      desired: GIVEN,
      live: header('one'),
      having: (world) => world.secrets({ 'env:TOKEN': 'two' }),
      finds: { [HEADER]: 'changed' },
    },
    {
      title: 'that the configuration changed',
      applied: GIVEN,
      desired: GIVEN,
      live: header('one'),
      having: (world) => world.secrets({ 'env:TOKEN': 'two' }, { 'env:TOKEN': 'one' }),
      finds: { [HEADER]: 'changed' },
    },
    {
      title: 'that somebody changed',
      applied: GIVEN,
      desired: GIVEN,
      live: header('three'),
      having: (world) => world.secrets({ 'env:TOKEN': 'one' }),
      finds: { [HEADER]: 'drifted' },
    },
    {
      title: 'that both changed',
      applied: GIVEN,
      desired: GIVEN,
      live: header('three'),
      having: (world) => world.secrets({ 'env:TOKEN': 'two' }, { 'env:TOKEN': 'one' }),
      finds: { [HEADER]: 'conflict' },
    },
    {
      title: 'that stands in the configuration as it is',
      applied: header('one'),
      desired: header('one'),
      live: header('two'),
      finds: { [HEADER]: 'drifted' },
    },
    {
      title: 'whose key is gone is still compared with what is live',
      applied: GIVEN,
      desired: GIVEN,
      live: header('one'),
      having: (world) => world.secrets({ 'env:TOKEN': 'one' }).keys('new', KEY),
      finds: {},
    },
    {
      title: 'that was not read is unknown, and not taken for empty',
      applied: GIVEN,
      desired: GIVEN,
      live: header('one'),
      having: (world) => world.secrets({}, { 'env:TOKEN': 'one' }),
      finds: { [HEADER]: 'unknown_secret' },
    },
    {
      title: 'that was not read and that nobody wrote is written where nothing is there',
      desired: { greeting_message: { $secret: 'env:UNREAD' } },
      live: {},
      finds: { greeting_message: 'changed' },
    },
    {
      title: 'that was not read and that nobody wrote is unknown where something is there',
      desired: { greeting_message: { $secret: 'env:UNREAD' } },
      live: { greeting_message: 'Hello' },
      finds: { greeting_message: 'unknown_secret' },
    },
    {
      title: 'that was not read and that the configuration has only now is written',
      applied: {},
      desired: GIVEN,
      live: header('one'),
      having: (world) => world.secrets({}),
      finds: { [HEADER]: 'changed' },
    },
    {
      title: 'that was not read and that somebody changed',
      applied: GIVEN,
      desired: GIVEN,
      live: header('three'),
      having: (world) => world.secrets({}, { 'env:TOKEN': 'one' }),
      finds: { [HEADER]: 'drifted' },
    },
    {
      title: 'that was not read and that is gone',
      applied: GIVEN,
      desired: GIVEN,
      live: { extensions: { tools: [{ ...TOOL, headers: [{ key: 'X-Key' }] }] } },
      having: (world) => world.secrets({}, { 'env:TOKEN': 'one' }),
      finds: { [HEADER]: 'drifted' },
    },
    {
      title: 'that is gone, and whose key is gone as well',
      applied: GIVEN,
      desired: GIVEN,
      live: { extensions: { tools: [{ ...TOOL, headers: [{ key: 'X-Key' }] }] } },
      having: (world) => world.secrets({}, { 'env:TOKEN': 'one' }).keys('new', KEY),
      finds: { [HEADER]: 'drifted' },
    },
    {
      title: 'is not sent again for its own sake',
      applied: GIVEN,
      desired: GIVEN,
      live: header('one'),
      having: (world) => world.secrets({ 'env:TOKEN': 'one' }).options({ resend_secrets: true }),
      finds: {},
    },
  ]);

  test('says that it is one', async () => {
    const [found] = await findingsOf({
      title: '',
      desired: header('one'),
      live: header('two'),
      finds: {},
    });
    expect(found?.sensitive).toBe(true);
    const inAuth = (value: string) => ({
      extensions: {
        mcp_servers: [
          {
            connection_name: 'C',
            mcp_endpoint_url: 'https://x.test',
            transport_type: 'sse',
            auth_headers: { A: value },
          },
        ],
      },
    });
    const [auth] = await findingsOf({
      title: '',
      desired: inAuth('1'),
      live: inAuth('2'),
      finds: {},
    });
    expect(auth).toMatchObject({
      text: 'extensions.mcp_servers[C].auth_headers.A',
      sensitive: true,
    });
  });
});

const OTHER = { $secret: 'env:OTHER' };
const givenFrom = (value: typeof TOKEN | string) => ({
  extensions: { tools: [{ ...TOOL, headers: [{ key: 'X-Key', value }] }] },
});
const EHR = 'integrations.ehrProvider.region';
const ehr = (region: typeof TOKEN | string) => ({ integrations: { ehrProvider: { region } } });
const EHR_LIVE = { integrations: { ehrProvider: { username: 'u' } } };

/** Whoever reviews a plan has no values: what is said of a source must not depend on them. */
describe('another source', () => {
  const then = { 'env:TOKEN': 'one' };
  const hands: readonly (readonly [string, Readonly<Record<string, string>>])[] = [
    ['without its value', {}],
    ['with another value', { 'env:OTHER': 'two' }],
    ['with the same value', { 'env:OTHER': 'one' }],
  ];
  for (const [hand, secrets] of hands) {
    const having: Row['having'] = (world) => world.secrets(secrets, then);
    compares([
      {
        title: `of what the platform never returns, ${hand}`,
        applied: SMS,
        desired: sms(OTHER),
        live: LIVE,
        having,
        finds: { [PATH]: 'secret_source_changed' },
      },
      {
        title: `of what it returns, ${hand}`,
        applied: GIVEN,
        desired: givenFrom(OTHER),
        live: header('one'),
        having,
        finds: { [HEADER]: 'secret_source_changed' },
      },
      {
        title: `of what no schema names, ${hand}`,
        applied: ehr(TOKEN),
        desired: ehr(OTHER),
        live: EHR_LIVE,
        having,
        finds: { [EHR]: 'secret_source_changed' },
      },
      {
        title: `than the files themselves, ${hand}`,
        applied: givenFrom('one'),
        desired: givenFrom(OTHER),
        live: header('one'),
        having,
        finds: { [HEADER]: 'secret_source_changed' },
      },
      {
        title: `than the files themselves, in which it was no secret, ${hand}`,
        applied: ehr('west'),
        desired: ehr(OTHER),
        live: { integrations: { ehrProvider: { region: 'west' } } },
        having,
        finds: { [EHR]: 'secret_source_changed' },
      },
      {
        title: `than null in the files, ${hand}`,
        applied: { integrations: { smsProvider: { account_sid: 'AC1', auth_token: null } } },
        desired: sms(OTHER),
        live: LIVE,
        having,
        finds: { [PATH]: 'changed' },
      },
      {
        title: `that is to be sent again, ${hand}`,
        applied: SMS,
        desired: sms(OTHER),
        live: LIVE,
        having: (world) => world.secrets(secrets, then).options({ resend_secrets: true }),
        finds: { [PATH]: 'secret_source_changed' },
      },
      {
        title: `under another key, ${hand}`,
        applied: SMS,
        desired: sms(OTHER),
        live: LIVE,
        having: (world) => world.secrets(secrets, then).keys('new', KEY),
        finds: { [PATH]: 'secret_source_changed' },
      },
      {
        title: `of what somebody changed is a conflict, ${hand}`,
        applied: GIVEN,
        desired: givenFrom(OTHER),
        live: header('three'),
        having,
        finds: { [HEADER]: 'conflict' },
      },
      {
        title: `of what is gone with its provider is a conflict, ${hand}`,
        applied: SMS,
        desired: sms(OTHER),
        live: { integrations: {} },
        having,
        finds: {
          'integrations.smsProvider.account_sid': 'drifted',
          [PATH]: 'conflict',
        },
      },
      {
        title: `of what is ignored, ${hand}`,
        applied: SMS,
        desired: { ...sms(OTHER), lifecycle: { ignore: [PATH] } },
        live: LIVE,
        having,
        finds: {},
      },
      {
        title: `where there is no state, ${hand}`,
        desired: sms(OTHER),
        live: LIVE,
        having,
        finds: { [PATH]: 'unknown_secret' },
      },
    ]);
  }

  compares([
    {
      title: 'that has the value which somebody gave it live',
      applied: GIVEN,
      desired: givenFrom(OTHER),
      live: header('two'),
      having: (world) => world.secrets({ 'env:OTHER': 'two' }, { 'env:TOKEN': 'one' }),
      finds: { [HEADER]: 'secret_source_changed' },
    },
    {
      title: 'is none where the files have the value from now on',
      applied: GIVEN,
      desired: givenFrom('one'),
      live: header('one'),
      having: (world) => world.secrets({}, then),
      finds: {},
    },
  ]);
});

describe('the secret of an account', () => {
  const account = (account_sid: string, auth_token: typeof TOKEN | null = TOKEN) => ({
    integrations: { smsProvider: { account_sid, auth_token } },
  });
  const at = 'integrations.smsProvider.account_sid';
  const having: Row['having'] = (world) => world.secrets({ 'env:TOKEN': 'one' });
  compares([
    {
      title: 'goes along where the account is another one',
      applied: account('AC1'),
      desired: account('AC2'),
      live: LIVE,
      having,
      finds: { [at]: 'changed', [PATH]: 'secret_account_changed' },
    },
    {
      title: 'goes along where it is not known',
      desired: account('AC2'),
      live: LIVE,
      finds: { [at]: 'changed', [PATH]: 'secret_account_changed' },
    },
    {
      title: 'goes along where the account of somebody else is undone',
      applied: account('AC1'),
      desired: account('AC1'),
      live: { integrations: { smsProvider: { account_sid: 'AC9' } } },
      having,
      finds: { [at]: 'drifted', [PATH]: 'secret_account_changed' },
    },
    {
      title: 'has another source, which says more',
      applied: account('AC1'),
      desired: account('AC2', OTHER),
      live: LIVE,
      having,
      finds: { [at]: 'changed', [PATH]: 'secret_source_changed' },
    },
    {
      title: 'is not written with what stands beside it',
      applied: { integrations: { smsProvider: { account_sid: 'AC1', auth_token: TOKEN } } },
      desired: {
        integrations: { smsProvider: { account_sid: 'AC1', auth_token: TOKEN, region: 'west' } },
      },
      live: LIVE,
      having,
      finds: { 'integrations.smsProvider.region': 'changed' },
    },
    {
      title: 'is not written where it is ignored',
      applied: account('AC1'),
      desired: { ...account('AC2'), lifecycle: { ignore: [PATH] } },
      live: LIVE,
      having,
      finds: { [at]: 'changed' },
    },
    {
      title: 'is not written where the account goes',
      applied: account('AC1'),
      desired: { integrations: { smsProvider: { account_sid: null, auth_token: TOKEN } } },
      live: LIVE,
      having,
      finds: { [at]: 'changed' },
    },
  ]);
});

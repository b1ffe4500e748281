import { expect } from 'vitest';
import type { Dialect } from '../../src/simulator/index.ts';
import { desk, IDS, section, type World } from './world.ts';

const update = (body: unknown) => (world: World) =>
  world.call('updateAgent', { path: { agentId: IDS.desk }, body });

const roundTrip = async (world: World) => {
  const { body } = await world.call('getAgent', { path: { agentId: IDS.desk } });
  return update({ integrations: Object(body.data).integrations })(world);
};

const stored = {
  smsProvider: { account_sid: 'AC01', auth_token: 'sms-token', fromNumber: '+15550100' },
  ehrProvider: { username: 'desk', password: 'ehr-password' },
  pbxProvider: { client_id: 'pbx', client_secret: 'pbx-secret' },
  calendarA: { calendar_name: 'Desk', access_token: 'access', refresh_token: 'refresh' },
};

for (const merge of ['deep', 'shallow'] satisfies Dialect['merge'][])
  section(
    `Secrets rules, ${merge} merge`,
    [
      {
        rule: 'reading and writing back wipes no secret',
        does: roundTrip,
        status: 200,
        also: (world: World) => expect(desk(world).integrations).toEqual(stored),
      },
      {
        rule: 'an update of something else leaves secrets alone',
        does: update({ greetingMessage: 'Hello' }),
        status: 200,
        also: (world: World) => expect(desk(world).integrations).toEqual(stored),
      },
      {
        rule: 'a secret that is written is stored',
        does: update({
          integrations: { ...stored, smsProvider: { account_sid: 'AC01', auth_token: 'new' } },
        }),
        status: 200,
        also: (world: World) =>
          expect(desk(world)).toHaveProperty('integrations.smsProvider.auth_token', 'new'),
      },
      {
        rule: 'null clears a secret',
        does: update({
          integrations: { ...stored, smsProvider: { account_sid: 'AC01', auth_token: null } },
        }),
        status: 200,
        also: (world: World) =>
          expect(desk(world)).not.toHaveProperty('integrations.smsProvider.auth_token'),
      },
      {
        rule: 'null disconnects a provider with its secrets',
        does: update({ integrations: { ...stored, pbxProvider: null } }),
        status: 200,
        also: (world: World) => expect(desk(world)).not.toHaveProperty('integrations.pbxProvider'),
      },
      {
        rule: 'lists are replaced',
        does: async (world: World) => {
          await update({ email: ['a@harbor.example.test', 'b@harbor.example.test'] })(world);
          return update({ email: ['c@harbor.example.test'] })(world);
        },
        status: 200,
        body: { data: { email: ['c@harbor.example.test'] } },
      },
      {
        rule: 'null clears a field',
        does: update({ greetingMessage: null }),
        status: 200,
        also: (world: World) => expect(desk(world)).not.toHaveProperty('greeting_message'),
      },
    ].map((row) => ({ ...row, options: { dialect: { merge } } })),
  );

section('Agents, update of nested objects', [
  {
    rule: 'a deep merge keeps members that are left out',
    does: update({ voiceSettings: { speed: 1.2 } }),
    status: 200,
    body: { data: { voice_settings: { voice_id: 'builtin-1', speed: 1.2 } } },
  },
  {
    rule: 'a deep merge clears a member by null',
    does: update({ voiceSettings: { speed: null } }),
    status: 200,
    also: (world) => expect(desk(world).voice_settings).toEqual({ voice_id: 'builtin-1' }),
  },
  {
    rule: 'a shallow merge drops members that are left out',
    options: { dialect: { merge: 'shallow' } },
    does: update({ voiceSettings: { speed: 1.2 } }),
    status: 200,
    also: (world) => expect(desk(world).voice_settings).toEqual({ speed: 1.2 }),
  },
  {
    rule: 'a shallow merge of extensions drops the connections that are left out',
    options: { dialect: { merge: 'shallow' } },
    does: update({ extensions: { tools: [] } }),
    status: 200,
    also: (world) => expect(desk(world).extensions).toEqual({ tools: [] }),
  },
  ...([{ greetingMessage: null }, { voiceSettings: { speed: null } }] as const).map((body) => ({
    rule: `${JSON.stringify(body)} is refused where null does not clear`,
    options: { dialect: { nulls: 'rejected' } as const },
    does: update(body),
    status: 400,
    body: { error: 'invalid_request', details: [{ message: 'null is not allowed' }] },
  })),
  {
    rule: 'null stays a value where the specification names it',
    options: { dialect: { nulls: 'rejected' } },
    does: update({ interpreterConfig: null, emailToolInstructions: null }),
    status: 200,
  },
  {
    rule: 'a name cannot be cleared',
    does: update({ name: null }),
    status: 400,
    body: { details: [{ path: 'name' }] },
  },
]);

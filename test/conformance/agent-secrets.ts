import { expect } from 'vitest';
import { isObject, type Json } from '../../src/core/value.ts';
import { SECRETS } from './full-agent.ts';
import { ID } from './ids.ts';
import { expectReply, type Row, reads, section, writes } from './suite.ts';
import { record, type World } from './world.ts';

const DESK = `/v1/agents/${ID.desk}`;

/** What stands at a dotted path; undefined where nothing does. */
function at(value: Json | undefined, path: string): Json | undefined {
  return path
    .split('.')
    .reduce<Json | undefined>((node, key) => (isObject(node) ? node[key] : undefined), value);
}

/** What the platform has stored at a path of the desk, secrets included. */
function storedAt({ sim }: World, path: string): Json | undefined {
  return at(sim.store.agents.get(ID.desk)?.record, path);
}

const METADATA: { readonly [path: string]: Json } = {
  'integrations.ehrProvider.username': 'desk',
  'integrations.smsProvider.account_sid': 'AC0001',
  'integrations.smsProvider.fromNumber': '+15550100',
  'integrations.calendarA.calendar_name': 'Desk',
  'integrations.calendarA.connected_at': '2026-01-02T03:04:05.000Z',
  'integrations.calendarB.calendar_name': 'Hygiene',
  'sip_registration_data.username': 'desk',
  'sip_registration_data.sipDomain': 'sip.example.test',
};

export const agentSecrets: readonly Row[] = [
  ...section(
    'Resources · Agent · Secrets',
    Object.keys(SECRETS).map((path) =>
      reads(`${path} is left out, not masked`, async ({ get }) => {
        const agent = record(await get(DESK));
        const parent = path.slice(0, path.lastIndexOf('.'));
        expect(at(agent, parent)).toEqual(expect.any(Object));
        expect(at(agent, parent)).not.toHaveProperty(path.slice(parent.length + 1));
      }),
    ),
    ...(
      [
        ['a read', ({ get }) => get(DESK)],
        ['a list', ({ get }) => get('/v1/agents')],
        ['the answer to an update', ({ put }) => put(DESK, { body: { name: 'Seen' } })],
        ['the history', ({ get }) => get(`${DESK}/history`)],
      ] satisfies readonly [string, (world: World) => Promise<{ readonly text: string }>][]
    ).map(([where, ask]) =>
      writes(`no secret stands in ${where}`, async (world) => {
        const { text } = await ask(world);
        expect(Object.values(SECRETS).filter((secret) => text.includes(secret))).toEqual([]);
      }),
    ),
    writes('no secret stands in the answer to a creation', async ({ post }) => {
      const { text } = await post('/v1/agents', {
        body: {
          name: 'New',
          organizationId: ID.harbor,
          integrations: { smsProvider: { account_sid: 'AC2', auth_token: 'new-token-example' } },
        },
      });
      expect(text).not.toContain('new-token-example');
    }),
    Object.entries(METADATA).map(([path, value]) =>
      reads(`${path} is no secret and is returned`, async ({ get }) => {
        expect(at(record(await get(DESK)), path)).toBe(value);
      }),
    ),
    reads('the keys of all providers are returned', async ({ get }) => {
      expect(Object.keys(record(await get(DESK)).integrations ?? {}).sort()).toEqual([
        'calendarA',
        'calendarB',
        'ehrProvider',
        'pbxProvider',
        'smsProvider',
      ]);
    }),
    writes('writing back what was read loses no secret', async (world) => {
      const { integrations } = record(await world.get(DESK));
      expectReply(await world.put(DESK, { body: { integrations } }), 200);
      const paths = Object.entries(SECRETS);
      expect(paths.map(([path]) => storedAt(world, path))).toEqual(paths.map(([, value]) => value));
    }),
    writes('writing back what was read loses none where objects are replaced', async (world) => {
      world.sim.dialect.merge = 'shallow';
      const { integrations } = record(await world.get(DESK));
      expectReply(await world.put(DESK, { body: { integrations } }), 200);
      const paths = Object.entries(SECRETS);
      expect(paths.map(([path]) => storedAt(world, path))).toEqual(paths.map(([, value]) => value));
    }),
    writes('a secret that is written replaces the stored one alone', async (world) => {
      const body = { integrations: { smsProvider: { auth_token: 'next-token-example' } } };
      expectReply(await world.put(DESK, { body }), 200);
      expect(storedAt(world, 'integrations.smsProvider')).toMatchObject({
        auth_token: 'next-token-example',
        api_key_secret: SECRETS['integrations.smsProvider.api_key_secret'],
        account_sid: 'AC0001',
      });
    }),
    writes('an update of another field leaves all secrets', async (world) => {
      expectReply(await world.put(DESK, { body: { greetingMessage: 'Hi' } }), 200);
      const paths = Object.entries(SECRETS);
      expect(paths.map(([path]) => storedAt(world, path))).toEqual(paths.map(([, value]) => value));
    }),
    writes('the number that an agent sends from is part of its SMS provider', async (world) => {
      const body = { integrations: { smsProvider: { fromNumber: '+15550199' } } };
      expectReply(await world.put(DESK, { body }), 200);
      expect(at(record(await world.get(DESK)), 'integrations.smsProvider.fromNumber')).toBe(
        '+15550199',
      );
    }),
  ),
];

import { request } from 'undici';
import { expect } from 'vitest';
import { IDS, tokenOf } from '../world.ts';
import { answer, at, keys, type Readings, record, statusOf } from './reading.ts';

/** What answers look like on the wire. */
export const answersReadings: Readings<
  | 'me'
  | 'meScope'
  | 'readiness'
  | 'sipLagMs'
  | 'sipForeign'
  | 'wrongCredentials'
  | 'limitBody'
  | 'absent'
  | 'absentAnswer'
  | 'dates'
  | 'timestamps'
  | 'unknownFields'
  | 'keyOrder'
  | 'numbers'
> = {
  me: {
    look: (world) => answer(world, 'getMe'),
    shows: [
      ['bare', [200, 'account_id']],
      ['wrapped', [200, 'data']],
    ],
  },
  meScope: {
    look: async (world) =>
      answer(world, 'getMe', { authorization: await tokenOf(world, 'scoped', 'scoped-secret') }),
    shows: [
      ['nested', [200, 'account_id,scope']],
      ['flat', [200, 'account_id,scope_id,scope_level']],
    ],
  },
  readiness: {
    look: async ({ call }) => keys((await call('getPaymentReadiness', at)).body)[0],
    shows: [
      ['bare', 'agent_id'],
      ['wrapped', 'data'],
    ],
  },
  sipLagMs: {
    look: async (world) => {
      await world.call('setSipRegistration', { ...at, body: { registrationEnabled: false } });
      return world.sim.isRegistered(IDS.desk);
    },
    shows: [
      [0, false],
      [5000, true],
    ],
  },
  sipForeign: {
    look: (world) =>
      statusOf(world, 'setSipRegistration', {
        path: { agentId: IDS.foreign },
        body: { registrationEnabled: true },
      }),
    shows: [
      [403, 403],
      [400, 400],
      [409, 409],
    ],
  },
  wrongCredentials: {
    look: ({ sim, call }) =>
      statusOf({ sim, call }, 'createToken', {
        body: {
          client_id: 'nobody',
          client_secret: 'x',
          audience: `${sim.url}/`,
          grant_type: 'client_credentials',
        },
      }),
    shows: [
      [401, 401],
      [400, 400],
      [403, 403],
    ],
  },
  limitBody: {
    look: async ({ sim, call }) => {
      await call('getMe');
      sim.faults.storm(1);
      return (await call('getMe')).body;
    },
    shows: [
      ['coded', { error: 'rate_limited', error_description: expect.any(String) }],
      ['empty', {}],
      ['text', { text: 'Too Many Requests' }],
    ],
  },
  absent: {
    look: async (world) => [
      await answer(world, 'listRetryPolicies'),
      await statusOf(world, 'listAgents'),
    ],
    shows: [
      [[], [[200, 'data,pagination'], 200]],
      [['listRetryPolicies'], [[404, 'error,error_description'], 200]],
    ],
  },
  absentAnswer: {
    look: async (world) => {
      world.sim.dialect.absent = ['listRetryPolicies'];
      return answer(world, 'listRetryPolicies');
    },
    shows: [
      ['coded', [404, 'error,error_description']],
      ['page', [404, 'text']],
      ['method', [405, 'error,error_description']],
    ],
  },
  dates: {
    look: async ({ call }) => (await call('getMe')).headers.get('date'),
    shows: [
      [true, expect.stringMatching(/ GMT$/)],
      [false, null],
    ],
  },
  timestamps: {
    look: async ({ call }) => record(await call('getAgent', at)).created_at,
    shows: [
      ['milliseconds', expect.stringMatching(/:\d\d\.\d{3}Z$/)],
      ['microseconds', expect.stringMatching(/:\d\d\.\d{6}Z$/)],
      ['seconds', expect.stringMatching(/:\d\dZ$/)],
      ['offset', expect.stringMatching(/:\d\d\.\d{3}\+00:00$/)],
    ],
  },
  unknownFields: {
    look: async ({ call }) => {
      const { body } = await call('getAgent', at);
      const { integrations } = Object(body.data);
      return [body, body.data, integrations].map((one) =>
        keys(one).some((key) => /^x_\d+$/.test(key)),
      );
    },
    shows: [
      [false, [false, false, false]],
      [true, [true, true, false]],
    ],
  },
  keyOrder: {
    look: async ({ call }) => keys(record(await call('getAgent', at)))[0],
    shows: [
      ['stable', 'status'],
      ['shuffled', expect.not.stringMatching(/^status$/)],
    ],
  },
  numbers: {
    look: async ({ sim }) => {
      const response = await request(`${sim.url}/oauth/token`, {
        method: 'POST',
        body: JSON.stringify({
          client_id: sim.clientId,
          client_secret: sim.clientSecret,
          audience: `${sim.url}/`,
          grant_type: 'client_credentials',
        }),
      });
      return /"expires_in":([^,}]+)/.exec(await response.body.text())?.[1];
    },
    shows: [
      ['plain', '86400'],
      ['decimal', '86400.0'],
    ],
  },
};

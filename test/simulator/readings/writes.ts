import { FormData } from 'undici';
import { expect } from 'vitest';
import type { JsonObject } from '../../../src/core/value.ts';
import { IDS, locked, type World, withDesk } from '../world.ts';
import { answer, at, keys, type Readings, record, statusOf, update } from './reading.ts';

const create = ({ call }: World, body: JsonObject = {}) =>
  call('createAgent', { body: { name: 'New', organizationId: IDS.harbor, ...body } });
const clone = ({ call }: World) => {
  const form = new FormData();
  for (const [name, value] of Object.entries({
    name: 'Clone',
    consent: 'true',
    organizationId: IDS.harbor,
  }))
    form.set(name, value);
  form.set('clip', new File(['sound'], 'clip.mp3', { type: 'audio/mpeg' }));
  return call('createCustomVoice', { form });
};

/** What writes store and answer. */
export const writesReadings: Readings<
  | 'merge'
  | 'nulls'
  | 'emptyText'
  | 'unset'
  | 'nestedDefaults'
  | 'newFields'
  | 'values'
  | 'translatorNull'
  | 'characters'
  | 'sipData'
  | 'newAgentStatus'
  | 'createAnswer'
  | 'updateAnswer'
  | 'createdStatus'
  | 'deletedStatus'
  | 'deletedPolicy'
  | 'voiceIds'
  | 'voiceLanguage'
  | 'stores'
  | 'counters'
  | 'limitsOff'
  | 'emailErrors'
> = {
  merge: {
    look: async (world) => {
      await update(world, { voiceSettings: { speed: 2 } });
      return world.sim.store.agents.get(IDS.desk)?.record.voice_settings;
    },
    shows: [
      ['deep', { voice_id: 'builtin-1', speed: 2 }],
      ['shallow', { speed: 2 }],
    ],
  },
  nulls: {
    look: async (world) => (await update(world, { greetingMessage: null })).status,
    shows: [
      ['clears', 200],
      ['rejected', 400],
    ],
  },
  emptyText: {
    look: async (world) => {
      const { greeting_message = 'absent' } = record(await update(world, { greetingMessage: '' }));
      return greeting_message;
    },
    shows: [
      ['kept', ''],
      ['null', null],
      ['absent', 'absent'],
    ],
  },
  unset: {
    look: async ({ call }) => keys(record(await call('getAgent', at))).includes('contact_policy'),
    shows: [
      ['absent', false],
      ['null', true],
    ],
  },
  nestedDefaults: {
    seed: withDesk({ voice_settings: { voice_id: 'builtin-1' } }),
    look: async ({ call }) => keys(record(await call('getAgent', at)).voice_settings).sort(),
    shows: [
      [false, ['voice_id']],
      [true, ['language', 'speed', 'voice_id']],
    ],
  },
  newFields: {
    look: async (world) => {
      await update(world, { brandNew: 1 });
      const { brandNew, brand_new } = world.sim.store.agents.get(IDS.desk)?.record ?? {};
      return [brandNew, brand_new];
    },
    shows: [
      ['snake_case', [undefined, 1]],
      ['as_sent', [1, undefined]],
      ['dropped', [undefined, undefined]],
    ],
  },
  values: {
    look: async (world) => (await update(world, { language: 'fr-CA', email: ['desk'] })).status,
    shows: [
      ['documented', 400],
      ['any', 200],
    ],
  },
  translatorNull: {
    look: async (world) => {
      const settings = { speaker_identification: 'voice' };
      await update(world, { agentType: 'translator', interpreterConfig: settings });
      await update(world, { interpreterConfig: null });
      return world.sim.store.agents.get(IDS.desk)?.record.interpreter_config;
    },
    shows: [
      ['kept', { speaker_identification: 'voice' }],
      ['cleared', undefined],
    ],
  },
  characters: {
    look: async ({ call }) => {
      const body = { organization_id: IDS.harbor, name: '🦷'.repeat(60), message_type: 'sms' };
      return (await call('createSmsTemplate', { body })).status;
    },
    shows: [
      ['code_points', 201],
      ['utf16', 400],
    ],
  },
  sipData: {
    look: async ({ call }) =>
      keys(record(await call('getAgent', at)).sip_registration_data).filter((name) =>
        name.startsWith('registration'),
      ),
    shows: [
      ['camelCase', ['registrationEnabled']],
      ['snake_case', ['registration_enabled']],
    ],
  },
  newAgentStatus: {
    look: async (world) => record(await create(world)).status,
    shows: [
      ['active', 'active'],
      ['inactive', 'inactive'],
      ['pending', 'pending'],
    ],
  },
  createAnswer: {
    look: async (world) => {
      const policy = await world.call('createRetryPolicy', { body: { name: 'New' } });
      return [await create(world), policy].map((reply) => keys(record(reply)).length > 1);
    },
    shows: [
      ['record', [true, true]],
      ['id', [false, false]],
    ],
  },
  updateAnswer: {
    look: async (world) => [
      await answer(world, 'updateAgent', { ...at, body: {} }),
      await answer(world, 'updateSmsTemplate', { path: { templateId: IDS.sms }, body: {} }),
    ],
    shows: [
      [
        'record',
        [
          [200, 'data'],
          [200, 'data'],
        ],
      ],
      [
        'success',
        [
          [200, 'success'],
          [200, 'success'],
        ],
      ],
    ],
  },
  createdStatus: {
    look: async (world) => [(await create(world)).status, (await clone(world)).status],
    shows: [
      [201, [201, 201]],
      [200, [200, 200]],
    ],
  },
  deletedStatus: {
    look: async (world) => [
      await answer(world, 'deleteAgent', at),
      await answer(world, 'deleteRetryPolicy', { path: { policyId: IDS.policy } }),
    ],
    shows: [
      [
        204,
        [
          [204, ''],
          [204, ''],
        ],
      ],
      [
        200,
        [
          [200, 'success'],
          [204, ''],
        ],
      ],
    ],
  },
  deletedPolicy: {
    look: async ({ call }) => {
      const { updated_at: before } = record(await call('getAgent', at));
      await call('deleteRetryPolicy', { path: { policyId: IDS.policy } });
      const agent = record(await call('getAgent', at));
      return [agent.default_retry_policy_id, agent.updated_at === before];
    },
    shows: [
      ['emptied', [undefined, false]],
      ['unstamped', [undefined, true]],
      ['dangling', [IDS.policy, true]],
    ],
  },
  voiceIds: {
    look: async (world) => record(await clone(world)).id,
    shows: [
      ['uuid', expect.stringMatching(/^[0-9a-f-]{36}$/)],
      ['text', expect.stringMatching(/^cartx_/)],
    ],
  },
  voiceLanguage: {
    look: async (world) => {
      const languages: unknown[] = [];
      for (const more of [{}, { language: 'de' }]) {
        const voiceSettings = { voice_id: IDS.voice, ...more };
        const { voice_settings: found } = record(await update(world, { voiceSettings }));
        languages.push(Object(found).language);
      }
      return languages;
    },
    shows: [
      ['stored', ['fr', 'de']],
      ['spoken', [undefined, 'de']],
      ['imposed', ['fr', 'fr']],
    ],
  },
  stores: {
    look: async (world) => {
      const texts = [' a ', 'b\r\n', 'e\u0301', 'A@B.test', 'https://A.test', 'https://a.test/f'];
      const { config } = record(await update(world, { config: { texts, empty: '' } }));
      const { texts: stored, empty = null } = Object(config);
      return [...stored, empty];
    },
    shows: [
      [[], [' a ', 'b\r\n', 'e\u0301', 'A@B.test', 'https://A.test', 'https://a.test/f', '']],
      [
        ['trim', 'lines', 'compose', 'lower', 'slash', 'null'],
        ['a', 'b', '\u00e9', 'a@b.test', 'https://a.test/', 'https://a.test/f/', null],
      ],
    ],
  },
  counters: {
    look: async ({ call, sim }) => {
      const read = async () => record(await call('getAgent', at)).updated_at;
      const first = await read();
      sim.advance(60_000);
      return first === (await read());
    },
    shows: [
      ['still', true],
      ['moving', false],
    ],
  },
  limitsOff: {
    seed: withDesk({ payments: { enabled: true, max_attempts_per_call: 7 } }),
    look: async ({ call }) => {
      for (const enabled of [false, true])
        await call('setPaymentTool', { ...at, body: { enabled } });
      const { body } = await call('getPaymentReadiness', at);
      return Object(body).max_attempts_per_call;
    },
    shows: [
      ['kept', 7],
      ['forgotten', 3],
    ],
  },
  emailErrors: {
    seed: locked('organization', 'email_templates'),
    look: (world) =>
      statusOf(world, 'createEmailTemplate', {
        body: { organization_id: IDS.harbor, name: 'New' },
      }),
    shows: [
      ['apart', 403],
      ['bad-request', 400],
    ],
  },
};

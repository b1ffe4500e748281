import { expect } from 'vitest';
import { create, desk, IDS, locked, section, update, type World, withDesk } from './world.ts';

section('Agents, feature locks', [
  ...(
    [
      ['llm.alpha-4o', { model: 'alpha-4o' }],
      ['template.translator', { agentType: 'translator' }],
      ['tts.minx', { ttsModel: 'minx' }],
      ['integration.calendarB', { integrations: { calendarB: { calendar_name: 'B' } } }],
      ['warm_transfer', { warmTransferHandoffInstructions: 'Brief them.' }],
      ['knowledge_base', { knowledgebaseLinks: ['https://harbor.example.test/faq'] }],
      ['custom_voices', { voiceSettings: { voice_id: IDS.voice } }],
      ['phi_redaction', { config: { phi_redaction: true } }],
    ] as const
  ).flatMap(([feature, body]) => [
    {
      rule: `${feature} cannot be switched on while the organization locks it`,
      seed: locked('organization', feature),
      does: update(body),
      status: 403,
      body: { error: 'forbidden' },
      also: (world: World) => expect(JSON.stringify(desk(world))).toContain('"model":"alpha-4.1"'),
    },
    { rule: `${feature} can be switched on otherwise`, does: update(body), status: 200 },
  ]),
  ...(['account', 'reseller'] as const).map((level) => ({
    rule: `a lock of the ${level} holds below it`,
    seed: locked(level, 'llm.alpha-4o'),
    does: create({ model: 'alpha-4o' }),
    status: 403,
    body: { error: 'forbidden' },
  })),
  {
    rule: 'a setting that is already on may be kept',
    seed: withDesk(
      { model: 'alpha-4o' },
      locked('organization', 'llm.alpha-4o', 'integration.smsProvider'),
    ),
    does: update({ model: 'alpha-4o', integrations: { smsProvider: { fromNumber: '+15550199' } } }),
    status: 200,
    body: { data: { integrations: { smsProvider: { fromNumber: '+15550199' } } } },
  },
  {
    rule: 'the floor model cannot be locked',
    seed: withDesk({ model: 'alpha-4o' }, locked('account', 'llm.alpha-4.1')),
    does: update({ model: 'alpha-4.1' }),
    status: 200,
  },
]);

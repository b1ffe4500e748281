import { expect } from 'vitest';
import { desk, entries, IDS, locked, revert, section, type World, withDesk } from './world.ts';

const path = { agentId: IDS.desk };
const update = (world: World, body: object) => world.call('updateAgent', { path, body });

/** Makes a change and goes back to what was before it. */
const undo = (change: object, prepare?: (world: World) => void) => async (world: World) => {
  const [before] = await entries(world);
  await update(world, change);
  prepare?.(world);
  return revert(world, before?.id);
};

section('Revert', [
  {
    rule: 'rule 1: recorded settings are restored',
    does: undo({
      greetingMessage: 'Bad',
      systemPrompt: 'Bad',
      model: 'beta-3-fast',
      voiceSettings: { speed: 2 },
      timezone: 'Europe/Paris',
    }),
    status: 200,
    body: { success: true, message: expect.any(String) },
    also: (world) => {
      expect(desk(world)).toMatchObject({
        greeting_message: 'Harbor Dental.',
        system_prompt: 'You answer the phone.',
        model: 'alpha-4.1',
        voice_settings: { voice_id: 'builtin-1', speed: 1 },
      });
      expect(desk(world)).not.toHaveProperty('timezone');
    },
  },
  {
    rule: 'rule 1: everything else stays as it is',
    does: undo({
      greetingMessage: 'Bad',
      status: 'inactive',
      agentType: 'simple',
      extensions: { tools: [] },
      outboundGreetingMessage: 'x',
      outboundStaticGreeting: 'x',
      voicemailMessage: 'x',
      amdConfig: { enabled: true },
      ivrNavigation: { enabled: true },
      screenshareEnabled: true,
      defaultRetryPolicyId: null,
      contactPolicy: { require_consent_basis: true },
      integrations: { smsProvider: { auth_token: 'new' } },
    }),
    status: 200,
    also: (world) => {
      expect(desk(world)).toMatchObject({
        greeting_message: 'Harbor Dental.',
        status: 'inactive',
        agent_type: 'simple',
        extensions: { tools: [] },
        outbound_greeting_message: 'x',
        outbound_static_greeting: 'x',
        voicemail_message: 'x',
        amd_config: { enabled: true },
        ivr_navigation: { enabled: true },
        screenshare_enabled: true,
        contact_policy: { require_consent_basis: true },
        integrations: { smsProvider: { auth_token: 'new' } },
        sip_registration_data: { password: 'sip-password' },
      });
      expect(desk(world)).not.toHaveProperty('default_retry_policy_id');
    },
  },
  {
    rule: 'rule 1: restoring call transfer off also turns web transfer off',
    seed: withDesk({ transfer_enabled: false, web_transfer_enabled: false }),
    does: undo({ transferEnabled: true, webTransferEnabled: true }),
    status: 200,
    also: (world) =>
      expect(desk(world)).toMatchObject({ transfer_enabled: false, web_transfer_enabled: false }),
  },
  {
    rule: 'rule 1: otherwise web transfer stays',
    does: undo({ greetingMessage: 'Bad', webTransferEnabled: false }),
    status: 200,
    also: (world) =>
      expect(desk(world)).toMatchObject({ transfer_enabled: true, web_transfer_enabled: false }),
  },
  ...(
    [
      ['an AI model', 'llm.alpha-4o', { model: 'alpha-4o' }, { model: 'alpha-4.1' }],
      ['a voice provider', 'tts.minx', { tts_model: 'minx' }, { ttsModel: 'voxc' }],
      [
        'a cloned voice',
        'custom_voices',
        { voice_settings: { voice_id: IDS.voice } },
        { voiceSettings: { voice_id: 'b' } },
      ],
      [
        'warm transfer',
        'warm_transfer',
        { warm_transfer_handoff_instructions: 'x' },
        { warmTransferHandoffInstructions: null },
      ],
      [
        'redaction',
        'phi_redaction',
        { config: { phi_redaction: true } },
        { config: { phi_redaction: false } },
      ],
      [
        'a knowledge base',
        'knowledge_base',
        { knowledgebase_links: ['https://a.example.test'] },
        { knowledgebaseLinks: [] },
      ],
      [
        'no knowledge base',
        'knowledge_base',
        {},
        { knowledgebaseLinks: ['https://a.example.test'] },
      ],
    ] as const
  ).map(([what, feature, fields, change]) => ({
    rule: `rule 2: a version that would bring back ${what} while it is locked is refused and saves nothing`,
    seed: withDesk(fields),
    does: undo(change, ({ sim }) => sim.store.organizations.get(IDS.harbor)?.locks.add(feature)),
    status: 403,
    body: { error: 'forbidden' },
    also: async (world: World) => expect(await entries(world)).toHaveLength(2),
  })),
  {
    rule: 'rule 2: keeping a setting that is on is allowed',
    seed: withDesk({ model: 'alpha-4o' }, locked('organization', 'llm.alpha-4o')),
    does: undo({ greetingMessage: 'Bad' }),
    status: 200,
    also: (world) =>
      expect(desk(world)).toMatchObject({ model: 'alpha-4o', greeting_message: 'Harbor Dental.' }),
  },
  {
    rule: 'rule 3: a version that breaks a rule of every save is refused by name',
    seed: withDesk({ model: 'retired-model' }),
    does: undo({ model: 'alpha-4.1' }),
    status: 403,
    body: { error: 'forbidden', error_description: expect.stringContaining('model') },
  },
  {
    rule: 'rule 4: a version that matches makes no entry',
    does: undo({ status: 'inactive' }),
    status: 200,
    body: { success: true },
    also: async (world) => expect(await entries(world)).toHaveLength(2),
  },
  {
    rule: 'rule 5: the new entry says what was restored and by whom',
    does: undo({ greetingMessage: 'Bad' }),
    status: 200,
    also: async (world) => {
      const [newest, , first] = await entries(world);
      expect(newest).toMatchObject({
        action: 'reverted',
        reverted_from_id: first?.id,
        actor: { id: 'api:account-1' },
        source: 'dashboard-api',
      });
    },
  },
  {
    rule: 'rule 5: a revert can be reverted',
    does: async (world) => {
      await undo({ greetingMessage: 'Better' })(world);
      const [, changed] = await entries(world);
      return revert(world, changed?.id);
    },
    status: 200,
    also: (world) => expect(desk(world).greeting_message).toBe('Better'),
  },
  {
    rule: 'rule 6: the next read has the restored settings',
    does: async (world) => {
      await undo({ greetingMessage: 'Bad' })(world);
      return world.call('getAgent', { path });
    },
    status: 200,
    body: { data: { greeting_message: 'Harbor Dental.' } },
  },
  {
    rule: 'rule 7: agents on another provider are refused',
    does: ({ call }) => call('revertAgent', { path: { agentId: IDS.foreign, versionId: '3' } }),
    status: 403,
    body: { error: 'forbidden' },
  },
  ...['0', '-1', '1.5', 'abc'].map((versionId) => ({
    rule: `${versionId} is no version id`,
    does: (world: World) => revert(world, versionId),
    status: 400,
    body: { error: 'invalid_request' },
  })),
  {
    rule: 'an unknown version is not found',
    does: (world) => revert(world, 999),
    status: 404,
    body: { error: 'not_found' },
  },
  {
    rule: "another agent's version is not found",
    does: ({ call }) => call('revertAgent', { path: { agentId: IDS.recall, versionId: '1' } }),
    status: 404,
  },
  {
    rule: 'an unknown agent is not found',
    does: ({ call }) => call('revertAgent', { path: { agentId: IDS.nobody, versionId: '1' } }),
    status: 404,
  },
]);

import { expect } from 'vitest';
import { ID } from './ids.ts';
import { DESK, DONE, onThenOff, revert } from './revert-steps.ts';
import { expectReply, type Row, section, writes } from './suite.ts';
import { record, records } from './world.ts';

/** Fields that the words say or imply to be restored. */
const RESTORED: readonly (readonly [write: string, value: unknown, read: string])[] = [
  ['greetingMessage', 'Other', 'greeting_message'],
  ['systemPrompt', 'Other', 'system_prompt'],
  ['model', 'beta-3-fast', 'model'],
  ['ttsModel', 'minx', 'tts_model'],
  ['voiceSettings', { voice_id: 'builtin-2', speed: 0.9, language: 'en' }, 'voice_settings'],
  ['warmTransferHandoffInstructions', 'Other', 'warm_transfer_handoff_instructions'],
  ['knowledgebaseLinks', ['https://harbor.example.test/other'], 'knowledgebase_links'],
  ['transferEnabled', false, 'transfer_enabled'],
];

const LEFT: readonly (readonly [write: string, value: unknown, read: string])[] = [
  ['status', 'inactive', 'status'],
  ['outboundGreetingMessage', 'Other', 'outbound_greeting_message'],
  ['outboundStaticGreeting', 'Other', 'outbound_static_greeting'],
  ['voicemailMessage', 'Other', 'voicemail_message'],
  ['voicemailMessageAudioUrl', 'https://x.example.test/v.mp3', 'voicemail_message_audio_url'],
  ['extensions', { tools: [] }, 'extensions'],
  ['amdConfig', { enabled: false }, 'amd_config'],
  ['ivrNavigation', { enabled: false }, 'ivr_navigation'],
  ['screenshareEnabled', true, 'screenshare_enabled'],
  ['defaultRetryPolicyId', ID.brisk, 'default_retry_policy_id'],
  ['agentType', 'message_taker', 'agent_type'],
  ['integrations', { ehrProvider: { username: 'other' } }, 'integrations'],
  ['webTransferEnabled', false, 'web_transfer_enabled'],
];

export const revertRestores: readonly Row[] = [
  ...section(
    'Endpoints · Agents · Revert',
    writes('success and a message are the whole answer', async (world) => {
      await world.put(DESK, { body: { systemPrompt: 'Other' } });
      expectReply(await revert(world), 200, DONE);
    }),
    writes('it needs no body', async (world) => {
      await world.put(DESK, { body: { systemPrompt: 'Other' } });
      expect((await revert(world, DESK, { raw: '' })).status).toBe(200);
    }),
  ),
  ...section(
    'Endpoints · Agents · Revert 1',
    RESTORED.map(([write, value, read]) =>
      writes(`${read} is restored`, async (world) => {
        const before = record(await world.get(DESK))[read];
        expectReply(await world.put(DESK, { body: { [write]: value } }), 200);
        expectReply(await revert(world), 200, DONE);
        expect(record(await world.get(DESK))[read]).toEqual(before);
      }),
    ),
    LEFT.map(([write, value, read]) =>
      writes(`${read} stays as it is`, async (world) => {
        await world.put(DESK, { body: { [write]: value, systemPrompt: 'Other' } });
        const before = record(await world.get(DESK));
        expectReply(await revert(world), 200, DONE);
        const after = record(await world.get(DESK));
        expect(after[read]).toEqual(before[read]);
        expect(after.system_prompt).not.toBe('Other');
      }),
    ),
    writes('the SIP registration stays as it is', async (world) => {
      await world.patch(`${DESK}/sip/registration`, { body: { registrationEnabled: false } });
      await world.put(DESK, { body: { systemPrompt: 'Other' } });
      await revert(world);
      expect(record(await world.get(DESK)).sip_registration_data).toMatchObject({
        registrationEnabled: false,
      });
    }),
    writes('knowledge base documents stay as they are', async (world) => {
      const path = `/v1/knowledge-bases/${ID.base}/sources`;
      await world.put(DESK, { body: { systemPrompt: 'Other' } });
      await world.post(path, { body: { sourceType: 'url', url: 'https://x.example.test/new' } });
      await revert(world);
      expect(records(await world.get(path))).toHaveLength(3);
    }),
    writes('secrets of integrations stay as they are', async (world) => {
      await world.put(DESK, {
        body: {
          integrations: { pbxProvider: { client_secret: 'next-example' } },
          systemPrompt: 'Other',
        },
      });
      await revert(world);
      expect(world.sim.store.agents.get(ID.desk)?.record.integrations).toMatchObject({
        pbxProvider: { client_secret: 'next-example' },
      });
    }),
    writes('web transfer stays on where call transfer stays on', async (world) => {
      await world.put(DESK, { body: { systemPrompt: 'Other' } });
      expectReply(await revert(world), 200, DONE);
      expect(record(await world.get(DESK))).toMatchObject({
        transfer_enabled: true,
        web_transfer_enabled: true,
      });
    }),
    writes('restoring call transfer off turns web transfer off', async (world) => {
      const back = await onThenOff(
        world,
        { transferEnabled: false },
        { transferEnabled: true, webTransferEnabled: true },
      );
      expectReply(await world.post(back), 200, DONE);
      expect(record(await world.get(DESK))).toMatchObject({
        transfer_enabled: false,
        web_transfer_enabled: false,
      });
    }),
    writes('restoring call transfer on leaves web transfer', async (world) => {
      await world.put(DESK, { body: { transferEnabled: false, webTransferEnabled: false } });
      expectReply(await revert(world), 200, DONE);
      expect(record(await world.get(DESK))).toMatchObject({
        transfer_enabled: true,
        web_transfer_enabled: false,
      });
    }),
  ),
];

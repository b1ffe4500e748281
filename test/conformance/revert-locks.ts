import { expect } from 'vitest';
import { ID } from './ids.ts';
import { DESK, DONE, entriesOf, onThenOff } from './revert-steps.ts';
import { coded, expectReply, type Row, section, writes } from './suite.ts';
import { record, records, type World } from './world.ts';

/** The feature, what turns it on, what turns it off again, and what the refusal speaks of. */
const LOCKED: readonly (readonly [feature: string, on: object, off: object, told: RegExp])[] = [
  ['llm.beta-3-fast', { model: 'beta-3-fast' }, { model: 'alpha-4.1' }, /beta-3-fast|model/i],
  [
    'custom_voices',
    { voiceSettings: { voice_id: ID.voice, language: 'fr' } },
    { voiceSettings: { voice_id: 'builtin-1', language: 'en' } },
    /custom voices/i,
  ],
  [
    'warm_transfer',
    { warmTransferHandoffInstructions: 'Be brief.' },
    { warmTransferHandoffInstructions: null },
    /warm.transfer/i,
  ],
  [
    'knowledge_base',
    { knowledgebaseLinks: ['https://harbor.example.test/x'] },
    { knowledgebaseLinks: [] },
    /RAG|knowledge/i,
  ],
  [
    'phi_redaction',
    { config: { phi_redaction: true } },
    { config: { phi_redaction: false } },
    /redaction/i,
  ],
  [
    'email_templates',
    { emailTemplateId: ID.email },
    { emailTemplateId: null },
    /e-?mail.template/i,
  ],
];

const lock = ({ sim }: World, feature: string) => sim.lock('organization', ID.harbor, feature);

export const revertLocks: readonly Row[] = [
  ...section(
    'Endpoints · Agents · Revert 2',
    LOCKED.map(([feature, on, off, told]) =>
      writes(`what ${feature} locks is not switched on, and nothing is saved`, async (world) => {
        const back = await onThenOff(world, on, { ...off, systemPrompt: 'Other' });
        lock(world, feature);
        const before = [record(await world.get(DESK)), await entriesOf(world)];
        expectReply(await world.post(back), 403, coded('forbidden', told));
        expect([record(await world.get(DESK)), await entriesOf(world)]).toEqual(before);
      }),
    ),
    LOCKED.map(([feature, on]) =>
      writes(`what ${feature} locked later may stay on`, async (world) => {
        const back = await onThenOff(world, on, { systemPrompt: 'Other' });
        lock(world, feature);
        expectReply(await world.post(back), 200, DONE);
        expect(record(await world.get(DESK)).system_prompt).not.toBe('Other');
      }),
    ),
    ...(['account', 'reseller'] as const).map((level) =>
      writes(`a lock of the ${level} counts as well`, async (world) => {
        const back = await onThenOff(world, { model: 'beta-3-fast' }, { model: 'alpha-4.1' });
        world.sim.lock(level, ID.tidewater, 'llm.beta-3-fast');
        expectReply(await world.post(back), 403, coded('forbidden'));
      }),
    ),
    writes('knowledge settings do not change while the feature is unavailable', async (world) => {
      const back = await onThenOff(
        world,
        { knowledgebaseLinks: [] },
        { knowledgebaseLinks: ['https://harbor.example.test/x'] },
      );
      lock(world, 'knowledge_base');
      expectReply(await world.post(back), 403, coded('forbidden'));
    }),
    writes('a voice provider that is unavailable is not switched on', async (world) => {
      const tts = records(await world.get('/v1/features'))
        .filter(({ category }) => category === 'TTS')
        .map(({ key }) => String(key));
      const provider = ['minx', 'voxc'].find((name) => tts.some((key) => key.includes(name)));
      const back = await onThenOff(world, { ttsModel: provider }, { ttsModel: 'cartx' });
      lock(world, tts.find((key) => key.includes(String(provider))) ?? '');
      expectReply(await world.post(back), 403, coded('forbidden'));
    }),
  ),
  ...section(
    'Endpoints · Agents · Revert 3',
    writes('a version that breaks a save rule is refused, and the rule is named', async (world) => {
      world.sim.edit(ID.desk, { model: 'retired-model' });
      const id = (await entriesOf(world)).at(-1)?.id;
      await world.put(DESK, { body: { model: 'alpha-4.1' } });
      const reply = await world.post(`${DESK}/history/${String(id)}/revert`);
      expectReply(reply, 403, coded('forbidden', /model/));
    }),
  ),
];

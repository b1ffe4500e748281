import { expect } from 'vitest';
import { ID } from './ids.ts';
import { locking } from './seed.ts';
import { coded, expectReply, type Row, reads, section, writes } from './suite.ts';
import { type Ask, type Reply, record, records, type World } from './world.ts';

const LANGUAGES =
  'en fr de es pt zh ja hi it ko nl pl ru sv tr tl bg ro ar cs el fi hr ms sk da ta uk hu no vi bn th he ka id te gu kn ml mr pa'.split(
    ' ',
  );

const TYPES: { readonly [extension: string]: string } = {
  mp3: 'audio/mpeg',
  wav: 'audio/wav',
  flac: 'audio/flac',
  ogg: 'audio/ogg',
  webm: 'audio/webm',
};

type Clip = { readonly type?: string; readonly name?: string; readonly size?: number } | null;
type Fields = { readonly [field: string]: string | null };

/** Clones a voice; a field of null is left out, and so is the clip. */
export function clone(
  { post }: World,
  fields: Fields = {},
  clip: Clip = {},
  ask: Ask = {},
): Promise<Reply> {
  const form = new FormData();
  const all = { name: 'Bay', consent: 'true', organizationId: ID.harbor, ...fields };
  for (const [name, value] of Object.entries(all)) if (value !== null) form.append(name, value);
  if (clip !== null) {
    const { type = 'audio/wav', name = 'clip.wav', size = 8 } = clip;
    form.append('clip', new Blob([new Uint8Array(size).fill(1)], { type }), name);
  }
  return post('/v1/custom-voices', { form, ...ask });
}

const refused = (rule: string, fields: Fields, clip: Clip = {}) =>
  reads(rule, async (world) => {
    expect((await clone(world, fields, clip)).status).toBe(400);
  });

const OF_HARBOR = `/v1/custom-voices?organizationId=${ID.harbor}`;

export const voices: readonly Row[] = [
  ...section(
    'Endpoints · Custom voices · List',
    reads('voices of the organization stand under data', async ({ get }) => {
      expect(records(await get(OF_HARBOR)).map(({ id }) => id)).toEqual([ID.voice]);
    }),
    reads('another organization has none', async ({ get }) => {
      expect(records(await get(`/v1/custom-voices?organizationId=${ID.north}`))).toEqual([]);
    }),
    reads('organizationId is required', async ({ get }) => {
      expect((await get('/v1/custom-voices')).status).toBe(400);
    }),
    reads('an unknown organization is not found', async ({ get }) => {
      expect((await get(`/v1/custom-voices?organizationId=${ID.nobody}`)).status).toBe(404);
    }),
  ),
  ...section(
    'Endpoints · Custom voices · Create',
    writes('the new voice is returned and listed', async (world) => {
      const reply = await clone(world, { description: 'Calm.' });
      expect(reply.status).toBeLessThan(300);
      expect(record(reply)).toEqual({
        id: expect.any(String),
        name: 'Bay',
        description: 'Calm.',
        provider: 'cartx',
        custom: true,
        language: 'en',
      });
      expect(records(await world.get(OF_HARBOR))).toContainEqual(record(reply));
    }),
    Object.entries(TYPES).map(([extension, type]) =>
      writes(`a clip can be ${extension}`, async (world) => {
        const { status } = await clone(world, {}, { type, name: `clip.${extension}` });
        expect(status).toBeLessThan(300);
      }),
    ),
    refused('a clip of another type is refused', {}, { type: 'text/plain', name: 'clip.txt' }),
    refused('a clip of another audio type is refused', {}, { type: 'audio/midi', name: 'c.mid' }),
    refused('a clip is required', {}, null),
    refused('a clip is not empty', {}, { size: 0 }),
    refused('a name is required', { name: null }),
    refused('consent is required', { consent: null }),
    refused('consent is the text true', { consent: 'yes' }),
    refused('consent cannot be false', { consent: 'false' }),
    refused('an organization is required', { organizationId: null }),
    refused('a language of no voice is refused', { language: 'xx' }),
    writes(`each of ${LANGUAGES.length} languages is taken`, async (world) => {
      const taken = await Promise.all(
        LANGUAGES.map(async (language) => {
          const reply = await clone(world, { name: `In ${language}`, language });
          return record(reply).language;
        }),
      );
      expect(taken).toEqual(LANGUAGES);
    }),
    writes('without a language it speaks English', async (world) => {
      expect(record(await clone(world)).language).toBe('en');
    }),
    writes('its language becomes that of the agent', async (world) => {
      const { id } = record(await clone(world, { language: 'de' }));
      const path = `/v1/agents/${ID.bare}`;
      await world.put(path, { body: { voiceSettings: { voice_id: id } } });
      expect(record(await world.get(path)).voice_settings).toEqual({
        voice_id: id,
        language: 'de',
      });
    }),
    reads('a name that the organization has is a conflict', async (world) => {
      expect((await clone(world, { name: 'Harbor' })).status).toBe(409);
    }),
    writes('another organization may use the same name', async (world) => {
      const { status } = await clone(world, { name: 'Harbor', organizationId: ID.north });
      expect(status).toBeLessThan(300);
    }),
    reads('an unknown organization is not found', async (world) => {
      expect((await clone(world, { organizationId: ID.nobody })).status).toBe(404);
    }),
    writes(
      'cloning is refused while the feature is locked',
      async (world) => {
        expect((await clone(world)).status).toBe(403);
      },
      locking('organization', 'custom_voices'),
    ),
    writes('a failure of the provider is a 502, and no voice is made', async (world) => {
      world.sim.faults.add({ operation: 'createCustomVoice', status: 502 });
      expect((await clone(world)).status).toBe(502);
      expect(records(await world.get(OF_HARBOR))).toHaveLength(1);
    }),
    reads('a scoped key cannot clone for another organization', async (world) => {
      expectReply(await clone(world, {}, {}, { as: 'north-key' }), 403, coded('forbidden'));
    }),
  ),
];

import schema from '../../schemas/kinds/custom_voice.schema.json' with { type: 'json' };
import { coded, data, ordered } from './answer.ts';
import { forbidden, namedOrganization } from './auth.ts';
import { organizationLocks } from './catalogue.ts';
import { compact } from './json.ts';
import type { FormFile, Input, Platform, Routes } from './platform.ts';
import type { Voice } from './store.ts';

/** Bytes of a clip (Limits). */
export const CLIP_LIMIT = 4 * 1024 * 1024;
const DECIMAL_CLIP_LIMIT = 4_000_000;

const TYPES = ['mp3', 'wav', 'flac', 'ogg', 'webm'];
/** MIME names of those types beside `audio/<type>`. */
const MIME_TYPES = new Set([
  ...TYPES.map((type) => `audio/${type}`),
  'audio/mpeg',
  'audio/x-wav',
  'audio/wave',
  'audio/vnd.wave',
  'audio/x-flac',
  'application/ogg',
  'video/webm',
]);

/** Voices cloned from recordings (Custom voices). */
export const voices: Routes<'listCustomVoices' | 'createCustomVoice'> = {
  listCustomVoices: ({ key, query }, platform) => {
    const { id } = namedOrganization(platform, key, String(query.organizationId));
    const found = listVoices(platform, id).map(({ record }) => record);
    return data(ordered(platform.dialect, found, ({ name }) => name));
  },

  createCustomVoice: (input, platform) => {
    const { name = '', language = 'en', description, organizationId = '' } = input.body;
    const clip = checkedClip(input, platform);
    const organization = namedOrganization(platform, input.key, String(organizationId));
    if (organizationLocks(platform, organization).has('custom_voices'))
      throw forbidden('Custom voices are not enabled for this organization.');
    if (listVoices(platform, organization.id).some(({ record }) => record.name === name))
      throw coded(409, 'conflict', 'A voice with this name exists');
    const id = newVoiceId(platform);
    const record = compact({ id, name, description, provider: 'cartx', custom: true, language });
    platform.store.voices.set(id, {
      id,
      organizationId: organization.id,
      record,
      clip: clip.bytes,
    });
    return data(record, platform.dialect.createdStatus);
  },
};

function newVoiceId({ ids, dialect }: Platform): string {
  return dialect.voiceIds === 'uuid'
    ? ids.uuid('voice')
    : `cartx_${ids.token('voice').slice(0, 20)}`;
}

/** The clip of a form whose fields keep to the rules; all of them answer 400. */
function checkedClip({ body, files }: Input, { dialect }: Platform): FormFile {
  const { clip } = files;
  const languages: readonly string[] = schema.properties.language.enum;
  const refuse = (description: string) => coded(400, 'invalid_request', description);
  if (body.consent !== 'true') throw refuse('consent must be the text true');
  if (typeof body.name !== 'string' || body.name === '') throw refuse('name is required');
  if (body.organizationId === undefined) throw refuse('organizationId is required');
  if (clip === undefined || clip.bytes.length === 0) throw refuse('clip is missing or empty');
  if (!isClip(clip)) throw refuse(`clip must be one of ${TYPES.join(', ')}`);
  const limit = dialect.megabyte === 'decimal' ? DECIMAL_CLIP_LIMIT : CLIP_LIMIT;
  if (clip.bytes.length > limit) throw refuse('clip is larger than 4 MB');
  if (dialect.values === 'documented' && !languages.includes(String(body.language ?? 'en')))
    throw refuse('language is not supported');
  return clip;
}

/** By MIME type, or by the file's ending where the MIME type says nothing. */
function isClip({ name, mime }: FormFile): boolean {
  const ending = name.slice(name.lastIndexOf('.') + 1).toLowerCase();
  return mime === 'application/octet-stream' ? TYPES.includes(ending) : MIME_TYPES.has(mime);
}

function listVoices({ store }: Platform, organizationId: string): readonly Voice[] {
  return [...store.voices.values()].filter((voice) => voice.organizationId === organizationId);
}

import { describe } from 'vitest';
import { BAY, type Documents, HARBOR } from '../world.ts';
import { ABOVE, HERE, type Said, SILENCE } from './entitlements.ts';
import { DESK, judged, LIVE_DESK, lockedModel, type Row, unchecked } from './preflighted.ts';

describe('the level that locks a feature is told as far as the platform tells it', () => {
  const at = (title: string, said: Said, where: string): Row => ({
    title,
    said,
    because: lockedModel(`for organization harbor ${where}`),
  });
  const model = 'llm.alpha-4o';
  judged([
    at('the organization', { harbor: { [model]: HERE } }, 'at the organization itself'),
    at('the account', { harbor: { [model]: ABOVE }, account: { [model]: HERE } }, 'at its account'),
    at('its reseller', { harbor: { [model]: ABOVE }, account: {} }, 'at its reseller'),
    at(
      'one of both, where the account does not answer',
      { harbor: { [model]: ABOVE }, account: SILENCE },
      'at its reseller or account',
    ),
    at(
      'somewhere',
      { harbor: { [model]: { scope: null, isLegacy: false } }, account: { [model]: HERE } },
      'on the platform',
    ),
    at(
      'older settings, which the feature matrix does not show',
      { harbor: { [model]: { scope: 'here', isLegacy: true } } },
      'at the organization itself, by a setting older than the feature matrix',
    ),
  ]);
});

const VOICE = 'b6b2ad37-5b8c-4d0f-8c55-3d6e1d3d7a10';
const speaksWith = (voice: Documents[string][string]): Documents => ({
  'agent.desk': { name: 'Desk', voice_settings: { voice_id: voice } },
});
const cloned = (owner: string) => ({
  custom_voice: [
    { id: 'another', organization_id: owner, name: 'Another' },
    { id: VOICE, organization_id: owner, name: 'One' },
  ],
});
const voices = { harbor: { custom_voices: HERE }, bay: { custom_voices: HERE } };
const lockedVoice =
  'voice_settings.voice_id needs the feature custom_voices, which is locked for organization harbor at the organization itself; have it unlocked there, or remove it from the configuration';

describe('voices', () => {
  const ref = speaksWith({ $ref: 'custom_voice.one' });
  const made = { 'custom_voice.one': { name: 'One', organization_id: BAY } };
  const adopted = { ...LIVE_DESK, ...cloned(BAY) };
  judged([
    {
      title: 'an id of one of the organization is a cloned voice',
      desired: speaksWith(VOICE),
      live: { ...LIVE_DESK, ...cloned(HARBOR) },
      said: voices,
      because: lockedVoice,
    },
    {
      title: 'any other is taken for a built-in one, which no lock concerns',
      desired: speaksWith('built-in'),
      live: { ...LIVE_DESK, ...cloned(HARBOR) },
      said: voices,
    },
    {
      title: 'so is every id where cloned voices cannot be listed',
      desired: speaksWith(VOICE),
      live: { ...LIVE_DESK, ...cloned(HARBOR) },
      having: (given) => given.lacking({ listCustomVoices: 'absent' }),
      said: voices,
    },
    {
      title: 'one of another organization of the stack is refused',
      desired: { ...ref, ...made },
      live: adopted,
      said: {},
      because:
        'voice_settings.voice_id refers to custom_voice.one, which belongs to organization bay, not to harbor; refer to one of its own organization',
    },
    {
      title: 'by its id where the stack has no name for it',
      desired: { ...ref, ...made },
      live: adopted,
      having: (given) => given.having({ organizations: { [HARBOR]: 'harbor' } }),
      said: {},
      because: `voice_settings.voice_id refers to custom_voice.one, which belongs to organization ${BAY}, not to harbor; refer to one of its own organization`,
    },
    {
      title: 'one of the same organization is not, nor is a policy, which belongs to none',
      desired: {
        'agent.desk': {
          ...ref['agent.desk'],
          default_retry_policy_id: { $ref: 'retry_policy.gentle' },
        },
        'custom_voice.one': { name: 'One' },
        'retry_policy.gentle': { name: 'Gentle' },
      },
      live: { ...LIVE_DESK, ...cloned(HARBOR) },
      said: {},
    },
  ]);
});

const ids = (count: number) => Array.from({ length: count }, (_, index) => `m${index + 1}`);
const noModel = (offers: string) =>
  `model: the platform offers organization harbor no language model alpha-4o; choose one of: ${offers} (callsheet get models)`;

describe('catalogues', () => {
  judged([
    { title: 'what is offered is taken', said: { offers: ['alpha-4o'] } },
    { title: 'what is not is refused', said: { offers: ['a', 'b'] }, because: noModel('a, b') },
    {
      title: 'of one with a slip, the one that is meant',
      said: { offers: ['beta', 'alhpa-4o'] },
      because:
        'model: the platform offers organization harbor no language model alpha-4o; did you mean alhpa-4o? They are: beta, alhpa-4o (callsheet get models)',
    },
    { title: 'of an empty one', said: { offers: [] }, because: noModel('nothing') },
    {
      title: 'ten are told by name',
      said: { offers: ids(10) },
      because: noModel(ids(10).join(', ')),
    },
    {
      title: 'of more, the first ten',
      said: { offers: ids(12) },
      because: noModel(`${ids(10).join(', ')} and 2 more`),
    },
    {
      title: 'a catalogue that is the same for everybody says so',
      desired: { 'agent.desk': { name: 'Desk', stt_model: 'earx' } },
      said: { offers: ['voxc'] },
      because:
        'stt_model: the platform has no speech-to-text provider earx; choose one of: voxc (callsheet get stt_providers)',
    },
    {
      title: 'what is not told refuses nothing, and warns once for all',
      desired: { ...DESK, 'agent.new': { name: 'New', model: 'alpha-4o' } },
      said: { harbor: SILENCE, offers: SILENCE },
      notes: [
        unchecked('the locked features of organization harbor'),
        unchecked('whether this language model exists'),
      ],
    },
    {
      title: 'a model that is locked is told by its lock alone, other problems beside it',
      desired: { 'agent.desk': { ...DESK['agent.desk'], stt_model: 'earx' } },
      said: { harbor: { 'llm.alpha-4o': HERE }, offers: ['voxc'] },
      because: `${lockedModel('for organization harbor at the organization itself')}; stt_model: the platform has no speech-to-text provider earx; choose one of: voxc (callsheet get stt_providers)`,
    },
  ]);
});

const armed = { 'agent.desk': { name: 'Desk', payments: { tool_enabled: true } } };
const facets = { a1: { payment_tool_enabled: false } };
const texts = { integrations: { smsProvider: { account_sid: 'AC1' } } };
const unready = (why: string) =>
  `payments cannot be set: payments.tool_enabled: the agent cannot take payments yet: ${why}`;
const tooEarly =
  'info agent.desk: payments.tool_enabled can be checked only after the create. Apply reports a refusal.';

describe('payments', () => {
  const arm: Pick<Row, 'desired' | 'having'> = {
    desired: armed,
    having: (given) => given.facets(facets),
  };
  const noTexts = { can_enable: false, twilio_configured: false };
  judged([
    { ...arm, title: 'of an agent that is ready', said: { about: { can_enable: true } } },
    {
      ...arm,
      title: 'of one that is not',
      said: { about: noTexts },
      because: unready('its SMS credentials are not complete (integrations.smsProvider)'),
    },
    {
      ...arm,
      title: 'what the same change sets up is not missed',
      desired: { 'agent.desk': { ...armed['agent.desk'], ...texts } },
      said: { about: noTexts },
    },
    {
      ...arm,
      title: 'of one whose readiness is not told',
      said: { about: SILENCE },
      notes: [unchecked('whether agent.desk is ready for it')],
    },
    {
      title: 'of one that is made',
      desired: armed,
      live: {},
      said: { about: noTexts },
      notes: [tooEarly],
    },
    {
      title: 'of one that is made anew, whatever the one before was',
      desired: { 'agent.desk': { ...armed['agent.desk'], organization_id: BAY } },
      having: (given) =>
        given
          .facets(facets)
          .applied({ 'agent.desk': { id: 'a1', name: 'Desk' } })
          .options({ allow_delete: true }),
      said: { about: noTexts },
      notes: [
        'info agent.desk: the new resource keeps 1 field that the configuration does not name: model; it does not get the history of the old one',
        tooEarly,
      ],
    },
  ]);
});

describe('the key', () => {
  judged([
    {
      title: 'what is closed to it is refused',
      said: { key: 'reseller' },
      because:
        'updateAgent is closed to this key, which is limited to one reseller; use a key of the whole account',
    },
    {
      title: 'and told before what is locked',
      said: { key: 'organization', harbor: { 'llm.alpha-4o': HERE } },
      because: `updateAgent is closed to this key, which is limited to one organization; use a key of the whole account; ${lockedModel('for organization harbor at the organization itself')}`,
    },
    {
      title: 'what it may do is not told',
      said: { key: SILENCE },
      notes: [unchecked('the permissions of the key')],
    },
  ]);
});

import schema from '../../schemas/kinds/custom_voice.schema.json' with { type: 'json' };
import { formText } from '../core/value.ts';
import type { Kind } from './kind.ts';
import { getData, getText } from './making.ts';

/** The configuration cannot say otherwise: without it there is no voice (Custom voices). */
const implied = () => ({ consent: 'true' });

/** Cloned voices. The platform lists and makes them; it neither changes nor deletes them (Custom voices). */
export const customVoice: Kind = {
  name: 'custom_voice',
  section: 'custom_voices',
  schema,
  operations: {
    read: ['listCustomVoices'],
    create: ['createCustomVoice'],
    update: [],
    delete: [],
    revert: [],
  },
  naturalKey: [['organization_id', 'name']],
  tie: 'error',
  refusesTwins: true,
  scope: ['organization_id'],
  columns: ['language', 'provider', 'description'],
  list: ({ organization_id = '' }) => ({
    operation: 'listCustomVoices',
    query: { organizationId: organization_id },
  }),
  document: (record, scope) => ({ ...record, ...scope }),
  implied,
  making: [
    {
      name: 'clone',
      requests: [{ operation: 'createCustomVoice', resumed: 'it is cloned again' }],
    },
  ],
  create: async (draft, io) => {
    const texts = Object.entries(draft.body).filter(([, value]) => value !== null);
    const fields = Object.fromEntries(texts.map(([name, value]) => [name, formText(value)]));
    const answer = await io.call({
      operation: 'createCustomVoice',
      form: { fields: { ...fields, ...implied() }, files: draft.files },
    });
    return { id: getText(getData(answer), 'id') };
  },
  facets: [],
};

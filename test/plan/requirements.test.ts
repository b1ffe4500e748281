import { expect, test } from 'vitest';
import type { PlannedOperation } from '../../src/core/plan-document.ts';
import type { JsonObject } from '../../src/core/value.ts';
import { leafChange } from '../../src/diff/compare.ts';
import { listLeaves } from '../../src/diff/leaves.ts';
import { kindNamed } from '../../src/kinds/index.ts';
import { listRequirements, type Requirement } from '../../src/plan/preflight.ts';
import { desiredResource, type Written, world } from '../world.ts';

type Row = {
  readonly title: string;
  /** `agent` unless given. */
  readonly kind?: string;
  /** Undefined: it is made. */
  readonly live?: Written;
  readonly facets?: JsonObject;
  /** What was last written, and is live. */
  readonly applied?: Written;
  readonly wanted: Written;
  readonly steps?: readonly PlannedOperation['step'][];
  readonly needs: readonly string[];
};

/** What changing one resource needs, as `type path what`. */
async function demandsIn(row: Row): Promise<readonly string[]> {
  const { kind: name = 'agent', applied = {}, wanted } = row;
  const address = `${name}.one`;
  const kind = kindNamed(name);
  const { document } = desiredResource(address, wanted);
  const live = { ...(row.live ?? applied), ...row.facets } as JsonObject;
  const isMade = row.live === undefined && row.applied === undefined;
  const leaves = isMade
    ? []
    : await world()
        .desired({ [address]: { name: 'One', ...wanted } })
        .live({ [name]: [{ id: 'r1', name: 'One', ...live }] })
        .facets(row.facets === undefined ? {} : { r1: row.facets })
        .applied(row.applied ? { [address]: { id: 'r1', name: 'One', ...applied } } : {})
        .compare(address);
  const steps = row.steps ?? [isMade ? 'create' : 'update'];
  const operations = steps.map((step) => ({ step, fields: [] }));
  return listRequirements({ kind, operations, leaves, document, live }).map(tell);
}

function tell({ type, path, ...what }: Requirement): string {
  const values = Object.values(what).filter((value) => typeof value === 'string');
  return [type, path ?? 'it', ...values].join(' ');
}

const VOICE = 'b6b2ad37-5b8c-4d0f-8c55-3d6e1d3d7a10';
const LINK = 'https://harbor.example.test/a';
const FAST = ['feature model llm.alpha-4o', 'offer model llm_models alpha-4o'];
const speaksWith = (voice: Written[string]) => ({ voice_settings: { voice_id: voice } });
const crm = { label: 'A', account: 'B' };
const unarmed = { payment_tool_enabled: false };

const rows: readonly Row[] = [
  {
    title: 'a model that is chosen must be unlocked and offered',
    live: { model: 'alpha-4.1' },
    wanted: { model: 'alpha-4o' },
    needs: FAST,
  },
  {
    title: 'what stays needs nothing, whatever else changes',
    live: { model: 'alpha-4o', stt_model: 'voxc', tts_model: 'minx', greeting_message: 'Hello.' },
    wanted: { model: 'alpha-4o', stt_model: 'voxc', tts_model: 'minx', greeting_message: 'Hi.' },
    needs: [],
  },
  {
    title: 'an agent that is made needs everything that it has, and nothing for being made',
    wanted: { model: 'alpha-4o', tts_model: 'minx', config: { phi_redaction: true } },
    needs: [...FAST, 'feature tts_model tts.minx', 'feature config.phi_redaction phi_redaction'],
  },
  {
    title: 'so does one that is made in several steps',
    wanted: { model: 'alpha-4o' },
    steps: ['create', 'facet'],
    needs: FAST,
  },
  {
    title: 'and one that is made anew, as what is there goes',
    live: { model: 'alpha-4o' },
    wanted: { model: 'alpha-4o' },
    steps: ['create', 'delete'],
    needs: FAST,
  },
  {
    title: 'a speech provider has a catalogue and no lock',
    live: { stt_model: 'other' },
    wanted: { stt_model: 'voxc' },
    needs: ['offer stt_model stt_providers voxc'],
  },
  {
    title: 'a voice id may be that of a cloned voice',
    live: speaksWith('built-in'),
    wanted: speaksWith(VOICE),
    needs: [
      `feature_of_id voice_settings.voice_id custom_voices custom_voice ${VOICE}`,
      `existing voice_settings.voice_id custom_voice ${VOICE}`,
    ],
  },
  {
    title: 'a voice of the stack is a cloned one, and must be of the same organization',
    live: speaksWith('built-in'),
    wanted: speaksWith({ $ref: 'custom_voice.bay' }),
    needs: [
      'feature voice_settings.voice_id custom_voices',
      'reference voice_settings.voice_id custom_voice.bay',
    ],
  },
  {
    title: 'a voice that is taken away needs nothing',
    live: speaksWith(VOICE),
    wanted: speaksWith(null),
    needs: [],
  },
  {
    title: 'nor does one that is no longer configured',
    applied: speaksWith(VOICE),
    wanted: {},
    needs: [],
  },
  {
    title: 'an integration needs its feature once, however many settings it has',
    live: {},
    wanted: { integrations: { crm } },
    needs: ['feature integrations.crm integration.crm'],
  },
  {
    title: 'each integration needs its own',
    live: { integrations: { crm } },
    wanted: { integrations: { crm, desk: crm } },
    needs: ['feature integrations.desk integration.desk'],
  },
  {
    title: 'one that the platform shows as null is not there',
    live: { integrations: { crm: null } },
    wanted: { integrations: { crm } },
    needs: ['feature integrations.crm integration.crm'],
  },
  {
    title: 'one that is there may be changed',
    live: { integrations: { crm } },
    wanted: { integrations: { crm: { ...crm, label: 'C' } } },
    needs: [],
  },
  {
    title: 'no integrations at all need nothing',
    wanted: { integrations: {} },
    needs: [],
  },
  ...[null, false].map((off) => ({
    title: `an opt-in that is ${off} is switched on`,
    live: { config: { phi_redaction: off } },
    wanted: { config: { phi_redaction: true } },
    needs: ['feature config.phi_redaction phi_redaction'],
  })),
  {
    title: 'switching it off needs nothing',
    live: { config: { phi_redaction: true } },
    wanted: { config: { phi_redaction: false } },
    needs: [],
  },
  {
    title: 'a text switches its feature on where there was none',
    live: { warm_transfer_handoff_instructions: '' },
    wanted: { warm_transfer_handoff_instructions: 'Be brief.' },
    needs: ['feature warm_transfer_handoff_instructions warm_transfer'],
  },
  {
    title: 'an empty text switches it off',
    live: { warm_transfer_handoff_instructions: 'Be brief.' },
    wanted: { warm_transfer_handoff_instructions: '' },
    needs: [],
  },
  {
    title: 'a first link needs the knowledge base',
    live: {},
    wanted: { knowledgebase_links: [LINK] },
    needs: ['feature knowledgebase_links knowledge_base'],
  },
  {
    title: 'another link needs it',
    live: { knowledgebase_links: [LINK] },
    wanted: { knowledgebase_links: [LINK, `${LINK}/b`] },
    needs: ['feature knowledgebase_links knowledge_base'],
  },
  {
    title: 'fewer links do not',
    live: { knowledgebase_links: [LINK, `${LINK}/b`] },
    wanted: { knowledgebase_links: [LINK] },
    needs: [],
  },
  {
    title: 'payments that are armed must be unlocked and the agent ready',
    live: {},
    facets: unarmed,
    wanted: { payments: { tool_enabled: true } },
    needs: ['feature payments.tool_enabled card_payments', 'readiness payments.tool_enabled'],
  },
  {
    title: 'payments that are disarmed need neither, nor do their limits',
    live: {},
    facets: { payment_tool_enabled: true, max_attempts_per_call: 1 },
    wanted: { payments: { tool_enabled: false, max_attempts_per_call: 2 } },
    needs: [],
  },
  {
    title: 'a template needs its feature to be changed',
    kind: 'sms_template',
    live: { message_type: 'sms', body: 'Old' },
    wanted: { message_type: 'sms', body: 'Hi' },
    needs: ['feature it sms_templates'],
  },
  {
    title: 'and to be made anew',
    kind: 'sms_template',
    live: { message_type: 'mms' },
    wanted: { message_type: 'sms' },
    steps: ['delete', 'create'],
    needs: ['feature it sms_templates'],
  },
  {
    title: 'to be deleted it needs nothing',
    kind: 'sms_template',
    live: { message_type: 'sms' },
    wanted: { message_type: 'sms' },
    steps: ['delete'],
    needs: [],
  },
];

test.each(rows)('$title', async (row) => {
  expect(await demandsIn(row)).toEqual(row.needs);
});

test('what differs and is not written needs nothing', () => {
  const kind = kindNamed('agent');
  const [leaf] = listLeaves(kind.schema, { model: 'alpha-4o' }).leaves.values();
  if (leaf === undefined) throw new Error('a model is a leaf');
  const of = (cause: 'changed' | 'released') =>
    listRequirements({
      kind,
      operations: [{ step: 'update', fields: [] }],
      leaves: [leafChange(leaf, 'alpha-4.1', leaf.value, cause)],
      document: {},
      live: { model: 'alpha-4.1' },
    }).map(tell);
  expect([of('changed'), of('released')]).toEqual([FAST, []]);
});

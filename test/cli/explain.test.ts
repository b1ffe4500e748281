import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, test } from 'vitest';
import schema from '../../schemas/field.schema.json' with { type: 'json' };
import { explain } from '../../src/cli/commands/explain.ts';
import type { FieldDocument } from '../../src/core/documents.ts';
import { dereference, type FieldSchema } from '../../src/core/schema.ts';
import { kinds } from '../../src/kinds/index.ts';
import { explainField } from '../../src/stack/editor/explain-field.ts';
import { writtenSchema } from '../../src/stack/settings-schema.ts';
import { openAuthorStage } from './author-stage.ts';

function documented(field: string): FieldDocument {
  const found = explainField(field, kinds);
  if ('message' in found) throw new Error(`${found.message}; ${found.hint}`);
  return found;
}

const check = new Ajv2020({ strict: false }).compile(schema);

/** Every field that a schema names, by the name that explain takes. */
function namesIn(root: FieldSchema, given: FieldSchema, name: string): readonly string[] {
  const field = dereference(root, given);
  return [
    name,
    ...Object.entries(field.properties ?? {}).flatMap(([key, member]) =>
      namesIn(root, member, `${name}.${key}`),
    ),
    ...(field.items === undefined ? [] : namesIn(root, field.items, `${name}[]`)),
  ];
}

test('every field of every kind is documented, and as its schema says', () => {
  const names = kinds.flatMap((kind) => {
    const root = writtenSchema(kind);
    return namesIn(root, root, kind.name);
  });
  expect(names.length).toBeGreaterThan(150);
  for (const name of names) {
    const document = documented(name);
    expect(document.field).toBe(name);
    check(document);
    expect(check.errors, name).toBeNull();
  }
});

describe('what is said of', () => {
  test.each<readonly [string, Partial<FieldDocument>]>([
    [
      'agent.voice_settings.speed',
      { type: 'number, greater than 0', example: '1.05', clearable: true },
    ],
    ['agent.voice_settings.speed', { restored_by_revert: true, required: false, facet: null }],
    ['agent.name', { required: true, clearable: false, type: 'text, not empty' }],
    [
      'agent.status',
      { restored_by_revert: false, values: ['active', 'inactive', 'cancelled', 'pending'] },
    ],
    ['agent.model', { listed_by: 'callsheet get models', lock: 'llm.…', clearable: false }],
    ['agent.voice_settings.voice_id', { refers_to: 'custom_voice', lock: 'custom_voices' }],
    ['agent.voice_settings.voice_id', { forms: ['{ $ref: custom_voice.NAME }'] }],
    ['agent.organization', { immutable: true }],
    [
      'agent.system_prompt',
      { forms: ['{ $file: PATH }', '{ $template: PATH, with: … }'], sensitive: false },
    ],
    [
      'agent.extensions.tools',
      { type: 'list of maps', identity: 'name', restored_by_revert: false },
    ],
    ['agent.extensions.tools[].headers[].value', { sensitive: true, secret: false }],
    [
      'agent.extensions.mcp_servers[].auth_headers',
      { sensitive: true, assumption: 'mcp.write-shape' },
    ],
    [
      'agent.integrations.smsProvider.auth_token',
      { secret: true, lock: 'integration.smsProvider' },
    ],
    ['agent.integrations.smsProvider.auth_token', { forms: ['{ $secret: env:NAME }'] }],
    ['agent.sip.registration_enabled', { facet: 'sip', restored_by_revert: false }],
    ['agent.email', { unordered: true, type: 'list of e-mail addresses' }],
    ['agent.updated_at', { settable: false, clearable: false, restored_by_revert: null }],
    [
      'agent.lifecycle.protect',
      { type: 'true or false', clearable: false, restored_by_revert: null },
    ],
    [
      'retry_policy.rules.busy.max_attempts',
      { type: 'number, at least 0', restored_by_revert: null },
    ],
    ['custom_voice.language', { immutable: true, default: 'en', lock: 'custom_voices' }],
    ['sms_template.name', { type: 'text, not empty, at most 100 characters' }],
    ['knowledge_source.file', { type: 'path of a document' }],
    ['guards.max_delete', { kind: null, clearable: false }],
    [
      'rollouts.careful.steps',
      { required: false, type: 'list of numbers or shares of agents, not empty' },
    ],
    ['rollouts.careful.judge.measures.duration.margin', { default: 20 }],
    ['rollouts.careful.judge.measures', { default: { resolved: { margin: 5 } } }],
    ['environments.staging.rollouts.careful.steps', { required: false }],
    ['agent.base', { type: 'text or list of texts', clearable: false, restored_by_revert: null }],
    ['agent.for_each', { type: 'list or map', example: '{ $file: clinics.csv }' }],
    // The kind has a lock; what is no field of the platform has none.
    ['custom_voice.key', { lock: null, forms: [] }],
    ['email_template.allow_empty', { type: 'true or false' }],
    ['bases.common', { kind: null, type: 'map' }],
    ['moved[].from', { kind: null, required: true, type: 'text', example: 'agent.front' }],
    ['forget[]', { kind: null, example: 'agent.old' }],
  ])('%s', (name, facts) => {
    expect(documented(name)).toMatchObject(facts);
  });

  test.each([
    ['agents', 'agent'],
    ['agents.voice_settings', 'agent.voice_settings'],
    ['agent.extensions.tools.url', 'agent.extensions.tools[].url'],
    ['agent.extensions.tools[crm_lookup].url', 'agent.extensions.tools[].url'],
  ])('%s is said of %s', (given, meant) => {
    expect(documented(given)).toEqual(documented(meant));
  });
});

describe('a name that nobody knows', () => {
  test.each([
    ['agnet.name', /no kind or setting is called agnet/, 'Did you mean agent.name?'],
    [
      'agent.vioce_settings.speed',
      /agent has no field/,
      'Did you mean agent.voice_settings.speed?',
    ],
    ['agent.extensions.tols[].url', /no field tols/, 'Did you mean agent.extensions.tools[].url?'],
    ['agent.sip.zzz', /agent\.sip has no field zzz/, 'Its fields are registration_enabled'],
    ['agent.name[]', /agent\.name is not a list/, 'Leave the brackets out'],
    ['', /no kind or setting/, expect.stringContaining('The kinds are')],
    ['agent..', /agent/, expect.anything()],
    ['agent.constructor', /no field constructor/, expect.anything()],
  ])('%j', async (name, message, hint) => {
    const { context, said } = openAuthorStage();
    const explained = explain(name, { dir: '.', format: 'text' }, context);
    await expect(explained).rejects.toMatchObject({ code: 'usage', hint });
    await expect(explained).rejects.toThrow(message);
    expect(said()).toBe('');
  });
});

test('the text has what matters, in 80 columns', async () => {
  const { context, said } = openAuthorStage();
  expect(await explain('agent.payments', { dir: '.', format: 'text' }, context)).toBe(0);
  expect(said()).toBe(`agent.payments
  The in-call payment tool. Written through an endpoint of its own.

  type        map
  example     { tool_enabled: true, max_single_charge_cents: 20000 }
  revert      a history revert does not change it; a rollback writes it
  endpoint    payments is written through an endpoint of its own

  Members (* required)
    tool_enabled             true or false  Whether the agent may send payment …
    success_url              web address    Where a payer ends up.
    max_single_charge_cents  whole number   Largest single charge, in cents.
    max_per_call_cents       whole number   Most that one call may charge, in c…
    max_attempts_per_call    whole number   Payment links per call.
`);
});

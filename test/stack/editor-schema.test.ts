import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { Ajv } from 'ajv';
import { fullFormats } from 'ajv-formats/dist/formats.js';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { editorSchema } from '../../scripts/generate/editor-schema.ts';
import { kinds } from '../../src/kinds/index.ts';
import { HARBOR } from './stack-folder.ts';

const root = new URL('../../', import.meta.url);
const { uri, uuid, email } = fullFormats;
const ajv = new Ajv({
  strict: true,
  strictTypes: false,
  strictRequired: false,
  allErrors: true,
  formats: { uri, uuid, email },
});
// What only editors read.
ajv.addVocabulary([
  'markdownDescription',
  'defaultSnippets',
  'errorMessage',
  'patternErrorMessage',
  'doNotSuggest',
]);
const validate = ajv.compile(editorSchema(kinds));

/** Where a document breaks the schema. */
function wrong(document: unknown): readonly string[] {
  return validate(document)
    ? []
    : [...new Set(validate.errors?.map(({ instancePath }) => instancePath))];
}

test('the schema in the repository is the one that the kinds give', () => {
  const check = ['scripts/generate-config-schema.ts', '--check'];
  expect(() => execFileSync(process.execPath, check, { cwd: root, stdio: 'pipe' })).not.toThrow();
}, 20_000);

const stack = new URL('examples/quickstart/', root);
const files = [
  ...readdirSync(stack).filter((name) => name.endsWith('.yaml')),
  ...readdirSync(new URL('agents/', stack)).map((name) => `agents/${name}`),
];

test.each(files)('it accepts %s of the quickstart', (name) => {
  expect(wrong(parse(readFileSync(new URL(name, stack), 'utf8')))).toEqual([]);
});

const agent = (fields: object) => ({ agents: { a: { name: 'A', ...fields } } });

test.each([
  [
    'every value form',
    agent({
      system_prompt: { $file: 'a.md' },
      default_retry_policy_id: { $ref: 'retry_policy.gentle' },
      voice_settings: { voice_id: { $ref: 'custom_voice.v' }, speed: `\${var.speed}` },
      integrations: {
        smsProvider: { auth_token: { $secret: 'env:X' }, other: { $secret: 'env:Y' } },
      },
      greeting_message: null,
      organization: 'harbor',
      status: `\${var.status}`,
      timezone: `\${var.zone}`,
      lifecycle: { protect: true, adopt: 'x' },
      unchecked: { any: { thing: 1 } },
    }),
  ],
  [
    'settings and resources together',
    {
      callsheet: 1,
      platform: { base_url: `\${var.url}` },
      variables: { url: { env: 'URL', default: 1 } },
      organizations: { harbor: HARBOR },
      include: 'agents/*.yaml',
      custom_voices: { v: { name: 'V', clip: 'v.wav', consent: true } },
    },
  ],
  [
    'a rollout with everything, and an environment that says a part of one',
    {
      rollouts: {
        careful: {
          select: {
            targets: ['agent.clinic_*', 'agent.desk'],
            keys: ['harbor', 'bay'],
            organizations: ['harbor'],
            labels: { region: 'west', tier: [1, '2'] },
          },
          steps: ['3 agents', '10%', '50%', '100%'],
          first: 'volume',
          judge: {
            measures: {
              resolved: { margin: 5 },
              duration: { margin: 20 },
              errors: { margin: `\${var.margin}` },
            },
            min_calls: 200,
            min_days: 3,
            baseline_weeks: 8,
          },
          guard_rails: { errors: 5, error_words: ['error', 'failed'], silence: 30 },
          on_worse: 'rollback',
          overdue_after: '7d',
        },
      },
      environments: {
        staging: { rollouts: { careful: { judge: { measures: { errors: { margin: 9 } } } } } },
      },
    },
  ],
  [
    'what validate warns of: values, forms and members that are newer',
    agent({
      status: 'suspended',
      email: ['Front Desk <desk@x.test>'],
      voice_settings: { speed: -1 },
      extensions: { tools: [{ type: 'sms', timeout: 5 }], functions: [] },
    }),
  ],
  [
    'a knowledge base',
    { knowledge_bases: { kb: { id: HARBOR, sources: { s: { url: 'https://x.test' } } } } },
  ],
])('it accepts %s', (_, document) => {
  expect(wrong(document)).toEqual([]);
});

test.each([
  ['an unknown section', { agnets: {} }, ''],
  [
    'an unknown measure',
    { rollouts: { a: { steps: ['100%'], judge: { measures: { resolvd: {} } } } } },
    '/rollouts/a/judge/measures',
  ],
  [
    'no measures',
    { rollouts: { a: { steps: ['100%'], judge: { measures: {} } } } },
    '/rollouts/a/judge/measures',
  ],
  ['an unknown field', agent({ nam: 'x' }), '/agents/a'],
  ['a wrong value', agent({ status: true }), '/agents/a/status'],
  [
    'a literal secret',
    agent({ integrations: { smsProvider: { auth_token: 'x' } } }),
    '/agents/a/integrations/smsProvider/auth_token',
  ],
  [
    'a secret elsewhere',
    agent({ greeting_message: { $secret: 'env:X' } }),
    '/agents/a/greeting_message',
  ],
  [
    'a reference to another kind',
    agent({ default_retry_policy_id: { $ref: 'agent.a' } }),
    '/agents/a/default_retry_policy_id/$ref',
  ],
  ['a field of the platform', agent({ is_active: true }), '/agents/a'],
  ['null for what cannot be cleared', agent({ status: null }), '/agents/a/status'],
  [
    'a source of both sorts',
    {
      knowledge_bases: { kb: { id: HARBOR, sources: { s: { url: 'https://x.test', file: 'x' } } } },
    },
    '/knowledge_bases/kb/sources/s',
  ],
])('it refuses %s', (_, document, path) => {
  expect(wrong(document)).toContain(path);
});

test('every field of every kind has a description', () => {
  const missing: string[] = [];
  const visit = (schema: unknown, path: string): void => {
    if (typeof schema !== 'object' || schema === null || !('properties' in schema)) return;
    for (const [name, field] of Object.entries(schema.properties ?? {})) {
      if (name.startsWith('$')) continue;
      const described = typeof field === 'object' && field !== null && 'description' in field;
      if (!described && !(typeof field === 'object' && field !== null && 'allOf' in field))
        missing.push(`${path}.${name}`);
      visit(field, `${path}.${name}`);
    }
  };
  const { definitions, properties } = editorSchema(kinds);
  for (const [name, definition] of Object.entries(definitions ?? {})) visit(definition, name);
  visit({ properties }, '');
  expect(missing).toEqual([]);
});

// biome-ignore-all lint/suspicious/noTemplateCurlyInString: it is text here.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { hasErrors } from '../../../../src/core/diagnostics.ts';
import { Ref, Secret } from '../../../../src/core/value.ts';
import { fileShape, formatYaml } from '../../../../src/features/writing/edit/format.ts';
import {
  type LongText,
  type Writable,
  type WriteOptions,
  writeResources,
} from '../../../../src/features/writing/edit/write.ts';
import { kinds } from '../../../../src/kinds/index.ts';
import type { Stack } from '../../../../src/stack/index.ts';
import { runs, timeFor } from '../../../long.ts';
import { BAY, type Files, HARBOR, load, said } from '../../../stack/stack-folder.ts';
import { BLANKS, STACK_FILES, stacks } from './stacks.ts';

/** More with CALLSHEET_RUNS=500. */
const RUNS = Number(process.env.CALLSHEET_RUNS ?? runs(40));
/** The same cases in every run; others with CALLSHEET_SEED. */
const SEED = Number(process.env.CALLSHEET_SEED ?? 4711);

const OPTIONS: WriteOptions = {
  kinds,
  organizations: { harbor: HARBOR, bay: BAY },
  organization: HARBOR,
};

async function loaded(files: Files): Promise<Stack> {
  const { stack, diagnostics } = await load({ ...STACK_FILES, ...files });
  if (stack === undefined || hasErrors(diagnostics)) {
    throw new Error(`${diagnostics.map(said).join('\n')}\n${String(files['all.yaml'])}`);
  }
  return stack;
}

describe('what is written', () => {
  const organization_id = HARBOR;
  const resource = (
    address: string,
    document: Writable['document'],
    rest: Partial<Writable> = {},
  ) => ({
    address,
    kind: address.split('.')[0] ?? '',
    document,
    lifecycle: { protect: false, ignore: [] },
    ...rest,
  });
  const DESK = resource('agent.desk', {
    email: ['desk@harbor.example.test'],
    voice_settings: { speed: 1.05, voice_id: new Ref('custom_voice.harbor') },
    greeting_message: 'Say "yes" to ${nobody}.',
    system_prompt: 'You answer the phone.\n\nBe brief.\n',
    transfer_rules: `Transfer ${'whoever asks for a person, '.repeat(4)}and nobody else.`,
    integrations: {
      smsProvider: { fromNumber: '+15550100', auth_token: new Secret('env:SMS_TOKEN') },
    },
    extensions: {
      tools: [
        {
          url: 'https://crm.example.test/c',
          headers: [{ value: new Secret('env:CRM_KEY'), key: 'X-Key' }],
          method: 'GET',
          condition: 'during_call',
          name: 'crm',
          type: 'webhook',
        },
      ],
    },
    name: 'Front desk',
    organization_id,
  });

  test('reads as a careful person would have written it', () => {
    const source = { url: 'https://a.example.test/faq', knowledge_base_id: BAY };
    const resources = [
      DESK,
      resource(
        'agent.other',
        { name: 'No', organization_id: BAY, new_field: true },
        { lifecycle: { protect: true, ignore: ['name'] } },
      ),
      resource('knowledge_source.clinic.faq', source),
      resource('knowledge_source.clinic.more', { ...source, reingest_after: '7d' }),
      resource('retry_policy.gentle', {
        rules: { no_answer: { max_attempts: 3, delay_seconds: 900 } },
        name: 'Gentle',
      }),
    ];
    expect(
      writeResources(resources, { ...OPTIONS, schema: 'schema.json' }).text,
    ).toBe(`# yaml-language-server: $schema=schema.json

retry_policies:
  gentle:
    name: Gentle
    rules: { no_answer: { delay_seconds: 900, max_attempts: 3 } }

knowledge_bases:
  clinic:
    id: ${BAY}
    sources:
      faq: { url: https://a.example.test/faq }
      more: { url: https://a.example.test/faq, reingest_after: 7d }

agents:
  desk:
    name: Front desk
    greeting_message: Say "yes" to $\${nobody}.
    system_prompt: |
      You answer the phone.

      Be brief.
    voice_settings: { voice_id: { $ref: custom_voice.harbor }, speed: 1.05 }
    extensions:
      tools:
        - type: webhook
          name: crm
          condition: during_call
          method: GET
          url: https://crm.example.test/c
          headers:
            - { key: X-Key, value: { $secret: env:CRM_KEY } }
    integrations:
      smsProvider: { auth_token: { $secret: env:SMS_TOKEN }, fromNumber: "+15550100" }
    transfer_rules: >-
      Transfer whoever asks for a person, whoever asks for a person, whoever asks for a person,
      whoever asks for a person, and nobody else.
    email: [desk@harbor.example.test]

  other:
    organization: bay
    name: "No"
    lifecycle: { protect: true, ignore: [name] }
    unchecked: { new_field: true }
`);
  });

  test('has its long texts in files, where the caller says so', () => {
    const fileFor = ({ address, path, text }: LongText) =>
      text.includes('\n') ? `prompts/${address}-${path}.md` : undefined;
    const { text, files } = writeResources([DESK], { ...OPTIONS, fileFor });
    expect(text).toContain('    system_prompt: { $file: prompts/agent.desk-system_prompt.md }\n');
    expect([...files]).toEqual([
      ['prompts/agent.desk-system_prompt.md', 'You answer the phone.\n\nBe brief.\n'],
    ]);
  });

  test.each([
    [{ b: { $ref: 'agent.x' } }, 'unchecked.b', 'data that reads like a value form'],
    [{ b: { ['k'.repeat(1100)]: 1 } }, 'unchecked.b', 'a key that is longer'],
    [{ b: { ['\n'.repeat(600)]: 1 } }, 'unchecked.b', 'a key that is longer'],
    [{ a: { $secret: 'x', more: 1 } }, 'unchecked.a', 'data that reads like a value form'],
    [{ a: { '<<': 1 } }, 'unchecked.a', 'the key <<'],
  ])('has no words for %j, and says so', (unchecked, path, reason) => {
    const { unwritable } = writeResources(
      [resource('agent.x', { name: 'x', ...unchecked })],
      OPTIONS,
    );
    expect(unwritable).toEqual([
      { address: 'agent.x', path, reason: expect.stringContaining(reason) },
    ]);
  });

  test('never takes the name of a live voice for an address', () => {
    const voice = { voice_settings: { voice_id: 'custom_voice.harbor' } };
    expect(writeResources([resource('agent.x', voice)], OPTIONS).unwritable).toHaveLength(1);
  });
});

const essence = ({ address, kind, document, lifecycle }: Writable) => ({
  address,
  kind,
  document,
  lifecycle,
});

describe('a stack that is written', { timeout: timeFor(RUNS) }, () => {
  test('loads as it was, is written alike again, and is as fmt leaves it', async () => {
    await fc.assert(
      fc.asyncProperty(stacks, async (resources) => {
        const { text, unwritable } = writeResources(resources, OPTIONS);
        expect(unwritable).toEqual([]);
        const stack = await loaded({ 'all.yaml': text });
        const byAddress = (a: Writable, b: Writable) => (a.address < b.address ? -1 : 1);
        expect(stack.resources.map(essence).sort(byAddress)).toStrictEqual(
          resources.map(essence).sort(byAddress),
        );
        expect(writeResources(stack.resources, OPTIONS).text).toBe(text);
        expect(formatYaml({ file: 'all.yaml', text }, fileShape(kinds))).toEqual({ text });
      }),
      { seed: SEED, numRuns: RUNS, examples: [[BLANKS]] },
    );
  });

  test('has the same digest with its texts in files', async () => {
    await fc.assert(
      fc.asyncProperty(stacks, async (resources) => {
        let count = 0;
        const fileFor = () => {
          count += 1;
          return `texts/${count}.md`;
        };
        const inFiles = writeResources(resources, { ...OPTIONS, fileFor });
        expect(inFiles.files.size).toBeGreaterThan(0);
        const files = { 'all.yaml': inFiles.text, ...Object.fromEntries(inFiles.files) };
        const inline = { 'all.yaml': writeResources(resources, OPTIONS).text };
        expect((await loaded(files)).digest).toBe((await loaded(inline)).digest);
      }),
      { seed: SEED, numRuns: RUNS / 2, examples: [[BLANKS]] },
    );
  });
});

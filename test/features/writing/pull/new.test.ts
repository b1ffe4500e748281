import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import type { Transport } from '../../../../src/platform/transport.ts';
import type { SeedDocument } from '../../../../src/simulator/index.ts';
import { longStaged, staged } from '../../../apply/stage.ts';
import { SEED } from '../../../e2e/clinic.ts';
import { commitAll, git, pulled } from './stage.ts';

const HARBOR = '3c6e0b8a-9c15-4f1d-9f0e-5d2b7f1a2c11';
const KEY = 'canary-new-93ab1f';
const LONG = `# Night desk\n\nNobody is there.\n\nTake a message.\n`;

/** What somebody made by hand: a policy, an agent that uses it, two that are called alike, a template, a voice. */
const BY_HAND: SeedDocument = {
  ...SEED,
  retry_policies: [
    {
      id: '11111111-54a3-4b0e-9b1c-2f6d8e9a0b11',
      name: 'Evenings only',
      rules: { no_answer: { delay_seconds: 60, max_attempts: 2 } },
      on_exhausted: 'end',
    },
  ],
  sms_templates: [
    {
      id: '22222222-54a3-4b0e-9b1c-2f6d8e9a0b11',
      organization_id: HARBOR,
      name: 'Überraschung!',
      message_type: 'sms',
      body: 'See you',
    },
  ],
  custom_voices: [
    { id: 'voice_by_hand', organization_id: HARBOR, name: 'By hand', language: 'en' },
  ],
  agents: [
    {
      id: '33333333-54a3-4b0e-9b1c-2f6d8e9a0b11',
      organization_id: HARBOR,
      name: 'Night desk (Nord)',
      status: 'active',
      greeting_message: '',
      system_prompt: LONG,
      voice_settings: { voice_id: 'aria', speed: 1.1 },
      default_retry_policy_id: '11111111-54a3-4b0e-9b1c-2f6d8e9a0b11',
      extensions: {
        tools: [
          {
            type: 'webhook',
            name: 'crm',
            condition: 'during_call',
            method: 'GET',
            url: 'https://crm.example.test/n',
            headers: [{ key: 'X-Api-Key', value: KEY }],
          },
        ],
      },
    },
    { id: '44444444-54a3-4b0e-9b1c-2f6d8e9a0b11', organization_id: HARBOR, name: '東京' },
    // A file of its name would make its folder a stack of its own, out of the sight of this one.
    { id: '77777777-54a3-4b0e-9b1c-2f6d8e9a0b11', organization_id: HARBOR, name: 'Callsheet' },
    { id: '55555555-54a3-4b0e-9b1c-2f6d8e9a0b11', organization_id: HARBOR, name: 'Twin' },
    { id: '66666666-54a3-4b0e-9b1c-2f6d8e9a0b11', organization_id: HARBOR, name: 'Twin' },
  ],
} as unknown as SeedDocument;

const tool = (name: string, key: string) => ({
  type: 'webhook',
  name,
  condition: 'during_call',
  method: 'GET',
  url: 'https://crm.example.test/n',
  description: `${name} says. `.repeat(30).trim(),
  headers: [{ key: 'X-Api-Key', value: key }],
});

/** Names that are alike but for what neither files nor variables may hold. */
const ALIKE: SeedDocument = {
  ...SEED,
  agents: [
    {
      id: '77777777-54a3-4b0e-9b1c-2f6d8e9a0b11',
      organization_id: HARBOR,
      name: 'Night desk',
      extensions: { tools: [tool('crm-a', 'canary-alike-1'), tool('crm_a', 'canary-alike-2')] },
    },
  ],
  sms_templates: [
    {
      id: '88888888-54a3-4b0e-9b1c-2f6d8e9a0b11',
      organization_id: HARBOR,
      name: 'Night desk',
      message_type: 'sms',
      body: 'See you.\nBring your card.',
    },
  ],
} as unknown as SeedDocument;

const SECRETS = {
  SMS_TOKEN: 'canary-sms-5f1c9a7e',
  CRM_KEY: 'canary-crm-83d20b46',
  MCP_TOKEN: 'canary-mcp-c71e4f92',
  AGENT_CRM_API_KEY: KEY,
};

/** Has something done after each answer of the platform. */
const answering =
  (each: () => void) =>
  (network: Transport): Transport => ({
    ...network,
    async send(request) {
      const answer = await network.send(request);
      each();
      return answer;
    },
  });

describe('pull --new', () => {
  staged(
    'writes what somebody made by hand as a careful person would',
    async (stage) => {
      await stage.apply();
      await commitAll(stage);
      const { status, files, refused, secrets } = await pulled(stage, {
        new: true,
        skipRefused: true,
      });
      expect(status).toBe('written');
      expect(files.map(({ path }) => path)).toEqual([
        'retry_policies/evenings_only.yaml',
        'sms_templates/uberraschung.yaml',
        'agents/night_desk_nord.yaml',
        'prompts/night_desk_nord.md',
        'agents/dong_jing.yaml',
        // As agents/callsheet.yaml it would make the folder a stack of its own.
        'agents/agent_callsheet.yaml',
        'agents/twin.yaml',
        'agents/twin_2.yaml',
      ]);
      expect(secrets).toEqual([
        {
          address: 'agent.night_desk_nord',
          path: 'extensions.tools[crm].headers[X-Api-Key].value',
          source: 'env:AGENT_CRM_API_KEY',
        },
      ]);
      expect(refused.map(({ address }) => address)).toEqual(['custom_voice.by_hand']);
      // Two have one name: only their ids tell them apart.
      expect(await stage.read('agents/twin_2.yaml')).toContain(
        'lifecycle: { adopt: 66666666-54a3-4b0e-9b1c-2f6d8e9a0b11 }',
      );
      expect(await stage.read('agents/night_desk_nord.yaml')).toBe(`agents:
  night_desk_nord:
    name: Night desk (Nord)
    status: active
    system_prompt: { $file: prompts/night_desk_nord.md }
    agent_type: simple
    model: alpha-4.1
    stt_model: voxc
    tts_model: cartx
    voice_settings: { voice_id: aria, speed: 1.1 }
    extensions:
      tools:
        - type: webhook
          name: crm
          condition: during_call
          method: GET
          url: https://crm.example.test/n
          headers:
            - { key: X-Api-Key, value: { $secret: env:AGENT_CRM_API_KEY } }
    language: en-US
    default_retry_policy_id: { $ref: retry_policy.evenings_only }
`);
      expect(await stage.read('prompts/night_desk_nord.md')).toBe(LONG);
      expect(git(stage, 'status', '--porcelain')).not.toMatch(/^ M/m);
      const { changes } = await stage.plan();
      expect(changes.map(({ action, address }) => `${action} ${address}`).sort()).toEqual([
        'adopt agent.agent_callsheet',
        'adopt agent.dong_jing',
        'adopt agent.night_desk_nord',
        'adopt agent.twin',
        'adopt agent.twin_2',
        'adopt retry_policy.evenings_only',
        'adopt sms_template.uberraschung',
      ]);
      await stage.apply();
      expect((await pulled(stage, { new: true, skipRefused: true })).files).toEqual([]);
    },
    { seed: BY_HAND, secrets: SECRETS },
  );

  staged(
    'gives every text a file, and every secret a variable, of its own',
    async (stage) => {
      await stage.apply();
      mkdirSync(join(stage.folder, 'sms_templates'));
      await stage.write('sms_templates/night_desk.md', 'somebody else wrote this');
      const { files, secrets = [], refused } = await pulled(stage, { new: true });
      expect(refused).toEqual([]);
      const paths = files.map(({ path }) => path);
      expect(new Set(paths).size).toBe(paths.length);
      const sources = secrets.map(({ source }) => source);
      expect(new Set(sources).size).toBe(2);
      const agent = await stage.read('agents/night_desk.yaml');
      for (const source of sources) expect(agent).toContain(source);
      const texts = await Promise.all(paths.map((path) => stage.read(path)));
      for (const said of ['crm-a says.', 'crm_a says.']) expect(texts.join()).toContain(said);
      const written = await stage.read('sms_templates/night_desk.yaml');
      expect(written).toContain('{ $file: sms_templates/night_desk_2.md }');
      expect(await stage.read('sms_templates/night_desk.md')).toBe('somebody else wrote this');
    },
    { seed: ALIKE, secrets: SECRETS },
  );

  longStaged(
    'shows the files without writing them, and takes those of one kind alone',
    async (stage) => {
      await stage.apply();
      const flags = { new: true, dryRun: true, addresses: ['retry_policy'] };
      const { status, files } = await pulled(stage, flags);
      expect(status).toBe('dry_run');
      expect(files.map(({ diff }) => diff?.split('\n').slice(0, 4))).toEqual([
        [
          '--- /dev/null',
          '+++ b/retry_policies/evenings_only.yaml',
          '@@ -0,0 +1,6 @@',
          '+retry_policies:',
        ],
      ]);
      await expect(stage.read('retry_policies/evenings_only.yaml')).rejects.toThrow('ENOENT');
    },
    { seed: BY_HAND, secrets: SECRETS },
  );

  staged(
    'writes nothing once it was interrupted, even after the last answer',
    async (stage) => {
      await stage.apply();
      const flags = { new: true, addresses: ['retry_policy'] };
      let answers = 0;
      await pulled(stage, { ...flags, dryRun: true }, { wire: answering(() => (answers += 1)) });
      const stop = new AbortController();
      const wire = answering(() => {
        answers -= 1;
        if (answers === 0) stop.abort();
      });
      const options = { exit: 'any', stop: stop.signal, wire } as const;
      await pulled(stage, flags, options).catch(() => undefined);
      expect(stop.signal.aborted).toBe(true);
      await expect(stage.read('retry_policies/evenings_only.yaml')).rejects.toThrow('ENOENT');
    },
    { seed: BY_HAND, secrets: SECRETS },
  );

  staged(
    'writes nothing where something cannot be written and nobody said to skip it',
    async (stage) => {
      await stage.apply();
      const { status, refused } = await pulled(
        stage,
        { new: true, addresses: ['custom_voice', 'retry_policy'] },
        { exit: 4 },
      );
      expect(status).toBe('refused');
      expect(refused.map(({ reason }) => reason)).toEqual([
        'voice_by_hand: it needs a file, which the platform does not give back',
      ]);
      await expect(stage.read('retry_policies/evenings_only.yaml')).rejects.toThrow('ENOENT');
    },
    { seed: BY_HAND, secrets: SECRETS },
  );
});

import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import type { Json, JsonObject } from '../../../../src/core/value.ts';
import { formatText } from '../../../../src/features/writing/edit/format.ts';
import { longStaged, type Stage, staged } from '../../../apply/stage.ts';
import { agentId, agentRecord, commitAll, FLEET, git, pulled } from './stage.ts';

const GOLDEN = join(import.meta.dirname, 'fleet.diff');

function toolsOf(stage: Stage, name: string): readonly JsonObject[] {
  const { extensions } = agentRecord(stage, name) as { extensions?: { tools?: JsonObject[] } };
  return extensions?.tools ?? [];
}

/** Twenty edits in the dashboard: who, which agent, what. */
function editAll(stage: Stage): number {
  const { sim } = stage;
  const [anna, ben, eve] = ['user:anna', 'user:ben', 'user:eve'];
  const rows: readonly (readonly [string | undefined, string, JsonObject])[] = [
    [anna, 'Front desk', { greeting_message: 'Harbor Dental, "how" can I help you?' }],
    [anna, 'Front desk', { voicemail_message: "You've reached us." }],
    [ben, 'Night desk', { voicemail_message: "You've reached us." }],
    [ben, 'Front desk', { system_prompt: '# Front desk\r\n\r\nYou answer.\r\nBe brief.' }],
    [
      eve,
      'Front desk',
      {
        transfer_rules:
          'Whoever asks for a person is put through to the front desk, unless it is after seven in the evening. Then take a message and promise a call on the next day.',
      },
    ],
    [eve, 'Front desk', { email: ['desk@harbor.example.test', 'eve@harbor.example.test'] }],
    [anna, 'Front desk', { voice_settings: { pitch: -1 } }],
    [ben, 'Front desk', { status: 'inactive' }],
    [
      ben,
      'Front desk',
      {
        extensions: {
          tools: [
            ...toolsOf(stage, 'Front desk')
              .filter(({ name }) => name === 'crm_lookup')
              .map((tool) => ({ ...tool, url: 'https://crm.example.test/v2/patients' })),
            {
              type: 'webhook',
              name: 'sms',
              condition: 'after_call',
              method: 'POST',
              url: 'https://sms.example.test',
            },
          ],
        } as Json as JsonObject,
      },
    ],
    [anna, 'Night desk', { description: 'Answers from six to nine.\n\nNobody is there.' }],
    [eve, 'Alder Bay', { greeting_message: 'Alder Bay, hi' }],
    [eve, 'Birch Hill', { greeting_message: 'Birch Hill, hello' }],
    [eve, 'Cedar', { voice_settings: { speed: 0.95 } }],
    [anna, 'Cedar', { greeting_message: null }],
    [anna, 'Birch Hill', { system_prompt: 'You are the desk of Birch Hill.\nBe kind.' }],
    [ben, 'Cedar', { system_prompt: 'You are Cedar.' }],
  ];
  for (const [who, name, patch] of rows) sim.edit(agentId(stage, name), patch, who);
  // What every agent has from its base, everybody changed alike.
  for (const { record } of sim.store.agents.values()) {
    sim.edit(String(record.id), { config: { max_call_duration: 600 } }, eve);
  }
  const policies = [...sim.store.retryPolicies.values()];
  const [gentle, eager] = ['Gentle redial', 'Eager redial'].map((name) =>
    policies.find((policy) => policy.name === name),
  );
  if (gentle) gentle.rules = { no_answer: { delay_seconds: 1200, max_attempts: 3 } };
  if (eager) {
    eager.rules = { no_answer: { delay_seconds: 60, max_attempts: 5 } };
    sim.edit(agentId(stage, 'Night desk'), { default_retry_policy_id: eager.id ?? null }, ben);
  }
  return rows.length + 4;
}

describe('twenty edits by three people', () => {
  staged(
    'come into the files as the values that changed, and as nothing else',
    async (stage) => {
      await stage.apply();
      await commitAll(stage);
      expect(editAll(stage)).toBe(20);
      const { status, kept, refused } = await pulled(stage);
      expect({ status, kept, refused }).toEqual({ status: 'written', kept: [], refused: [] });
      expect((await stage.plan()).changes).toEqual([]);
      const diff = git(stage, 'diff', '--no-color', '--no-ext-diff', '-U0', '--abbrev=7');
      if (process.env.UPDATE_GOLDEN === '1') writeFileSync(GOLDEN, diff);
      expect(diff).toBe(readFileSync(GOLDEN, 'utf8'));
    },
    { stack: FLEET },
  );

  longStaged(
    'leave formatted files formatted, and each value on the line that pull names',
    async (stage) => {
      const yaml = ['agents/desk.yaml', 'agents/clinics.yaml', 'bases.yaml', 'policies.yaml'];
      const format = async (file: string) => formatText(file, await stage.read(file)).after ?? '';
      for (const file of yaml) await stage.write(file, await format(file));
      await stage.apply();
      // It comes back with the live value, above most others.
      const greeting = / {4}greeting_message: Harbor.*\n/.exec(
        await stage.read('agents/desk.yaml'),
      );
      await stage.edit('agents/desk.yaml', greeting?.[0] ?? '', '');
      await commitAll(stage);
      editAll(stage);
      const { pulled: leaves, refused } = await pulled(stage, { theirs: true });
      expect(refused).toEqual([]);
      for (const file of yaml) expect(await stage.read(file)).toBe(await format(file));
      for (const { path, file, line } of leaves) {
        if (line === null || !yaml.includes(file)) continue;
        const text = (await stage.read(file)).split('\n')[line - 1];
        const [name = ''] = /[^.[\]]+(?=\]?$)/.exec(path) ?? [];
        expect(`${path}: ${text}`).toContain(path.endsWith(']') ? ' - ' : `${name}:`);
      }
    },
    { stack: FLEET },
  );
});

import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import type { SeedDocument } from '../../src/simulator/index.ts';
import { type Stage, staged } from '../apply/stage.ts';
import { agentNamed, SEED } from '../e2e/clinic.ts';
import { ownState, restoreOn, wipe } from '../features/recovery/restoring.ts';
import { take } from '../snapshot/taking.ts';

const HARBOR = '3c6e0b8a-9c15-4f1d-9f0e-5d2b7f1a2c11';
const ONE = '71717171-7777-4777-a777-000000000001';
const TWO = '71717171-7777-4777-a777-000000000002';
const KEY = { CALLSHEET_SNAPSHOT_PASSPHRASE: 'correct horse battery staple' };

/** An agent that somebody made by hand, with a value in each place that no schema describes. */
const BY_HAND = {
  id: ONE,
  organization_id: HARBOR,
  name: 'By hand',
  config: {
    fallback_agent_id: TWO,
    api_key: 'canary-config',
    list: [{ access_token: 'canary-list', to: TWO }],
    headers: [{ key: 'X-Own', value: 'canary-headers' }],
  },
  extensions: {
    tools: [
      {
        type: 'webhook',
        name: 'crm',
        condition: 'during_call',
        method: 'GET',
        url: `https://crm.example.test/agents/${TWO}`,
        parameters: [{ key: 'agent', value: TWO }],
      },
    ],
    mcp_servers: [
      {
        connection_name: 'tools',
        mcp_endpoint_url: 'https://mcp.example.test/',
        transport_type: 'http',
        initialization_options: { tenant: 'harbor', token: 'canary-options' },
        pre_answer_calls: [{ tool_name: 'greet', arguments: { api_key: 'canary-call', for: TWO } }],
        tools: [],
      },
    ],
  },
};

const WITH_IT: SeedDocument = {
  ...SEED,
  agents: [BY_HAND, { id: TWO, organization_id: HARBOR, name: 'Other' }],
} as unknown as SeedDocument;

/** Every text that a restoration leaves on the disk. */
async function filesOf({ folder }: Stage): Promise<string> {
  const found = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = found.filter((one) => one.isFile() && !one.name.endsWith('.snapshot'));
  const texts = await Promise.all(files.map((one) => readFile(join(one.parentPath, one.name))));
  return texts.map(String).join('\n');
}

const agentOf = ({ sim }: Stage, name: string) => agentNamed(sim, name);

describe('what no schema describes', () => {
  staged(
    'is restored as it was, and what is named like a secret is shown and remembered nowhere',
    async (stage) => {
      const { file } = await take(stage, 'then.snapshot', {}, KEY);
      wipe(stage.sim);
      const flags = { state: ownState(stage), format: 'text', verbose: true } as const;
      const said = await restoreOn(stage, file, flags, { env: KEY });
      expect(said.out).toContain('Verified');
      const { record } = agentOf(stage, 'By hand');
      expect(record.config).toEqual(BY_HAND.config);
      expect(record.extensions).toMatchObject(BY_HAND.extensions);
      stage.sim.edit(agentOf(stage, 'By hand').id, { config: {}, extensions: {} });
      const again = await restoreOn(stage, file, { ...flags, over: true }, { env: KEY });
      expect(agentOf(stage, 'By hand').record.config).toEqual(BY_HAND.config);
      const texts = [said.out, said.err, again.out, again.err, await filesOf(stage)];
      expect(texts.join('\n').match(/canary-\w+/g)).toBeNull();
    },
    { seed: WITH_IT },
  );

  staged(
    'gets new ids only when that is asked for, wherever they stand',
    async (stage) => {
      const { file } = await take(stage, 'then.snapshot', {}, KEY);
      wipe(stage.sim);
      const flags = { state: ownState(stage) };
      const dry = { ...flags, dryRun: true, format: 'text' } as const;
      const said = await restoreOn(stage, file, dry, { env: KEY });
      expect(said.out.replaceAll(/\s+/g, ' ')).toContain(
        'agent.by_hand config, extensions names ids that change, and keeps the old ids',
      );
      await restoreOn(stage, file, { ...flags, mapTexts: true }, { env: KEY });
      const text = JSON.stringify(agentOf(stage, 'By hand').record);
      expect(text).not.toContain(TWO);
      // The address and a parameter of a webhook, settings, a list in them, and a call of a tool.
      expect(text.split(agentOf(stage, 'Other').id)).toHaveLength(6);
    },
    { seed: WITH_IT },
  );
});

const TWIN = { organization_id: HARBOR, name: 'Twin' };
const DOUBLES: SeedDocument = {
  ...SEED,
  agents: [
    {
      ...BY_HAND,
      extensions: {
        tools: [
          {
            ...BY_HAND.extensions.tools[0],
            headers: [
              { key: 'X-Own', value: 'canary-first' },
              { key: 'X-Own', value: 'canary-second' },
            ],
          },
        ],
      },
    },
    { ...TWIN, id: TWO },
    { ...TWIN, id: '71717171-7777-4777-a777-000000000003' },
  ],
} as unknown as SeedDocument;

describe('what has a name that another has', () => {
  staged(
    'comes back in its order, and is told where nobody can say which is meant',
    async (stage) => {
      const { file } = await take(stage, 'then.snapshot', {}, KEY);
      wipe(stage.sim);
      const { summary } = await restoreOn(stage, file, { state: ownState(stage) }, { env: KEY });
      expect(JSON.stringify(summary().exceptions)).not.toContain('X-Own');
      const restored = JSON.stringify([...stage.sim.store.agents.values()]);
      expect(restored).toMatch(/"X-Own","value":"canary-first".*"X-Own","value":"canary-second"/);
      // Its state is lost, and both of one name have other ids than they had.
      const lost = { state: join(stage.folder, 'other.json'), over: true };
      const { err } = await restoreOn(stage, file, lost, { env: KEY, exit: 1 });
      expect(err).toContain('2 live resources have this name');
      expect(err).toContain('--state');
      expect(err).not.toContain('lifecycle');
    },
    { seed: DOUBLES },
  );
});

describe('a restoration that fails in part', () => {
  staged(
    'names what is not there, and nothing that is',
    async (stage) => {
      const { file } = await take(stage, 'then.snapshot', {}, KEY);
      wipe(stage.sim);
      stage.sim.faults.add({ operation: 'createAgent', status: 400, skip: 1 });
      const flags = { state: ownState(stage), concurrency: 1 };
      const { summary } = await restoreOn(stage, file, flags, { env: KEY, exit: 3 });
      const made = [...stage.sim.store.agents.values()].map(({ record }) => record.name);
      expect(made).toHaveLength(1);
      const missing = made[0] === 'Other' ? 'agent.by_hand' : 'agent.other';
      expect(summary().remaining.map(({ address }) => address)).toEqual([missing]);
    },
    { seed: WITH_IT },
  );
});

import { describe, expect } from 'vitest';
import { type RollbackFlags, rollback } from '../../src/cli/commands/rollback.ts';
import type { JsonObject } from '../../src/core/value.ts';
import { type Stage, staged } from '../apply/stage.ts';
import { CANARIES } from '../e2e/clinic.ts';
import { isTorture } from '../long.ts';
import { stateCommands } from './state-stage.ts';

function extensions({ sim }: Stage): JsonObject {
  const desk = [...sim.store.agents.values()].find(({ record }) => record.name === 'Front desk');
  const found = desk?.record.extensions;
  // The platform gives a server that is made again another id.
  return JSON.parse(
    JSON.stringify(found ?? {}, (key, value) => (key === 'id' ? undefined : value)),
  );
}

const ROTATED = { CRM_KEY: 'canary-crm-rotated-1', MCP_TOKEN: 'canary-mcp-rotated-1' };
const NO_KEY = { CALLSHEET_FINGERPRINT_KEY: '' };
const undo = (stage: Stage, exit: number, env = {}, more: Partial<RollbackFlags> = {}) =>
  stage.run(
    (to) => rollback({ dir: stage.folder, format: 'text', autoApprove: true, ...more }, to),
    { exit, env },
  );

/** What a run does to the values; `isGone`: it takes them away with what they belong to. */
const RUNS: Readonly<Record<string, (stage: Stage, env: object) => Promise<unknown>>> = {
  'new values': (stage, env) => stage.apply({}, { env: { ...ROTATED, ...env } }),
  'tools and servers that go': async (stage, env) => {
    const agents = await stage.read('agents.yaml');
    const [from, to] = [agents.indexOf('    extensions:'), agents.indexOf('\n  recall:')];
    const none = '    extensions: { tools: [], mcp_servers: [] }\n';
    await stage.write('agents.yaml', agents.slice(0, from) + none + agents.slice(to));
    return stage.apply({}, { env: { ...env } });
  },
  'a header that goes': async (stage, env) => {
    const header = '[{ key: X-Api-Key, value: { $secret: env:CRM_KEY } }]';
    await stage.edit('agents.yaml', header, '[]');
    return stage.apply({}, { env: { ...env } });
  },
};

describe('sensitive values that the platform returns', () => {
  for (const [what, change] of Object.entries(RUNS)) {
    staged(`are put back where a key keeps them: ${what}`, async (stage) => {
      await stage.apply();
      const before = extensions(stage);
      await change(stage, {});
      expect(extensions(stage)).not.toEqual(before);
      await undo(stage, 0);
      expect(extensions(stage)).toEqual(before);
      expect(JSON.stringify(before)).toContain(CANARIES.CRM_KEY);
    });

    // Without a key each command takes a second of processor time.
    if (what !== 'a header that goes' && !isTorture) continue;
    staged(`are named and never sent broken without one: ${what}`, async (stage) => {
      await stage.apply({}, { env: NO_KEY });
      await change(stage, NO_KEY);
      const since = stage.writes().length;
      const { out } = await undo(stage, 3, NO_KEY);
      expect(out).toContain('Not restored:');
      expect(out.replace(/\s+/g, ' ')).toContain('headers[X-Api-Key].value');
      const sent = JSON.stringify(stage.writes().slice(since));
      expect(sent).not.toContain('"key":"X-Api-Key"}');
      expect(sent).not.toMatch(/"value":(null|"")/);
    });
  }

  staged('are named where the key is another one', async (stage) => {
    await stage.apply();
    await stage.apply({}, { env: ROTATED });
    const env = { CALLSHEET_FINGERPRINT_KEY: 'canary-other-key-1' };
    await stateCommands(stage).adopt({ env });
    const { out } = await undo(stage, 3, env);
    expect(out).toContain('headers[X-Api-Key].value');
  });

  for (const [how, env, isKept] of [
    ['with a key', {}, true],
    ['without one', NO_KEY, false],
  ] as const) {
    const address = 'https://mcp.example.test/mcp?token=hush-0123';
    const named = async (stage: Stage) => {
      const server = 'connection_name: Calendar';
      await stage.edit('agents.yaml', server, `connection_name: '${address}'`);
      await stage.apply({}, { env });
      return extensions(stage);
    };

    staged(`a server that its address names keeps its name, ${how}`, async (stage) => {
      const before = await named(stage);
      await stage.edit('agents.yaml', 'transport_type: http', 'transport_type: sse');
      await stage.apply({}, { env });
      await undo(stage, 0, env);
      expect(extensions(stage)).toEqual(before);
    });

    staged(`a server that its address names is never made nameless, ${how}`, async (stage) => {
      const before = await named(stage);
      const agents = await stage.read('agents.yaml');
      const [from, to] = [agents.indexOf('      mcp_servers:'), agents.indexOf('\n  recall:')];
      const none = '      mcp_servers: []\n';
      await stage.write('agents.yaml', agents.slice(0, from) + none + agents.slice(to));
      await stage.apply({}, { env });
      const { out } = await undo(stage, isKept ? 0 : 3, env);
      expect(out).not.toContain('hush');
      expect(extensions(stage)).toEqual(isKept ? before : { ...before, mcp_servers: [] });
    });
  }
});

import { expect } from 'vitest';
import { stateIn } from '../cli/state-stage.ts';
import { agentNamed } from '../e2e/clinic.ts';
import { type Stage, stagedBothWays } from './stage.ts';

/**
 * What planning finds out of resources without a change: whose each value is, what is protected, what agrees by now. By a
 * plan file and by an apply the state remembers the same, and `left` is what that must be.
 */
type Row = {
  readonly what: string;
  readonly prepare?: (stage: Stage) => Promise<void>;
  /** What is done after the first apply, before the second. */
  readonly change: (stage: Stage) => Promise<void> | void;
  readonly left: (stage: Stage) => Promise<void>;
};

const RECALL = '  recall:\n    name: Recall';

const protect = (stage: Stage) =>
  stage.edit('agents.yaml', RECALL, `${RECALL}\n    lifecycle: { protect: true }`);

const remembered = async (stage: Stage, address = 'agent.recall') =>
  (await stateIn(stage)).resources[address];

const ROWS: readonly Row[] = [
  {
    what: 'protection that is added',
    change: protect,
    left: async (stage) => expect((await remembered(stage))?.protect).toBe(true),
  },
  {
    what: 'protection that is taken away',
    prepare: protect,
    change: (stage) => stage.edit('agents.yaml', '\n    lifecycle: { protect: true }', ''),
    left: async (stage) => expect((await remembered(stage))?.protect).toBe(false),
  },
  {
    what: 'a value that is pulled: files and platform changed alike',
    change: async (stage) => {
      await stage.edit('agents.yaml', 'how can I help?', 'good day!');
      const greeting = 'Harbor Dental, good day!';
      stage.sim.edit(agentNamed(stage.sim).id, { greeting_message: greeting });
    },
    left: async (stage) =>
      expect((await remembered(stage, 'agent.desk'))?.leaves.greeting_message).toEqual({
        value: 'Harbor Dental, good day!',
      }),
  },
  {
    what: 'a line that lifecycle.ignore lets go of',
    change: (stage) =>
      stage.edit('agents.yaml', RECALL, `${RECALL}\n    lifecycle: { ignore: [system_prompt] }`),
    left: async (stage) =>
      expect(Object.keys((await remembered(stage))?.leaves ?? {})).not.toContain('system_prompt'),
  },
  {
    what: 'a line that is added as it is live',
    change: (stage) => {
      const { id, record } = agentNamed(stage.sim, 'Recall');
      const { greeting_message: greeting } = record;
      if (greeting === undefined) stage.sim.edit(id, { greeting_message: 'Hello' });
      stage.sim.edit(id, { greeting_message: 'Hello' });
      return stage.edit('agents.yaml', RECALL, `${RECALL}\n    greeting_message: Hello`);
    },
    left: async (stage) =>
      expect((await remembered(stage))?.leaves.greeting_message).toEqual({ value: 'Hello' }),
  },
  {
    what: 'an address that moved',
    change: async (stage) => {
      await stage.edit('agents.yaml', '  desk:\n', '  front:\n');
      await stage.edit(
        'callsheet.yaml',
        'callsheet: 1\n',
        'callsheet: 1\nmoved: [{ from: agent.desk, to: agent.front }]\n',
      );
    },
    left: async (stage) => {
      expect(await remembered(stage, 'agent.desk')).toBeUndefined();
      const { leaves = {} } = (await remembered(stage, 'agent.front')) ?? {};
      expect(leaves['integrations.smsProvider.auth_token']).toHaveProperty('fingerprint');
      expect(leaves['extensions.tools[crm_lookup].headers[X-Api-Key].value']).toHaveProperty(
        'fingerprint',
      );
    },
  },
  {
    what: 'a fleet that is taken over without a state',
    change: (stage) => stage.forget(),
    left: async (stage) => {
      const { leaves = {} } = (await remembered(stage, 'agent.desk')) ?? {};
      expect(leaves['integrations.smsProvider.auth_token']).toHaveProperty('unknown');
      expect(leaves['extensions.tools[crm_lookup].headers[X-Api-Key].value']).toHaveProperty(
        'fingerprint',
      );
    },
  },
];

for (const { what, prepare, change, left } of ROWS)
  stagedBothWays(`the state remembers ${what}`, async (stage) => {
    await prepare?.(stage);
    await stage.apply();
    await change(stage);
    const since = stage.writes().length;
    await stage.apply();
    expect(stage.writes().length, 'nothing is written').toBe(since);
    await left(stage);
  });

import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { rollback } from '../../src/cli/commands/rollback.ts';
import { runs } from '../../src/cli/commands/state.ts';
import { apply } from '../../src/console/apply.ts';
import type { Json, JsonObject } from '../../src/core/value.ts';
import type { Dialect } from '../../src/simulator/index.ts';
import { longStaged, type Stage, staged } from '../apply/stage.ts';
import { agentNamed } from '../e2e/clinic.ts';
import { longRows } from '../long.ts';
import { typedCommands } from '../typed-commands.ts';

/** The platform without what every write moves on, and without the history that a rollback adds to. */
function settled({ sim }: Stage): JsonObject {
  const { history: _, organizations: __, ...store } = sim.dump();
  return JSON.parse(
    JSON.stringify(store, (key, value: Json) => (key === 'updated_at' ? null : value)),
  );
}

/** Prompt, model, status and webhooks of the desk: what history records, and what it does not. */
async function changeFour(stage: Stage): Promise<void> {
  await stage.edit('prompts/desk.md', 'Be brief.', 'Agree with everything.');
  await stage.edit('agents.yaml', 'model: alpha-4.1', 'model: alpha-4o');
  await stage.edit('agents.yaml', 'status: active', 'status: inactive');
  await stage.edit('agents.yaml', 'crm.example.test/patients', 'crm.example.test/v9');
}

async function drop(stage: Stage, file: string, from: string, to?: string): Promise<void> {
  const text = await stage.read(file);
  const end = to === undefined ? text.length : text.indexOf(to);
  await stage.write(file, text.slice(0, text.indexOf(from)) + text.slice(end));
}

describe('a rollback leaves the platform as it was before the run', () => {
  const rows: readonly (readonly [string, (stage: Stage) => Promise<void>, readonly string[]])[] = [
    [
      'what history records goes back by a revert alone',
      (stage) => stage.edit('agents.yaml', 'model: alpha-4.1', 'model: alpha-4o'),
      ['revertAgent'],
    ],
    [
      'what it does not, by an update alone',
      (stage) => stage.edit('agents.yaml', 'status: active', 'status: inactive'),
      ['updateAgent'],
    ],
    ['both, by one of each', changeFour, ['revertAgent', 'updateAgent']],
    [
      'a field that was set for the first time is empty again',
      (stage) =>
        stage.edit(
          'agents.yaml',
          'name: Recall',
          'name: Recall\n    description: Calls people.\n    email: [desk@harbor.example.test]',
        ),
      ['revertAgent'],
    ],
    [
      'a field that was cleared has its value again',
      (stage) => drop(stage, 'agents.yaml', '    greeting_message:', '    system_prompt:'),
      ['revertAgent'],
    ],
    [
      'a webhook that was added goes',
      (stage) =>
        stage.edit(
          'agents.yaml',
          '      mcp_servers:',
          '        - { type: webhook, name: log, condition: after_call, method: POST, url: "https://crm.example.test/log" }\n      mcp_servers:',
        ),
      ['updateAgent'],
    ],
    [
      'a policy has its old rules',
      (stage) => stage.edit('resources.yaml', 'max_attempts: 3', 'max_attempts: 5'),
      ['updateRetryPolicy'],
    ],
    [
      'templates have their old texts',
      async (stage) => {
        await stage.edit('resources.yaml', 'body: See you', 'body: Be there');
        await stage.edit('resources.yaml', 'subject: Your visit', 'subject: A visit');
      },
      ['updateEmailTemplate', 'updateSmsTemplate'],
    ],
  ];
  // A revert alone, an update alone, both, and what has no history.
  const ALIKE = [
    'a field that was set for the first time is empty again',
    'a webhook that was added goes',
    'templates have their old texts',
  ];
  for (const [what, change, requests] of longRows(rows, ([name]) => !ALIKE.includes(name))) {
    staged(what, async (stage) => {
      await stage.apply();
      const before = settled(stage);
      await change(stage);
      await stage.apply();
      const since = stage.writes().length;
      await stage.rollback();
      const made = stage.writes().slice(since);
      expect(made.map(({ operation }) => operation).sort()).toEqual(requests);
      expect(made.map(({ status }) => status)).toEqual(made.map(() => 200));
      // Templates count their versions up with every write.
      expect(withoutVersions(settled(stage))).toEqual(withoutVersions(before));
    });
  }
});

describe('an update does what a revert cannot', () => {
  const rows: readonly (readonly [string, Partial<Dialect>, readonly string[]])[] = [
    ['retention took the version', { historyRetention: 1 }, ['updateAgent 200']],
    [
      'the platform has no revert',
      { absent: ['revertAgent'] },
      ['revertAgent 404', 'updateAgent 200'],
    ],
  ];
  for (const [why, dialect, requests] of rows) {
    staged(
      why,
      async (stage) => {
        await stage.apply();
        const before = settled(stage);
        await changeFour(stage);
        await stage.apply();
        const since = stage.writes().length;
        await stage.rollback();
        const made = stage.writes().slice(since);
        expect(made.map(({ operation, status }) => `${operation} ${status}`)).toEqual(requests);
        expect(settled(stage)).toEqual(before);
      },
      { dialect },
    );
  }
});

describe('what was deleted comes back, and is referred to again', () => {
  staged('the policy and the agent that follows it', async (stage) => {
    await stage.apply();
    await drop(stage, 'agents.yaml', '  recall:');
    await drop(stage, 'resources.yaml', 'retry_policies:', 'email_templates:');
    await stage.apply({ allowDelete: true });
    await stage.rollback();
    const [policy] = stage.sim.store.retryPolicies.values();
    const recall = agentNamed(stage.sim, 'Recall');
    expect(recall.record.default_retry_policy_id).toBe(policy?.id);
  });
  staged('the policy, and the agent that stayed', async (stage) => {
    await stage.apply();
    await stage.edit(
      'agents.yaml',
      '    default_retry_policy_id: { $ref: retry_policy.gentle }\n',
      '',
    );
    await drop(stage, 'resources.yaml', 'retry_policies:', 'email_templates:');
    await stage.apply({ allowDelete: true });
    await stage.rollback();
    const [policy] = stage.sim.store.retryPolicies.values();
    const recall = agentNamed(stage.sim, 'Recall');
    expect(recall.record.default_retry_policy_id).toBe(policy?.id);
  });
});

describe('what has another address since the run goes back under that', () => {
  const moveTo = async (stage: Stage, from: string, to: string) => {
    await stage.edit('agents.yaml', `  ${from}:`, `  ${to}:`);
    await withSettings(stage, `moved: [{ from: agent.${from}, to: agent.${to} }]`);
  };
  const NIGHT = 'agents:\n  night:\n    name: Night\n    status: active\n';

  staged(
    'what it changed, and what was kept of it encrypted, but for its secrets',
    async (stage) => {
      await stage.apply();
      const before = settled(stage);
      await changeFour(stage);
      await stage.edit('agents.yaml', 'fromNumber: "+15550100"', 'fromNumber: "+15550199"');
      await stage.apply();
      await moveTo(stage, 'desk', 'front');
      await stage.apply();
      await stage.rollback();
      expect(settled(stage)).toEqual(before);
      await stage.edit('prompts/desk.md', 'Agree with everything.', 'Be brief.');
      await stage.edit('agents.yaml', 'model: alpha-4o', 'model: alpha-4.1');
      await stage.edit('agents.yaml', 'status: inactive', 'status: active');
      await stage.edit('agents.yaml', 'crm.example.test/v9', 'crm.example.test/patients');
      await stage.edit('agents.yaml', '"+15550199"', '"+15550100"');
      expect((await stage.plan()).changes).toEqual([]);
    },
  );

  staged('what it made', async (stage) => {
    await stage.apply();
    const before = settled(stage);
    await stage.edit('agents.yaml', 'agents:\n', NIGHT);
    await stage.apply();
    await moveTo(stage, 'night', 'late');
    await stage.apply();
    await stage.rollback();
    expect(settled(stage)).toEqual(before);
  });

  staged('and not what has its address by now', async (stage) => {
    await stage.apply();
    await stage.edit('agents.yaml', 'agents:\n', NIGHT);
    await stage.apply();
    const { id } = agentNamed(stage.sim, 'Night').record;
    await stage.edit('agents.yaml', 'name: Night', 'name: Night\n    description: Sleeps.');
    await stage.apply();
    await moveTo(stage, 'night', 'late');
    await stage.apply();
    await stage.edit('callsheet.yaml', 'moved: [{ from: agent.night, to: agent.late }]\n', '');
    await stage.edit('agents.yaml', 'agents:\n', NIGHT.replace('name: Night', 'name: Owl'));
    await stage.apply();
    const listed = await stage.run((to) => runs(undefined, given(stage), to));
    const since = stage.writes().length;
    await stage.rollback({ run: JSON.parse(listed.out).runs[2].run });
    const made = stage.writes().slice(since);
    expect(made).not.toEqual([]);
    expect(made.every(({ path }) => path.includes(String(id)))).toBe(true);
    expect(agentNamed(stage.sim, 'Night').record.description ?? null).toBeNull();
  });
});

staged('the receipt of a run that was rolled back names the run that did it', async (stage) => {
  await stage.apply();
  await stage.edit('agents.yaml', 'model: alpha-4.1', 'model: alpha-4o');
  await stage.apply();
  await stage.rollback();
  const listed = JSON.parse((await stage.run((to) => runs(undefined, given(stage), to))).out);
  const [undoing, undone, first] = listed.runs.map(({ run }: { readonly run: string }) => run);
  const lastCommand = async (run: string) => {
    const { out } = await stage.run((to) => runs(run, { dir: stage.folder, format: 'text' }, to));
    return typedCommands(out).at(-1);
  };
  expect(await lastCommand(undone)).toBe(`callsheet runs ${undoing} --dir ${stage.folder}`);
  expect(await lastCommand(first)).toBe(`callsheet rollback ${first} --dir ${stage.folder}`);
  const receipt = await stage.run((to) => runs(undone, given(stage), to));
  expect(JSON.parse(receipt.out).undone_by).toBe(undoing);
});

describe('a rollback of which nothing is left to do writes nothing', () => {
  const rows: readonly (readonly [string, (stage: Stage) => void, object])[] = [
    [
      'because somebody edited all of it',
      ({ sim }) => sim.edit(agentNamed(sim).record.id as string, { model: 'alpha-4.1-mini' }),
      { skipRefused: true },
    ],
    ['because all of it is excluded', () => {}, { exclude: ['agent.desk'] }],
  ];
  for (const [why, meanwhile, flags] of rows)
    staged(why, async (stage) => {
      await stage.apply();
      await stage.edit('agents.yaml', 'model: alpha-4.1', 'model: alpha-4o');
      await stage.apply();
      meanwhile(stage);
      const [before, since] = [settled(stage), stage.writes().length];
      await stage.rollback(flags, { exit: 'any' });
      expect(stage.writes().slice(since)).toEqual([]);
      expect(settled(stage)).toEqual(before);
    });
});

describe('the way back does not wait for the configuration to be mended', () => {
  const rows: readonly (readonly [string, (stage: Stage) => Promise<void>])[] = [
    ['a field is unknown', (stage) => stage.edit('agents.yaml', 'model:', 'mdoel:')],
    ['a file is no YAML', (stage) => stage.write('resources.yaml', 'retry_policies: { [')],
    ['a prompt is missing', (stage) => stage.remove('prompts/desk.md')],
    [
      'a reference leads nowhere',
      (stage) => stage.edit('agents.yaml', 'policy.gentle', 'policy.x'),
    ],
    [
      'a secret is read from nowhere',
      (stage) => stage.edit('agents.yaml', 'env:SMS_TOKEN', 'vault:SMS_TOKEN'),
    ],
    [
      'a rollout selects nobody',
      (stage) => withSettings(stage, 'rollouts: { slow: { select: { targets: [agent.none] } } }'),
    ],
    [
      'a rollout has no steps',
      (stage) => withSettings(stage, 'rollouts: { slow: { steps: [0] } }'),
    ],
    [
      'nothing is left of it',
      async (stage) => {
        await stage.remove('agents.yaml');
        await stage.write('resources.yaml', 'agent: {}');
      },
    ],
  ];
  for (const [what, mistake] of rows)
    staged(what, async (stage) => {
      await stage.apply();
      const before = settled(stage);
      await changeFour(stage);
      await stage.apply();
      await mistake(stage);
      await stage.run((to) => apply(undefined, { ...given(stage), autoApprove: true }, to), {
        exit: 1,
      });
      const listed = await stage.run((to) => runs(undefined, given(stage), to));
      expect(JSON.parse(listed.out).runs).toHaveLength(2);
      const { err } = await stage.run((to) => rollback({ ...given(stage), autoApprove: true }, to));
      expect(err).toMatch(/The configuration has .* at \w+\.yaml:\d+ \(.*callsheet validate/s);
      expect(settled(stage)).toEqual(before);
    });

  staged('unless nobody knows which platform it is about', async (stage) => {
    await stage.apply();
    await changeFour(stage);
    await stage.apply();
    await stage.edit('callsheet.yaml', 'organization: harbor', 'organization: harbour');
    const asked = stage.sim.requests.length;
    const { err } = await stage.run((to) => rollback({ ...given(stage), autoApprove: true }, to), {
      exit: 1,
    });
    expect(err).toContain('harbour');
    expect(stage.sim.requests).toHaveLength(asked);
  });
});

/** Ends a line for some readers, or is no part of a text for others. */
const ODD = '\u2028 \u2029 \u0085 \r \u000b \u000c \u001c \ufeff \u00a0 \u200b \u202e \u007f';

staged('a run is undone whatever characters its texts have, in Git and live', async (stage) => {
  const say = (text: string) =>
    stage.write(
      'odd.yaml',
      `agents: { odd: { name: Odd, greeting_message: ${JSON.stringify(`${text} ${ODD}`)} } }\n`,
    );
  await say('Hello');
  await stage.apply();
  const odd = agentNamed(stage.sim, 'Odd');
  Object.assign(odd.record, {
    description: `By hand ${ODD}`,
    updated_at: '2026-11-22T12:00:00.5Z',
  });
  const before = settled(stage);
  await say('Good day');
  await stage.plan({ out: join(stage.folder, 'plan.json') } as object);
  await stage.applyFile('plan.json');
  expect(odd.record.greeting_message).toContain(`Good day ${ODD}`);
  await stage.rollback();
  expect(settled(stage)).toEqual(before);
});

const given = ({ folder }: Stage) => ({ dir: folder, format: 'json' as const });

async function withSettings(stage: Stage, lines: string): Promise<void> {
  await stage.write('callsheet.yaml', `${await stage.read('callsheet.yaml')}${lines}\n`);
}

staged('a rollback is rolled back only when it is named', async (stage) => {
  await stage.apply();
  await changeFour(stage);
  await stage.apply();
  const changed = settled(stage);
  await stage.rollback();
  const again = await stage.run(
    (context) => rollback({ dir: stage.folder, format: 'text', autoApprove: true }, context),
    { exit: 1 },
  );
  const run = /callsheet rollback (2[^\s`]+)/.exec(again.err)?.[1] ?? '';
  await stage.rollback({ run });
  expect(settled(stage)).toEqual(changed);
});

staged('a big run can be rolled back, whatever the thresholds for applying are', async (stage) => {
  await stage.write(
    'callsheet.yaml',
    `${await stage.read('callsheet.yaml')}guards: { max_delete: 1 }\n`,
  );
  await stage.apply();
  // What the platform does not delete stays.
  await stage.rollback({}, { exit: 3 });
  expect(stage.sim.store.agents.size).toBe(0);
});

longStaged('taking the change back in Git after a rollback leaves nothing to do', async (stage) => {
  await stage.apply();
  const files = ['agents.yaml', 'prompts/desk.md'];
  const kept = await Promise.all(files.map(stage.read));
  await changeFour(stage);
  await stage.apply();
  await stage.rollback();
  await Promise.all(files.map((file, index) => stage.write(file, kept[index] ?? '')));
  const { changes } = await stage.plan();
  expect(changes).toEqual([]);
});

longStaged('a run that failed in part is undone where it did something', async (stage) => {
  await stage.apply();
  const before = settled(stage);
  await changeFour(stage);
  await stage.edit('resources.yaml', 'max_attempts: 3', 'max_attempts: 5');
  stage.sim.faults.add({ operation: 'updateRetryPolicy', status: 400 });
  await stage.apply({}, { exit: 3 });
  await stage.rollback();
  expect(settled(stage)).toEqual(before);
});

function withoutVersions(value: JsonObject): JsonObject {
  return JSON.parse(
    JSON.stringify(value, (key, member: Json) => (key === 'version' ? null : member)),
  );
}

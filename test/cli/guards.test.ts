import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { drift } from '../../src/cli/commands/drift.ts';
import { runs } from '../../src/cli/commands/state.ts';
import { apply } from '../../src/console/apply.ts';
import type { Context } from '../../src/console/context.ts';
import { plan } from '../../src/console/plan.ts';
import { importCommand } from '../../src/features/writing/import.ts';
import { startSimulator } from '../../src/simulator/index.ts';
import { longStaged, type Stage, staged } from '../apply/stage.ts';
import { agentNamed, SEED } from '../e2e/clinic.ts';
import { stateIn } from './state-stage.ts';

const OTHER_ACCOUNT = '5b0f0c7e-6b7f-4b0e-9d3e-1f2a3b4c5d6e';

/** Applies with deletes allowed, and is refused in these words; nothing is written. */
async function refused(stage: Stage, words: string): Promise<void> {
  const before = stage.writes().length;
  const flags = {
    dir: stage.folder,
    format: 'text',
    autoApprove: true,
    allowDelete: true,
  } as const;
  const { out } = await stage.run((to) => apply(undefined, flags, to), { exit: 4 });
  expect(out.replace(/\s+/g, ' ')).toContain(words);
  expect(stage.writes().length).toBe(before);
}

staged(
  'more deletes than guards allow are refused; a part of them can be planned',
  async (stage) => {
    await stage.write(
      'callsheet.yaml',
      `${await stage.read('callsheet.yaml')}guards: { max_delete: 1 }\n`,
    );
    await stage.apply();
    const text = await stage.read('resources.yaml');
    await stage.write(
      'resources.yaml',
      text.replace(/email_templates:[\s\S]*(?=knowledge_bases:)/, ''),
    );
    await refused(stage, 'the plan deletes 2 resources, more than guards.max_delete: 1 allows');
    await stage.apply({ allowDelete: true, target: ['email_template'] });
    await stage.apply({ allowDelete: true });
  },
);

longStaged('a limit is lifted once, with a reason that the receipt keeps', async (stage) => {
  const settings = await stage.read('callsheet.yaml');
  await stage.write('callsheet.yaml', `${settings}guards: { max_delete: 0 }\n`);
  await stage.apply();
  const text = await stage.read('resources.yaml');
  await stage.write(
    'resources.yaml',
    text.replace(/email_templates:[\s\S]*(?=knowledge_bases:)/, ''),
  );
  await refused(stage, 'To override the limit once: `callsheet plan --override-limits REASON`');
  await stage.apply({ allowDelete: true, overrideLimits: ' ' }, { exit: 1 });
  await stage.apply({ allowDelete: true, overrideLimits: 'new templates' });
  const { last_run: run } = await stateIn(stage);
  const { out } = await stage.run((to) =>
    runs(run ?? '', { dir: stage.folder, format: 'json' }, to),
  );
  expect(JSON.parse(out).entries[0].overrides).toEqual([
    {
      guard: 'limit',
      message: 'the plan deletes 2 resources, more than guards.max_delete: 0 allows',
      reason: 'new templates',
    },
  ]);
});

staged('an empty configuration never means: delete everything', async (stage) => {
  await stage.apply();
  await stage.write('agents.yaml', '');
  await stage.write('resources.yaml', '');
  await refused(stage, 'never reads that as "delete everything"');
});

staged('--target and --exclude choose, and leave the rest for later', async (stage) => {
  await stage.apply({ target: ['retry_policy', 'email_template.reminder'] });
  expect(
    stage
      .writes()
      .map(({ operation }) => operation)
      .sort(),
  ).toEqual(['createEmailTemplate', 'createRetryPolicy']);
  await stage.apply({ exclude: ['agent'] });
  expect(stage.sim.store.agents.size).toBe(0);
  await stage.apply();
});

staged(
  'what refers to something that is not chosen and does not exist is refused',
  async (stage) => {
    const flags = { dir: stage.folder, format: 'text', autoApprove: true } as const;
    const { out } = await stage.run(
      (to) => apply(undefined, { ...flags, target: ['agent.recall'] }, to),
      { exit: 4 },
    );
    expect(out).toContain('retry_policy.gentle');
    expect(stage.writes()).toEqual([]);
  },
);

longStaged(
  'an apply that only has held deletes is no run: a rollback undoes the one before',
  async (stage) => {
    await stage.apply();
    await stage.edit('agents.yaml', 'how can I help?', 'good day!');
    await stage.apply();
    const text = await stage.read('agents.yaml');
    await stage.write('agents.yaml', text.slice(0, text.indexOf('  recall:')));
    const ledger = await stage.apply({}, { leaves: ({ verdict }) => verdict === 'held' });
    expect(ledger).toMatchObject([{ address: 'agent.recall', status: 'not_attempted' }]);
    const [line] = await stage.rollback();
    expect(line).toMatchObject({ address: 'agent.desk', action: 'update', status: 'done' });
  },
);

staged('what is refused can be left out', async (stage) => {
  await stage.apply();
  const { id } = agentNamed(stage.sim);
  stage.sim.edit(id, { greeting_message: 'Edited.' });
  await stage.edit('agents.yaml', 'how can I help?', 'good day!');
  await stage.edit('resources.yaml', 'max_attempts: 3', 'max_attempts: 5');
  const leaves = ({ verdict }: { readonly verdict: string }) => verdict === 'refused';
  const ledger = await stage.apply({ skipRefused: true }, { leaves });
  expect(ledger.map(({ address, status }) => [address, status])).toEqual([
    ['retry_policy.gentle', 'done'],
    ['agent.desk', 'not_attempted'],
  ]);
  expect(stage.sim.store.agents.get(id)?.record.greeting_message).toBe('Edited.');
});

staged('what somebody uses since it was planned is not deleted by the plan file', async (stage) => {
  await stage.apply();
  const [policy = ''] = stage.sim.store.retryPolicies.keys();
  const agents = await stage.read('agents.yaml');
  await stage.write('agents.yaml', agents.slice(0, agents.indexOf('  recall:')));
  const resources = await stage.read('resources.yaml');
  await stage.write('resources.yaml', resources.slice(resources.indexOf('email_templates:')));
  const out = join(stage.folder, 'plan.json');
  const flags = { dir: stage.folder, format: 'text', allowDelete: true, out } as const;
  await stage.run((to) => plan(flags, to));
  const { id } = agentNamed(stage.sim);
  stage.sim.edit(id, { default_retry_policy_id: policy });
  const before = stage.writes().length;
  const { err } = await stage.applyFile('plan.json', {}, { exit: 4 });
  expect(err).toContain('Gentle redial (retry_policy.gentle) would be deleted: ');
  expect(err).toContain(`1 live agent still uses it: Front desk (${id})`);
  expect(stage.writes().length).toBe(before);
  await stage.apply({ allowDelete: true, deleteUsed: true });
});

staged('a state is used with no other account', async (stage) => {
  await stage.apply();
  const other = await startSimulator({ seed: { ...SEED, account_id: OTHER_ACCOUNT } });
  try {
    const env = { CALLSHEET_BASE_URL: other.url };
    const { err } = await stage.run(
      (context) => plan({ dir: stage.folder, format: 'text' }, context),
      { exit: 1, env },
    );
    expect(err).toContain(`these credentials are for account ${OTHER_ACCOUNT}`);
  } finally {
    await other.close();
  }
});

/** A registration that somebody set up in the dashboard for the front desk. */
function register(stage: Stage): void {
  const { record } = agentNamed(stage.sim);
  Object.assign(record, {
    sip_registration_data: { sipDomain: 'sip.example.test', registrationEnabled: true },
  });
}

describe('an agent whose SIP registration went with it', () => {
  staged('is created again without it, and gets its flag once it is registered', async (stage) => {
    await stage.apply();
    register(stage);
    await stage.edit(
      'agents.yaml',
      'status: active',
      'status: active\n    sip: { registration_enabled: true }',
    );
    await stage.apply();
    const { id } = agentNamed(stage.sim);
    stage.sim.store.agents.delete(id);

    // That it was deleted is what drifted, not what stands against creating it again.
    const drifted = await stage.run((to) => drift({ dir: stage.folder, format: 'json' }, to));
    expect(JSON.parse(drifted.out).changes).toMatchObject([
      { address: 'agent.desk', reason: `it is no longer on the platform (id ${id})` },
    ]);

    const refused = await stage.plan({}, { exit: 4 });
    expect(refused.changes).toMatchObject([{ address: 'agent.desk', verdict: 'refused' }]);
    expect(refused.changes[0]?.reason).toContain(
      'sip cannot be set: the agent has no SIP registration, and only the dashboard sets one up. --skip-refused leaves sip out and writes the rest',
    );

    const isDesk = ({ address }: { readonly address: string }) => address === 'agent.desk';
    const [line] = await stage.apply({ skipRefused: true }, { leaves: isDesk });
    expect(line).toMatchObject({ address: 'agent.desk', action: 'create', status: 'done' });
    expect(line?.message).toContain('sip.registration_enabled is left out: the agent has no SIP');
    expect(agentNamed(stage.sim).record.greeting_message).toBe('Harbor Dental, how can I help?');

    // The state does not say that it was written: nobody took it away.
    const none = await stage.run((to) => drift({ dir: stage.folder, format: 'json' }, to));
    expect(JSON.parse(none.out).changes).toEqual([]);

    // Meanwhile everything else of it is still written.
    await stage.edit('agents.yaml', 'how can I help?', 'good day!');
    await stage.apply({ skipRefused: true }, { leaves: isDesk });
    expect(agentNamed(stage.sim).record.greeting_message).toBe('Harbor Dental, good day!');
    register(stage);
    await stage.apply();
  });
});

staged('an apply whose plan leaves everything out says so', async (stage) => {
  await stage.apply();
  const settings = await stage.read('callsheet.yaml');
  await stage.write('callsheet.yaml', `${settings}guards: { max_delete: 0 }\n`);
  const text = await stage.read('resources.yaml');
  await stage.write(
    'resources.yaml',
    text.replace(/email_templates:[\s\S]*(?=knowledge_bases:)/, ''),
  );
  const before = stage.writes().length;
  const flags = { dir: stage.folder, format: 'text', autoApprove: true } as const;
  const { err } = await stage.run((to) =>
    apply(undefined, { ...flags, allowDelete: true, skipRefused: true }, to),
  );
  expect(err).toContain('Nothing was written: the plan leaves out 2 changes');
  expect(stage.writes().length).toBe(before);
});

staged('an apply says which deletes wait, whatever else it did', async (stage) => {
  await stage.apply();
  const text = await stage.read('resources.yaml');
  await stage.write(
    'resources.yaml',
    text.replace(/email_templates:[\s\S]*(?=knowledge_bases:)/, ''),
  );
  const held = async (format: 'text' | 'json') => {
    const flags = { dir: stage.folder, format, autoApprove: true } as const;
    return stage.run((to) => apply(undefined, flags, to));
  };
  const before = stage.writes().length;
  const { out, err } = await held('text');
  expect(out + err).toMatch(/Nothing was written[:;] 2 deletes wait for --allow-delete/);
  expect(JSON.parse((await held('json')).out).ledger).toMatchObject(
    Array(2).fill({ action: 'delete', verdict: 'held', lifted_by: 'allow_delete' }),
  );
  expect(stage.writes().length).toBe(before);
  await stage.edit('agents.yaml', 'how can I help?', 'good day!');
  expect((await held('text')).out).toContain('Done: 1 updated; 2 deletes wait for --allow-delete');
});

staged('a new protection is told until an apply has recorded it', async (stage) => {
  await stage.apply();
  const notes = async () => (await stage.plan()).notes.map(({ message }) => message);
  expect(await notes()).toEqual([]);
  await stage.edit('agents.yaml', '  desk:\n', '  desk:\n    lifecycle: { protect: true }\n');
  expect(await notes()).toEqual([expect.stringContaining('the next apply records it')]);
  await stage.apply();
  expect(await notes()).toEqual([]);
  expect((await stateIn(stage)).resources['agent.desk']?.protect).toBe(true);
});

staged('a plan without a state says what nobody can tell', async (stage) => {
  await stage.apply();
  await rm(join(stage.folder, '.callsheet'), { recursive: true });
  const { notes } = await stage.plan();
  expect(notes[0]?.message).toContain('holds of earlier rollbacks');
  const told = notes.map(({ message }) => message).join();
  expect(told).not.toContain('that no file names');
  expect(told).not.toContain("somebody's edit");
});

staged('a plan without a state tells of edits and of what no file names', async (stage) => {
  await stage.apply();
  await rm(join(stage.folder, '.callsheet'), { recursive: true });
  const { store } = stage.sim;
  const { id } = agentNamed(stage.sim);
  const agent = store.agents.get(id);
  if (agent === undefined) throw new Error('there is no agent');
  const twin = '99999999-9999-4999-a999-999999999999';
  store.agents.set(twin, { ...agent, record: { ...agent.record, id: twin, name: 'By hand' } });
  stage.sim.edit(id, { greeting_message: 'Edited' }, 'user:maria');
  const { notes } = await stage.plan();
  expect(notes.slice(0, 3)).toMatchObject([
    { severity: 'warning', message: expect.stringContaining("cannot tell somebody's edit") },
    { severity: 'info', message: expect.stringContaining('holds of earlier rollbacks') },
    {
      severity: 'info',
      message:
        'live resources that no file names, and that apply does not touch: agent: 1. `callsheet pull --new --dry-run` lists them',
    },
  ]);
});

longStaged(
  'a plan after one import still says it of what the state does not know',
  async (stage) => {
    await stage.apply();
    await rm(join(stage.folder, '.callsheet'), { recursive: true });
    const { id } = agentNamed(stage.sim, 'Recall');
    const bind = (to: Context) =>
      importCommand('agent.recall', id, { dir: stage.folder, format: 'json' }, to);
    await stage.run(bind);
    stage.sim.edit(agentNamed(stage.sim).id, { greeting_message: 'Edited' }, 'user:maria');
    const { notes } = await stage.plan();
    expect(notes.slice(0, 2)).toMatchObject([
      {
        severity: 'warning',
        message: expect.stringMatching(/^without agent\.desk in the state, .* somebody's edit/),
      },
      {
        severity: 'info',
        message: expect.stringMatching(
          /^the state does not know \S+, \S+, \S+ and 4 more, so holds of earlier rollbacks /,
        ),
      },
    ]);
  },
);

staged('a run is shown by what follows its time', async (stage) => {
  await stage.apply();
  const { last_run: run } = await stateIn(stage);
  const short = run?.split('-')[1] ?? '';
  const { out } = await stage.run((to) => runs(short, { dir: stage.folder, format: 'json' }, to));
  expect(JSON.parse(out).run).toBe(run);
});

/** Agents beside those of the clinic, each with this prompt. */
function desks(prompt: string): string {
  const blocks = [1, 2, 3, 4, 5, 6].map(
    (at) => `  desk_${at}:\n    name: Desk ${at}\n    system_prompt: ${prompt}\n`,
  );
  return `agents:\n${blocks.join('')}`;
}

staged(
  'an approved run that was cancelled is gone on with; what nobody approved is measured',
  async (stage) => {
    const settings = await stage.read('callsheet.yaml');
    await stage.write(
      'callsheet.yaml',
      `${settings}guards: { max_change_percent: 10, min_resources: 1 }\n`,
    );
    await stage.write('desks.yaml', desks('Old.'));
    await stage.apply();
    await stage.write('desks.yaml', desks('New.'));
    const flags = { dir: stage.folder, format: 'text', autoApprove: true, concurrency: 1 } as const;
    const cancelAfter = async (updates: number, more = {}) => {
      const stop = new AbortController();
      let left = updates;
      const wire: Context['wire'] = (transport) => ({
        ...transport,
        send(request) {
          if (request.about?.operation === 'updateAgent') left -= 1;
          if (left === 0) stop.abort();
          return transport.send(request);
        },
      });
      await stage.run((to) => apply(undefined, { ...flags, ...more }, to), {
        exit: 130,
        stop: stop.signal,
        outside: { wire },
      });
    };
    await stage.run((to) => apply(undefined, flags, to), { exit: 4 });
    await cancelAfter(2, { overrideLimits: 'Spring campaign' });
    // What is gone on with is still what was approved, however often it is cancelled.
    await cancelAfter(1);
    const [, first] = /approved with run (\S+),/.exec(
      (await stage.plan()).notes.map(({ message }) => message).join('\n'),
    ) ?? [undefined, ''];
    expect(first).toMatch(/^\d{8}t/);
    await stage.write('desks.yaml', desks('Newest.'));
    await stage.run((to) => apply(undefined, flags, to), { exit: 4 });
    await stage.write('desks.yaml', desks('New.'));
    const { out } = await stage.run((to) => apply(undefined, flags, to));
    expect(out).toContain('Done: 3 updated');
  },
);

import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { type RollbackFlags, rollback } from '../../src/cli/commands/rollback.ts';
import type { Json } from '../../src/core/value.ts';
import type { Dialect } from '../../src/simulator/index.ts';
import type { Header } from '../../src/snapshot/format.ts';
import { longStaged, type Stage, staged } from '../apply/stage.ts';
import { mortal } from '../kill/mortal.ts';
import { longRows } from '../long.ts';
import { agentOf, HEADER, written } from '../snapshot/files.ts';
import { nameless, settled, take } from '../snapshot/taking.ts';

function agentCalled({ sim }: Stage, name: string): { readonly [field: string]: Json } {
  const found = [...sim.store.agents.values()].find(({ record }) => record.name === name);
  return found?.record ?? {};
}

function editDesk(stage: Stage, patch: { readonly [field: string]: Json }): void {
  stage.sim.edit(String(agentCalled(stage, 'Front desk').id), patch, 'kim');
}

async function drop(stage: Stage, file: string, from: string, to?: string): Promise<void> {
  const text = await stage.read(file);
  const end = to === undefined ? text.length : text.indexOf(to);
  await stage.write(file, text.slice(0, text.indexOf(from)) + text.slice(end));
}

type Row = {
  readonly what: string;
  readonly change: (stage: Stage) => Promise<void>;
  readonly flags?: Partial<RollbackFlags>;
  readonly requests: readonly string[];
};

const rows: readonly Row[] = [
  {
    what: 'what history records goes back by a revert alone',
    change: async (stage) => {
      await stage.edit('agents.yaml', 'model: alpha-4.1', 'model: alpha-4o');
      await stage.apply();
    },
    requests: ['revertAgent'],
  },
  {
    what: 'two runs go back at once',
    change: async (stage) => {
      await stage.edit('agents.yaml', 'model: alpha-4.1', 'model: alpha-4o');
      await stage.apply();
      await stage.edit('agents.yaml', 'status: active', 'status: inactive');
      await stage.edit('resources.yaml', 'max_attempts: 3', 'max_attempts: 5');
      await stage.edit('resources.yaml', 'body: See you', 'body: Be there');
      await stage.apply();
    },
    requests: ['revertAgent', 'updateAgent', 'updateRetryPolicy', 'updateSmsTemplate'],
  },
  {
    what: 'what the configuration never mentioned goes back, too',
    change: async (stage) => {
      editDesk(stage, { description: 'Edited by hand.' });
    },
    flags: { undoEdited: true },
    requests: ['revertAgent'],
  },
  {
    what: 'a field that history does not record is written',
    change: async (stage) => {
      editDesk(stage, { outbound_greeting_message: 'Hello from nowhere.' });
    },
    flags: { undoEdited: true },
    requests: ['updateAgent'],
  },
  {
    what: 'what was made since goes, where that is allowed',
    change: async (stage) => {
      await stage.edit(
        'agents.yaml',
        'agents:\n',
        'agents:\n  night:\n    name: Night\n    status: active\n    system_prompt: Take messages.\n',
      );
      await stage.apply();
    },
    flags: { allowDelete: true },
    requests: ['deleteAgent'],
  },
];

describe('a rollback to a snapshot leaves the platform as it was when that was made', () => {
  const ALIKE = ['two runs go back at once', 'a field that history does not record is written'];
  const short = longRows(rows, ({ what }) => !ALIKE.includes(what));
  for (const { what, change, flags = {}, requests } of short) {
    staged(what, async (stage) => {
      await stage.apply();
      const before = settled(stage.sim);
      const { file } = await take(stage);
      await change(stage);
      const since = stage.writes().length;
      await stage.rollback({ to: file, ...flags });
      const made = stage.writes().slice(since);
      expect(made.map(({ operation }) => operation).sort()).toEqual(requests);
      expect(settled(stage.sim)).toEqual(before);
      const again = stage.writes().length;
      await stage.rollback({ to: file, undoEdited: true });
      expect(stage.writes().length).toBe(again);
    });
  }

  staged('what was deleted comes back under new ids, its references with it', async (stage) => {
    await stage.apply();
    const { file } = await take(stage);
    const before = nameless(stage.sim);
    await drop(stage, 'agents.yaml', '  recall:');
    await drop(stage, 'resources.yaml', 'retry_policies:', 'email_templates:');
    await stage.apply({ allowDelete: true });
    expect(nameless(stage.sim)).not.toEqual(before);
    await stage.rollback({ to: file });
    expect(nameless(stage.sim)).toEqual(before);
    const [policy] = stage.sim.store.retryPolicies.values();
    expect(agentCalled(stage, 'Recall').default_retry_policy_id).toBe(policy?.id);
  });

  staged('what was wiped in the dashboard comes back, but for its secrets', async (stage) => {
    await stage.apply();
    const { file } = await take(stage);
    stage.sim.store.agents.clear();
    stage.sim.store.emailTemplates.clear();
    stage.sim.store.smsTemplates.clear();
    stage.sim.store.retryPolicies.clear();
    const said = await stage.run(
      (context) =>
        rollback({ dir: stage.folder, format: 'text', autoApprove: true, to: file }, context),
      { exit: 3 },
    );
    expect(said.out).toContain('integrations.smsProvider.auth_token is secret');
    expect(agentCalled(stage, 'Front desk')).toMatchObject({
      name: 'Front desk',
      greeting_message: 'Harbor Dental, how can I help?',
    });
    // An apply of the same configuration writes the secrets that no snapshot holds, and nothing else.
    const plan = await stage.plan();
    expect(
      plan.changes
        .flatMap(({ address, fields }) => fields.map(({ path }) => `${address} ${path}`))
        .sort(),
    ).toEqual([
      'agent.desk extensions.mcp_servers[Calendar].auth_headers.Authorization',
      'agent.desk extensions.tools[crm_lookup].headers[X-Api-Key].value',
      'agent.desk integrations.smsProvider.auth_token',
    ]);
    await stage.apply();
  });
});

describe('what a snapshot could not read as a whole stays, as it was there', () => {
  type Hidden = readonly [what: string, before: (stage: Stage) => void, dialect: Partial<Dialect>];
  const rows: readonly Hidden[] = [
    ['of what its list shows alone', () => {}, { absent: ['getEmailTemplate', 'getSmsTemplate'] }],
    [
      'of what the platform refused to tell',
      ({ sim }) => sim.faults.add({ operation: 'getEmailTemplate', status: 403 }),
      {},
    ],
  ];
  for (const [what, before, dialect] of rows)
    staged(
      what,
      async (stage) => {
        await stage.apply();
        before(stage);
        const { file } = await take(stage);
        const then = settled(stage.sim);
        const { out } = await stage.run((context) =>
          rollback(
            { dir: stage.folder, format: 'text', autoApprove: true, to: file, allowDelete: true },
            context,
          ),
        );
        expect(out).toMatch(
          /email_template\.reminder.*snapshot\s+does\s+not\s+contain\s+all\s+of\s+it/s,
        );
        expect(out).not.toContain('not managed by this stack');
        expect(settled(stage.sim)).toEqual(then);
      },
      { dialect },
    );
});

describe('a rollback to a snapshot refuses', () => {
  staged('edits of others since the last run, and says whose', async (stage) => {
    await stage.apply();
    const { file } = await take(stage);
    editDesk(stage, { description: 'Edited by hand.' });
    const since = stage.writes().length;
    const { err } = await stage.run(
      (context) =>
        rollback({ dir: stage.folder, format: 'text', autoApprove: true, to: file }, context),
      { exit: 4 },
    );
    expect(err).toMatch(
      /Front desk \(agent\.desk\) was edited since the last run, last by kim via \S+ at 20/,
    );
    expect(stage.writes().length).toBe(since);
  });

  staged('nothing for an edit that the snapshot has already', async (stage) => {
    await stage.apply();
    editDesk(stage, { description: 'Edited by hand.' });
    const { file } = await take(stage);
    const since = stage.writes().length;
    await stage.rollback({ to: file });
    expect(stage.writes().length).toBe(since);
  });

  staged('to delete what was made since, unless it may', async (stage) => {
    await stage.apply();
    const { file } = await take(stage);
    await stage.edit(
      'agents.yaml',
      'agents:\n',
      'agents:\n  night:\n    name: Night\n    status: active\n    system_prompt: Take messages.\n',
    );
    await stage.edit('agents.yaml', 'status: active\n    model', 'status: inactive\n    model');
    await stage.apply();
    const ledger = await stage.rollback({ to: file });
    expect(ledger.find(({ address }) => address === 'agent.night')).toMatchObject({
      status: 'not_attempted',
      verdict: 'held',
    });
    expect(agentCalled(stage, 'Night').name).toBe('Night');
    expect(agentCalled(stage, 'Front desk').status).toBe('active');
  });

  staged('a snapshot of another account or platform, and one of another stack', async (stage) => {
    await stage.apply();
    const { platform: _, ...header } = HEADER;
    const here = { base_url: stage.sim.url, account_id: 'e7ac14dd-6755-4b7f-bb6b-7319e7f7b316' };
    const rows: readonly (readonly [Header['platform'], string])[] = [
      [
        { ...here, account_id: 'another' },
        'is of account another, and this stack is on account e7',
      ],
      [{ ...here, base_url: 'https://other.example.test' }, 'is of platform https://other.example'],
      [here, 'holds nothing that this stack manages'],
    ];
    for (const [platform, message] of rows) {
      const { file } = await written([agentOf(1)], { type: 'none' }, { ...header, platform });
      const { err } = await stage.run(
        (context) => rollback({ dir: stage.folder, format: 'text', to: file }, context),
        { exit: 1 },
      );
      expect(err).toContain(message);
    }
  });

  staged('a run and a snapshot at once, and a file that is none', async (stage) => {
    await stage.apply();
    const { file } = await take(stage);
    const said = async (flags: Partial<RollbackFlags>) =>
      (
        await stage.run(
          (context) => rollback({ dir: stage.folder, format: 'text', ...flags }, context),
          { exit: 1 },
        )
      ).err;
    expect(await said({ to: file, run: 'r1' })).toContain('a run and --to exclude each other');
    expect(await said({ to: `${stage.folder}/agents.yaml` })).toContain(
      'agents.yaml is not a snapshot of Callsheet',
    );
    expect(await said({ to: `${stage.folder}/nowhere` })).toContain(
      'nowhere cannot be read: there is no such file or folder',
    );
  });
});

longStaged('a stack whose state was thrown away goes back all the same', async (stage) => {
  await stage.apply();
  const before = settled(stage.sim);
  const { file } = await take(stage);
  await stage.edit('agents.yaml', 'model: alpha-4.1', 'model: alpha-4o');
  await stage.edit('resources.yaml', 'max_attempts: 3', 'max_attempts: 5');
  await stage.apply();
  await rm(join(stage.folder, '.callsheet'), { recursive: true });
  const { out } = await stage.run((context) =>
    rollback({ dir: stage.folder, format: 'text', autoApprove: true, to: file }, context),
  );
  expect(out).not.toContain('it is gone');
  expect(settled(stage.sim)).toEqual(before);
});

describe('a part of a stack', () => {
  staged('goes back where it is named', async (stage) => {
    await stage.apply();
    const { file } = await take(stage);
    await stage.edit('agents.yaml', 'status: active\n    model', 'status: inactive\n    model');
    await stage.edit('resources.yaml', 'max_attempts: 3', 'max_attempts: 5');
    await stage.apply();
    const since = stage.writes().length;
    await stage.rollback({ to: file, target: ['agent.desk'] });
    const made = stage.writes().slice(since);
    expect(made.map(({ operation }) => operation)).toEqual(['updateAgent']);
    const { err } = await stage.run(
      (context) =>
        rollback({ dir: stage.folder, format: 'text', to: file, target: ['agent.dask'] }, context),
      { exit: 1 },
    );
    expect(err).toContain('--target agent.dask: the snapshot');
  });
});

describe('a rollback to a snapshot that died', () => {
  staged("is gone on with, and its own edits are nobody else's", async (stage) => {
    await stage.apply();
    const before = settled(stage.sim);
    const { file } = await take(stage);
    await stage.edit('agents.yaml', 'model: alpha-4.1', 'model: alpha-4o');
    await stage.edit('agents.yaml', 'status: active\n    model', 'status: inactive\n    model');
    await stage.edit('resources.yaml', 'max_attempts: 3', 'max_attempts: 5');
    await stage.edit('resources.yaml', 'body: See you', 'body: Be there');
    await stage.apply();
    const moments = [
      'after request PATCH updateRetryPolicy',
      'after request POST revertAgent',
      'before request PUT updateAgent',
    ];
    const deaths: boolean[] = [];
    for (const name of moments) {
      const { outside, isDead } = mortal({ name, nth: 1 });
      await stage.run(
        (context) =>
          rollback({ dir: stage.folder, format: 'text', autoApprove: true, to: file }, context),
        { exit: 'any', outside },
      );
      deaths.push(isDead());
    }
    // What the first one did beside its last request is its own matter: the others may find it done.
    expect(deaths[0]).toBe(true);
    await stage.rollback({ to: file });
    expect(settled(stage.sim)).toEqual(before);
  });
});

describe('afterwards', () => {
  staged(
    'the configuration that it undid is held, and rolling it back lifts that',
    async (stage) => {
      await stage.apply();
      const { file } = await take(stage);
      await stage.edit('agents.yaml', 'model: alpha-4.1', 'model: alpha-4o');
      await stage.apply();
      const applied = settled(stage.sim);
      await stage.rollback({ to: file });
      expect((await stage.plan({}, { exit: 4 })).refusals).toMatchObject([{ guard: 'hold' }]);
      const { err } = await stage.run(
        (context) => rollback({ dir: stage.folder, format: 'text', autoApprove: true }, context),
        { exit: 1 },
      );
      const run = /callsheet rollback (2[^\s`]+)/.exec(err)?.[1] ?? '';
      await stage.rollback({ run });
      expect(settled(stage.sim)).toEqual(applied);
      expect((await stage.plan()).refusals).toBeUndefined();
    },
  );

  longStaged('the configuration of then has nothing to change', async (stage) => {
    await stage.apply();
    const { file } = await take(stage);
    const kept = await stage.read('agents.yaml');
    await stage.edit('agents.yaml', 'model: alpha-4.1', 'model: alpha-4o');
    await stage.apply();
    await stage.rollback({ to: file });
    await stage.write('agents.yaml', kept);
    expect((await stage.plan()).changes).toEqual([]);
  });
});

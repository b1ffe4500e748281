import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { type RollbackFlags, rollback } from '../../src/cli/commands/rollback.ts';
import type { ApplyFlags } from '../../src/console/apply.ts';
import { longStaged, type Stage, staged, VIEWS } from '../apply/stage.ts';
import { agentNamed } from '../e2e/clinic.ts';
import { longRows } from '../long.ts';
import { openKeyed } from '../state/keyed.ts';
import { typedCommands } from '../typed-commands.ts';
import { STATE, stateCommands, stateIn } from './state-stage.ts';

const inWords = async (stage: Stage, exit: number, more: Partial<RollbackFlags> = {}) => {
  const flags = { dir: stage.folder, format: 'text', autoApprove: true, ...more } as const;
  const { out, err } = await stage.run((to) => rollback(flags, to), { exit });
  // On a terminal progress is drawn over itself.
  const lines = `${out}${err}`.split('\n').filter((line) => !/^\[\d+\//.test(line));
  return { out: out.replace(/\s+/g, ' '), err, lines };
};
const lastRun = async (stage: Stage) => (await stateIn(stage)).last_run ?? '';

/** A fleet of agents of which a run changes the greeting and the status of each; returns their ids. */
async function changeFleet(stage: Stage, size: number): Promise<readonly string[]> {
  const fleet = (greeting: string, status: string) =>
    `agents:\n${Array.from({ length: size }, (_, at) => `  a${at}: { name: A${at}, greeting_message: ${greeting} ${at}, status: ${status} }\n`).join('')}`;
  await stage.write('agents.yaml', fleet('Hello', 'active'));
  await stage.apply();
  await stage.write('agents.yaml', fleet('Good day', 'inactive'));
  await stage.apply();
  const names = [...stage.sim.store.agents].map(([id, { record }]) => [String(record.name), id]);
  return names
    .toSorted(([one = ''], [other = '']) => one.localeCompare(other))
    .map(([, id = '']) => id);
}

const greeting = ({ sim }: Stage, id: string) => sim.store.agents.get(id)?.record.greeting_message;

/** Two agents, the second of them created by the last run, which also changed the first. Returns that run. */
async function growFleet(stage: Stage): Promise<string> {
  await stage.write('agents.yaml', 'agents:\n  a0: { name: A0, greeting_message: Hello }\n');
  await stage.apply();
  await stage.write(
    'agents.yaml',
    'agents:\n  a0: { name: A0, greeting_message: Good day }\n  a1: { name: A1 }\n',
  );
  await stage.apply();
  return lastRun(stage);
}

const OTHER = '9c24e74f-4564-4836-a0d8-0691bfe720fe';

const agentNames = ({ sim }: Stage) =>
  [...sim.store.agents.values()].map(({ record }) => record.name).sort();

staged(
  'what a later run created, where the create of its run failed, is not deleted',
  async (stage) => {
    await stage.write('agents.yaml', 'agents:\n  a0: { name: A0, greeting_message: Hello }\n');
    await stage.apply({ allowDelete: true });
    await stage.write(
      'agents.yaml',
      'agents:\n  a0: { name: A0, greeting_message: Good day }\n  a1: { name: A1 }\n',
    );
    stage.sim.faults.add({ operation: 'createAgent', status: 422, body: { error: 'no' } });
    await stage.apply({}, { exit: 3 });
    const run = await lastRun(stage);
    await stage.apply();
    await inWords(stage, 0, { run });
    expect(agentNames(stage)).toEqual(['A0', 'A1']);
  },
);

staged('a name that a new resource took goes back to the one that gave it up', async (stage) => {
  await stage.apply();
  await stage.edit('agents.yaml', '$ref: retry_policy.gentle', '$ref: retry_policy.fresh');
  await stage.edit('resources.yaml', 'name: Gentle redial', 'name: Harsh redial');
  // The platform takes no two policies of one name.
  await stage.edit(
    'resources.yaml',
    'retry_policies:\n',
    'retry_policies:\n  fresh:\n    name: Gentle redial\n    rules: { no_answer: { delay_seconds: 60, max_attempts: 2 } }\n    on_exhausted: end\n',
  );
  await stage.apply();
  await inWords(stage, 0);
  const policies = [...stage.sim.store.retryPolicies.values()];
  expect(policies.map(({ name }) => name)).toEqual(['Gentle redial']);
});

describe('what the run created', () => {
  const losses: readonly (readonly [string, (stage: Stage) => Promise<unknown>])[] = [
    ['a lost state', (stage) => rm(join(stage.folder, STATE))],
    ['a state that was told to forget it', (stage) => stateCommands(stage).rm(['agent.a1'])],
  ];
  for (const [name, lose] of losses) {
    staged(`stays beside ${name}, and the rollback says so`, async (stage) => {
      const run = await growFleet(stage);
      const { id } = (await stateIn(stage)).resources['agent.a1'] ?? {};
      await lose(stage);
      const { out } = await inWords(stage, 3, { run });
      expect(out).toContain('Verified: 1 resource read again');
      expect(out).toContain('Not restored: 1 resource. agent.a1 stays: the run created it');
      expect(out).toContain(`callsheet import agent.a1 ${id}`);
      expect(agentNames(stage)).toEqual(['A0', 'A1']);
      // What it did take back is held, although the state did not say any more what that was.
      const { refusals = [] } = await stage.plan({}, { exit: 4 });
      expect(refusals.map(({ message }) => message)).toEqual([
        expect.stringContaining('agent.a0 greeting_message was rolled back'),
      ]);
    });
  }

  staged(
    "and somebody made anew since is another resource, which is not the run's",
    async (stage) => {
      const run = await growFleet(stage);
      const { id = '' } = (await stateIn(stage)).resources['agent.a1'] ?? {};
      stage.sim.store.agents.delete(id);
      await stage.apply();
      const { err } = await inWords(stage, 4, { run });
      expect(err).toContain('A1 (agent.a1) is another resource since the run');
      const { out } = await inWords(stage, 3, { run, skipRefused: true });
      expect(out).toMatch(/To delete it all the same:\s+`?callsheet rollback/);
      expect(agentNames(stage)).toEqual(['A0', 'A1']);
      await inWords(stage, 0, { run, undoEdited: true });
      expect(agentNames(stage)).toEqual(['A0']);
    },
  );

  staged("is the run's again once a rollback was rolled back", async (stage) => {
    const run = await growFleet(stage);
    await inWords(stage, 0);
    await inWords(stage, 0, { run: await lastRun(stage) });
    expect(agentNames(stage)).toEqual(['A0', 'A1']);
    await inWords(stage, 0, { run, target: ['agent.a1'] });
    expect(agentNames(stage)).toEqual(['A0']);
  });
});

staged(
  'a document that a run made stays, and so does what is known of its bytes',
  async (stage) => {
    await stage.apply();
    const { out } = await inWords(stage, 3);
    expect(out).toContain('the platform has no endpoint that deletes a knowledge_source');
    await stage.edit('documents/prices.csv', '\n', '\nanother line\n');
    // Of the others there is a hold.
    const { changes } = await stage.plan({}, { exit: 4 });
    expect(changes.map(({ address, action }) => `${action} ${address}`)).toContain(
      'update knowledge_source.clinic.prices',
    );
  },
);

staged('what a replacement could not delete is not made a third time', async (stage) => {
  const agent = (more: string) => `agents:\n  a0: { name: A0, greeting_message: Hello${more} }\n`;
  await stage.write('agents.yaml', agent(''));
  await stage.apply();
  const [old = ''] = stage.sim.store.agents.keys();
  const [harbor] = stage.sim.store.organizations.values();
  if (harbor !== undefined) stage.sim.store.organizations.set(OTHER, { ...harbor, id: OTHER });
  await stage.write('agents.yaml', agent(`, organization: ${OTHER}`));
  stage.sim.faults.add({ operation: 'deleteAgent', status: 500, times: 9 });
  await stage.apply({ allowDelete: true }, { exit: 3 });
  stage.sim.faults.clear();
  const { out } = await inWords(stage, 3);
  expect(out).toContain(`what was there before the run (${old}) still is, as agent.a0.replaced`);
  expect(out).toContain('callsheet state rm agent.a0 agent.a0.replaced');
  expect(agentNames(stage)).toEqual(['A0', 'A0']);
});

describe('what was edited since', () => {
  const again: readonly (readonly [string, string, Partial<ApplyFlags>])[] = [
    ['changed', 'agents:\n  a0: { name: A0, greeting_message: Good day }\n', {}],
    ['deleted', 'agents: {}\n', { allowDelete: true }],
  ];
  for (const [what, agents, flags] of again) {
    staged(`is what a later run made in the place of what the run ${what}`, async (stage) => {
      const agent = (words: string) => `agents:\n  a0: { name: A0, greeting_message: ${words} }\n`;
      await stage.write('agents.yaml', agent('Hello'));
      await stage.apply();
      const { id = '' } = (await stateIn(stage)).resources['agent.a0'] ?? {};
      await stage.write('agents.yaml', agents);
      await stage.apply(flags);
      const run = await lastRun(stage);
      stage.sim.store.agents.delete(id);
      await stage.write('agents.yaml', agent('Good evening'));
      await stage.apply();
      const { err } = await inWords(stage, 4, { run });
      expect(err).toContain('A0 (agent.a0) is another resource since the run');
      expect(agentNamed(stage.sim, 'A0').record.greeting_message).toBe('Good evening');
      await inWords(stage, 0, { run, undoEdited: true });
      expect(agentNamed(stage.sim, 'A0').record.greeting_message).toBe('Hello');
    });
  }

  staged(
    'is refused with the commands to type, left out, or undone in its own fields',
    async (stage) => {
      const [one = '', two = '', three = ''] = await changeFleet(stage, 3);
      stage.sim.edit(one, { description: 'Mine.', greeting_message: 'Mine.' }, 'user:maria');
      const run = await lastRun(stage);
      const since = stage.writes().length;
      const { err } = await inWords(stage, 4);
      const dir = ` --dir ${stage.folder}`;
      expect(err).toContain('A0 (agent.a0) was edited since the run, last by user:maria');
      for (const flag of ['--skip-refused', '--exclude agent.a0', '--undo-edited'])
        expect(typedCommands(err)).toContain(`callsheet rollback ${run} ${flag}${dir}`);
      expect(stage.writes().length).toBe(since);

      const { out } = await inWords(stage, 3, { skipRefused: true });
      expect(out).toContain('Not restored: 1 resource. agent.a0 is not changed');
      expect(out.replaceAll('`', '')).toContain(
        `To undo the fields that the run changed there as well: callsheet rollback ${run} --undo-edited${dir}`,
      );
      expect([one, two, three].map((id) => greeting(stage, id))).toEqual([
        'Mine.',
        'Hello 1',
        'Hello 2',
      ]);

      await inWords(stage, 0, { run, target: ['agent.a0'], undoEdited: true });
      expect(stage.sim.store.agents.get(one)?.record).toMatchObject({
        description: 'Mine.',
        greeting_message: 'Hello 0',
        status: 'active',
      });
    },
  );

  staged('is left out by its address', async (stage) => {
    const [one = '', two = ''] = await changeFleet(stage, 2);
    stage.sim.edit(one, { greeting_message: 'Mine.' }, 'user:maria');
    await inWords(stage, 0, { exclude: ['agent.a0'] });
    expect([greeting(stage, one), greeting(stage, two)]).toEqual(['Mine.', 'Hello 1']);
  });

  longStaged(
    'is made anew as a whole, and only with --undo-edited, where it was deleted',
    async (stage) => {
      await stage.write(
        'agents.yaml',
        'agents:\n  a0: { name: A0, greeting_message: Hello, system_prompt: Be kind., description: Desk }\n  a1: { name: A1, greeting_message: Hello }\n',
      );
      await stage.apply();
      await stage.edit('agents.yaml', 'Hello, system', 'Good day, system');
      await stage.edit(
        'agents.yaml',
        'A1, greeting_message: Hello',
        'A1, greeting_message: Good day',
      );
      await stage.apply();
      const { agents } = stage.sim.store;
      const id = [...agents].find(([, { record }]) => record.name === 'A0')?.[0] ?? '';
      agents.delete(id);
      const run = await lastRun(stage);
      const since = stage.writes().length;

      const { err } = await inWords(stage, 4);
      expect(err).toContain('A0 (agent.a0) was deleted since the run');
      expect(err).toContain(`callsheet rollback ${run} --undo-edited`);
      expect(stage.writes().length).toBe(since);

      const { out } = await inWords(stage, 3, { skipRefused: true });
      expect(out).toContain(
        'it was deleted since the run. To create it again as it was before the run:',
      );
      const named = (name: string) =>
        [...agents.values()].find(({ record }) => record.name === name)?.record;
      expect(named('A0')).toBeUndefined();
      expect(named('A1')).toMatchObject({ greeting_message: 'Hello' });

      await inWords(stage, 0, { run, undoEdited: true });
      expect(named('A0')).toMatchObject({
        greeting_message: 'Hello',
        system_prompt: 'Be kind.',
        description: 'Desk',
      });
    },
  );

  staged('in all that an earlier run changed, told by the first of them', async (stage) => {
    await changeFleet(stage, 12);
    const run = await lastRun(stage);
    await stage.write(
      'agents.yaml',
      (await readFile(join(stage.folder, 'agents.yaml'), 'utf8')).replaceAll('Good day', 'Hi'),
    );
    await stage.apply();
    const { err } = await inWords(stage, 4, { run });
    const last = await lastRun(stage);
    expect(err.split('\n').slice(0, 4)).toEqual([
      `Error: A0 (agent.a0) was edited since the run, last by run ${last}`,
      `A1 (agent.a1) was edited since the run, last by run ${last}`,
      `A2 (agent.a2) was edited since the run, last by run ${last}`,
      'and 9 more for the same reason',
    ]);
  });

  longStaged('in two of fifty, told in forty lines', async (stage) => {
    const ids = await changeFleet(stage, 50);
    for (const id of ids.slice(0, 2)) stage.sim.edit(id, { description: 'Mine.' }, 'user:maria');
    const refused = await inWords(stage, 4);
    expect(refused.lines.length).toBeLessThanOrEqual(40);
    const { lines } = await inWords(stage, 3, { skipRefused: true });
    expect(lines.length).toBeLessThanOrEqual(40);
    expect(ids.filter((id) => String(greeting(stage, id)).startsWith('Hello'))).toHaveLength(48);
  });
});

describe('a dry run', () => {
  staged('shows the plan and writes nothing', async (stage) => {
    await changeFleet(stage, 2);
    const before = [stage.writes().length, await stateIn(stage)];
    for (const format of ['text', 'json', 'markdown', ...VIEWS]) {
      const flags = { dir: stage.folder, format, dryRun: true };
      const { out } = await stage.run((to) => rollback(flags, to));
      expect(out).toContain('Good day 1');
      if (format === 'json') expect(JSON.parse(out)).toMatchObject({ purpose: 'rollback' });
    }
    expect([stage.writes().length, await stateIn(stage)]).toEqual(before);
    const { err } = await inWords(stage, 1, { format: 'markdown' });
    expect(err).toContain('--format markdown works only with --dry-run');
  });
});

describe('a run is named by as much of its id as tells it apart', () => {
  longStaged('its beginning, or what follows its time', async (stage) => {
    await changeFleet(stage, 1);
    const run = await lastRun(stage);
    const [time = '', tail = ''] = run.split('-');
    for (const given of [run, tail, run.slice(0, -2)])
      expect((await inWords(stage, 0, { run: given, dryRun: true })).out).toContain(`run ${run}`);
    const { err } = await inWords(stage, 1, { run: time.slice(0, 6) });
    expect(err).toMatch(/several runs begin with .*: \S+, \S+.*`callsheet runs` lists/s);
  });

  staged('one that is still at work is not undone', async (stage) => {
    await changeFleet(stage, 1);
    const store = openKeyed(`${stage.folder}/.callsheet/state.json`);
    const run = '20301121t000000z-aaaaaa';
    const { lineage, serial } = await stateIn(stage);
    const { began } = await import('../state/sample.ts');
    const { hostname } = await import('node:os');
    const holder = { run, command: 'apply', user: null, host: hostname(), pid: process.pid };
    const lease = await store.acquire({ ...holder, since: new Date().toISOString() });
    await lease.append({ ...began(run, serial, lineage) });
    const since = stage.writes().length;
    expect((await inWords(stage, 1, { run })).err).toContain(`run ${run} is still running`);
    await inWords(stage, 6);
    expect(stage.writes().length).toBe(since);
    await lease.release();
  });
});

describe('a deleted agent with a telephone', () => {
  const PHONE = {
    sipDomain: 'sip.example.test',
    username: 'phone',
    password: 'canary-of-the-phone',
    proxy: 'proxy.example.test',
    port: 5060,
    transport: 'udp',
    subscribe: false,
    extension: '100',
    registrationEnabled: true,
  };

  const written = ['', ', sip: { registration_enabled: false }'];
  for (const sip of longRows(written, (_, at) => at === 0))
    staged(
      `is planned, and comes back, without it${sip && ', looked after as it was'}`,
      async (stage) => {
        await changeFleet(stage, 2);
        const agent = agentNamed(stage.sim, 'A0');
        agent.record = { ...agent.record, sip_registration_data: PHONE };
        await stage.write('agents.yaml', `agents:\n  a0: { name: A0${sip} }\n  a1: { name: A1 }\n`);
        await stage.apply();
        await stage.write('agents.yaml', 'agents:\n  a1: { name: A1 }\n');
        const [deletion] = (await stage.plan({ allowDelete: true })).changes;
        expect(deletion?.reason).toBe(
          'no longer configured; this also deletes its SIP registration, which only the dashboard sets up',
        );
        await stage.apply({ allowDelete: true });
        const { out } = await inWords(stage, 3);
        expect(out).toContain(
          'agent.a0 sip is not restored: the delete also removed its SIP registration, which only the dashboard sets up. Set it up in the dashboard.',
        );
        const back = [...stage.sim.store.agents.values()].map(({ record }) => record);
        expect(back.find(({ name }) => name === 'A0')).toMatchObject({ status: 'inactive' });
      },
    );
});

const FLAGS = [
  '--skip-refused',
  '--exclude',
  '--undo-edited',
  '--delete-used',
  '--override-freeze',
];

/** What refuses a rollback, and the flags that its way on may name: those that lift it, and no others. */
const REFUSED: readonly {
  readonly title: string;
  readonly prepare: (stage: Stage) => Promise<void>;
  readonly offers: readonly string[];
}[] = [
  {
    title: 'the only resource that the run created is protected',
    prepare: (stage) => addProtected(stage),
    offers: [],
  },
  {
    title: 'one of several is protected',
    prepare: async (stage) => {
      await stage.edit('agents.yaml', 'how can I help?', 'good day!');
      await addProtected(stage);
    },
    offers: ['--skip-refused'],
  },
  {
    title: 'all that the run changed was edited since',
    prepare: async (stage) => {
      await stage.edit('agents.yaml', 'how can I help?', 'good day!');
      await stage.apply();
      stage.sim.edit(agentNamed(stage.sim).id, { greeting_message: 'Mine.' }, 'user:maria');
    },
    offers: ['--undo-edited'],
  },
  {
    title: 'what has no history was changed since',
    prepare: async (stage) => {
      await stage.edit('resources.yaml', 'max_attempts: 3', 'max_attempts: 5');
      await stage.apply();
      for (const policy of stage.sim.store.retryPolicies.values())
        Object.assign(Object(policy.rules).no_answer, { max_attempts: 9 });
    },
    offers: ['--undo-edited'],
  },
  {
    title: 'what the run created is used since',
    prepare: async (stage) => {
      await stage.write(
        'more.yaml',
        'retry_policies: { more: { name: More, rules: { busy: { max_attempts: 2 } }, on_exhausted: end } }',
      );
      await stage.apply();
      const made = [...stage.sim.store.retryPolicies].find(([, { name }]) => name === 'More');
      stage.sim.edit(agentNamed(stage.sim, 'Recall').id, {
        default_retry_policy_id: made?.[0] ?? '',
      });
    },
    offers: ['--delete-used'],
  },
  {
    title: 'a freeze is in force',
    prepare: async (stage) => {
      await stage.edit('agents.yaml', 'how can I help?', 'good day!');
      await stage.apply();
      await stage.edit(
        'callsheet.yaml',
        'callsheet: 1',
        'callsheet: 1\nguards: { freeze: [{ weekdays: [mon, tue, wed, thu, fri, sat, sun], zone: UTC }] }',
      );
    },
    offers: ['--override-freeze'],
  },
];

async function addProtected(stage: Stage): Promise<void> {
  await stage.write('more.yaml', 'agents: { more: { name: More, lifecycle: { protect: true } } }');
  await stage.apply();
}

describe('a refused rollback offers the flags that lift a refusal, and no others:', () => {
  for (const { title, prepare, offers } of longRows(REFUSED, (_, at) => at % 2 === 1)) {
    staged(title, async (stage) => {
      await stage.apply();
      await prepare(stage);
      const since = stage.writes().length;
      for (const dryRun of [false, true]) {
        const { out, err } = await inWords(stage, 4, { dryRun });
        expect(FLAGS.filter((flag) => `${out}${err}`.includes(flag))).toEqual(offers);
        if (offers.length === 0) expect(err.replace(/\s+/g, ' ')).toContain('No flag lifts');
      }
      expect(stage.writes().length).toBe(since);
    });
  }
});

import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { drift } from '../../src/cli/commands/drift.ts';
import { rollback } from '../../src/cli/commands/rollback.ts';
import { apply } from '../../src/console/apply.ts';
import { plan } from '../../src/console/plan.ts';
import { describeHold } from '../../src/plan/holds.ts';
import { longStaged, type Stage, staged } from '../apply/stage.ts';
import { agentNamed } from '../e2e/clinic.ts';
import { keyedJournal } from '../state/keyed.ts';
import { began, HOLDS } from '../state/sample.ts';
import { STATE, stateCommands, stateIn } from './state-stage.ts';

const greetingOf = ({ sim }: Stage) => agentNamed(sim).record.greeting_message;
const OLD = 'Harbor Dental, how can I help?';
const NEW = 'Harbor Dental, good day!';

const lastRun = async (stage: Stage) => (await stateIn(stage)).last_run ?? '';

/** Changes the greeting, applies, and rolls back: the configuration is held from now on. */
async function rollBack(stage: Stage): Promise<{ readonly undid: string; readonly by: string }> {
  await stage.apply();
  await stage.edit('agents.yaml', 'how can I help?', 'good day!');
  await stage.apply();
  const undid = await lastRun(stage);
  await stage.rollback();
  expect(greetingOf(stage)).toBe(OLD);
  return { undid, by: await lastRun(stage) };
}

/** The configuration is held, by the runs given. */
async function held(stage: Stage, { undid, by }: Record<'undid' | 'by', string>): Promise<void> {
  const { refusals } = await stage.plan({}, { exit: 4 });
  const message = expect.stringContaining(`run ${by} undid run ${undid}`);
  expect(refusals).toMatchObject([{ guard: 'hold', message, until: null }]);
}

describe('the hold of a rollback', () => {
  staged('keeps what was rolled back from being applied again', async (stage) => {
    const runs = await rollBack(stage);
    await held(stage, runs);
    const flags = { dir: stage.folder, format: 'text' } as const;
    const file = join(stage.folder, 'plan.json');
    await stage.run((to) => plan({ ...flags, out: file }, to), { exit: 4 });
    await stage.run((to) => drift(flags, to));
    await stage.apply({}, { exit: 4 });
    await stage.applyFile('plan.json', {}, { exit: 4 });
    expect(greetingOf(stage)).toBe(OLD);
  });

  longStaged('is told although a limit stops the plan first', async (stage) => {
    const runs = await rollBack(stage);
    await stage.edit(
      'callsheet.yaml',
      'callsheet: 1\n',
      'callsheet: 1\nguards: { max_change_percent: 1, min_resources: 1 }\n',
    );
    await held(stage, runs);
    const { changes } = await stage.plan({}, { exit: 4 });
    expect(changes).toMatchObject([{ verdict: 'refused', lifted_by: 'override_limits' }]);
  });

  staged('is released when it is planned, and is gone with the run', async (stage) => {
    await rollBack(stage);
    const flags = { dir: stage.folder, format: 'text', out: join(stage.folder, 'p.json') } as const;
    await stage.run((to) => plan({ ...flags, releaseHold: true }, to));
    await stage.applyFile('p.json');
    expect(greetingOf(stage)).toBe(NEW);
    expect(await stateIn(stage)).not.toHaveProperty('holds');
  });

  longStaged('is on the value, whatever else changes beside it', async (stage) => {
    const runs = await rollBack(stage);
    await stage.edit('agents.yaml', 'due for a check-up', 'due for a visit');
    await held(stage, runs);
    await stage.edit('agents.yaml', 'model: alpha-4.1', 'model: alpha-4o');
    await held(stage, runs);
    await stage.apply({ target: ['agent.recall'] });
  });

  staged(
    'is on what was made, deleted or taken away, and on no secret that stayed',
    async (stage) => {
      await stage.apply();
      const careless = { SMS_TOKEN: 'canary-sms-careless-1' };
      await stage.edit('agents.yaml', 'name: Recall\n', 'name: Recall\n    description: Calls.\n');
      await stage.edit('agents.yaml', '    greeting_message: Harbor Dental, how can I help?\n', '');
      const text = await stage.read('resources.yaml');
      const more = '  second: { name: Second, message_type: sms, body: Hi., status: draft }\n';
      await stage.write(
        'resources.yaml',
        text
          .replace('email_templates:\n  reminder:', 'email_templates:\n  moved_on:')
          .replace('    name: Reminder\n    subject', '    name: Moved on\n    subject')
          .replace('\nknowledge_bases:', `${more}\nknowledge_bases:`),
      );
      await stage.apply({ allowDelete: true }, { env: careless });
      const undid = await lastRun(stage);
      await stage.rollback({}, { env: careless, exit: 3 });
      // Anything else is free to change.
      await stage.edit('agents.yaml', 'speed: 1.05', 'speed: 1.1');
      const { refusals } = await stage.plan({ allowDelete: true }, { env: careless, exit: 4 });
      const [{ message } = { message: '' }] = refusals ?? [];
      expect(message).toContain(`undid run ${undid}`);
      const held = Object.values((await stateIn(stage)).holds ?? {});
      expect(held.map(({ address, path }) => `${address} ${path}`).sort()).toEqual([
        'agent.desk greeting_message',
        'agent.recall description',
        'email_template.moved_on null',
        'email_template.reminder null',
        'sms_template.second null',
      ]);
      for (const [target, exit] of [
        ['agent.desk', 4],
        ['agent.recall', 4],
        ['email_template.moved_on', 4],
        ['email_template.reminder', 4],
        ['sms_template.second', 4],
        ['retry_policy', 0],
      ] as const)
        await stage.plan({ allowDelete: true, target: [target] }, { env: careless, exit });
      await stage.edit('resources.yaml', 'body: Hi.', 'body: Hello.');
      await stage.plan({ target: ['sms_template.second'] }, { env: careless });
    },
  );

  staged('stays on the value, whatever was written in between', async (stage) => {
    const runs = await rollBack(stage);
    await stage.edit('agents.yaml', 'good day!', 'good evening!');
    await stage.apply();
    await stage.edit('agents.yaml', 'good evening!', 'good day!');
    await held(stage, runs);
  });

  longStaged('is on what an earlier run wrote, until its rollback is undone', async (stage) => {
    await stage.apply();
    await stage.edit('agents.yaml', 'how can I help?', 'good day!');
    await stage.apply();
    const undid = await lastRun(stage);
    await stage.edit('agents.yaml', 'due for a check-up', 'due for a visit');
    await stage.apply();
    const flags = { dir: stage.folder, format: 'text', run: undid, autoApprove: true } as const;
    const { err } = await stage.run((to) => rollback(flags, to));
    expect(err).toMatch(/are held: plan and apply refuse to write .*--release-hold/);
    const by = await lastRun(stage);
    await held(stage, { undid, by });
    await stage.rollback({ run: by });
    expect((await stage.plan()).changes).toEqual([]);
  });

  longStaged('is on the value that was applied, not on the one of now', async (stage) => {
    await stage.apply();
    await stage.edit('agents.yaml', 'how can I help?', 'good day!');
    await stage.apply();
    await stage.edit('agents.yaml', 'good day!', 'good evening!');
    await stage.rollback();
    await stage.apply();
    expect(greetingOf(stage)).toBe('Harbor Dental, good evening!');
  });

  staged('goes with the state: repaired, pulled, pushed elsewhere, edited', async (stage) => {
    const runs = await rollBack(stage);
    const state = stateCommands(stage);
    const text = await stage.read(STATE);
    await stage.write(STATE, text.slice(0, -9));
    await state.repair();
    await held(stage, runs);
    const { out } = await state.pull();
    await stage.forget();
    await stage.write('pulled.json', out);
    await state.push('pulled.json');
    await held(stage, runs);
    await state.mv('email_template.reminder', 'email_template.visit');
    await state.mv('email_template.visit', 'email_template.reminder');
    await held(stage, runs);
  });

  longStaged('is there even where the rollback died after its first line', async (stage) => {
    await stage.apply();
    await stage.edit('agents.yaml', 'how can I help?', 'good day!');
    const { config_digest: digest } = await stage.plan();
    const { lineage, serial } = await stateIn(stage);
    const [hold] = Object.values(HOLDS);
    const entry = { ...began('r2', serial, lineage), purpose: 'rollback' as const, undoes: 'r1' };
    const first = { ...entry, ...(hold ? { holds: { [digest]: hold } } : {}) };
    await stage.write('.callsheet/runs/r2.open.jsonl', keyedJournal('r2', [first]));
    await held(stage, { undid: 'r1', by: 'r2' });
    await stage.apply({ releaseHold: true });
    expect(await stateIn(stage)).not.toHaveProperty('holds');
  });

  longStaged(
    'is lifted by who undoes the rollback, and put back by who undoes that',
    async (stage) => {
      const { by } = await rollBack(stage);
      await stage.rollback({ run: by });
      expect(greetingOf(stage)).toBe(NEW);
      expect((await stage.plan()).changes).toEqual([]);
      expect(await stateIn(stage)).not.toHaveProperty('holds');
      const undid = await lastRun(stage);
      await stage.rollback({ run: undid });
      await held(stage, { undid, by: await lastRun(stage) });
    },
  );
});

describe('a hold is on what the run introduced, and not on what it only put back', () => {
  const agent = ({ sim }: Stage, name: string) => agentNamed(sim, name).id;
  const tools = (stage: Stage) => {
    const { extensions } = agentNamed(stage.sim).record as { extensions: { tools: object[] } };
    return extensions;
  };
  const editTools = (stage: Stage, change: (all: readonly object[]) => readonly object[]) => {
    const { tools: all, ...rest } = tools(stage);
    stage.sim.edit(agentNamed(stage.sim).id, {
      extensions: { ...rest, tools: change(all) } as never,
    });
  };
  const fax = { type: 'webhook', name: 'fax', condition: 'after_call', method: 'POST' };
  const rows: readonly (readonly [string, (stage: Stage) => unknown])[] = [
    ['nothing', () => undefined],
    [
      'a field',
      (stage) => stage.sim.edit(agent(stage, 'Recall'), { system_prompt: 'Edited by hand.' }),
    ],
    [
      'a field that was emptied',
      (stage) => stage.sim.edit(agent(stage, 'Recall'), { default_retry_policy_id: null }),
    ],
    [
      'an element that somebody added',
      (stage) => editTools(stage, (all) => [...all, { ...fax, url: 'https://fax.example.test' }]),
    ],
    ['an element that somebody removed', (stage) => editTools(stage, () => [])],
    [
      'a member of an element',
      (stage) =>
        editTools(stage, (all) =>
          all.map((one) => ({ ...one, url: 'https://by-hand.example.test' })),
        ),
    ],
    [
      'a policy',
      ({ sim }) => {
        for (const policy of sim.store.retryPolicies.values()) policy.on_exhausted = 'notify';
      },
    ],
    [
      'a resource that somebody deleted',
      (stage) => void stage.sim.store.agents.delete(agent(stage, 'Recall')),
    ],
  ];
  for (const [what, edit] of rows) {
    staged(what, async (stage) => {
      await stage.apply();
      edit(stage);
      await stage.edit('agents.yaml', 'how can I help?', 'good day!');
      await stage.apply();
      await stage.rollback({}, { exit: [0, 3] });
      expect(greetingOf(stage)).toBe(OLD);
      const held = Object.values((await stateIn(stage)).holds ?? {}).map(describeHold);
      expect(held).toEqual(['agent.desk greeting_message']);
      // What the run introduced is held until the change is reverted, as told.
      await stage.plan({}, { exit: 4 });
      await stage.edit('agents.yaml', 'good day!', 'how can I help?');
      const { refusals } = await stage.plan();
      expect(refusals).toBeUndefined();
      await stage.apply();
    });
  }
});

describe('a hold that no plan can break any more is released with a word', () => {
  const DESCRIPTION = [
    'agents.yaml',
    'name: Recall\n',
    'name: Recall\n    description: Calls.\n',
  ] as const;
  const rows: readonly {
    readonly what: string;
    readonly change: (stage: Stage) => Promise<void>;
    /** What ends the hold, or does not. */
    readonly later: (stage: Stage) => Promise<void>;
    readonly ends: RegExp | undefined;
  }[] = [
    {
      what: 'a field that is no longer configured',
      change: (stage) => stage.edit(...DESCRIPTION),
      later: (stage) => stage.edit(DESCRIPTION[0], DESCRIPTION[2], DESCRIPTION[1]),
      ends: /agent\.recall description \(run \S+ undid run \S+\) ends: the field is no longer configured/,
    },
    {
      what: 'a resource that is neither configured nor in the state',
      change: async (stage) => {
        const more = '  second: { name: Second, message_type: sms, body: Hi., status: draft }\n';
        await stage.edit('resources.yaml', '\nknowledge_bases:', `${more}\nknowledge_bases:`);
      },
      later: async (stage) => {
        const text = await stage.read('resources.yaml');
        await stage.write('resources.yaml', text.replace(/ {2}second: .*\n/, ''));
      },
      ends: /sms_template\.second \(run \S+ undid run \S+\) ends: it is neither configured nor in/,
    },
    {
      what: 'a resource whose address another one has',
      change: (stage) => stage.edit('agents.yaml', 'how can I help?', 'good day!'),
      later: async (stage) => {
        await stage.edit('agents.yaml', 'good day!', 'how can I help?');
        stage.sim.store.agents.delete(agentNamed(stage.sim).id);
        await stage.apply();
      },
      ends: /agent\.desk greeting_message \(.*\) ends: another resource \(\S+\) has its address/,
    },
    {
      what: 'but not one on a field that has another value',
      change: (stage) => stage.edit('agents.yaml', 'how can I help?', 'good day!'),
      later: (stage) => stage.edit('agents.yaml', 'good day!', 'how can I help?'),
      ends: undefined,
    },
  ];
  for (const { what, change, later, ends } of rows) {
    staged(what, async (stage) => {
      await stage.apply();
      await change(stage);
      await stage.apply();
      await stage.rollback();
      await stage.plan({}, { exit: 4 });
      await later(stage);
      const { notes } = await stage.plan();
      const said = notes.map(({ message }) => message).join('\n');
      const flags = { dir: stage.folder, format: 'text', autoApprove: true } as const;
      const { err } = await stage.run((to) => apply(undefined, flags, to));
      if (ends === undefined) {
        expect(said).not.toContain('the hold on');
        expect(await stateIn(stage)).toHaveProperty('holds');
        return;
      }
      expect(said).toMatch(ends);
      expect(err.replace(/\s+/g, ' ')).toMatch(ends);
      expect(await stateIn(stage)).not.toHaveProperty('holds');
      expect((await stage.plan()).notes.map(({ message }) => message).join()).not.toContain('hold');
    });
  }
});

import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { drift } from '../../../src/cli/commands/drift.ts';
import { rollback } from '../../../src/cli/commands/rollback.ts';
import { runs } from '../../../src/cli/commands/state.ts';
import { apply } from '../../../src/console/apply.ts';
import { plan } from '../../../src/console/plan.ts';
import { create } from '../../../src/features/recovery/snapshot-create.ts';
import { abort, promote, run, start } from '../../../src/features/rollout/command.ts';
import { recordsIn, toEntry } from '../../../src/features/rollout/record.ts';
import { forgeState, stateCommands, stateIn } from '../../cli/state-stage.ts';
import {
  DAY,
  type Fleet,
  type FleetOptions,
  HOUR,
  LONG,
  openFleet,
  POLITE,
  SHORT,
  small,
} from './fleet.ts';

const STRATEGY = { feature: 'rollout', name: 'careful', command: 'rollout start' };

async function opened(options: FleetOptions = {}): Promise<Fleet> {
  const fleet = await openFleet(options);
  onTestFinished(fleet.close);
  return fleet;
}

/** Has the state tolerate anything. */
function loosen({ stage }: Fleet): Promise<void> {
  return forgeState(stage, (state) => {
    const [careful] = recordsIn(state);
    if (careful === undefined) throw new Error('no rollout was started');
    const { judge } = careful.settings;
    const measures = judge.measures.map((one) => ({ ...one, margin: 90 }));
    const settings = {
      ...careful.settings,
      judge: { ...judge, measures, minDays: 0, minCalls: 1 },
    };
    return { ...state, kept: { rollout: { careful: toEntry({ ...careful, settings }) } } };
  });
}

describe('a change', () => {
  test('that is careless is caught at the first step, and rolled back', async () => {
    const fleet = await opened();
    await fleet.greet(LONG);
    expect(await fleet.start(2)).toMatchObject({ status: 'judging', step: 1, agents: 40 });
    expect(fleet.greeting(LONG)).toBe(8);
    const { end } = await fleet.runEvery(4 * HOUR, 6 * 7);
    expect(end).toMatchObject({ status: 'rolled_back', step: 1, left: [] });
    expect(end.why).toMatch(/^resolved moved by −\d/);
    expect(fleet.greeting(LONG)).toBe(0);
    expect(fleet.greeting(SHORT)).toBe(40);
    // The values that were undone are held.
    const { refusals } = await fleet.stage.plan({}, { exit: 4 });
    expect(refusals).toMatchObject([{ guard: 'hold' }]);
    const given = { dir: fleet.stage.folder, format: 'json', autoApprove: true } as const;
    await fleet.act((to) => start('careful', { ...given, anyway: true }, to), { exit: 4 });
    // Who has reasons can let it begin once more, at the first step.
    expect(await fleet.start(2, 'careful', { releaseHold: true })).toMatchObject({ step: 1 });
    expect(fleet.greeting(LONG)).toBe(8);
  });

  test('that is harmless goes through all steps', async () => {
    const fleet = await opened();
    await fleet.greet(POLITE);
    await fleet.start(2);
    const { end } = await fleet.runEvery(2 * DAY, 30);
    expect(end).toMatchObject({ status: 'done', step: 3, look: { verdict: 'no_worse' } });
    expect(end.steps.map(({ agents, status }) => [agents, status])).toEqual([
      [8, 'applied'],
      [20, 'applied'],
      [40, 'applied'],
    ]);
    expect(fleet.greeting(POLITE)).toBe(40);
    expect((await fleet.stage.plan()).changes).toEqual([]);
  });
});

describe('what others do meanwhile', () => {
  test('neither applies what waits, nor sees drift, nor undoes a step alone', async () => {
    const fleet = await opened(small());
    await fleet.greet(POLITE);
    const { steps } = await fleet.start(2);
    const { changes, summary } = await fleet.stage.plan();
    expect(summary).toMatchObject({ update: 10, held: 10 });
    expect(changes[0]?.reason).toContain('held by the rollout careful, which is at step 1 of 3');
    const given = { dir: fleet.stage.folder, format: 'json' } as const;
    await fleet.act((to) => apply(undefined, { ...given, autoApprove: true }, to));
    expect(fleet.greeting(POLITE)).toBe(2);
    const drifted = await fleet.act((to) => drift({ ...given, detailedExitcode: true }, to));
    expect(JSON.parse(drifted.out).changes).toEqual([]);
    const run = steps[0]?.runs[0] ?? '';
    const receipt = await fleet.act((to) => runs(run, given, to));
    expect(JSON.parse(receipt.out).entries[0].kept.entries).toHaveProperty('careful');
    const told = await fleet.act((to) => runs(run, { ...given, format: 'text' }, to));
    expect(told.out).toContain('part of   rollout careful, step 1 of 3');
    const undone = await fleet.stage.run(
      async (to) =>
        (await import('../../../src/cli/commands/rollback.ts')).rollback(
          { ...given, run, autoApprove: true },
          to,
        ),
      { exit: 4 },
    );
    expect(undone.err).toContain('callsheet rollout abort careful');
    expect(fleet.greeting(POLITE)).toBe(2);
  });

  test('two pipelines at once come to one end, and nothing is applied or undone twice', async () => {
    const fleet = await opened(small('    judge: { measures: { resolved: { margin: 30 } } }\n'));
    await fleet.greet(POLITE);
    const both = async (command: typeof run, what?: string) => {
      const given = {
        dir: fleet.stage.folder,
        format: 'json',
        autoApprove: true,
        anyway: true,
      } as const;
      const exit = [0, 2, 3, 4, 5, 6];
      await Promise.all([1, 2].map(() => fleet.act((to) => command(what, given, to), { exit })));
    };
    await both(start, 'careful');
    expect(fleet.greeting(POLITE)).toBe(2);
    fleet.pass(3 * DAY);
    await both(run);
    const [moved] = await fleet.show();
    const step = moved?.steps[(moved?.step ?? 1) - 1];
    expect([2, 6]).toContain(fleet.greeting(POLITE));
    expect(step?.runs.length).toBeLessThanOrEqual(1);
    await both(abort);
    const { status, left } = (await fleet.show())[0] ?? {};
    if (status !== 'rolled_back') await fleet.run([0, 3]);
    expect(left).toEqual([]);
    expect(fleet.greeting(POLITE)).toBe(0);
  });

  test('who starts it again or selects the same agents is refused', async () => {
    const fleet = await opened(small('  other: { steps: [1 agent, 100%] }\n'));
    await fleet.greet(POLITE);
    await fleet.start(2, 'careful');
    for (const name of ['careful', 'other']) {
      const given = { dir: fleet.stage.folder, format: 'json', autoApprove: true } as const;
      const { err } = await fleet.act((to) => start(name, { ...given, anyway: true }, to), {
        exit: 4,
      });
      expect(err).toContain('the rollout careful is under way');
    }
  });

  test('an edit of an agent that waits is not overwritten: the rollout is held', async () => {
    const fleet = await opened(small());
    await fleet.greet(POLITE);
    const { steps } = await fleet.start(2);
    const { resources } = await stateIn(fleet.stage);
    const next = resources[steps[1]?.adds[0] ?? ''];
    fleet.stage.sim.edit(next?.id ?? '', { greeting_message: 'Edited by hand' });
    const held = await fleet.promote(4);
    expect(held).toMatchObject({ status: 'held', step: 2 });
    expect(held.why).toContain('both changed since the last apply (last by user:dashboard');
    expect(fleet.greeting('Edited by hand')).toBe(1);
    expect(fleet.greeting(POLITE)).toBe(2);
  });

  test('while it is held for a change of the configuration its calls are looked at', async () => {
    const fleet = await opened(small());
    await fleet.greet(LONG);
    await fleet.start(2);
    const text = await fleet.stage.read('agents.yaml');
    await fleet.stage.write('agents.yaml', text.replace('how can I help', 'what is it'));
    expect(await fleet.promote(4)).toMatchObject({ status: 'held', step: 2 });
    fleet.pass(20 * DAY);
    const end = await fleet.run(3);
    expect(end).toMatchObject({ status: 'rolled_back', look: { verdict: 'worse', step: 1 } });
    expect(fleet.greeting(LONG)).toBe(0);
  });

  test('an agent with the change that somebody deletes is no silence', async () => {
    const fleet = await opened(small('    guard_rails: { silence: 8 }\n'));
    await fleet.greet(POLITE);
    const { steps } = await fleet.start(2);
    fleet.pass(2 * DAY);
    await fleet.run(2);
    const { resources } = await stateIn(fleet.stage);
    const adds = steps[0]?.adds ?? [];
    // One of them has another address by then.
    const [, renamed = ''] = adds;
    await stateCommands(fleet.stage).mv(renamed, renamed.replace('["', '["new-'));
    for (const address of adds) fleet.stage.sim.store.agents.delete(resources[address]?.id ?? '');
    fleet.pass(2 * DAY);
    expect(await fleet.run(2)).toMatchObject({ status: 'judging', look: { broken: [] } });
  });

  test.each([
    ['in the state', async (fleet: Fleet) => loosen(fleet)],
    [
      'in the files',
      (fleet: Fleet) => fleet.stage.edit('callsheet.yaml', '{ min_days: 4 }', '{ min_days: 1 }'),
    ],
  ])(
    'other settings %s hold it: a person goes on by those of callsheet.yaml',
    async (_name, loosen) => {
      const env = { CALLSHEET_FINGERPRINT_KEY: undefined };
      const fleet = await opened({ ...small('    judge: { min_days: 4 }\n'), env });
      await fleet.greet(POLITE);
      await fleet.start(2);
      await loosen(fleet);
      fleet.pass(2 * HOUR);
      const held = await fleet.run(4);
      expect(held).toMatchObject({ status: 'held', step: 1 });
      expect(held.why).toContain('judge');
      expect(held.why).toContain('callsheet.yaml');
      expect(fleet.greeting(POLITE)).toBe(2);
      expect(await fleet.promote(2)).toMatchObject({ status: 'judging', step: 2 });
      const [careful] = recordsIn(await stateIn(fleet.stage));
      const days = _name === 'in the files' ? 1 : 4;
      expect(careful?.settings.judge.minDays).toBe(days);
    },
  );

  test('a secret that gets another value between two steps holds it', async () => {
    const fleet = await opened(small());
    const text = await fleet.stage.read('agents.yaml');
    await fleet.stage.write(
      'agents.yaml',
      `${text}    extensions:
      tools:
        - { type: webhook, name: crm, condition: during_call, method: GET, url: 'https://crm.example.test/x', headers: [{ key: X-Api-Key, value: { $secret: env:CRM_KEY } }] }
`,
    );
    const keyed = (CRM_KEY: string) => ({ env: { CRM_KEY } });
    const given = { dir: fleet.stage.folder, format: 'json', autoApprove: true } as const;
    await fleet.act((to) => start('careful', { ...given, anyway: true }, to), {
      exit: 2,
      ...keyed('reviewed-key'),
    });
    const written = (value: string) =>
      [...fleet.stage.sim.store.agents.values()].filter(({ record }) =>
        JSON.stringify(record).includes(value),
      ).length;
    expect(written('reviewed-key')).toBe(2);
    const { out } = await fleet.act((to) => promote(undefined, given, to), {
      exit: 4,
      ...keyed('another-key'),
    });
    expect(JSON.parse(out).rollouts[0].why).toMatch(
      /would change otherwise than reviewed: extensions\.tools\[crm\]\.headers\[X-Api-Key\]\.value/,
    );
    expect(written('another-key')).toBe(0);
    // The value that was reviewed goes on.
    const more = await fleet.act((to) => promote(undefined, given, to), {
      exit: 2,
      ...keyed('reviewed-key'),
    });
    expect(JSON.parse(more.out).rollouts[0]).toMatchObject({ status: 'judging', step: 2 });
    expect(written('reviewed-key')).toBe(6);
    const { kept } = await stateIn(fleet.stage);
    expect(JSON.stringify(kept)).not.toContain('reviewed-key');
  });

  test('a configuration that changes holds it, and what was reviewed goes on', async () => {
    const fleet = await opened(small());
    await fleet.greet(POLITE);
    await fleet.start(2);
    const text = await fleet.stage.read('agents.yaml');
    await fleet.stage.write('agents.yaml', text.replace(POLITE, LONG));
    const held = await fleet.promote(4);
    expect(held.why).toContain('would change otherwise than reviewed: greeting_message');
    expect(fleet.greeting(LONG)).toBe(0);
    await fleet.stage.write('agents.yaml', text);
    expect(await fleet.promote(2)).toMatchObject({ status: 'judging', step: 2 });
    expect(fleet.greeting(POLITE)).toBe(6);
  });
});

describe('a plan', () => {
  test('that was reviewed is started from its file, and no other', async () => {
    const fleet = await opened(small());
    await fleet.greet(POLITE);
    const out = join(fleet.stage.folder, 'plan.json');
    const { folder: dir } = fleet.stage;
    const { out: printed } = await fleet.act((to) => plan({ dir, format: 'json', out }, to));
    const { digest } = JSON.parse(printed);
    const given = { dir, format: 'json' } as const;
    await fleet.act((to) => start(out, { ...given, anyway: true, expect: 'sha256:other' }, to), {
      exit: 5,
    });
    const { out: shown } = await fleet.act(
      (to) => start(out, { ...given, anyway: true, expect: digest }, to),
      {
        exit: 2,
      },
    );
    expect(JSON.parse(shown).rollouts).toMatchObject([{ plan_digest: digest, step: 1 }]);
  });

  test('of a rollout is of its agents, is started and not applied, and has one digest', async () => {
    const fleet = await opened(small('    select: { keys: [c1, c2, c3, c4, c5] }\n'));
    await fleet.greet(POLITE);
    const out = join(fleet.stage.folder, 'plan.json');
    const given = { dir: fleet.stage.folder, format: 'json' } as const;
    const planned = await fleet.act((to) => plan({ ...given, out, strategy: STRATEGY }, to));
    const { digest, summary, notes } = JSON.parse(planned.out);
    expect(summary).toMatchObject({ update: 5, held: 0 });
    expect(notes[0].message).toContain('careful has 3 steps, the first with 2 agents at most');
    const { err } = await fleet.act((to) => apply(out, given, to), { exit: 4 });
    expect(err).toContain('callsheet rollout start');
    expect(fleet.greeting(POLITE)).toBe(0);
    // The plan that is made now is the one that was reviewed.
    const started = await fleet.start(2, 'careful', { expect: digest });
    expect(started).toMatchObject({ plan_digest: digest, agents: 5, step: 1 });
  });

  test.each([
    [2, 2],
    [1, 4],
  ])('counts for a limit of %s in twelve as far as its first step goes', async (most, exit) => {
    const percent = Math.ceil((100 * most) / 12);
    const limit = `guards: { max_change_percent: ${percent}, min_resources: 1 }\n`;
    const { rollouts = '', ...options } = small();
    const fleet = await opened({ ...options, rollouts: `${rollouts}${limit}` });
    await fleet.greet(POLITE);
    const given = { dir: fleet.stage.folder, format: 'json', autoApprove: true } as const;
    const { err } = await fleet.act((to) => start('careful', { ...given, anyway: true }, to), {
      exit,
    });
    expect(err.includes('callsheet rollout start careful --skip-refused')).toBe(exit === 4);
    expect(fleet.greeting(POLITE)).toBe(exit === 2 ? 2 : 0);
    // What was judged, by calls or a person, counts no more.
    if (exit === 2) expect(await fleet.promote(2)).toMatchObject({ step: 2 });
  });

  test('that holds more than the rollout selects is refused, with the place of both', async () => {
    const fleet = await opened(small('    select: { keys: [c1, c2, c3, c4, c5] }\n'));
    await fleet.greet(POLITE);
    const out = join(fleet.stage.folder, 'plan.json');
    const { folder: dir } = fleet.stage;
    await fleet.act((to) => plan({ dir, format: 'json', out }, to));
    const { err } = await fleet.act((to) => start(out, { dir, format: 'json' }, to), { exit: 1 });
    expect(err).toContain('the plan changes 7 resources that rollouts.careful (callsheet.yaml:5)');
    expect(err).toContain('Clinic 6 (agent.clinic["c6"]): update, clinics.csv:7');
    expect(fleet.greeting(POLITE)).toBe(0);
    // The rollout alone is planned without them.
    expect(await fleet.start(2)).toMatchObject({ agents: 5, steps: { length: 3 } });
  });
});

describe('where callers fare worse', () => {
  const worse = async (what: string) => {
    const fleet = await opened(small(`    on_worse: ${what}\n`));
    await fleet.greet(LONG);
    await fleet.start(2);
    return { fleet, ...(await fleet.runEvery(DAY, 14)) };
  };

  test('it is held where the stack says so, until somebody decides', async () => {
    const { fleet, end } = await worse('hold');
    expect(end).toMatchObject({ status: 'held', look: { verdict: 'worse' } });
    expect(fleet.greeting(LONG)).toBe(2);
    expect(await fleet.run(4)).toMatchObject({ status: 'held' });
    // Who goes on all the same is not stopped by the calls that were overruled.
    expect(await fleet.promote(2)).toMatchObject({ status: 'judging', step: 2 });
    expect(fleet.greeting(LONG)).toBe(6);
    expect(await fleet.abort(0)).toMatchObject({ status: 'rolled_back', left: [] });
    expect(fleet.greeting(LONG)).toBe(0);
  });

  test('a configuration that is broken meanwhile neither keeps it nor is applied', async () => {
    const fleet = await opened(small('    on_worse: rollback\n'));
    await fleet.greet(LONG);
    await fleet.start(2);
    await fleet.stage.edit('agents.yaml', 'language: en-US', 'langage: en-US');
    expect(await fleet.show()).toMatchObject([{ status: 'judging' }]);
    const { end } = await fleet.runEvery(DAY, 14);
    expect(end).toMatchObject({ status: 'rolled_back', left: [] });
    expect(fleet.greeting(LONG)).toBe(0);
  });

  test('a step is not applied from a configuration that is broken', async () => {
    const fleet = await opened(small());
    await fleet.greet(POLITE);
    await fleet.start(2);
    await fleet.stage.edit('agents.yaml', 'language: en-US', 'langage: en-US');
    const given = { dir: fleet.stage.folder, format: 'json', autoApprove: true } as const;
    const { err } = await fleet.act((to) => promote(undefined, given, to), { exit: 1 });
    expect(err).toContain('langage');
    expect(fleet.greeting(POLITE)).toBe(2);
    await fleet.stage.edit('agents.yaml', 'langage: en-US', 'language: en-US');
    expect(await fleet.promote(2)).toMatchObject({ status: 'judging', step: 2 });
    expect(fleet.greeting(POLITE)).toBe(6);
  });

  test('of two, one that cannot go on does not keep the other from being rolled back', async () => {
    const frozen = 'guards: { freeze: [{ zone: UTC, dates: [2026-03-03..2026-04-20] }] }\n';
    const fleet = await opened({
      agents: 20,
      rollouts: `rollouts:
  careful: { select: { keys: [c1, c2, c3] }, steps: [1 agent, 100%], judge: { measures: { resolved: { margin: 90 } } } }
  other: { select: { keys: [c4, c5, c6] }, steps: [2 agents, 100%] }
${frozen}`,
    });
    await fleet.greet(LONG);
    await fleet.start(2, 'careful');
    await fleet.start(2, 'other');
    fleet.pass(2 * DAY);
    const given = { dir: fleet.stage.folder, format: 'json', autoApprove: true } as const;
    await fleet.act((to) => promote('careful', given, to), { exit: 2 });
    await fleet.stage.edit('agents.yaml', 'language: en-US', 'langage: en-US');
    fleet.pass(20 * DAY);
    const { out, err } = await fleet.act((to) => run(undefined, given, to), { exit: 1 });
    expect(err).toContain('langage');
    expect(JSON.parse(out).rollouts).toMatchObject([{ name: 'other', status: 'rolled_back' }]);
    expect(fleet.greeting(LONG)).toBe(1);
  });

  test('it asks, and without anybody to ask it is held', async () => {
    const fleet = await opened(small('    on_worse: ask\n'));
    await fleet.greet(LONG);
    await fleet.start(2);
    let status = 'judging';
    for (let day = 0; day < 14 && status === 'judging'; day += 1) {
      fleet.pass(DAY);
      const given = { dir: fleet.stage.folder, format: 'json' } as const;
      const { out } = await fleet.act((to) => run(undefined, given, to), { exit: [2, 4] });
      status = JSON.parse(out).rollouts[0].status;
    }
    expect(status).toBe('held');
    expect(fleet.greeting(LONG)).toBe(2);
  });
});

describe('what else is done meanwhile', () => {
  /** A freeze window from the second day on, and silence as a guard rail. */
  const FROZEN = `    guard_rails: { silence: 8 }
guards: { freeze: [{ zone: UTC, dates: [2026-03-03..2026-04-20] }] }
`;

  test('a step that waits for a freeze window still has its calls looked at', async () => {
    const fleet = await opened(small(FROZEN));
    await fleet.greet(POLITE);
    const { steps } = await fleet.start(2);
    fleet.pass(2 * DAY);
    expect(await fleet.promote(2)).toMatchObject({ status: 'applying', step: 2 });
    expect(await fleet.run(2)).toMatchObject({ status: 'applying', look: { broken: [] } });
    const { resources } = await stateIn(fleet.stage);
    for (const address of steps[0]?.adds ?? [])
      fleet.stage.sim.edit(resources[address]?.id ?? '', { status: 'inactive' });
    fleet.pass(3 * DAY);
    // Both were edited since, so that they are left as they are, and named.
    const { status, left } = await fleet.run(3);
    expect({ status, left: left.length }).toEqual({ status: 'rolled_back', left: 2 });
    expect(fleet.greeting(POLITE)).toBe(2);
    expect(fleet.stage.sim.store.agents.size).toBe(12);
  });

  test('an override of a freeze window is one of the first step alone', async () => {
    const fleet = await opened(
      small('guards: { freeze: [{ zone: UTC, dates: [2026-03-02..2026-03-20] }] }\n'),
    );
    await fleet.greet(POLITE);
    await fleet.start(2, 'careful', { overrideFreeze: 'urgent' });
    expect(fleet.greeting(POLITE)).toBe(2);
    await fleet.promote(2);
    expect(fleet.greeting(POLITE)).toBe(2);
    expect((await fleet.show())[0]).toMatchObject({ status: 'applying', step: 2 });
  });

  test('a plan file of a rollout is stale once its steps are others', async () => {
    const fleet = await opened(small());
    await fleet.greet(POLITE);
    const out = join(fleet.stage.folder, 'reviewed.json');
    const given = { dir: fleet.stage.folder, format: 'json' } as const;
    await fleet.act((to) => plan({ ...given, out, strategy: STRATEGY }, to));
    await fleet.stage.edit('callsheet.yaml', '[2 agents, 50%, 100%]', '["100%"]');
    const { err } = await fleet.act(
      (to) => start(out, { ...given, anyway: true, autoApprove: true }, to),
      {
        exit: 5,
      },
    );
    expect(err).toContain('the configuration changed since the plan for the rollout careful');
    expect(fleet.greeting(POLITE)).toBe(0);
  });

  test('neither a snapshot nor an older run is gone back to below its agents', async () => {
    const fleet = await opened(small());
    const given = { dir: fleet.stage.folder, format: 'json', autoApprove: true } as const;
    const snapshot = join(fleet.stage.folder, 'before.snapshot');
    await fleet.act((to) => create({ ...given, out: snapshot, plaintext: true } as never, to));
    await fleet.greet(POLITE);
    await fleet.start(2);
    for (const what of [{ to: snapshot }, {}]) {
      const { err } = await fleet.act((to) => rollback({ ...given, ...what } as never, to), {
        exit: 4,
      });
      expect(err).toMatch(/change of the rollout careful.*callsheet rollout abort careful/s);
    }
    expect(fleet.greeting(POLITE)).toBe(2);
    // The rest goes back where that is said, and they are named.
    const { out } = await fleet.act(
      (to) => rollback({ ...given, to: snapshot, skipRefused: true } as never, to),
      { exit: 3 },
    );
    const { verification } = JSON.parse(out);
    expect(verification.left).toHaveLength(2);
    expect(verification.left[0].why).toContain('the rollout careful');
    expect(fleet.greeting(POLITE)).toBe(2);
    expect(fleet.stage.sim.store.agents.size).toBe(12);
  });

  test('an agent with the change that somebody edited is put back by apply', async () => {
    const fleet = await opened(small());
    await fleet.greet(POLITE);
    const { steps } = await fleet.start(2);
    const { resources } = await stateIn(fleet.stage);
    const id = resources[steps[0]?.adds[0] ?? '']?.id ?? '';
    fleet.stage.sim.edit(id, { transfer_rules: 'Never.' });
    const given = { dir: fleet.stage.folder, format: 'json', autoApprove: true } as const;
    await fleet.act((to) => apply(undefined, given, to));
    expect(fleet.stage.sim.store.agents.get(id)?.record).toMatchObject({
      greeting_message: POLITE,
      transfer_rules: 'Hand over where somebody is in pain.',
    });
    expect(fleet.greeting(POLITE)).toBe(2);
  });

  test('an agent that is renamed gets the change under its new address', async () => {
    const fleet = await opened(small());
    await fleet.greet(POLITE);
    const { steps } = await fleet.start(2);
    const [waits = ''] = steps[1]?.adds ?? [];
    const key = /"(c\d+)"/.exec(waits)?.[1] ?? '';
    await fleet.stage.edit('clinics.csv', `\n${key},`, `\nnew-${key},`);
    await fleet.stage.write(
      'moved.yaml',
      `moved: [{ from: 'agent.clinic["${key}"]', to: 'agent.clinic["new-${key}"]' }]\n`,
    );
    expect(await fleet.promote(2)).toMatchObject({ status: 'judging', step: 2 });
    expect(fleet.greeting(POLITE)).toBe(6);
    expect(await fleet.abort(0)).toMatchObject({ status: 'rolled_back', left: [] });
    expect(fleet.greeting(POLITE)).toBe(0);
  });

  test('a Callsheet without the feature plans nothing beside it', async () => {
    const fleet = await opened(small());
    await fleet.greet(POLITE);
    await fleet.start(2);
    const given = { dir: fleet.stage.folder, format: 'json' } as const;
    const { err } = await fleet.act((to) => plan(given, { ...to, features: [] }), { exit: 4 });
    expect(err).toContain('the rollout careful under way, and this Callsheet has no rollout');
    await fleet.abort(0);
    await fleet.act((to) => plan(given, { ...to, features: [] }), { exit: 'any' });
    expect((await fleet.show())[0]).toMatchObject({ status: 'rolled_back' });
  });

  test('a state that is rebuilt says what has become of it', async () => {
    const fleet = await opened(small());
    await fleet.greet(POLITE);
    await fleet.start(2);
    const state = '.callsheet/state.json';
    await fleet.stage.write(state, (await fleet.stage.read(state)).slice(0, -200));
    const { out } = await stateCommands(fleet.stage).repair();
    // Of a sealed state that is damaged nothing is read: the journals say that it began.
    expect(JSON.parse(out).kept).toMatchObject([{ feature: 'rollout', name: 'careful' }]);
    await fleet.stage.write(state, '');
    const { out: said } = await stateCommands(fleet.stage, 'text').repair();
    expect(said).toMatch(
      /The rollout careful was applying: the state was rebuilt, and no journal says/,
    );
    expect(said).toContain('callsheet rollout show careful');
    expect((await fleet.show())[0]).toMatchObject({ status: 'held' });
  });

  test('a run that is no longer recorded is named, and does not keep the rollout from its end', async () => {
    const fleet = await opened(small());
    await fleet.greet(POLITE);
    const { steps } = await fleet.start(2);
    await fleet.promote(2);
    await fleet.stage.remove(`.callsheet/runs/${steps[0]?.runs[0]}.jsonl`);
    const { status, left } = await fleet.abort(3);
    expect(status).toBe('rolled_back');
    expect(left).toEqual([expect.stringContaining('no longer recorded')]);
    expect(fleet.greeting(POLITE)).toBe(2);
  });
});

describe('a guard rail', () => {
  const BROKEN = `    extensions:
      tools:
        - { type: webhook, name: crm, condition: during_call, method: GET, url: 'https://broken.example.test/x' }
`;

  test.each<[string, string, (text: string) => string, RegExp]>([
    [
      'for errors',
      '    guard_rails: { errors: 5 }\n',
      (text) => `${text}${BROKEN}`,
      /^\d+ of \d+ calls of agents with the change have an error; .* had days with more than 5 %$/,
    ],
    [
      'for silence',
      '    guard_rails: { silence: 20 }\n',
      (text) => text.replace('status: active', 'status: inactive'),
      /^agent\.clinic\["c\d+"\] got no call since .*; \d+ were expected$/,
    ],
  ])('%s stops before a verdict, and takes back what was changed', async (_, more, edit, why) => {
    const fleet = await opened(small(more));
    const before = await fleet.stage.read('agents.yaml');
    await fleet.stage.write('agents.yaml', edit(before));
    await fleet.start(2);
    const { end, hours } = await fleet.runEvery(HOUR, 24);
    expect(end).toMatchObject({ status: 'rolled_back', look: { verdict: 'not_enough_calls' } });
    expect(end.why).toMatch(why);
    expect(hours).toBeLessThan(24);
    await fleet.stage.write('agents.yaml', before);
    expect((await fleet.stage.plan()).changes).toEqual([]);
  });

  test('for silence holds while one agent is silent, and goes on once it is called again', async () => {
    const fleet = await opened({
      ...small('    select: { keys: [c1, c2, c3, c4, c5] }\n    guard_rails: { silence: 8 }\n'),
      agents: 20,
    });
    await fleet.greet(POLITE);
    const { steps } = await fleet.start(2);
    fleet.pass(2 * DAY);
    await fleet.run(2);
    const address = steps[0]?.adds[0] ?? '';
    const { resources } = await stateIn(fleet.stage);
    const turn = (status: string) => fleet.stage.sim.edit(resources[address]?.id ?? '', { status });
    turn('inactive');
    fleet.pass(2 * DAY);
    const held = await fleet.run(4);
    expect(held).toMatchObject({
      status: 'held',
      look: { broken: [{ rail: 'silence', address }] },
    });
    expect(held.why).toContain(`${address} got no call since`);
    expect(fleet.greeting(POLITE)).toBe(2);
    turn('active');
    fleet.pass(DAY);
    expect(await fleet.run([2, 0])).not.toMatchObject({ status: 'held' });
  });

  test('for silence leaves an agent alone that is closed on Wednesdays', async () => {
    const fleet = await opened({
      ...small('    guard_rails: { silence: 8 }\n'),
      agents: 20,
    });
    await fleet.greet(POLITE);
    const { steps } = await fleet.start(2);
    const address = steps[0]?.adds[0] ?? '';
    const { resources } = await stateIn(fleet.stage);
    const book = fleet.stage.sim.store.calls.get(resources[address]?.id ?? '');
    if (book === undefined) throw new Error('nobody calls it');
    const close = () => {
      const open = book.calls.filter(({ startedAt }) => new Date(startedAt).getUTCDay() !== 3);
      book.calls.splice(0, book.calls.length, ...open);
    };
    // It starts on a Monday morning, and is looked at on Wednesday at midnight and on Thursday morning.
    for (const span of [2 * DAY + 16 * HOUR, 8 * HOUR]) {
      fleet.pass(span);
      // Callers call once somebody asks for figures.
      await fleet.show();
      close();
      const look = (await fleet.run([0, 2])).look;
      expect(look?.broken).toEqual([]);
    }
    expect(fleet.greeting(POLITE)).toBeGreaterThanOrEqual(2);
  });

  test('for errors may be a measure of call logs, too', async () => {
    const judge = '    judge: { measures: { errors: { margin: 5 } } }\n';
    const fleet = await opened(small(judge));
    await fleet.stage.write('agents.yaml', `${await fleet.stage.read('agents.yaml')}${BROKEN}`);
    await fleet.start(2);
    const { end } = await fleet.runEvery(DAY, 14);
    expect(end).toMatchObject({ status: 'rolled_back', look: { measures: [{ name: 'errors' }] } });
  });
});

describe('an abort', () => {
  test('with an older state undoes every run of it that journals tell of, or is refused', async () => {
    const fleet = await opened({ ...small(), env: { CALLSHEET_FINGERPRINT_KEY: undefined } });
    await fleet.greet(POLITE);
    await fleet.start(2);
    const older = await fleet.stage.read('.callsheet/state.json');
    await fleet.promote(2);
    expect(fleet.greeting(POLITE)).toBe(6);
    await fleet.stage.write('.callsheet/state.json', older);
    const given = { dir: fleet.stage.folder, format: 'json', autoApprove: true } as const;
    const { out, err } = await fleet.act((to) => abort(undefined, given, to), { exit: [0, 1] });
    // Runs of one second have no order, by which an older copy of the state is found.
    if (err.includes('is an older copy')) return;
    expect(JSON.parse(out).rollouts).toMatchObject([{ status: 'rolled_back', left: [] }]);
    expect(fleet.greeting(POLITE)).toBe(0);
  });

  test('names agents that have the change although no run is known', async () => {
    const fleet = await opened({ ...small(), env: { CALLSHEET_FINGERPRINT_KEY: undefined } });
    await fleet.greet(POLITE);
    await fleet.start(2);
    const older = await fleet.stage.read('.callsheet/state.json');
    const { steps } = await fleet.promote(2);
    await fleet.stage.write('.callsheet/state.json', older);
    await fleet.stage.remove(`.callsheet/runs/${steps[1]?.runs[0]}.jsonl`);
    const { left } = await fleet.abort(3);
    expect(fleet.greeting(POLITE)).toBe(4);
    expect(left.map((text) => text.split(':')[0]).sort()).toEqual(steps[1]?.adds.toSorted());
  });

  test('beside a promotion comes to an end, whichever is first', async () => {
    const fleet = await opened(small());
    await fleet.greet(POLITE);
    await fleet.start(2);
    const given = { dir: fleet.stage.folder, format: 'json', autoApprove: true } as const;
    const lockTimeout = 60_000;
    const exits = await Promise.all([
      fleet.act((to) => abort(undefined, { ...given, lockTimeout }, to), { exit: 'any' }),
      fleet.act((to) => promote(undefined, { ...given, lockTimeout }, to), { exit: 'any' }),
    ]);
    expect(exits.map(({ err }) => err).join()).not.toContain('state moved');
    if ((await fleet.show())[0]?.status !== 'rolled_back') await fleet.abort([0, 3]);
    expect(fleet.greeting(POLITE)).toBe(0);
  });
});

describe('a look', () => {
  test('writes nothing while it has no consequence, so that a reviewed plan is applied after it', async () => {
    const fleet = await opened(small('    select: { keys: [c1, c2, c3, c4, c5] }\n'));
    await fleet.greet(POLITE);
    await fleet.start(2);
    await fleet.stage.edit('clinics.csv', 'Clinic 9,', 'Clinic Nine,');
    const out = join(fleet.stage.folder, 'reviewed.json');
    const given = { dir: fleet.stage.folder, format: 'json' } as const;
    await fleet.act((to) => plan({ ...given, out, target: ['agent.clinic["c9"]'] }, to));
    const before = await fleet.stage.read('.callsheet/state.json');
    fleet.pass(DAY);
    const looked = await fleet.run(2);
    expect(looked.look?.calls).toBeGreaterThan(0);
    const [shown] = await fleet.show();
    expect(shown?.look).toEqual(looked.look);
    expect(await fleet.stage.read('.callsheet/state.json')).toBe(before);
    await fleet.act((to) => apply(out, { ...given, autoApprove: true }, to));
  });

  test('leaves out agents that were changed since by others', async () => {
    const fleet = await opened({
      ...small('    select: { keys: [c1, c2, c3, c4, c5] }\n'),
      agents: 20,
    });
    await fleet.greet(POLITE);
    await fleet.start(2);
    fleet.pass(DAY);
    const { look } = await fleet.run(2);
    expect(look).toMatchObject({ others: 18 });
    const given = { dir: fleet.stage.folder, format: 'json', autoApprove: true } as const;
    await fleet.act((to) => apply(undefined, given, to));
    // The three that wait for their step are as they were.
    expect((await fleet.run(2)).look).toMatchObject({ others: 3, verdict: 'not_enough_calls' });
  });
});

describe('where calls say nothing', () => {
  test.each<[string, FleetOptions, RegExp]>([
    ['there are no metrics', { dialect: { absent: ['getMetrics'] } }, /gives no figures: .*404/],
    ['agents are missing from them', { dialect: { metrics: 'partial' } }, /figures are incomplete/],
    ['hardly anybody calls', { perDay: 1 }, /can be compared/],
  ])('it waits for weeks where %s, says so, and is overdue', async (_, options, why) => {
    const fleet = await opened({ ...small(), ...options });
    await fleet.greet(POLITE);
    await fleet.start(2);
    for (let day = 0; day < 8; day += 1) {
      fleet.pass(DAY);
      const waiting = await fleet.run(2);
      expect(waiting).toMatchObject({ status: 'judging', step: 1, overdue: day >= 7 });
      expect(waiting.look?.why).toMatch(why);
    }
    expect(fleet.greeting(POLITE)).toBe(2);
  });

  test('one that somebody ends at its last step ends by the clock of the platform', async () => {
    const few = '    select: { keys: [c1, c2, c3, c4, c5, c6, c7, c8] }\n';
    const fleet = await opened({ ...small(few), agents: 20 });
    await fleet.greet(POLITE);
    await fleet.start(2);
    await fleet.promote(2);
    expect(await fleet.promote(2)).toMatchObject({ status: 'judging', step: 3 });
    fleet.pass(30 * DAY);
    const { status, started_at: from, ended_at: to } = await fleet.promote(0);
    expect(status).toBe('done');
    const days = (Date.parse(to ?? '') - Date.parse(from)) / DAY;
    expect(Math.floor(days)).toBe(30);
  });

  test('steps that cannot tell the margin are refused at the start, with those that can', async () => {
    const fleet = await opened({ rollouts: 'rollouts: { careful: { steps: [1 agent, 100%] } }\n' });
    await fleet.greet(POLITE);
    const given = { dir: fleet.stage.folder, format: 'json', autoApprove: true } as const;
    const { err } = await fleet.act((to) => start('careful', given, to), { exit: 4 });
    expect(err).toMatch(
      /step 1 of the rollout careful \(1 of 40 agents\) cannot tell the margin: resolved ±\d/,
    );
    expect(err).toContain('--anyway');
    const [, size = ''] = /steps: \[(\d+) agents, 100%\]/.exec(err) ?? [];
    expect(fleet.greeting(POLITE)).toBe(0);
    // A plan of it says so, too, and the steps that it names will do.
    const planned = { dir: fleet.stage.folder, format: 'json', strategy: STRATEGY } as const;
    const { err: told } = await fleet.act((to) => plan(planned, to));
    expect(told).toContain('cannot tell the margin');
    await fleet.stage.edit('callsheet.yaml', '1 agent', `${size} agents`);
    const { err: fits } = await fleet.act((to) => start('careful', given, to), { exit: 2 });
    expect(fits).toMatch(
      /step 1 of the rollout careful \(\d+ of 40 agents\) takes: resolved ±\d\.\d, margin 5, after \d+ days/,
    );
    expect(fleet.greeting(POLITE)).toBe(Number(size));
  });

  test('agents that were changed lately have too little to be compared with', async () => {
    const fleet = await opened();
    const given = { dir: fleet.stage.folder, format: 'json', autoApprove: true } as const;
    await fleet.greet(LONG);
    await fleet.act((to) => apply(undefined, given, to));
    const text = await fleet.stage.read('agents.yaml');
    await fleet.stage.write('agents.yaml', text.replace(JSON.stringify(LONG), POLITE));
    const { err } = await fleet.act((to) => start('careful', given, to), { exit: 4 });
    expect(err).toContain('whole weeks of calls since they were changed');
    // One whole week since then says enough.
    fleet.pass(8 * DAY);
    expect(await fleet.start(2, 'careful', { anyway: false })).toMatchObject({ step: 1 });
  });

  test('once all have it and too few are left to compare with, nothing waits', async () => {
    const few = '    select: { keys: [c1, c2, c3, c4, c5, c6, c7, c8] }\n';
    const fleet = await opened(small(few));
    await fleet.greet(POLITE);
    await fleet.start(2);
    expect(await fleet.promote(2)).toMatchObject({ step: 2, agents: 8 });
    // Four agents of the stack never have it, which is too few for a verdict.
    expect(await fleet.promote(0)).toMatchObject({ status: 'done', step: 3 });
  });

  test('the first agents may be those with the most calls', async () => {
    const fleet = await opened(small('    first: volume\n'));
    await fleet.greet(POLITE);
    const { steps } = await fleet.start(2);
    const { resources } = await stateIn(fleet.stage);
    const calls = (address: string) =>
      fleet.stage.sim.store.calls.get(resources[address]?.id ?? '')?.calls.length ?? 0;
    const counts = steps.flatMap(({ adds }) => adds).map(calls);
    expect(new Set(counts).size).toBeGreaterThan(6);
    // Weeks that lie further back than the baseline count for nothing, so two that are alike may change places.
    for (const [at, count] of counts.entries())
      expect(count).toBeLessThan(1.1 * (counts[at - 1] ?? Number.POSITIVE_INFINITY));
  });

  test('none is started whose first agents are those with the most calls', async () => {
    const fleet = await opened({
      ...small('    first: volume\n'),
      dialect: { absent: ['getMetrics'] },
    });
    await fleet.greet(POLITE);
    const given = { dir: fleet.stage.folder, format: 'json', autoApprove: true } as const;
    const { err } = await fleet.act((to) => start('careful', { ...given, anyway: true }, to), {
      exit: 1,
    });
    expect(err).toMatch(/rollouts\.careful\.first is volume\. The platform gives no figures/);
    expect(fleet.greeting(POLITE)).toBe(0);
  });

  test('late metrics are waited for', async () => {
    const fleet = await opened({ dialect: { metrics: 'late' } });
    await fleet.greet(LONG);
    await fleet.start(2);
    const { end } = await fleet.runEvery(DAY, 14);
    // Where the others moved together on that day as well, it is held instead of rolled back.
    expect(end).toMatchObject({ status: end.look?.calm ? 'rolled_back' : 'held', step: 1 });
    expect(end.look?.verdict).toBe('worse');
  });
});

test('where none is under way a run says so, and would take the place of no comment', async () => {
  const fleet = await opened(small());
  const given = { dir: fleet.stage.folder, format: 'markdown' } as const;
  const { out } = await fleet.act((to) => run(undefined, given, to));
  expect(out.trim()).toBe('No rollout is under way.');
});

test('the state has what a rollout was started with, and no value of a field', async () => {
  const fleet = await opened(small());
  await fleet.greet(POLITE);
  await fleet.start(2);
  const [careful] = recordsIn(await stateIn(fleet.stage));
  expect(JSON.stringify(careful)).not.toContain(POLITE);
  expect(careful?.agents).toHaveLength(12);
});

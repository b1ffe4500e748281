import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { rollback } from '../../src/cli/commands/rollback.ts';
import type { PlanFlags } from '../../src/console/context.ts';
import { plan } from '../../src/console/plan.ts';
import { withDigest } from '../../src/plan/document.ts';
import { longStaged, type Stage, staged } from '../apply/stage.ts';
import { agentNamed } from '../e2e/clinic.ts';
import { mortal } from '../kill/mortal.ts';

const LATER = '2031-01-01T00:00:00.000Z';

/** Writes a plan to plan.json. */
async function save(stage: Stage, flags: Partial<PlanFlags> = {}): Promise<void> {
  const out = join(stage.folder, 'plan.json');
  await stage.run((to) => plan({ dir: stage.folder, format: 'json', ...flags, out }, to));
}

describe('a plan that is out of date writes nothing at all', () => {
  const rows: readonly (readonly [string, (stage: Stage) => unknown, RegExp])[] = [
    [
      'a field that it writes was edited',
      (stage) => stage.sim.edit(agentNamed(stage.sim).id, { greeting_message: 'By hand.' }),
      /^Error: Front desk \(agent\.desk\) was changed since the plan by user:dashboard via dashboard at 20\S+: greeting_message$/m,
    ],
    [
      'a field that it owns and does not write was edited',
      (stage) => stage.sim.edit(agentNamed(stage.sim).id, { system_prompt: 'By hand.' }),
      /^Error: Front desk \(agent\.desk\) was changed since the plan by user:dashboard via dashboard at 20\S+: system_prompt$/m,
    ],
    [
      'what is to be updated was deleted',
      (stage) => stage.sim.store.agents.delete(agentNamed(stage.sim).id),
      /Front desk \(agent\.desk\) was deleted since the plan/,
    ],
    [
      'one of several resources was edited',
      (stage) => {
        const [policy] = stage.sim.store.retryPolicies.values();
        if (policy) Object.assign(policy, { on_exhausted: 'notify', updated_at: '2031-01-01' });
      },
      /Gentle redial \(retry_policy\.gentle\) was changed since the plan/,
    ],
    [
      'it was applied in part, by a run that died',
      async (stage) => {
        const { outside, isDead } = mortal({ name: 'after request PUT updateAgent', nth: 1 });
        await stage.applyFile('plan.json', { concurrency: 1 }, { outside, exit: 'any' });
        expect(isDead()).toBe(true);
      },
      /^Error: run \S+ applied this plan in part:\nGentle redial \(retry_policy\.gentle\) was written by another run since the plan/,
    ],
    ['the state was thrown away', (stage) => stage.forget(), /state/],
    [
      'the plan is for another account',
      async (stage) => {
        const { digest: _, ...made } = JSON.parse(await stage.read('plan.json'));
        const other = { ...made, platform: { ...made.platform, account_id: 'another' } };
        // Signed anew, so that nothing but the account is wrong.
        await stage.write('plan.json', JSON.stringify(withDigest(other)));
      },
      /the plan is for account another at \S+; this is account /,
    ],
    [
      'an allowance was written into it',
      (stage) => stage.edit('plan.json', '"accept_conflicts": false', '"accept_conflicts": true'),
      /was changed after it was made: its digest does not match/,
    ],
  ];
  for (const [what, happens, message] of rows) {
    staged(what, async (stage) => {
      await stage.apply();
      await stage.edit('agents.yaml', 'how can I help?', 'good day!');
      await stage.edit('resources.yaml', 'delay_seconds: 900', 'delay_seconds: 600');
      await save(stage);
      await happens(stage);
      const before = stage.writes().length;
      const { err } = await stage.applyFile('plan.json', {}, { exit: 5 });
      expect(err).toMatch(message);
      expect(stage.writes().length).toBe(before);
    });
  }
});

describe('a plan that rests on something else is applied all the same', () => {
  const deskRecord = (stage: Stage) => agentNamed(stage.sim).record;
  const rows: readonly (readonly [string, (stage: Stage) => unknown, RegExp?])[] = [
    [
      'a field that nobody owns was edited',
      (stage) => stage.sim.edit(agentNamed(stage.sim).id, { echo_detection: true }),
      /since the plan it was changed in fields that this change does not rest on/,
    ],
    [
      'a field that nobody documented moved',
      (stage) => Object.assign(deskRecord(stage), { calls_total: 7, updated_at: LATER }),
      /since the plan it was changed in fields that this change does not rest on/,
    ],
    ['only updated_at moved', (stage) => Object.assign(deskRecord(stage), { updated_at: LATER })],
    [
      'another resource was configured',
      (stage) => stage.edit('agents.yaml', 'name: Recall', 'name: Reminders'),
    ],
    [
      'another resource was applied',
      async (stage) => {
        await stage.edit('agents.yaml', 'name: Recall', 'name: Reminders');
        await stage.apply({ target: ['agent.recall'] }, { leaves: () => true });
      },
    ],
    [
      'another plan was applied that was made at the same time',
      async (stage) => {
        const first = await stage.read('plan.json');
        await save(stage, { target: ['retry_policy.gentle'] });
        await stage.applyFile('plan.json', {}, { leaves: () => true });
        await stage.write('plan.json', first);
      },
    ],
  ];
  for (const [what, happens, told] of rows) {
    staged(what, async (stage) => {
      await stage.apply();
      await stage.edit('agents.yaml', 'how can I help?', 'good day!');
      await stage.edit('resources.yaml', 'delay_seconds: 900', 'delay_seconds: 600');
      await save(stage, { target: ['agent.desk'] });
      await happens(stage);
      const { out } = await stage.applyFile('plan.json', {}, { leaves: () => true });
      expect(deskRecord(stage).greeting_message).toBe('Harbor Dental, good day!');
      if (told) expect(out).toMatch(told);
      else expect(out).not.toContain('since the plan');
    });
  }

  staged('a second time it says which run applied it, and writes nothing', async (stage) => {
    await stage.apply();
    await stage.edit('agents.yaml', 'how can I help?', 'good day!');
    await save(stage);
    const { out } = await stage.applyFile('plan.json');
    // Whatever came after it.
    stage.sim.edit(agentNamed(stage.sim).id, { greeting_message: 'By hand.' });
    const before = stage.writes().length;
    const again = await stage.applyFile('plan.json', {}, { leaves: () => true });
    const { run } = JSON.parse(out);
    expect(JSON.parse(again.out)).toMatchObject({ run, status: 'done', ledger: [] });
    expect(stage.writes()).toHaveLength(before);
    const text = await stage.applyFile('plan.json', { format: 'text' }, { leaves: () => true });
    expect(text.out).toMatch(new RegExp(`^Run ${run} applied this plan already: .callsheet runs`));
  });

  staged('one without changes says so', async (stage) => {
    await stage.apply();
    await save(stage);
    const { out } = await stage.applyFile('plan.json', { format: 'text' });
    expect(out).toMatch(/^No changes/);
  });
});

staged('somebody made one of the same name since the plan', async (stage) => {
  await save(stage);
  stage.sim.store.retryPolicies.set('twin', { id: 'twin', name: 'Gentle redial', rules: {} });
  const { err } = await stage.applyFile('plan.json', {}, { exit: 5 });
  expect(err).toContain(
    'Gentle redial (retry_policy.gentle): another resource with its name (twin) was created since the plan',
  );
  expect(stage.writes()).toEqual([]);
});

longStaged('an edit of an agent that the plan does not touch does not matter', async (stage) => {
  await stage.apply();
  await stage.edit('agents.yaml', 'how can I help?', 'good day!');
  await save(stage);
  stage.sim.edit(agentNamed(stage.sim, 'Recall').id, { echo_detection: true });
  await stage.applyFile('plan.json');
});

describe('a plan file allows what it was planned with, and nothing more', () => {
  const dropRecall = async (stage: Stage) => {
    const text = await stage.read('agents.yaml');
    await stage.write('agents.yaml', text.slice(0, text.indexOf('  recall:')));
  };
  staged('a held delete stays held', async (stage) => {
    await stage.apply();
    await dropRecall(stage);
    await save(stage);
    const leaves = ({ verdict }: { verdict: string }) => verdict === 'held';
    const late = await stage.applyFile('plan.json', { allowDelete: true }, { exit: 1 });
    expect(late.err).toContain('--allow-delete cannot be used with a plan file');
    await stage.applyFile('plan.json', {}, { leaves });
    expect(stage.sim.store.agents.size).toBe(2);
  });
  staged('an allowed delete needs no flag', async (stage) => {
    await stage.apply();
    await dropRecall(stage);
    await save(stage, { allowDelete: true });
    await stage.applyFile('plan.json');
    expect(stage.sim.store.agents.size).toBe(1);
  });
  longStaged('a conflict that was accepted is written', async (stage) => {
    await stage.apply();
    const { id } = agentNamed(stage.sim);
    stage.sim.edit(id, { greeting_message: 'Edited.' });
    await stage.edit('agents.yaml', 'how can I help?', 'good day!');
    await save(stage, { acceptConflicts: true });
    await stage.applyFile('plan.json');
    expect(stage.sim.store.agents.get(id)?.record.greeting_message).toBe(
      'Harbor Dental, good day!',
    );
  });
});

describe('a file that is no plan', () => {
  const rows: readonly (readonly [string, string, RegExp])[] = [
    ['is empty', '', /is not a plan: it is not JSON/],
    ['is some JSON', '[]', /is not a plan that callsheet wrote/],
    [
      'is of a newer version',
      '{"format":"callsheet-plan","version":2,"digest":"","changes":[]}',
      /is a plan of version 2/,
    ],
    [
      'is of an older version',
      '{"format":"callsheet-plan","version":0,"digest":"","changes":[]}',
      /is a plan of version 0; this callsheet reads version 1\nApply it with .* or plan again with this one\./,
    ],
    [
      'names a kind that does not exist',
      '{"format":"callsheet-plan","version":1,"digest":"","changes":[{"kind":"x"}]}',
      /is not a plan that callsheet wrote/,
    ],
  ];
  for (const [what, text, message] of rows) {
    staged(what, async (stage) => {
      await stage.write('plan.json', text);
      const { err } = await stage.applyFile('plan.json', {}, { exit: 1 });
      expect(err).toMatch(message);
    });
  }
  staged('does not exist', async (stage) => {
    const { err } = await stage.applyFile('plan.json', {}, { exit: 1 });
    expect(err).toMatch(/the plan file \S+ does not exist/);
    expect(stage.sim.requests).toEqual([]);
  });
  staged('does not exist, beside one with nearly its name', async (stage) => {
    await stage.write('plan.json', '{}');
    const { err } = await stage.applyFile('paln.json', {}, { exit: 1 });
    expect(err).toMatch(
      /the plan file \S+paln\.json does not exist\nDid you mean \S+\/plan\.json\?/,
    );
  });
});

staged('the plan of a rollback is carried out by rollback alone', async (stage) => {
  await stage.apply();
  await stage.edit('agents.yaml', 'model: alpha-4.1', 'model: alpha-4o');
  await stage.apply();
  const { out } = await stage.run((to) =>
    rollback({ dir: stage.folder, format: 'json', dryRun: true }, to),
  );
  await stage.write('plan.json', out);
  const since = stage.writes().length;
  const { err } = await stage.applyFile('plan.json', {}, { exit: 1 });
  expect(err).toMatch(/the plan was made by rollback.*\n.*callsheet rollback 2\S+/);
  expect(stage.writes()).toHaveLength(since);
});

staged('a name that another resource gives up in the same plan is free', async (stage) => {
  await stage.apply();
  await stage.edit('agents.yaml', 'name: Front desk', 'name: Back desk');
  await stage.edit(
    'agents.yaml',
    'agents:\n',
    'agents:\n  night:\n    name: Front desk\n    status: active\n    system_prompt: Go home.\n',
  );
  // The platform takes no two policies of one name.
  await stage.edit('resources.yaml', 'name: Gentle redial', 'name: Harsh redial');
  await stage.edit(
    'resources.yaml',
    'retry_policies:\n',
    'retry_policies:\n  fresh:\n    name: Gentle redial\n    rules: { no_answer: { delay_seconds: 60, max_attempts: 2 } }\n    on_exhausted: end\n',
  );
  await save(stage);
  await stage.applyFile('plan.json');
  expect(agentNamed(stage.sim).record.system_prompt).toBe('Go home.');
});

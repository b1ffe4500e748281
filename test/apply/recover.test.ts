import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { apply } from '../../src/console/apply.ts';
import { plan } from '../../src/console/plan.ts';
import type { Change, PlanDocument } from '../../src/core/plan-document.ts';
import { STATE, stateIn } from '../cli/state-stage.ts';
import { CANARIES, inventory, WHOLE } from '../e2e/clinic.ts';
import { mortal } from '../kill/mortal.ts';
import { openKeyed } from '../state/keyed.ts';
import { holder } from '../state/sample.ts';
import { longStaged, type Stage, staged } from './stage.ts';

const ROTATED = { SMS_TOKEN: 'canary-sms-rotated-52ab' };

/** An apply that is killed when it comes to a moment for the n-th time. */
async function killed(stage: Stage, name: string, env = {}): Promise<void> {
  const { outside, isDead } = mortal({ name, nth: 1 });
  await stage.apply({ concurrency: 1 }, { outside, env, exit: 'any' });
  expect(isDead()).toBe(true);
}

function found({ settled }: PlanDocument, address: string): string | undefined {
  return settled?.findings.find((one) => one.address === address)?.message;
}

function changeOf({ changes }: PlanDocument, address: string): Change | undefined {
  return changes.find((change) => change.address === address);
}

/** The agents of that name. */
function desks({ sim: { store } }: Stage) {
  return [...store.agents.values()].filter(({ record }) => record.name === 'Front desk');
}

/** Another agent of that name, made at another time. */
function plantDesk({ sim: { store } }: Stage, id: string, created: string): void {
  const [desk] = desks({ sim: { store } } as Stage);
  const like = desk ?? [...store.agents.values()][0];
  if (like === undefined) throw new Error('there is no agent to be like');
  const record = { ...like.record, id, name: 'Front desk', created_at: created };
  store.agents.set(id, { ...like, id, record });
}

function smsToken(stage: Stage): unknown {
  const [desk] = desks(stage);
  const record = desk?.record as
    | { readonly integrations: { readonly smsProvider: { readonly auth_token: string } } }
    | undefined;
  return record?.integrations.smsProvider.auth_token;
}

describe('what was to be made', () => {
  staged(
    'was: the plan says so, and the state has it before anything is written',
    async (stage) => {
      await killed(stage, 'after request POST createAgent');
      const id = desks(stage)[0]?.id;
      const plan = await stage.plan();
      expect(found(plan, 'agent.desk')).toBe(`was created (id ${id})`);
      expect(changeOf(plan, 'agent.desk')).toBeUndefined();
      await killed(stage, 'before request POST createAgent');
      expect((await stateIn(stage)).resources['agent.desk']?.id).toBe(id);
      await stage.apply();
      expect(inventory(stage.sim)).toEqual(WHOLE);
    },
  );

  staged('was not: it is made', async (stage) => {
    await killed(stage, 'before request POST createAgent');
    const plan = await stage.plan();
    expect(found(plan, 'agent.desk')).toBe('was not created');
    expect(changeOf(plan, 'agent.desk')?.action).toBe('create');
    await stage.apply();
    expect(inventory(stage.sim)).toEqual(WHOLE);
  });

  longStaged('was, and is no longer configured: it is not left behind', async (stage) => {
    await killed(stage, 'after request POST createAgent');
    await stage.remove('agents.yaml');
    const plan = await stage.plan();
    expect(changeOf(plan, 'agent.desk')).toMatchObject({ action: 'delete', verdict: 'held' });
    await stage.apply({ allowDelete: true });
    expect(stage.sim.store.agents.size).toBe(0);
  });

  staged('was, and its secret changed since: the new one is written', async (stage) => {
    await killed(stage, 'after request POST createAgent');
    await stage.apply({}, { env: ROTATED });
    expect(smsToken(stage)).toBe(ROTATED.SMS_TOKEN);
  });

  staged('was, beside an older one of its name: creation times tell them apart', async (stage) => {
    await killed(stage, 'after request POST createAgent');
    const id = desks(stage)[0]?.id;
    plantDesk(stage, 'older', '2020-01-01T00:00:00.000Z');
    expect(found(await stage.plan(), 'agent.desk')).toBe(`was created (id ${id})`);
    await stage.apply();
    expect((await stateIn(stage)).resources['agent.desk']?.id).toBe(id);
  });

  staged('may be one of two: they are listed, and lifecycle.adopt chooses', async (stage) => {
    await killed(stage, 'after request POST createAgent');
    const id = desks(stage)[0]?.id ?? '';
    plantDesk(stage, 'twin', new Date().toISOString());
    const before = stage.writes().length;
    const { err } = await stage.run((to) => plan({ dir: stage.folder, format: 'text' }, to), {
      exit: 1,
    });
    expect(err).toMatch(/agent\.desk \(agents\.yaml:\d+\): 2 live resources have this name:/);
    for (const one of [id, 'twin']) expect(err).toContain(`callsheet import agent.desk ${one}`);
    await stage.edit(
      'agents.yaml',
      '    name: Front desk',
      `    name: Front desk\n    lifecycle: { adopt: ${id} }`,
    );
    expect(stage.writes().length).toBe(before);
    await stage.apply();
    expect((await stateIn(stage)).resources['agent.desk']?.id).toBe(id);
  });

  staged(
    'may be one of two, and is no longer configured: plan shows it, apply stops',
    async (stage) => {
      await killed(stage, 'after request POST createAgent');
      plantDesk(stage, 'twin', new Date().toISOString());
      const agents = await stage.read('agents.yaml');
      await stage.remove('agents.yaml');
      expect(found(await stage.plan(), 'agent.desk')).toMatch(
        /^may have been created: 2 live resources/,
      );
      const before = stage.writes().length;
      const { err } = await stage.run(
        (to) => apply(undefined, { dir: stage.folder, format: 'text', autoApprove: true }, to),
        { exit: 4 },
      );
      expect(err).toMatch(
        /agent\.desk may have been created: 2 live resources with its name exist since then, \S+, twin/,
      );
      expect(stage.writes().length).toBe(before);
      stage.sim.store.agents.delete('twin');
      await stage.write('agents.yaml', agents);
      await stage.apply();
    },
  );
});

describe('a document', () => {
  staged('whose bytes arrived is queued, not declared again', async (stage) => {
    await killed(stage, 'before request POST enqueueKnowledgeSource');
    const declared = () =>
      stage.writes().filter(({ operation }) => operation === 'createKnowledgeSource').length;
    const before = declared();
    expect(found(await stage.plan(), 'knowledge_source.clinic.prices')).toMatch(
      /^was created \(id \S+\), but is not complete yet$/,
    );
    await stage.apply();
    expect(declared()).toBe(before);
    expect(inventory(stage.sim)).toEqual(WHOLE);
  });

  staged('that was declared and has no bytes is uploaded', async (stage) => {
    await killed(stage, 'before request PUT upload');
    await stage.apply();
    expect(inventory(stage.sim)).toEqual(WHOLE);
  });
});

describe('what was to be updated', () => {
  staged('was: another edit of the configuration is no conflict', async (stage) => {
    await stage.apply();
    await stage.edit('agents.yaml', 'how can I help?', 'good day!');
    await killed(stage, 'after request PUT updateAgent');
    await stage.edit('agents.yaml', 'good day!', 'good evening!');
    const plan = await stage.plan();
    expect(found(plan, 'agent.desk')).toMatch(/^was updated \(id \S+\)$/);
    const change = changeOf(plan, 'agent.desk');
    expect(change?.verdict).toBe('ok');
    expect(change?.fields.map(({ cause }) => cause)).toEqual(['changed']);
    await stage.apply();
  });

  staged('was not, and was edited in the dashboard: that is a conflict', async (stage) => {
    await stage.apply();
    await stage.edit('agents.yaml', 'how can I help?', 'good day!');
    await killed(stage, 'before request PUT updateAgent');
    stage.sim.edit(desks(stage)[0]?.id ?? '', { greeting_message: 'Hi' });
    const plan = await stage.plan({}, { exit: 4 });
    expect(found(plan, 'agent.desk')).toMatch(/^was not changed \(id \S+\)$/);
    expect(changeOf(plan, 'agent.desk')?.fields.map(({ cause }) => cause)).toEqual(['conflict']);
  });

  staged(
    'was not, and the rest of it stood there already: its secret is written',
    async (stage) => {
      await stage.apply();
      await stage.edit('agents.yaml', 'how can I help?', 'good day!');
      stage.sim.edit(desks(stage)[0]?.id ?? '', {
        greeting_message: 'Harbor Dental, good day!',
      });
      await killed(stage, 'before request PUT updateAgent', ROTATED);
      await stage.apply({}, { env: ROTATED });
      expect(smsToken(stage)).toBe(ROTATED.SMS_TOKEN);
    },
  );

  for (const when of ['before', 'after'] as const) {
    staged(
      `is a secret alone, killed ${when} the request, and taken back: it is written`,
      async (stage) => {
        await stage.apply();
        await killed(stage, `${when} request PUT updateAgent`, ROTATED);
        expect(found(await stage.plan(), 'agent.desk')).toContain(
          'Callsheet cannot tell whether its secrets arrived',
        );
        await stage.apply();
        expect(smsToken(stage)).toBe(CANARIES.SMS_TOKEN);
      },
    );
  }
});

describe('what was to be deleted', () => {
  for (const [when, message] of [
    ['before', /^was not deleted/],
    ['after', /^was deleted/],
  ] as const) {
    staged(`killed ${when} the request`, async (stage) => {
      await stage.apply();
      await stage.remove('agents.yaml');
      const { outside } = mortal({ name: `${when} request DELETE deleteAgent`, nth: 1 });
      await stage.apply({ concurrency: 1, allowDelete: true }, { outside, exit: 'any' });
      const { settled } = await stage.plan();
      expect(settled?.findings.map((one) => one.message)).toEqual([expect.stringMatching(message)]);
      await stage.apply({ allowDelete: true });
      expect(stage.sim.store.agents.size).toBe(0);
    });
  }
});

staged(
  'without a list nobody can tell whether a template was made: it is said, and nothing is doubled',
  async (stage) => {
    await killed(stage, 'after request POST createSmsTemplate');
    expect(found(await stage.plan(), 'sms_template.reminder')).toMatch(
      /^may have been created: the platform has no list to search\. If it is there, name its id in lifecycle\.adopt$/,
    );
    const ledger = await stage.apply({}, { exit: 3 });
    const line = ledger.find(({ address }) => address === 'sms_template.reminder');
    expect(line?.message).toContain('lifecycle.adopt');
    expect(stage.sim.store.smsTemplates.size).toBe(1);
  },
  { dialect: { absent: ['listSmsTemplates'] } },
);

for (const machine of [undefined, 'another machine'])
  staged(`a run that is at work on ${machine ?? 'this machine'} is not settled`, async (stage) => {
    await killed(stage, 'after request POST createAgent');
    const path = join(stage.folder, STATE);
    const store = openKeyed(path, {
      ...(machine === undefined ? {} : { machine }),
      every(_milliseconds, act) {
        const timer = setInterval(act, 20);
        return () => clearInterval(timer);
      },
    });
    const [began] = (await store.load()).pending;
    await store.acquire(holder(began?.type === 'began' ? began.run : ''));
    const said = await stage.run((to) => plan({ dir: stage.folder, format: 'json' }, to));
    await store.close();
    expect(said.err).toMatch(/^Run \S+ is running: /);
    expect(JSON.parse(said.out).settled).toBeUndefined();
  });

describe('a plan file', () => {
  longStaged('that was made after a run died is applied as it stands', async (stage) => {
    await killed(stage, 'after request POST createAgent');
    await stage.write('plan.json', JSON.stringify(await stage.plan()));
    await stage.applyFile('plan.json');
    expect(inventory(stage.sim)).toEqual(WHOLE);
  });

  staged('that a run died of is stale, and writes nothing', async (stage) => {
    await stage.write('plan.json', JSON.stringify(await stage.plan()));
    const { outside } = mortal({ name: 'after request POST createAgent', nth: 1 });
    await stage.applyFile('plan.json', { concurrency: 1 }, { outside, exit: 'any' });
    const before = stage.writes().length;
    await stage.applyFile('plan.json', {}, { exit: 5 });
    expect(stage.writes().length).toBe(before);
    await stage.apply();
    expect(inventory(stage.sim)).toEqual(WHOLE);
  });
});

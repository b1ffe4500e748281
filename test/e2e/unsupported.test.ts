import { describe, expect } from 'vitest';
import { apply } from '../../src/console/apply.ts';
import { EXIT } from '../../src/core/errors.ts';
import type { PlanDocument } from '../../src/core/plan-document.ts';
import { type OperationId, operations } from '../../src/platform/operations.generated.ts';
import type { Dialect } from '../../src/simulator/index.ts';
import type { LedgerLine } from '../../src/state/journal.ts';
import { type Stage, staged } from '../apply/stage.ts';
import { longRows } from '../long.ts';
import { inventory, WHOLE } from './clinic.ts';
import { scenario } from './harness.ts';

const ASSUME_NOTHING = 'assume: false';

/** Changes the clinic's `platform` block. */
function configure(stage: Pick<Stage, 'edit'>, more: string): Promise<void> {
  const own = 'base_url: "${var.base_url}"';
  return stage.edit('callsheet.yaml', `${own} }`, `${own}, ${more} }`);
}

/** `address → action verdict` of what a plan does not leave alone. */
function verdicts({ changes }: PlanDocument): Readonly<Record<string, string>> {
  return Object.fromEntries(
    changes.map(({ address, action, verdict }) => [address, `${action} ${verdict}`]),
  );
}

function reasonOf({ changes }: PlanDocument, address: string): string {
  return changes.find((change) => change.address === address)?.reason ?? '';
}

const isUnsupported = ({ verdict }: PlanDocument['changes'][number]) => verdict === 'unsupported';

describe('platform.assume: false', () => {
  staged(
    'what needs an operation that is not shown is left out; the rest is done',
    async (stage) => {
      await configure(stage, ASSUME_NOTHING);
      const plan = await stage.plan();
      expect(verdicts(plan)).toEqual({
        'custom_voice.harbor': 'create ok',
        'retry_policy.gentle': 'create unsupported',
        'email_template.reminder': 'create ok',
        'sms_template.reminder': 'create ok',
        'knowledge_source.clinic.faq': 'create ok',
        'knowledge_source.clinic.prices': 'create unsupported',
        // Its connections would be written in a form that is only assumed.
        'agent.desk': 'create unsupported',
        // It would refer to the policy.
        'agent.recall': 'create unsupported',
      });
      for (const [address, says] of [
        [
          'retry_policy.gentle',
          /createRetryPolicy \(assumption retry_policy\.create\).*lifecycle\.adopt/,
        ],
        [
          'knowledge_source.clinic.prices',
          /enqueueKnowledgeSource \(assumption .*platform\.endpoints/,
        ],
        ['agent.desk', /it writes extensions\.mcp_servers\S* \(assumption mcp\.write-shape\)/],
        ['agent.recall', /refers to retry_policy\.gentle/],
      ] as const)
        expect(reasonOf(plan, address)).toMatch(says);
      expect(plan.assumptions).toEqual(
        expect.not.arrayContaining([
          'retry_policy.create',
          'retry_policy.list',
          'sms_template.list',
        ]),
      );

      await stage.apply({}, { leaves: isUnsupported });
      expect(inventory(stage.sim)).toEqual({
        ...WHOLE,
        policies: [],
        sources: ['https://harbor.example.test/faq: page'],
        agents: [],
      });
      const called = new Set(stage.sim.requests.map(({ operation }) => operation));
      const assumed = entriesOf(operations).filter(
        ([, one]) => !one.documented || 'assumedBody' in one,
      );
      expect(assumed.filter(([name]) => called.has(name))).toEqual([]);
    },
  );

  staged('what was made before is known by the state, compared and left out', async (stage) => {
    await stage.apply();
    await configure(stage, ASSUME_NOTHING);
    expect((await stage.plan()).changes).toEqual([]);

    await stage.edit('resources.yaml', 'body: See you on {{date}}.', 'body: See you!');
    await stage.edit('resources.yaml', 'subject: Your visit', 'subject: A visit');
    await stage.edit('resources.yaml', 'delay_seconds: 900', 'delay_seconds: 600');
    const plan = await stage.plan();
    expect(verdicts(plan)).toEqual({
      'retry_policy.gentle': 'update ok',
      'email_template.reminder': 'update unsupported',
      'sms_template.reminder': 'update unsupported',
    });
    expect(reasonOf(plan, 'email_template.reminder')).toMatch(/updateEmailTemplate \(assumption/);
    expect(reasonOf(plan, 'sms_template.reminder')).toMatch(
      /body cannot be compared.*listSmsTemplates/,
    );
    await stage.apply({}, { leaves: isUnsupported });
    expect([...stage.sim.store.smsTemplates.values()].map(({ body }) => body)).toEqual([
      'See you on {{date}}.',
    ]);
  });

  staged(
    'what is no longer configured and cannot be deleted stays, and stays known',
    async (stage) => {
      await stage.apply();
      await configure(stage, ASSUME_NOTHING);
      await stage.write('agents.yaml', '{}');
      const plan = await stage.plan({ allowDelete: true });
      expect(verdicts(plan)).toEqual({
        'agent.desk': 'delete unsupported',
        'agent.recall': 'delete unsupported',
      });
      expect(reasonOf(plan, 'agent.desk')).toMatch(/deleteAgent \(assumption agent\.delete\)/);
      await stage.apply({ allowDelete: true }, { leaves: isUnsupported });
      expect(inventory(stage.sim)).toEqual(WHOLE);
      await stage.plan({}, {});
    },
  );

  staged('without state, policies are found through the agents that follow them', async (stage) => {
    await stage.apply();
    await stage.forget();
    await configure(stage, ASSUME_NOTHING);
    const plan = await stage.plan();
    expect(verdicts(plan)).toMatchObject({
      'retry_policy.gentle': 'adopt ok',
      'agent.recall': 'adopt ok',
    });
  });

  staged('an operation whose place the stack names is no assumption', async (stage) => {
    const endpoints = 'createRetryPolicy: { path: /v1/retry-policies }';
    await configure(stage, `${ASSUME_NOTHING}, endpoints: { ${endpoints} }`);
    const plan = await stage.plan();
    expect(verdicts(plan)).toMatchObject({
      'retry_policy.gentle': 'create ok',
      'agent.recall': 'create ok',
    });
    expect(plan.assumptions).not.toContain('retry_policy.create');
    await stage.apply({}, { leaves: isUnsupported });
    expect(inventory(stage.sim)).toMatchObject({ policies: WHOLE.policies, agents: ['Recall'] });
  });

  staged('a body that is only assumed is refused wherever its operation lies', async (stage) => {
    await stage.apply();
    const endpoints = 'updateEmailTemplate: { path: "/v1/email-templates/{templateId}" }';
    await configure(stage, `${ASSUME_NOTHING}, endpoints: { ${endpoints} }`);
    await stage.edit('resources.yaml', 'subject: Your visit', 'subject: A visit');
    const arm = 'name: Recall\n    payments: { tool_enabled: true }';
    await stage.edit('agents.yaml', 'name: Recall', arm);
    const before = stage.writes().length;
    const plan = await stage.plan();
    expect(verdicts(plan)).toEqual({
      'email_template.reminder': 'update unsupported',
      'agent.recall': 'update unsupported',
    });
    expect(reasonOf(plan, 'email_template.reminder')).toMatch(
      /updateEmailTemplate \(assumption email_template\.update\), whose request/,
    );
    expect(reasonOf(plan, 'agent.recall')).toMatch(
      /setPaymentTool \(assumption payments\.tool-body/,
    );
    await stage.apply({}, { leaves: isUnsupported });
    expect(stage.writes().length).toBe(before);
  });

  staged('an agent without anything that is only assumed is written', async (stage) => {
    await stage.apply();
    await configure(stage, ASSUME_NOTHING);
    await stage.edit('agents.yaml', 'name: Front desk', 'name: Front desk\n    description: New');
    expect(verdicts(await stage.plan())).toEqual({ 'agent.desk': 'update ok' });
    await stage.apply();
  });

  scenario(
    'unsupported changes are no error: the exit codes say that there are changes',
    async (world) => {
      await configure(world, ASSUME_NOTHING);
      await world.run(['plan']);
      await world.run(['apply', '--auto-approve']);
      const { out } = await world.run(['plan', '--detailed-exitcode'], { exit: 2 });
      expect(out).toContain('4 unsupported');
    },
  );
});

describe('platform.endpoints', () => {
  staged('an operation is called where the stack says', async (stage) => {
    await configure(stage, 'endpoints: { createRetryPolicy: { path: /v2/policies } }');
    const ledger = await stage.apply({ target: ['retry_policy'] }, { exit: 3 });
    expect(ledger[0]?.message).toContain('/v2/policies answered 404');
    const paths = stage.sim.requests.map(({ path, status }) => `${status} ${path}`);
    expect(paths).toContain('404 /v2/policies');
  });
});

/** What the platform may lack: all that only an assumption puts somewhere. */
const assumed = entriesOf(operations)
  .filter(([, { documented }]) => !documented)
  .map(([name]) => name);

const answers: readonly Dialect['absentAnswer'][] = ['coded', 'page', 'method'];

describe('a platform without an operation that is assumed', () => {
  // Kinds with plain endpoints have one path for each of create, update and so on.
  const verbOf = (operation: string) => /^[a-z]+/.exec(operation)?.[0];
  const taken = longRows(
    assumed,
    (one, at) => assumed.findIndex((other) => verbOf(other) === verbOf(one)) === at,
  );
  for (const [index, operation] of taken.entries()) {
    const absentAnswer = answers[index % answers.length] ?? 'coded';
    const dialect = { absent: [operation], absentAnswer };
    staged(
      `${operation} (${absentAnswer}): said, never a crash, never a second one`,
      async (stage) => {
        const said: LedgerLine[] = [];
        for (const step of [undefined, changed, takenAway]) {
          await step?.(stage);
          said.push(...(await attempt(stage)));
        }
        for (const line of said.filter(({ status }) => status === 'failed'))
          expect(line.message).toMatch(/answered 40[45].*assumption/);

        // Once the platform has it, the rest follows.
        stage.sim.dialect.absent = [];
        await stage.apply({ allowDelete: true });
        expect(inventory(stage.sim)).toMatchObject({
          policies: ['Gentle redial'],
          emails: [],
          messages: [],
          agents: ['Front desk'],
        });
      },
      { dialect },
    );
  }
});

async function changed(stage: Stage): Promise<void> {
  await stage.edit('resources.yaml', 'body: See you on {{date}}.', 'body: See you!');
  await stage.edit('resources.yaml', 'subject: Your visit', 'subject: A visit');
  await stage.edit('resources.yaml', 'delay_seconds: 900', 'delay_seconds: 600');
}

async function takenAway(stage: Stage): Promise<void> {
  const agents = await stage.read('agents.yaml');
  await stage.write('agents.yaml', agents.slice(0, agents.indexOf('  recall:')));
  const resources = await stage.read('resources.yaml');
  const [policies = '', rest = ''] = resources.split('email_templates:');
  await stage.write('resources.yaml', `${policies}${rest.slice(rest.indexOf('knowledge_bases:'))}`);
}

/** Applies whatever can be; names are unique afterwards, and the exit code is one of two. */
async function attempt(stage: Stage): Promise<readonly LedgerLine[]> {
  let code: number = EXIT.error;
  const { out } = await stage.run(async (to) => {
    const flags = { dir: stage.folder, autoApprove: true, allowDelete: true };
    code = await apply(undefined, { ...flags, format: 'json' }, to);
    return EXIT.done;
  });
  expect([EXIT.done, EXIT.partial], out).toContain(code);
  const left = (await stage.plan({ allowDelete: true })).changes;
  if (code === EXIT.done) expect(left.filter((change) => !isUnsupported(change))).toEqual([]);
  for (const names of Object.values(inventory(stage.sim))) {
    expect(new Set(names).size).toBe(names.length);
  }
  return JSON.parse(out).ledger;
}

describe('a platform without the list of SMS templates', () => {
  const dialect: Partial<Dialect> = { absent: ['listSmsTemplates'] };
  staged(
    'without state, making one that exists is refused by its name; lifecycle.adopt takes it over',
    async (stage) => {
      await stage.apply();
      await stage.forget();
      const ledger = await stage.apply({ target: ['sms_template'] }, { exit: 3 });
      expect(ledger[0]?.message).toMatch(/answered 409.*lifecycle\.adopt/);
      expect(inventory(stage.sim)).toEqual(WHOLE);

      const [id = ''] = stage.sim.store.smsTemplates.keys();
      const from = 'message_type: sms';
      await stage.edit('resources.yaml', from, `lifecycle: { adopt: ${id} }\n    ${from}`);
      expect(verdicts(await stage.plan())['sms_template.reminder']).toBe('adopt ok');
      await stage.apply();
      expect(inventory(stage.sim)).toEqual(WHOLE);
    },
    { dialect },
  );

  staged(
    'an answer that is lost cannot be settled: the run says so, and makes no second one',
    async (stage) => {
      stage.sim.faults.add({ operation: 'createSmsTemplate', reset: 'after' });
      const ledger = await stage.apply({ target: ['sms_template'] }, { exit: 3 });
      expect(ledger[0]?.message).toMatch(/the create was lost.*lifecycle\.adopt/);
      const again = await stage.apply({ target: ['sms_template'] }, { exit: 3 });
      expect(again[0]?.message).toMatch(/answered 409/);
      expect(inventory(stage.sim).messages).toEqual(WHOLE.messages);
    },
    { dialect },
  );
});

staged(
  'a platform without anything that reads SMS templates: what was written counts',
  async (stage) => {
    await stage.apply();
    const { notes } = await stage.plan();
    expect(notes.map(({ message }) => message)).toContainEqual(
      expect.stringContaining('cannot be read'),
    );
    await stage.edit('resources.yaml', 'body: See you on {{date}}.', 'body: See you!');
    expect(verdicts(await stage.plan())).toEqual({ 'sms_template.reminder': 'update unsupported' });
  },
  { dialect: { absent: ['listSmsTemplates', 'getSmsTemplate'] } },
);

function entriesOf(
  table: typeof operations,
): readonly (readonly [OperationId, (typeof operations)[OperationId]])[] {
  // The keys of a constant table are exactly its ids.
  return Object.entries(table) as [OperationId, (typeof operations)[OperationId]][];
}

import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../../src/core/value.ts';
import type { Dialect } from '../../src/simulator/index.ts';
import { longRows } from '../long.ts';
import { FOREIGN_POLICY, type RefreshStage, refreshStage, type Stack } from './stage.ts';

const PROMPT = 'You answer the phone of a clinic, politely. '.repeat(5);
const TOKEN = { $secret: 'env:TOKEN' };
const SMS = { account_sid: 'AC1', auth_token: TOKEN, fromNumber: '+15550100' };

const STACK: Stack = {
  agents: {
    ann: {
      name: 'ann',
      system_prompt: PROMPT,
      status: 'active',
      integrations: { smsProvider: SMS },
    },
    ben: { name: 'ben', greeting_message: 'Hello', email: ['b@x.test', 'a@x.test'] },
    cat: { name: 'cat', default_retry_policy_id: { $ref: 'retry_policy.gentle' } },
  },
  retry_policies: { gentle: { name: 'gentle' } },
};

const OURS = {
  type: 'webhook',
  name: 'ours',
  condition: 'during_call',
  method: 'GET',
  url: 'https://x.test/1',
};
const TOOLS = { extensions: { tools: [OURS] } };
const SIP: Stack = {
  agents: { ...STACK.agents, sip: { name: 'sip', sip: { registration_enabled: true } } },
  ...{ retry_policies: STACK.retry_policies ?? {} },
};

function agents(changes: { readonly [key: string]: JsonObject }): Stack {
  const changed = Object.entries(changes).map(([key, more]) => [
    key,
    { ...STACK.agents[key], ...more },
  ]);
  return { ...STACK, agents: { ...STACK.agents, ...Object.fromEntries(changed) } };
}

test('a fleet that did not change is planned from its list alone', async () => {
  const stage = await refreshStage(STACK);
  await stage.settle();
  const before = stage.sim.requests.length;
  const { changes, assumptions } = await stage.plan();
  expect(changes).toEqual([]);
  expect(assumptions).toEqual(['agent.updated-at']);
  const asked = stage.sim.requests.slice(before).map(({ operation }) => operation);
  expect(asked.sort()).toEqual([
    'createToken',
    'getMe',
    'getRetryPolicy',
    'listAgents',
    'listRetryPolicies',
  ]);
  expect(await stage.reads({ refresh: 'full' })).toEqual(['ann', 'ben', 'cat']);
  await stage.agree();
});

describe('what is read all the same', () => {
  type Row = {
    readonly name: string;
    readonly stack?: Stack;
    readonly dialect?: Partial<Dialect>;
    /** What happens before it is settled; nothing is applied yet. */
    readonly before?: (stage: RefreshStage) => unknown;
    /** What happens once everything is settled. */
    readonly after?: (stage: RefreshStage) => unknown;
    readonly reads: readonly string[];
    /** Addresses that the plan has changes for. */
    readonly changes?: readonly string[];
  };
  const rows: readonly Row[] = [
    {
      name: 'an agent that somebody edited',
      after: ({ alter }) => alter('ben', { greeting_message: 'By hand' }),
      reads: ['ben'],
      changes: ['agent.ben'],
    },
    {
      name: 'an agent that somebody edited where the configuration says nothing',
      after: ({ alter }) => alter('ben', { description: 'By hand' }),
      reads: ['ben'],
    },
    {
      name: 'an agent that the configuration changed',
      after: ({ configure }) => configure(agents({ ben: { greeting_message: 'New' } })),
      reads: ['ben'],
      changes: ['agent.ben'],
    },
    {
      name: 'an agent whose long text the configuration changed',
      after: ({ configure }) => configure(agents({ ann: { system_prompt: `${PROMPT}!` } })),
      reads: ['ann'],
      changes: ['agent.ann'],
    },
    {
      name: 'not an agent whose set the configuration has in another order',
      after: ({ configure }) => configure(agents({ ben: { email: ['a@x.test', 'b@x.test'] } })),
      reads: [],
    },
    {
      name: 'an agent that the configuration says more of',
      after: ({ configure }) => configure(agents({ ben: { description: 'New' } })),
      reads: ['ben'],
      changes: ['agent.ben'],
    },
    {
      name: 'an agent that the configuration says less of',
      after: ({ configure }) =>
        configure({
          ...STACK,
          agents: { ...STACK.agents, ben: { name: 'ben', email: ['a@x.test', 'b@x.test'] } },
        }),
      reads: ['ben'],
      changes: ['agent.ben'],
    },
    {
      name: 'an agent whose protection changed',
      after: ({ configure }) => configure(agents({ ben: { lifecycle: { protect: true } } })),
      reads: ['ben'],
    },
    {
      name: 'an agent that is no longer configured',
      after: ({ configure }) => {
        const { ben: _, ...left } = STACK.agents;
        return configure({ ...STACK, agents: left });
      },
      reads: ['ben'],
      changes: ['agent.ben'],
    },
    {
      name: 'an agent that follows a policy which is gone',
      dialect: { deletedPolicy: 'unstamped' },
      after: (stage) => forgetPolicies(stage),
      reads: ['cat'],
      changes: ['retry_policy.gentle', 'agent.cat'],
    },
    {
      name: 'an agent that names a policy by its id',
      stack: agents({ ben: { default_retry_policy_id: FOREIGN_POLICY } }),
      after: ({ record }) => void delete record('ben').default_retry_policy_id,
      reads: ['ben'],
      changes: ['agent.ben'],
    },
    {
      name: 'an agent whose list item shows something else, whatever its time says',
      after: ({ record }) => void Object.assign(record('ann'), { status: 'cancelled' }),
      reads: ['ann'],
      changes: ['agent.ann'],
    },
    {
      name: 'an agent with payment settings, whose change nothing tells',
      stack: agents({ ann: { payments: { tool_enabled: false } } }),
      reads: ['ann', 'ann payments'],
    },
    {
      name: 'not an agent with the SIP flag',
      stack: SIP,
      reads: [],
    },
    {
      name: 'an agent whose SIP flag somebody changed',
      stack: SIP,
      after: ({ alter }) => alter('sip', { sip_registration_data: { registrationEnabled: false } }),
      reads: ['sip'],
      changes: ['agent.sip'],
    },
    {
      name: 'not an agent of which a part is left alone',
      stack: agents({ ben: { lifecycle: { ignore: ['greeting_message'] } } }),
      reads: [],
    },
    {
      name: 'an agent of which a part is no longer left alone',
      stack: agents({ ben: { lifecycle: { ignore: ['greeting_message'] } } }),
      after: ({ configure }) => configure(STACK),
      reads: ['ben'],
    },
    {
      name: 'an agent in whose list something was left alone that is there',
      stack: agents({ ben: { ...TOOLS, lifecycle: { ignore: ['extensions.tools[theirs]'] } } }),
      before: ({ alter }) =>
        alter('ben', { extensions: { tools: [OURS, { ...OURS, name: 'theirs' }] } }),
      after: ({ configure }) => configure(agents({ ben: TOOLS })),
      reads: ['ben'],
      changes: ['agent.ben'],
    },
    {
      name: 'an agent that has another address now',
      after: ({ configure }) => {
        const { ben = {}, ...left } = STACK.agents;
        return configure({
          ...STACK,
          agents: { ...left, bob: ben },
          moved: [{ from: 'agent.ben', to: 'agent.bob' }],
        });
      },
      reads: ['ben'],
    },
    {
      name: 'not an agent whose secret was taken over and is not known',
      before: ({ forget }) => forget(),
      reads: [],
    },
    {
      name: 'every agent where lists do not tell when they changed',
      dialect: { listUpdatedAt: false },
      reads: ['ann', 'ben', 'cat'],
    },
    {
      name: 'nothing where stamps tell milliseconds, whatever time it is',
      dialect: { dates: false },
      reads: [],
    },
    {
      name: 'every agent where the platform tells whole seconds, and not what time it is',
      dialect: { dates: false, timestamps: 'seconds' },
      reads: ['ann', 'ben', 'cat'],
    },
    {
      name: 'every agent where nothing may be assumed',
      after: ({ configure }) => configure({ ...STACK, platform: { assume: false } }),
      reads: ['ann', 'ben', 'cat'],
    },
    {
      name: 'every agent where the state was thrown away',
      after: ({ forget }) => forget(),
      reads: ['ann', 'ben', 'cat'],
    },
  ];

  /** Rows whose reason `test/plan/refresh-fast.test.ts` and `refresh-unread.test.ts` have as well. */
  const ALSO_PLANNED: readonly string[] = [
    'an agent that somebody edited where the configuration says nothing',
    'an agent whose long text the configuration changed',
    'an agent that the configuration says more of',
    'an agent whose protection changed',
    'an agent that names a policy by its id',
    'not an agent of which a part is left alone',
    'an agent in whose list something was left alone that is there',
    'not an agent whose secret was taken over and is not known',
    'nothing where stamps tell milliseconds, whatever time it is',
    'every agent where nothing may be assumed',
  ];
  test.each(longRows(rows, ({ name }) => !ALSO_PLANNED.includes(name)))(
    '$name',
    async ({ stack = STACK, dialect = {}, before, after, reads, changes = [] }) => {
      const stage = await refreshStage(stack, dialect);
      if (before !== undefined) await stage.apply();
      await before?.(stage);
      await stage.settle();
      await after?.(stage);
      expect(await stage.reads()).toEqual(reads);
      const plan = await stage.agree();
      expect(
        plan.changes.filter(({ action }) => action !== 'adopt').map(({ address }) => address),
      ).toEqual(changes);
    },
  );
});

function forgetPolicies({ sim, record }: RefreshStage): void {
  sim.store.retryPolicies.clear();
  delete record('cat').default_retry_policy_id;
}

test('secrets that are to be sent again are sent', async () => {
  const stage = await refreshStage(STACK);
  await stage.settle();
  expect(await stage.reads({ resendSecrets: true })).toEqual(['ann']);
  const { changes } = await stage.plan({ resendSecrets: true });
  expect(changes.map(({ address }) => address)).toEqual(['agent.ann']);
});

test('another secret is noticed without reading what did not change', async () => {
  const stage = await refreshStage(STACK);
  await stage.settle();
  const env = { TOKEN: 'another' };
  const { changes } = await stage.plan({}, { env });
  expect(changes.map(({ address }) => address)).toEqual(['agent.ann']);
});

test('a fast drift reads what was edited and finds it, and any other reads all', async () => {
  const stage = await refreshStage(STACK);
  await stage.settle();
  stage.alter('ben', { greeting_message: 'By hand' });
  const before = stage.sim.requests.length;
  const { changes } = await stage.drift({ refresh: 'fast' });
  expect(changes.map(({ address }) => address)).toEqual(['agent.ben']);
  const asked = stage.sim.requests.slice(before).map(({ operation }) => operation);
  expect(asked.filter((operation) => operation === 'getAgent')).toHaveLength(1);
  const all = stage.sim.requests.length;
  const full = await stage.drift();
  const reads = stage.sim.requests.slice(all).filter(({ operation }) => operation === 'getAgent');
  expect(reads.length).toBeGreaterThan(2);
  expect(full.digest).toBe((await stage.drift({ refresh: 'fast' })).digest);
});

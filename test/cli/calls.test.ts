import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { apply } from '../../src/console/apply.ts';
import { onTerminal } from '../../src/console/events.ts';
import type { PlanDocument } from '../../src/core/plan-document.ts';
import { planStack } from '../../src/index.ts';
import type { Fault, SeedDocument, SimulatorOptions } from '../../src/simulator/index.ts';
import { openStage } from '../apply/stage.ts';
import { FINGERPRINT_KEY } from '../e2e/clinic.ts';
import { runHere } from '../e2e/in-process.ts';
import { temporaryFolder } from '../temporary.ts';

const ORGANIZATIONS = {
  harbor: '3c6e0b8a-9c15-4f1d-9f0e-5d2b7f1a2c11',
  bay: '9c24e74f-4564-4836-a0d8-0691bfe720fe',
  cove: '5f0c8a41-2f0e-4c55-9c0b-7c0d3b1f6a90',
};
type Organization = keyof typeof ORGANIZATIONS;

const id = (organization: Organization, number: number) =>
  `${ORGANIZATIONS[organization].slice(0, -1)}${number}`;
const HOUR = 3_600_000;

/** Calls of an agent, one an hour until now. */
const calls = (agentId: string, count: number) =>
  Array.from({ length: count }, (_, index) => ({
    agent_id: agentId,
    call_started_at: new Date(Date.now() - (index + 1) * HOUR).toISOString(),
    call_duration: 60,
  }));

const NAMES: readonly Organization[] = ['harbor', 'bay', 'cove'];

/** Three organizations with four agents each, of which the last is never called. More than a week ago the first of each had a call more. */
const SEED: SeedDocument = {
  organizations: NAMES.map((name) => ({ id: ORGANIZATIONS[name], name })),
  agents: NAMES.flatMap((name) =>
    [1, 2, 3, 4].map((number) => ({
      id: id(name, number),
      organization_id: ORGANIZATIONS[name],
      name: `${name} ${number}`,
      greeting_message: 'Hello',
    })),
  ),
  calls: NAMES.flatMap((name) => [
    ...calls(id(name, 1), 12),
    ...calls(id(name, 2), 5),
    ...calls(id(name, 3), 1),
    {
      agent_id: id(name, 1),
      call_started_at: new Date(Date.now() - 24 * 8 * HOUR).toISOString(),
      call_duration: 60,
    },
  ]),
};

/** A stack of all agents, applied, and what can be done with it. */
async function openCalls(options: Pick<SimulatorOptions, 'dialect'> = {}) {
  const folder = temporaryFolder();
  await writeFile(join(folder, 'callsheet.yaml'), '');
  const stage = await openStage({ stack: folder, seed: SEED, secrets: {}, ...options });
  onTestFinished(() => stage.close());
  const { sim } = stage;
  const dir = stage.folder;
  /** Greetings by agent; the others say hello, and those without are not configured. */
  const configure = (greetings: Readonly<Record<string, string | null>> = {}, more = {}) =>
    stage.write(
      'callsheet.yaml',
      JSON.stringify({
        callsheet: 1,
        platform: { base_url: sim.url },
        organizations: ORGANIZATIONS,
        agents: Object.fromEntries(
          NAMES.flatMap((name) =>
            [1, 2, 3, 4].flatMap((number) => {
              const key = `${name}_${number}`;
              const greeting = greetings[key] === undefined ? 'Hello' : greetings[key];
              if (greeting === null) return [];
              const agent = { name: `${name} ${number}`, organization: name };
              return [[key, { ...agent, greeting_message: greeting }]];
            }),
          ),
        ),
        ...more,
      }),
    );
  const env = {
    CALLSHEET_FINGERPRINT_KEY: FINGERPRINT_KEY,
    CALLSHEET_BASE_URL: sim.url,
    CALLSHEET_CLIENT_ID: sim.clientId,
    CALLSHEET_CLIENT_SECRET: sim.clientSecret,
    CI_COMMIT_SHA: '1f3a9c2b7d10',
  };
  const run = async (exit: number, ...args: readonly string[]) => {
    const ended = await runHere(args, { cwd: dir, env });
    expect(ended.exit, `${ended.out}${ended.err}`).toBe(exit);
    return ended;
  };
  const plan = async (...flags: readonly string[]): Promise<PlanDocument> =>
    JSON.parse((await run(0, 'plan', '--format', 'json', ...flags)).out);
  /** The organizations that metrics were asked for while something is done, sorted. */
  const asked = async (work: () => Promise<unknown>): Promise<readonly string[]> => {
    const before = sim.requests.length;
    await work();
    return sim.requests
      .slice(before)
      .filter(({ operation }) => operation === 'getMetrics')
      .map(({ path }) => new URL(path, sim.url).searchParams.get('organizationId') ?? 'all')
      .sort();
  };
  await configure();
  await run(0, 'apply', '--auto-approve');
  return { sim, dir, env, act: stage.run, configure, run, plan, asked };
}

const { harbor: HARBOR, bay: BAY } = ORGANIZATIONS;
/** Four agents of two organizations change, one of them is deleted. */
const CHANGED = {
  harbor_1: 'Good day',
  harbor_3: 'Good evening',
  harbor_4: 'Good night',
  bay_2: null,
};
const countsIn = ({ changes }: PlanDocument) =>
  Object.fromEntries(changes.map(({ address, calls }) => [address.replace('agent.', ''), calls]));
const COUNTS = { harbor_1: 12, harbor_3: 1, harbor_4: 0, bay_2: 5 };
const NOTHING = {
  harbor_1: undefined,
  harbor_3: undefined,
  harbor_4: undefined,
  bay_2: undefined,
};

describe('a plan', () => {
  test('asks once for each organization in which an agent changes, and for nothing else', async () => {
    const { configure, plan, asked, sim } = await openCalls();
    expect(await asked(plan)).toEqual([]);
    await configure({ ...CHANGED, harbor_2: 'Good day' });
    const requests = async (work: () => Promise<unknown>) => {
      const before = sim.requests.length;
      await work();
      return sim.requests.length - before;
    };
    const without = await requests(() => plan('--no-calls'));
    expect(await requests(plan)).toBe(without + 2);
    expect(await asked(plan)).toEqual([HARBOR, BAY]);
    expect(await asked(() => plan('--refresh', 'full'))).toEqual([HARBOR, BAY]);
    expect(await asked(() => plan('--target', 'agent.bay_2'))).toEqual([BAY]);
    expect(await asked(() => plan('--target', 'agent.cove_1'))).toEqual([]);
    expect(await asked(() => plan('--no-calls'))).toEqual([]);
  });

  test('has the calls of each changed agent, and of no other', async () => {
    const { configure, plan, asked, dir, env } = await openCalls();
    await configure(CHANGED);
    expect(countsIn(await plan())).toEqual(COUNTS);
    expect(countsIn(await plan('--no-calls'))).toEqual(NOTHING);
    expect(countsIn(await planStack({ dir, env }))).toEqual(COUNTS);
    const silent = { dir, env, calls: false };
    expect(await asked(() => planStack(silent))).toEqual([]);
    const made = await plan();
    const other = await plan('--no-calls');
    expect(made.digest).toBe(other.digest);
    expect([made.requests.reads, made.requests.writes]).toEqual([
      other.requests.reads,
      other.requests.writes,
    ]);
  });

  test.each<[string, Partial<Fault>]>([
    ['refused', { status: 403, body: { error: 'forbidden' } }],
    ['missing', { status: 404, body: { error: 'not_found' } }],
    ['broken', { status: 500 }],
    ['unavailable', { status: 503 }],
    ['too many', { status: 429, headers: { 'retry-after': '60' } }],
    ['without a token', { status: 401, body: { error: 'invalid_token' } }],
    ['lost before', { reset: 'before' }],
    ['lost after', { reset: 'after' }],
    ['cut short', { truncate: true }],
    ['an HTML page', { status: 200, text: '<html>' }],
    ['something else', { status: 200, body: { data: { agentPerformance: [{}, 1, null] } } }],
    ['silent', { hang: 'before' }],
  ])('is the same but for its calls where metrics are %s', async (_title, fault) => {
    const { configure, plan, sim, asked } = await openCalls();
    await configure(CHANGED);
    const without = await plan('--no-calls');
    sim.faults.add({ operation: 'getMetrics', times: 9, ...fault });
    let found: PlanDocument | undefined;
    const organizations = await asked(async () => {
      found = await plan();
    });
    expect(apartFromTime(found)).toEqual(apartFromTime(without));
    // Once each, at most.
    expect([...new Set(organizations)]).toEqual(organizations);
    expect(organizations.length).toBeGreaterThan(0);
  });

  test('has what is known where metrics are there for some', async () => {
    const { configure, plan, sim } = await openCalls();
    await configure(CHANGED);
    sim.faults.add({ operation: 'getMetrics', path: BAY, status: 403 });
    expect(countsIn(await plan())).toEqual({ ...COUNTS, bay_2: undefined });
  });

  test.each([
    ['has none', { absent: ['getMetrics'] }, NOTHING],
    // What it lists is right, and of the others nobody can tell that they had no call.
    ['lists only the busiest', { metrics: 'partial' }, { ...NOTHING, harbor_1: 12, bay_2: 5 }],
  ] as const)('has no more than a platform knows that %s', async (_title, dialect, expected) => {
    const { configure, plan } = await openCalls({ dialect });
    await configure(CHANGED);
    expect(countsIn(await plan())).toEqual(expected);
  });
});

/** A plan without what varies from run to run: times, and how long requests took. */
function apartFromTime(plan: PlanDocument | undefined) {
  if (plan === undefined) throw new Error('there is no plan');
  const {
    created_at: _,
    requests: { seconds: __, ...requests },
    ...rest
  } = plan;
  return { ...rest, requests };
}

describe('nobody is asked for calls', () => {
  test('by what carries a plan out, or shows none', async () => {
    const { configure, run, asked, dir } = await openCalls();
    await configure(CHANGED);
    await run(0, 'plan', '--allow-delete', '--out', 'plan.json');
    const lines = [
      ['show', 'plan.json'],
      ['drift'],
      ['rehearse', 'plan.json'],
      ['plan', '--recursive', '--format', 'json'],
      ['apply', 'plan.json'],
    ];
    for (const line of lines)
      expect(await asked(() => run(0, ...line)), line.join(' ')).toEqual([]);
    await configure();
    for (const line of [
      ['apply', '--auto-approve'],
      ['rollback', '--auto-approve'],
    ])
      expect(await asked(() => run(0, ...line)), line.join(' ')).toEqual([]);
    expect(await readFile(join(dir, 'plan.json'), 'utf8')).toContain('"calls": 12');
  });

  test('but by what shows a plan that is to be decided on', async () => {
    const { configure, run, asked, dir, act } = await openCalls();
    await configure(CHANGED);
    expect(await asked(() => run(0, 'plan', '--recursive'))).toEqual([HARBOR, BAY]);
    const tree = ['plan', '--recursive', '--format', 'json', '--out', 'plans'];
    expect(await asked(() => run(0, ...tree))).toEqual([HARBOR, BAY]);
    const answer = async (flags: { readonly calls: boolean; readonly format: 'text' | 'json' }) => {
      let shown = '';
      const ask = async () => 'no';
      const organizations = await asked(async () => {
        const { out } = await act(
          (to) =>
            apply(
              undefined,
              { dir, ...flags },
              { ...to, ...onTerminal({ ...to.terminal, canAsk: true, ask }) },
            ),
          { exit: 1 },
        );
        shown = out;
      });
      return { organizations, shown };
    };
    const asking = await answer({ calls: true, format: 'text' });
    expect(asking.organizations).toEqual([HARBOR, BAY]);
    expect(asking.shown).toContain('harbor 1  agent.harbor_1  12 calls in 7 days');
    expect(asking.shown).toContain('bay 2  agent.bay_2  5 calls in 7 days');
    expect((await answer({ calls: false, format: 'text' })).organizations).toEqual([]);
    expect((await answer({ calls: true, format: 'json' })).organizations).toEqual([]);
    await run(0, 'apply', '--auto-approve');
    const undo = ['rollback', '--dry-run'];
    expect(await asked(() => run(0, ...undo))).toEqual([HARBOR]);
    expect(await asked(() => run(0, ...undo, '--no-calls'))).toEqual([]);
  });
});

describe('a rule of the team that reads calls', () => {
  const RULES = {
    quiet: {
      over: 'change',
      require: '!has(change.calls) || change.calls < 10',
      message: 'Busy agents change at night',
    },
  };
  const SAYS = 'Busy agents change at night';

  test('judges a plan wherever it is made, shown or not', async () => {
    const { configure, run, asked, sim } = await openCalls();
    await configure(CHANGED, { rules: RULES });
    const plan = await run(4, 'plan', '--format', 'json', '--out', 'plan.json');
    expect(JSON.parse(plan.out).refusals).toMatchObject([
      { guard: 'rule', message: expect.stringContaining(`agent.harbor_1: ${SAYS}`) },
    ]);
    const apply = ['apply', '--auto-approve', '--format', 'json'];
    expect(await asked(() => run(4, ...apply))).toEqual([HARBOR, BAY]);
    // By the calls that stand in the file.
    expect(await asked(() => run(4, 'apply', 'plan.json'))).toEqual([]);
    expect(await asked(() => run(0, 'drift'))).toEqual([]);
    sim.faults.add({ operation: 'getMetrics', times: 9, status: 503 });
    await run(0, 'plan');
    sim.faults.clear();
    expect(await asked(() => run(0, ...apply, '--no-calls'))).toEqual([]);
  });

  test('is held to in a plan file whose calls were edited', async () => {
    const { configure, run, dir } = await openCalls();
    await configure(CHANGED, { rules: RULES });
    await run(4, 'plan', '--out', 'plan.json');
    const file = join(dir, 'plan.json');
    const text = await readFile(file, 'utf8');
    await writeFile(file, text.replace('"calls": 12', '"calls": 2'));
    for (const command of ['show', 'apply']) {
      const { err } = await run(5, command, 'plan.json');
      expect(err).toContain('its digest does not match (edited: calls)');
    }
  });

  test('is not asked of a rollback', async () => {
    const { configure, run, asked } = await openCalls();
    await configure(CHANGED);
    await run(0, 'apply', '--auto-approve');
    await configure(CHANGED, { rules: RULES });
    expect(await asked(() => run(0, 'rollback', '--auto-approve'))).toEqual([]);
  });
});

describe('calls in a plan', () => {
  test('are said in words', async () => {
    const { configure, run } = await openCalls();
    await configure(CHANGED);
    const { out } = await run(0, 'plan', '--format', 'markdown');
    expect(out).toContain('<code>agent.harbor_1</code>, 12 calls in 7 days');
    expect(out).toContain('<code>agent.harbor_3</code>, 1 call in 7 days');
    expect(out).toContain('<code>agent.harbor_4</code>, no calls in 7 days');
  });
});

import { setImmediate as turn } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { plan } from '../../src/console/plan.ts';
import type { JsonObject } from '../../src/core/value.ts';
import type { Transport, WireRequest } from '../../src/platform/transport.ts';
import { refreshStage, type Stack } from './stage.ts';

/** Turns of the event loop without work under way after which nothing more is sent before an answer comes. */
const QUIET_TURNS = 50;

/** Work that may lead to a request: files, processes, ciphers. Timers and sockets do not count. */
function isAtWork(): boolean {
  return process
    .getActiveResourcesInfo()
    .some((name) => /Req|Request|Process|Job/.test(name) && !/Connect|Write|Shutdown/.test(name));
}

/**
 * Answers come in waves: a request is sent on only once the program has nothing left to do but to wait. So requests of one
 * wave are under way together, however slow the machine is, and the number of waves is that of round trips in a row.
 */
function inWaves() {
  const waves: string[][] = [];
  let held: (() => void)[] = [];
  let isHolding = false;
  async function release(): Promise<void> {
    for (let quiet = 0, seen = held.length; quiet < QUIET_TURNS; quiet += 1) {
      await turn();
      if (isAtWork() || held.length !== seen) quiet = 0;
      seen = held.length;
    }
    isHolding = false;
    const all = held;
    held = [];
    for (const go of all) go();
  }
  const wire = (transport: Transport): Transport => ({
    ...transport,
    async send(request) {
      if (!isHolding) {
        isHolding = true;
        waves.push([]);
        void release();
      }
      waves.at(-1)?.push(nameRequest(request));
      waves.at(-1)?.sort();
      await new Promise<void>((go) => held.push(go));
      return transport.send(request);
    },
  });
  return { waves, wire };
}

/** `GET /v1/agents?page=2`, `GET /v1/agents/ID`. */
function nameRequest({ method, url }: WireRequest): string {
  const { pathname, searchParams } = new URL(url);
  const page = searchParams.get('page');
  const path = pathname.replace(/[0-9a-f]{8}-[0-9a-f-]{27}/, 'ID');
  return `${method} ${path}${page === null ? '' : `?page=${page}`}`;
}

/** Agents of the fleet: three pages of a list. */
const AGENTS = 201;

type Files = Pick<Stack, 'agents' | 'retry_policies'>;

const POLICY = { name: 'Gentle', rules: { no_answer: { delay_seconds: 900, max_attempts: 3 } } };

function fleet(): Files {
  const agents = Array.from({ length: AGENTS }, (_, index): readonly [string, JsonObject] => [
    `clinic_${index}`,
    {
      name: `Clinic ${index}`,
      model: 'alpha-4.1',
      system_prompt: `You answer for clinic ${index}.`,
      default_retry_policy_id: { $ref: 'retry_policy.gentle' },
    },
  ]);
  return { agents: Object.fromEntries(agents), retry_policies: { gentle: POLICY } };
}

const ASKED = [
  ['POST /oauth/token'],
  ['GET /v1/agents?page=1', 'GET /v1/me', 'GET /v1/retry-policies?page=1'],
  ['GET /v1/agents?page=2', 'GET /v1/agents?page=3', 'GET /v1/retry-policies/ID'],
];
const READ = ['GET /v1/agents/ID', 'GET /v1/agents/ID/history'];
const CHANGED = [...READ, 'GET /v1/metrics'];

type Row = {
  readonly change: string;
  readonly edit: (files: Files) => Files;
  /** What a plan asks for once the lists are read. */
  readonly rest: readonly (readonly string[])[];
};

/** The files with other fields of one agent. */
const edited = (fields: JsonObject) => (files: Files) => ({
  ...files,
  agents: { ...files.agents, clinic_0: { ...files.agents.clinic_0, ...fields } },
});

const ROWS: readonly Row[] = [
  { change: 'nothing', edit: (files) => files, rest: [] },
  { change: 'a prompt', edit: edited({ system_prompt: 'You answer for all.' }), rest: [CHANGED] },
  { change: 'a greeting', edit: edited({ greeting_message: 'Hello.' }), rest: [CHANGED] },
  {
    change: 'a policy',
    edit: (files) => ({ ...files, retry_policies: { gentle: { ...POLICY, name: 'Patient' } } }),
    rest: [],
  },
  {
    change: 'an agent more',
    edit: ({ agents, ...files }) => ({ ...files, agents: { ...agents, desk: { name: 'Desk' } } }),
    rest: [],
  },
  {
    change: 'an agent less',
    edit: ({ agents: { clinic_0: _, ...agents }, ...files }) => ({ ...files, agents }),
    rest: [CHANGED],
  },
];

describe('round trips in a row', () => {
  test('of a plan are those that need an answer before them', async () => {
    const { plan } = await openFleet();
    for (const { change, edit, rest } of ROWS)
      expect(await plan(edit(fleet())), change).toEqual([...ASKED, ...rest]);
  });

  test('of an apply are those of its plan and the look right before the write', async () => {
    const { stage } = await openFleet();
    await stage.configure(edited({ system_prompt: 'You answer for all.' })(fleet()));
    const { waves, wire } = inWaves();
    await stage.apply({}, { outside: { wire } });
    const look = ['GET /v1/agents/ID'];
    expect(waves.slice(0, 6)).toEqual([...ASKED, READ, look, ['PUT /v1/agents/ID']]);
  });

  test('with a wrong account end before anything is compared or recorded', async () => {
    const { stage, plan } = await openFleet();
    const before = await stage.read('.callsheet/state.json');
    (stage.sim.store.account as { id: string }).id = '5a1d0000-0000-4000-8000-000000000000';
    const files = edited({ system_prompt: 'You answer for all.' })(fleet());
    const waves = await plan(files, 1);
    expect(waves.slice(0, 2)).toEqual(ASKED.slice(0, 2));
    expect(waves.flat()).not.toContain('GET /v1/agents/ID');
    expect(await stage.read('.callsheet/state.json')).toBe(before);
  });
});

/** A fleet that is live as it is configured, and as the state knows. */
async function openFleet() {
  const stage = await refreshStage({ agents: {} });
  await stage.configure(fleet());
  await stage.settle();
  return {
    stage,
    async plan(files: Files, exit = 0) {
      await stage.configure(files);
      const { waves, wire } = inWaves();
      await stage.run((to) => plan({ dir: stage.folder, format: 'json', calls: true }, to), {
        exit,
        outside: { wire },
      });
      return waves;
    },
  };
}

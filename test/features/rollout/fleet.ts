import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import type { Context } from '../../../src/console/context.ts';
import type { Rollouts } from '../../../src/core/documents.generated.ts';
import type { PlanChoices } from '../../../src/core/plan-document.ts';
import {
  abort,
  promote,
  type RolloutFlags,
  run,
  show,
  start,
} from '../../../src/features/rollout/command.ts';
import type { SeedDocument, SimulatorOptions } from '../../../src/simulator/index.ts';
import { openStage, type Said, type Stage } from '../../apply/stage.ts';
import { SEED } from '../../e2e/clinic.ts';
import { temporaryFolder } from '../../temporary.ts';

const HARBOR = '3c6e0b8a-9c15-4f1d-9f0e-5d2b7f1a2c11';

/** A Monday, eight in the morning in Berlin. */
export const START = Date.parse('2026-03-02T07:00:00Z');
const LONG_AGO = '2025-06-01T08:00:00Z';
export const HOUR = 3_600_000;
export const DAY = 24 * HOUR;

export const SHORT = 'Harbor Dental, how can I help?';
/** Other words, and nothing that callers notice. */
export const POLITE = 'Harbor Dental, what can I do for you?';
/** More than forty words: a fifth of the callers does not hear the end of it. */
export const LONG = `Thank you very much for calling Harbor Dental, where your smile has been our business for more than thirty years; please listen carefully, as our menu has changed, and have your insurance card, your date of birth and your appointment number ready. ${SHORT}`;
const PROMPT =
  'You answer the phone of a dental practice. Make, move and cancel appointments, explain prices and insurance in plain words, take messages, and hand over to a person where somebody is in pain.';

const ROLLOUTS = `rollouts:
  careful:
    select: { targets: [agent.clinic] }
    judge: { min_days: 1 }
`;

type StartFlags = Partial<
  RolloutFlags & PlanChoices & { readonly expect: string; readonly anyway: boolean }
>;

type Act = (
  command: (context: Context) => Promise<number>,
  options?: Parameters<Stage['run']>[1],
) => Promise<Said>;

export type FleetOptions = {
  readonly agents?: number;
  /** `rollouts:` of callsheet.yaml. */
  readonly rollouts?: string;
  readonly dialect?: SimulatorOptions['dialect'];
  readonly perDay?: number;
  readonly env?: Context['env'];
};

/** A rollout of twelve agents in three steps, with what a test sets. */
export const small = (more = ''): FleetOptions => ({
  agents: 12,
  rollouts: `rollouts:
  careful:
    steps: [2 agents, 50%, 100%]
${more}`,
});

/** A fleet of clinics that are called as time goes on, applied, with a rollout set up for it. */
export type Fleet = Omit<Stage, 'run'> & {
  readonly close: () => Promise<void>;
  readonly stage: Stage;
  /** Runs a command at the time of the platform. */
  readonly act: Act;
  /** Lets time pass on the platform. */
  readonly pass: (milliseconds: number) => void;
  /** Has every agent greet in another way, in the configuration. */
  readonly greet: (text: string) => Promise<void>;
  readonly start: (exit: number, what?: string, flags?: StartFlags) => Promise<Rollouts.Rollout>;
  readonly run: (
    exit: number | readonly number[],
    flags?: Partial<RolloutFlags>,
  ) => Promise<Rollouts.Rollout>;
  readonly promote: (exit: number) => Promise<Rollouts.Rollout>;
  readonly abort: (exit: number | readonly number[]) => Promise<Rollouts.Rollout>;
  /** The time of the platform. */
  readonly now: () => Date;
  readonly show: () => Promise<readonly Rollouts.Rollout[]>;
  /** Runs again and again, at most so often, while it waits: what it came to, and after how many hours. */
  readonly runEvery: (
    span: number,
    most: number,
  ) => Promise<{ readonly end: Rollouts.Rollout; readonly hours: number }>;
  /** How many agents have the greeting, live. */
  readonly greeting: (text: string) => number;
};

export async function openFleet({
  agents = 40,
  rollouts = ROLLOUTS,
  dialect = {},
  perDay = 60,
  env = {},
}: FleetOptions = {}): Promise<Fleet> {
  let latest = START;
  const now = () => new Date(latest);
  const names = Array.from({ length: agents }, (_, index) => `Clinic ${index + 1}`);
  const stage = await openStage({
    stack: stackOf(names, rollouts),
    seed: seedOf(names),
    dialect,
    callers: { perDay },
    platformNow: () => new Date(START),
    secrets: {},
    env,
  });
  await stage.apply({}, { now });
  const act: Act = (command, options = {}) => stage.run(command, { now, ...options });
  const shown = async (
    exit: number | readonly number[],
    command: typeof run,
    flags: StartFlags = {},
    what?: string,
  ): Promise<Rollouts.Rollout> => {
    const given = { dir: stage.folder, format: 'json', autoApprove: true, ...flags } as const;
    const { out } = await act((to) => command(what, given, to), { exit });
    const [one] = documentIn(out).rollouts;
    if (one === undefined) throw new Error(`no rollout is shown:\n${out}`);
    return one;
  };
  const fleet: Fleet = {
    ...stage,
    stage,
    now,
    act,
    pass(milliseconds) {
      latest += milliseconds;
      stage.sim.advance(milliseconds);
    },
    greet: (text) =>
      stage.edit(
        'agents.yaml',
        /greeting_message: .*/.exec(agentsYaml)?.[0] ?? '',
        `greeting_message: ${JSON.stringify(text)}`,
      ),
    start: (exit, what, flags) => shown(exit, start, { anyway: true, ...flags }, what),
    run: (exit, flags) => shown(exit, run, flags),
    promote: (exit) => shown(exit, promote),
    abort: (exit) => shown(exit, abort),
    async show() {
      const given = { dir: stage.folder, format: 'json' } as const;
      return documentIn((await act((to) => show(undefined, given, to))).out).rollouts;
    },
    async runEvery(span, most) {
      for (let times = 1; times <= most; times += 1) {
        fleet.pass(span);
        const end = await shown([0, 2, 3, 4], run);
        if (end.status !== 'judging') return { end, hours: (times * span) / HOUR };
      }
      throw new Error(`still waiting after ${most} looks`);
    },
    greeting: (text) =>
      [...stage.sim.store.agents.values()].filter(({ record }) => record.greeting_message === text)
        .length,
  };
  const agentsYaml = await stage.read('agents.yaml');
  return fleet;
}

function documentIn(out: string): Rollouts.Document {
  const document = JSON.parse(out);
  expect(document.format).toBe('callsheet-rollouts');
  return document;
}

function stackOf(names: readonly string[], rollouts: string): string {
  const folder = temporaryFolder();
  const files = {
    'callsheet.yaml': `callsheet: 1\norganizations: { harbor: ${HARBOR} }\norganization: harbor\n${rollouts}`,
    'agents.yaml': `agents:
  clinic:
    for_each: { $file: clinics.csv }
    key: \${each.slug}
    name: \${each.name}
    agent_type: receptionist
    greeting_message: ${SHORT}
    system_prompt: ${JSON.stringify(PROMPT)}
    transfer_enabled: true
    transfer_rules: Hand over where somebody is in pain.
    language: en-US
    status: active
`,
    'clinics.csv': [
      'slug,name,region',
      ...names.map((name, index) => `c${index + 1},${name},${index % 2 === 0 ? 'west' : 'east'}`),
      '',
    ].join('\n'),
  };
  for (const [file, text] of Object.entries(files)) writeFileSync(join(folder, file), text);
  return folder;
}

function seedOf(names: readonly string[]): SeedDocument {
  return {
    ...SEED,
    agents: names.map((name, index) => ({
      id: `0b000000-0000-4000-8000-${String(index).padStart(12, '0')}`,
      organization_id: HARBOR,
      name,
      agent_type: 'receptionist',
      status: 'active',
      greeting_message: SHORT,
      system_prompt: PROMPT,
      transfer_enabled: true,
      transfer_rules: 'Hand over where somebody is in pain.',
      language: 'en-US',
      timezone: 'Europe/Berlin',
      created_at: LONG_AGO,
      updated_at: LONG_AGO,
    })),
  };
}

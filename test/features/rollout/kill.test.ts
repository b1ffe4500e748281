import pLimit from 'p-limit';
import { expect, test } from 'vitest';
import type { Context } from '../../../src/console/context.ts';
import { abort, promote, run, start } from '../../../src/features/rollout/command.ts';
import { isUnderWay, recordsIn } from '../../../src/features/rollout/record.ts';
import { stateIn } from '../../cli/state-stage.ts';
import { isIdle, type Moment, stepOf } from '../../kill/matrix.ts';
import { mortal } from '../../kill/mortal.ts';
import { isTorture, longRows } from '../../long.ts';
import { DAY, type Fleet, LONG, openFleet, POLITE, SHORT, small } from './fleet.ts';

/** A command of a rollout that is killed, how it came to that, and what it comes to in the end. */
type Scenario = {
  readonly name: string;
  readonly prepare: (fleet: Fleet) => Promise<void>;
  readonly command: (dir: string) => (context: Context) => Promise<number>;
  /** Agents that have the new greeting, and what the rollout is, once it was gone on with. */
  readonly ends: { readonly status: string; readonly step: number; readonly changed: number };
  readonly greeting: string;
};

const QUICK = small(
  '    judge: { min_days: 1, min_calls: 20, measures: { resolved: { margin: 40 } } }\n',
);
const given = (dir: string) => ({ dir, format: 'json', autoApprove: true }) as const;

async function begun(fleet: Fleet, greeting: string): Promise<void> {
  await fleet.greet(greeting);
  await fleet.start(2);
  fleet.pass(2 * DAY);
}

const SCENARIOS: readonly Scenario[] = [
  {
    name: 'start',
    prepare: (fleet) => fleet.greet(POLITE),
    command: (dir) => (to) => start('careful', { ...given(dir), anyway: true }, to),
    ends: { status: 'judging', step: 1, changed: 2 },
    greeting: POLITE,
  },
  {
    name: 'a run that goes to the next step',
    prepare: (fleet) => begun(fleet, POLITE),
    command: (dir) => (to) => run(undefined, given(dir), to),
    ends: { status: 'judging', step: 2, changed: 6 },
    greeting: POLITE,
  },
  {
    name: 'a promotion to the last step',
    async prepare(fleet) {
      await begun(fleet, POLITE);
      await fleet.promote(2);
    },
    command: (dir) => (to) => promote(undefined, given(dir), to),
    ends: { status: 'done', step: 3, changed: 12 },
    greeting: POLITE,
  },
  {
    name: 'an abort',
    async prepare(fleet) {
      await begun(fleet, LONG);
      await fleet.promote(2);
    },
    command: (dir) => (to) => abort(undefined, given(dir), to),
    ends: { status: 'rolled_back', step: 2, changed: 0 },
    greeting: LONG,
  },
];

async function onFleet<T>(scenario: Scenario, body: (fleet: Fleet) => Promise<T>): Promise<T> {
  const fleet = await openFleet({ ...QUICK, perDay: 40 });
  try {
    await scenario.prepare(fleet);
    return await body(fleet);
  } finally {
    await fleet.close();
  }
}

/** Gives the command again where nothing was written down, and goes on with the rollout where it was. */
async function goOn({ command }: Scenario, fleet: Fleet): Promise<void> {
  for (let times = 0; times < 4; times += 1) {
    const [record] = recordsIn(await stateIn(fleet.stage).catch(() => ({})));
    const isDue =
      record !== undefined && (record.status === 'applying' || record.status === 'rolling_back');
    const next = isDue ? (to: Context) => run('careful', given(fleet.stage.folder), to) : undefined;
    if (next === undefined && times > 0) return;
    if (record !== undefined && !isUnderWay(record)) return;
    await fleet.act(next ?? command(fleet.stage.folder), { exit: 'any' });
  }
}

async function checkEnd({ ends, greeting }: Scenario, fleet: Fleet): Promise<void> {
  const { status, step, changed } = ends;
  const state = await stateIn(fleet.stage);
  const [record] = recordsIn(state);
  expect([record?.status, (record?.step ?? -1) + 1]).toEqual([status, step]);
  expect([fleet.greeting(greeting), fleet.greeting(SHORT)]).toEqual([changed, 12 - changed]);
  expect(record?.left).toEqual([]);
  // Who plans meanwhile is told what is held, and nothing else.
  const { changes } = await fleet.stage.plan({}, { exit: status === 'rolled_back' ? 4 : 0 });
  const verdicts = new Set(changes.map(({ verdict }) => verdict));
  expect([...verdicts]).toEqual(status === 'judging' ? ['held'] : status === 'done' ? [] : ['ok']);
}

async function momentsOf(scenario: Scenario): Promise<readonly Moment[]> {
  return onFleet(scenario, async (fleet) => {
    const { outside, moments } = mortal();
    await fleet.act(scenario.command(fleet.stage.folder), { exit: 'any', outside });
    await checkEnd(scenario, fleet);
    return moments;
  });
}

/** What went wrong after a kill at a moment; undefined: nothing. */
async function killAt(scenario: Scenario, moment: Moment): Promise<string | undefined> {
  return onFleet(scenario, async (fleet) => {
    const { outside } = mortal(moment);
    await fleet.act(scenario.command(fleet.stage.folder), { exit: 'any', outside });
    fleet.pass(60_000);
    try {
      await goOn(scenario, fleet);
      await checkEnd(scenario, fleet);
      return undefined;
    } catch (error) {
      return `${moment.name} (${moment.nth}): ${String(error)}`;
    }
  });
}

/** Fleets are opened and killed one after the other, on a machine that is busy. */
const TIMEOUT = 900_000;

test.each(SCENARIOS)(
  'killed at any step, $name comes to the same end',
  async (scenario) => {
    const moments = (await momentsOf(scenario)).filter((moment) => !isIdle(moment));
    const steps = new Map(moments.map((moment) => [stepOf(moment), moment]));
    expect(steps.size).toBeGreaterThan(8);
    const all = isTorture ? moments : [...steps.values()];
    const limit = pLimit(2);
    const taken = longRows(all, (_, at) => at % 6 === 0);
    const problems = await Promise.all(
      taken.map((moment) => limit(() => killAt(scenario, moment))),
    );
    expect(problems.filter((one) => one !== undefined)).toEqual([]);
  },
  TIMEOUT,
);

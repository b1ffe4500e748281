import { expect } from 'vitest';
import type { JsonObject } from '../../src/core/value.ts';
import { RESTS, recordsIn, type SimulatorOptions } from '../../src/simulator/index.ts';
import { openStage, type Stage } from '../apply/stage.ts';
import { rememberedIn, stateIn } from '../cli/state-stage.ts';
import { isIdle, type Moment, mortal } from './mortal.ts';

export { isIdle, type Moment } from './mortal.ts';

import { OTHERS, type Scenario } from './scenarios.ts';

/** How the platform behaves; see `Dialect`. */
export type Spoken = SimulatorOptions['dialect'];

/** What came of killing a command at one moment. */
export type Outcome = Moment & {
  readonly scenario: string;
  readonly converged: boolean;
  readonly problem?: string;
};

/** What is done at a moment, whatever it is about: `before journal intent`, `after request POST`. */
export function stepOf({ name }: Moment): string {
  // What was noted goes with the intent.
  return name
    .replace(/^(\w+ journal )(?:\w+, )*intent .*/, '$1intent')
    .replace(/^(\w+ request \S+) .*/, '$1');
}

/** How a command ends that is given again: well, with something left, or refused since all of it is done. */
const OVER_OR_NOT = [0, 1, 3] as const;

/** Longer than entries of a history take to appear. */
const A_MOMENT_MS = 1_000;

/** Every moment of a scenario's command, from running it to its end. */
export function momentsOf(scenario: Scenario, dialect: Spoken = {}): Promise<readonly Moment[]> {
  return onStage(scenario, dialect, async (stage) => {
    const { outside, moments } = mortal();
    await scenario.act(stage, { outside });
    await checkEnd(stage, scenario);
    undisturbed.set(keyOf(scenario, dialect), await rememberedIn(stage));
    return moments;
  });
}

/** Kills a scenario's command at a moment, goes on as a person would, and looks at what that leads to. */
export function killAt(scenario: Scenario, moment: Moment, dialect: Spoken = {}): Promise<Outcome> {
  return onStage(scenario, dialect, async (stage) => {
    const about = { scenario: scenario.name, ...moment };
    const { outside, isDead } = mortal(moment);
    await scenario.act(stage, { outside, exit: 'any' });
    try {
      // Which journals are read depends on the second in which runs began, so such a moment may not come.
      if (!isIdle(moment)) expect(isDead(), 'the moment never came').toBe(true);
      // Whoever comes back finds what was written in the histories.
      stage.sim.advance(A_MOMENT_MS);
      // A plan is never in the way of what comes after it, nor does it write.
      const before = stage.writes().length;
      const planned = await stage.plan(
        { allowDelete: true },
        { env: scenario.env ?? scenario.secrets, exit: scenario.mayHold ? 'any' : 0 },
      );
      expect((planned.refusals ?? []).filter(({ guard }) => guard !== 'hold')).toEqual([]);
      expect(stage.writes().length).toBe(before);
      await scenario.act(stage, { resumed: true, exit: scenario.mayBeOver ? OVER_OR_NOT : 0 });
      await checkEnd(stage, scenario);
      // A run that died and was recovered leaves what one that ended well leaves.
      const known = undisturbed.get(keyOf(scenario, dialect));
      if (known !== undefined) expect(await rememberedIn(stage)).toEqual(known);
      return { ...about, converged: true };
    } catch (error) {
      return { ...about, converged: false, problem: String(error) };
    }
  });
}

/** What the state remembers once nothing has gone wrong, by scenario and dialect: `momentsOf` finds it out. */
const undisturbed = new Map<string, object>();

function keyOf({ name }: Scenario, dialect: Spoken): string {
  return `${name} ${JSON.stringify(dialect)}`;
}

/** What was somebody else's before anything was done. */
const theirs = new WeakMap<Stage, readonly string[]>();

async function onStage<T>(
  scenario: Scenario,
  dialect: Spoken,
  body: (stage: Stage) => Promise<T>,
): Promise<T> {
  const stage = await openStage({ seed: OTHERS, dialect: dialect ?? {} });
  try {
    theirs.set(stage, theirsIn(stage));
    expect(theirsIn(stage)).toHaveLength(6);
    await scenario.prepare(stage);
    return await body(stage);
  } finally {
    await stage.close();
  }
}

/** What must hold in the end, whatever happened on the way. */
async function checkEnd(stage: Stage, scenario: Scenario): Promise<void> {
  await scenario.finish?.(stage);
  const live = liveIn(stage);
  const names = live.flatMap(({ name, isTheirs }) => (isTheirs ? [] : [name])).sort();
  expect(names).toEqual([...scenario.whole].sort());
  const { resources } = await stateIn(stage);
  const recorded = Object.values(resources).map(({ id }) => id);
  expect(new Set(recorded).size).toBe(recorded.length);
  const own = live.filter(({ isTheirs }) => !isTheirs).map(({ id }) => id);
  expect(recorded.filter((id) => !own.includes(id))).toEqual([]);
  // Only what the platform cannot delete may be left without an address.
  const orphans = live.filter((one) => !one.isTheirs && !recorded.includes(one.id));
  expect(orphans.filter(({ name }) => !name.startsWith('knowledge_source'))).toEqual([]);
  expect(secretsOf(stage)).toEqual(scenario.secrets);
  expect(theirsIn(stage)).toEqual(theirs.get(stage));
  expect(stage.leaks()).toEqual([]);
}

type Live = { readonly id: string; readonly name: string; readonly isTheirs: boolean };

/** Everything that counts on the platform: a document that was announced and never arrived does not. */
function liveIn({ sim: { store } }: Stage): readonly Live[] {
  const all: readonly (readonly [string, Iterable<object>])[] = [
    ['agent', [...store.agents.values()].map(({ record }) => record)],
    [
      'knowledge_source',
      [...store.sources.values()]
        .filter(({ record, upload }) => record.status === 'active' && isWhole(upload))
        .map(({ record }) => record),
    ],
    ...RESTS.map(({ kind: { name } }) => [name, recordsIn(store, name)] as const),
    ['voice', [...store.voices.values()].map(({ record }) => record)],
  ];
  return all.flatMap(([kind, records]) =>
    [...records].map((record) => {
      const { id, name } = record as { readonly id: string; readonly name: string };
      return { id, name: `${kind}: ${name}`, isTheirs: isTheirs(id) };
    }),
  );
}

function isWhole(
  upload: { readonly size: number; readonly bytes: Buffer | undefined } | undefined,
) {
  return upload === undefined || upload.bytes?.length === upload.size;
}

/** The clinic's secrets as the platform holds them. */
function secretsOf({ sim: { store } }: Stage) {
  const desk = [...store.agents.values()].find(({ record }) => record.name === 'Front desk');
  const { integrations, extensions } = (desk?.record ?? {}) as {
    readonly integrations?: { readonly smsProvider?: { readonly auth_token?: string } };
    readonly extensions?: {
      readonly tools?: readonly { readonly headers: readonly { readonly value: string }[] }[];
      readonly mcp_servers?: readonly { readonly auth_headers: Record<string, string> }[];
    };
  };
  return {
    SMS_TOKEN: integrations?.smsProvider?.auth_token,
    CRM_KEY: extensions?.tools?.[0]?.headers[0]?.value,
    MCP_TOKEN: extensions?.mcp_servers?.[0]?.auth_headers.Authorization,
  };
}

/** What is somebody else's, whole. */
function theirsIn({ sim: { store } }: Stage): readonly string[] {
  const all = [
    store.agents,
    ...RESTS.map(({ kind: { name } }) => byId(recordsIn(store, name))),
    store.sources,
    store.voices,
  ].flatMap((records) => [...records.entries()]);
  return all.filter(([id]) => isTheirs(id)).map((entry) => JSON.stringify(entry));
}

function byId(records: readonly JsonObject[]): ReadonlyMap<string, object> {
  return new Map(records.map((one) => [String(one.id), one]));
}

function isTheirs(id: string): boolean {
  return id.startsWith('0a000000');
}

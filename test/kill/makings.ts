import { setImmediate } from 'node:timers/promises';
import { expect } from 'vitest';
import type { Context } from '../../src/console/context.ts';
import { kindNamed, kinds } from '../../src/kinds/index.ts';
import type { Kind } from '../../src/kinds/kind.ts';
import { operations } from '../../src/platform/operations.generated.ts';
import { type Fault, RESTS, recordsIn } from '../../src/simulator/index.ts';
import { openStage, type Stage } from '../apply/stage.ts';
import { rememberedIn, stateIn } from '../cli/state-stage.ts';
import { CANARIES, SEED } from '../e2e/clinic.ts';
import { samples } from '../kinds/samples.ts';
import type { Spoken } from './matrix.ts';
import { mortal } from './mortal.ts';

/** Every way that a resource of a kind is made, and its requests in their order. */
export function stepsOf(
  kind: Kind,
): readonly { readonly name: string; readonly operations: readonly string[] }[] {
  return kind.making.map(({ name, requests }) => ({
    name,
    operations: [
      ...requests.map(({ operation }) => operation),
      // A facet without a read of its own is set up elsewhere first, so that nothing new has it.
      ...kind.facets.flatMap(({ get, write }) => (get ? [write('', {}).operation] : [])),
    ],
  }));
}

/** What can befall one request of a making. */
export const MISHAPS = [
  'answer lost once',
  'answer lost three times',
  'answered 500',
  'storm of 503',
  'killed before',
  'killed after',
] as const;

/** One request of a making, what befalls it, and whether the state is there afterwards. */
export type Cell = {
  readonly kind: string;
  readonly way: string;
  readonly operation: string;
  readonly mishap: (typeof MISHAPS)[number];
  readonly isStateKept: boolean;
};

export type CellOutcome = Cell & { readonly converged: boolean; readonly problem?: string };

/** What is made, as YAML; of a replacement, what it was before. */
type Sample = { readonly yaml: string; readonly before?: string };

const AGENT = `agents:
  one:
    name: One
    agent_type: simple
    integrations: { smsProvider: { account_sid: AC01, auth_token: { $secret: env:SMS_TOKEN }, fromNumber: "+15550100" } }
    payments: { tool_enabled: true, max_attempts_per_call: 3 }
`;
const source = (fields: string) => `knowledge_bases:
  clinic:
    id: 7c346549-f8c6-406a-809e-72392ed69b41
    sources: { one: { ${fields} } }
`;
const message = (name: string, type: string) =>
  `sms_templates: { one: { name: ${name}, message_type: ${type}, body: Hello., status: draft } }\n`;

const SAMPLES: Readonly<Record<string, Sample>> = {
  'custom_voice clone': {
    yaml: 'custom_voices: { one: { name: One, clip: voices/harbor.wav, language: en, consent: true } }\n',
  },
  'retry_policy record': {
    yaml: 'retry_policies: { one: { name: One, rules: { no_answer: { delay_seconds: 900, max_attempts: 3 } }, on_exhausted: end } }\n',
  },
  'email_template record': {
    yaml: 'email_templates: { one: { name: One, subject: Hello, body_html: <p>Hello</p>, status: draft } }\n',
  },
  'sms_template record': { yaml: message('One', 'sms') },
  'sms_template replacement': { yaml: message('Two', 'mms'), before: message('One', 'sms') },
  'knowledge_source page': { yaml: source('url: "https://harbor.example.test/one"') },
  'knowledge_source document': { yaml: source('file: documents/prices.csv') },
  'agent record': { yaml: AGENT },
};

/** Of a kind that has none above, what the contract suite makes of it. JSON is YAML. */
function wholeSample(kind: string): Sample | undefined {
  const whole = samples.find((sample) => sample.kind === kind)?.whole;
  return whole && { yaml: `${JSON.stringify({ [kindNamed(kind).section]: { one: whole } })}\n` };
}

/** Every way of making something, and of replacing it where another value of a field takes another resource. */
const WAYS = kinds.flatMap((kind) => {
  const isReplaced =
    kind.update !== undefined &&
    kind.delete !== undefined &&
    Object.entries(kind.schema.properties ?? {}).some(
      ([name, schema]) => schema['x-immutable'] === true && !kind.scope.includes(name),
    );
  const replacement = {
    name: 'replacement',
    operations: [...kind.operations.create, ...kind.operations.delete],
  };
  return [...stepsOf(kind), ...(isReplaced ? [replacement] : [])].map((way) => ({
    kind: kind.name,
    way: way.name,
    operations: way.operations,
  }));
});

/** The whole matrix. */
export const CELLS: readonly Cell[] = WAYS.flatMap(({ kind, way, operations: requests }) =>
  requests.flatMap((operation) =>
    MISHAPS.flatMap((mishap) =>
      [true, false].flatMap((isStateKept): Cell[] =>
        // Without the state nobody knows that the old one of a replacement was ours.
        isStateKept || way !== 'replacement' ? [{ kind, way, operation, mishap, isStateKept }] : [],
      ),
    ),
  ),
);

/** Waits take no time. */
const pause: NonNullable<Context['pause']> = {
  sleep: () => setImmediate(),
  random: () => 0.5,
};

/** Runs one cell: the making, what befalls it, and as many runs as a person would start until the plan is empty. */
export async function runCell(cell: Cell, dialect: Spoken = {}): Promise<CellOutcome> {
  const stage = await openStage({ seed: SEED, dialect: dialect ?? {} });
  try {
    await prepare(stage, cell);
    await befall(stage, cell);
    if (!cell.isStateKept) await stage.forget();
    await converge(stage);
    // An ingestion ends after some looks at it.
    for (let look = 0; look < stage.sim.dialect.ingestionReads; look += 1) await stage.plan();
    await checkMade(stage, cell);
    if (cell.isStateKept)
      expect(await rememberedIn(stage)).toEqual(await rememberedUndisturbed(cell, dialect));
    expect(stage.leaks()).toEqual([]);
    return { ...cell, converged: true };
  } catch (error) {
    return { ...cell, converged: false, problem: String(error) };
  } finally {
    await stage.close();
  }
}

/** The state after a making that nothing befell, by what is made and by dialect. */
const undisturbed = new Map<string, Promise<object>>();

function rememberedUndisturbed(cell: Cell, dialect: Spoken): Promise<object> {
  const key = JSON.stringify([cell.kind, cell.way, dialect ?? {}]);
  const known = undisturbed.get(key) ?? playUndisturbed(cell, dialect);
  undisturbed.set(key, known);
  return known;
}

async function playUndisturbed(cell: Cell, dialect: Spoken): Promise<object> {
  const stage = await openStage({ seed: SEED, dialect: dialect ?? {} });
  try {
    await prepare(stage, cell);
    await converge(stage);
    return await rememberedIn(stage);
  } finally {
    await stage.close();
  }
}

/** A making that dies, is gone on with, and is rolled back. */
export type WayBack = Cell & {
  /** At which request the run that goes on with it dies; undefined: it comes to its end. */
  readonly dies: string | undefined;
};

/** Every request of a making after which the next run dies too, or does not. */
export const WAYS_BACK: readonly WayBack[] = CELLS.filter(
  ({ mishap, isStateKept }) => mishap.startsWith('killed') && isStateKept,
).flatMap((cell) => {
  const { operations: all = [] } =
    WAYS.find(({ kind, way }) => kind === cell.kind && way === cell.way) ?? {};
  return [undefined, ...all].map((dies) => ({ ...cell, dies }));
});

/**
 * A making that died, is gone on with, and whose last run is rolled back: no rollback takes back what is whole, so what
 * the state says of it is what the platform has, and the next plan goes on with no more than is missing.
 */
export async function runWayBack({ dies, ...cell }: WayBack): Promise<CellOutcome> {
  const stage = await openStage({ seed: SEED });
  try {
    await prepare(stage, cell);
    await befall(stage, cell);
    if (dies === undefined) await stage.apply(OPTIONS, { exit: 'any', outside: { pause } });
    else await applyDying(stage, 'after', dies);
    await stage.rollback({ deleteUsed: true }, { exit: [0, 1, 3], outside: { pause } });
    const { changes } = await stage.plan({ allowDelete: true, releaseHold: true });
    const { resources } = await stateIn(stage);
    const due = changes.filter(({ reason }) => /incomplete/.test(reason));
    const known = Object.values(resources).filter(({ id }) => stage.sim.store.sources.has(id));
    const whole = wholeSources(stage);
    expect(due).toHaveLength(whole.length === 0 ? known.length : 0);
    if (whole.length > 0) for (const { id } of known) expect(whole).toContain(id);
    await converge(stage, true);
    return { ...cell, converged: true };
  } catch (error) {
    return { ...cell, converged: false, problem: `${dies ?? 'no death'}: ${error}` };
  } finally {
    await stage.close();
  }
}

/** Ids of the pages and documents that the platform has all of. */
function wholeSources({ sim: { store } }: Stage): readonly string[] {
  return [...store.sources].flatMap(([id, { record }]) => (record.status === 'active' ? id : []));
}

async function prepare(stage: Stage, { kind, way }: Cell): Promise<void> {
  const sample = SAMPLES[`${kind} ${way}`] ?? wholeSample(kind);
  if (sample === undefined) throw new Error(`${kind} ${way} has no sample`);
  await stage.remove('agents.yaml');
  await stage.remove('resources.yaml');
  if (sample.before !== undefined) {
    await stage.write('one.yaml', sample.before);
    await stage.apply({}, { outside: { pause } });
  }
  await stage.write('one.yaml', sample.yaml);
}

const OPTIONS = { allowDelete: true, concurrency: 1 };

async function befall(stage: Stage, { operation, mishap }: Cell): Promise<void> {
  const { faults } = stage.sim;
  const on = (fault: Omit<Fault, 'operation'>) =>
    faults.add({ operation: operation as Fault['operation'], ...fault });
  if (mishap === 'answer lost once') on({ reset: 'after' });
  if (mishap === 'answer lost three times') on({ reset: 'after', times: 3 });
  if (mishap === 'answered 500') on({ status: 500 });
  if (mishap === 'storm of 503') on({ status: 503, times: 40 });
  const when = /^killed (before|after)$/.exec(mishap)?.[1];
  if (when === undefined) {
    await stage.apply(OPTIONS, { exit: 'any', outside: { pause } });
    expect(stage.sim.requests.map((request) => request.operation)).toContain(operation);
    if (mishap === 'storm of 503') faults.clear();
    return;
  }
  expect(await applyDying(stage, when, operation), 'the moment never came').toBe(true);
}

/** Applies, and dies before or after a request. Tells whether that was sent. */
export async function applyDying(stage: Stage, when: string, operation: string): Promise<boolean> {
  const method = operation === 'upload' ? 'PUT' : methodOf(operation);
  const { outside, isDead } = mortal({ name: `${when} request ${method} ${operation}`, nth: 1 });
  await stage.apply(OPTIONS, { exit: 'any', outside: { ...outside, pause } });
  return isDead();
}

function methodOf(operation: string): string {
  const found = Object.entries(operations).find(([name]) => name === operation);
  return found?.[1].method ?? '';
}

/** Runs that a person would start: each may fail for what befalls it, none for what the ones before left. */
const MOST_RUNS = 5;

async function converge(stage: Stage, releaseHold = false): Promise<void> {
  for (let run = 0; run < MOST_RUNS; run += 1) {
    const plan = await stage.plan({ allowDelete: true, releaseHold });
    expect(plan.refusals ?? []).toEqual([]);
    if (plan.changes.length === 0 && plan.settled === undefined) return;
    await stage.apply({ ...OPTIONS, releaseHold }, { exit: 'any', outside: { pause } });
  }
  expect((await stage.plan()).changes, `after ${MOST_RUNS} runs`).toEqual([]);
}

/** One, whole, with its secrets, and known to the state; nothing beside it but what the platform cannot delete. */
async function checkMade(stage: Stage, { kind, way }: Cell): Promise<void> {
  const { store } = stage.sim;
  const records: Readonly<Record<string, readonly object[]>> = {
    custom_voice: [...store.voices.values()].map(({ record }) => record),
    ...Object.fromEntries(RESTS.map(({ kind: { name } }) => [name, recordsIn(store, name)])),
    knowledge_source: [...store.sources.values()]
      .filter(({ record, upload }) => {
        const isFull = way === 'page' || upload?.bytes?.length === upload?.size;
        return record.status === 'active' && isFull;
      })
      .map(({ record }) => record),
    agent: [...store.agents.values()].map(({ record }) => record),
  };
  const live = (records[kind] ?? []) as readonly { readonly id: string; readonly name: string }[];
  const { resources } = await stateIn(stage);
  expect(live.map(({ id }) => id)).toEqual(Object.values(resources).map(({ id }) => id));
  expect(live).toHaveLength(1);
  if (kind !== 'agent') return;
  const [agent] = [...store.agents.values()];
  expect(agent?.record.integrations).toMatchObject({
    smsProvider: { auth_token: CANARIES.SMS_TOKEN },
  });
  expect(agent?.payments.limits).toMatchObject({ max_attempts_per_call: 3 });
}

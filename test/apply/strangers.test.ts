import { setImmediate } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { rollback } from '../../src/cli/commands/rollback.ts';
import type { Context } from '../../src/console/context.ts';
import type { Change } from '../../src/core/plan-document.ts';
import { kindNamed, kinds } from '../../src/kinds/index.ts';
import type { Transport } from '../../src/platform/transport.ts';
import { type Dialect, type Fault, recordsIn } from '../../src/simulator/index.ts';
import { applyDying } from '../kill/makings.ts';
import { longRows } from '../long.ts';
import { idsInState, prepare, SAMPLES, type Sample, STRANGER, TWO, write } from './one-of-each.ts';
import { openStage, type Stage, staged } from './stage.ts';

/**
 * Somebody else's resource of the name that one is to have, at every moment and in every way that a name is given. It may
 * be adopted where a plan says so, and never be taken or written unseen.
 */

/** In which way the name is given. */
const WAYS = {
  create: 'made for the first time',
  rename: 'renamed',
  'rename by id': 'renamed, and named by its id in lifecycle.adopt',
  replacement: 'replaced under the same name',
  'renamed replacement': 'replaced under another name',
  retry: 'renamed again after a rollback',
} as const;
type Way = keyof typeof WAYS;

/** When the stranger appears, and what becomes of the request that gives the name. */
const MOMENTS: Readonly<Record<string, Omit<Fault, 'operation'> | undefined>> = {
  'before the plan': undefined,
  'before the write': undefined,
  'before a write that is refused with 403': {
    status: 403,
    body: { error: 'forbidden', error_description: 'Not enabled for this organization' },
  },
  'before a write that is refused with 400': { status: 400, body: { error: 'invalid_request' } },
  'before a write whose connection breaks': { reset: 'before' },
  'before a write that answers 500': { status: 500 },
  'after the run was killed': undefined,
  'after a write whose answer is lost': { reset: 'after' },
};
type Moment = string;

type Row = {
  readonly kind: string;
  readonly way: Way;
  readonly moment: Moment;
};

/** The table. */
const ROWS: readonly Row[] = SAMPLES.flatMap(({ kind, other }) =>
  (Object.keys(WAYS) as Way[]).flatMap((way) =>
    Object.keys(MOMENTS).flatMap((moment): Row[] => {
      const { delete: isDeleted, refusesTwins, scope } = kindNamed(kind);
      if (/replacement/.test(way) && other === undefined) return [];
      // In another organization the name is free of the old one, and a kind without a deletion keeps the old one.
      const isPlain = way === 'replacement';
      const isMoved = other === 'organization' && scope.includes('organization_id');
      if (isPlain && (isDeleted === undefined || (!isMoved && moment === 'before the plan')))
        return [];
      // A rollback has nothing to undo where the plan already refuses.
      if (way === 'retry' && moment === 'before the plan') return [];
      // Where names are unique the stranger could not have been made.
      if (moment === 'after a write whose answer is lost' && refusesTwins) return [];
      return [{ kind, way, moment }];
    }),
  ),
);

const PLATFORMS: readonly (readonly [name: string, dialect: Partial<Dialect>])[] = [
  ['the platform as it is', {}],
  [
    'one that tells little',
    {
      listFields: 'fewest',
      createAnswer: 'id',
      listPages: 'bare',
      timestamps: 'seconds',
      unset: 'null',
      emailErrors: 'bad-request',
      duplicates: 'uploaded',
      reingestedFile: 'replaced',
      ingestionReads: 2,
    },
  ],
];

const pause: NonNullable<Context['pause']> = { sleep: () => setImmediate(), random: () => 0.5 };

/** Goes through a row. Throws where the stranger's was taken, written, or not named. */
async function goThrough(row: Row, dialect: Partial<Dialect>): Promise<void> {
  const sample = SAMPLES.find(({ kind }) => kind === row.kind);
  if (sample === undefined) throw new Error(`${row.kind} has no sample`);
  const stage = await openStage({ seed: TWO, dialect });
  try {
    await walk(stage, row, sample);
    expect(stage.leaks()).toEqual([]);
  } finally {
    await stage.close();
  }
}

async function walk(stage: Stage, row: Row, sample: Sample): Promise<void> {
  const { way, moment } = row;
  await prepare(stage, sample);
  const isOther = /replacement/.test(way);
  const name = way === 'replacement' ? 'Own' : 'Taken';
  if (way !== 'create') {
    await write(stage, sample, 'Own', false);
    await stage.apply({}, { outside: { pause } });
  }
  const adopt = way === 'rename by id' ? (await idsInState(stage))[0] : undefined;
  await write(stage, sample, name, isOther, adopt);
  let planted: unknown;
  const plant = () => {
    if (planted !== undefined) return;
    sample.stranger(stage, name, isOther);
    planted = recordOf(stage, sample);
  };
  const check = async () => {
    plant();
    expect(recordOf(stage, sample), 'the stranger is as it was').toEqual(planted);
    expect(await idsInState(stage), 'the state does not have it').not.toContain(STRANGER);
  };
  if (moment === 'before the plan') plant();
  // Of a first making the plan says that it adopts it: that is reviewed, and taken as it says.
  const isAdoption = way === 'create';
  if (!(isAdoption && moment === 'before the plan')) {
    await apply(stage, row, plant);
    await check();
  }
  if (way === 'retry') {
    await stage.rollback({}, { exit: 'any', outside: { pause } });
    await check();
    await write(stage, sample, name, isOther);
    await apply(stage, { ...row, moment: 'before the write' }, plant);
    await check();
  }
  const changes = await checkPlan(stage, row);
  if (isAdoption || changes.some(({ adopted }) => adopted)) return;
  for (let run = 0; run < 2; run += 1) {
    await apply(stage, { ...row, moment: 'before the plan' }, plant);
    await check();
    await checkPlan(stage, row);
  }
}

const OPTIONS = { allowDelete: true, concurrency: 1 };

/** A plan may name the stranger as what it adopts or why it refuses, and as nothing else. */
async function checkPlan(stage: Stage, { kind, way }: Row): Promise<readonly Change[]> {
  const { changes, settled } = await stage.plan(OPTIONS, { exit: 'any' });
  for (const { message } of settled?.findings ?? [])
    expect(message).not.toMatch(new RegExp(`was created \\(id ${STRANGER}\\)`));
  for (const change of changes) if (change.id === STRANGER) expect(change.adopted).toBe(true);
  const isTaken = kindNamed(kind).refusesTwins && changes.length > 0;
  if (!isTaken) return changes;
  const isNamed = ({ id, verdict, reason }: Change) =>
    id === STRANGER || (verdict === 'refused' && reason.includes(STRANGER));
  expect(changes.some(isNamed), `${way}: ${changes.map(({ reason }) => reason).join()}`).toBe(true);
  return changes;
}

/** The request that gives the name. */
function namingRequest({ kind, way }: Row): string {
  const { create, update } = kindNamed(kind).operations;
  const isWrittenAnew = way === 'create' || /replacement/.test(way);
  return (isWrittenAnew ? undefined : update[0]) ?? create[0] ?? '';
}

async function apply(stage: Stage, row: Row, plant: () => void): Promise<void> {
  const { moment } = row;
  const operation = namingRequest(row);
  if (moment === 'after the run was killed') {
    await applyDying(stage, 'before', operation);
    plant();
    return;
  }
  const fault = MOMENTS[moment];
  const isLost = moment === 'after a write whose answer is lost';
  if (fault !== undefined)
    stage.sim.faults.add({ ...fault, operation: operation as Fault['operation'] });
  const wire = (transport: Transport): Transport => ({
    ...transport,
    send: async (request) => {
      if (request.about?.operation !== operation || moment === 'before the plan')
        return transport.send(request);
      if (!isLost) plant();
      return transport.send(request).finally(plant);
    },
  });
  await stage.apply(OPTIONS, { ...ANY, outside: { wire, pause } });
  stage.sim.faults.clear();
}

const ANY = { exit: 'any', leaves: () => true } as const;

function recordOf({ sim: { store } }: Stage, { kind }: Sample): unknown {
  return structuredClone(recordsIn(store, kind).find(({ id }) => id === STRANGER));
}

test('every kind has its rows', () => {
  const known = new Set(ROWS.map(({ kind }) => kind));
  expect(kinds.map(({ name }) => name).filter((name) => !known.has(name))).toEqual([]);
});

/** In short: a few of all, and of each kind the lost answer to its first making. */
const isShort = ({ way, moment }: Row, index: number) =>
  index % 31 === 0 || (way === 'create' && moment === 'before a write whose connection breaks');

for (const [platform, dialect] of longRows(PLATFORMS, (_, index) => index === 0))
  describe(`on ${platform}`, () => {
    for (const row of longRows(ROWS, isShort))
      test(`a stranger's ${row.kind} that appears ${row.moment}, where one is ${WAYS[row.way]}`, () =>
        goThrough(row, dialect));
  });

const DELETABLE = SAMPLES.filter(({ kind }) => kindNamed(kind).delete !== undefined);

for (const sample of longRows(DELETABLE, (_, index) => index < 2))
  staged(
    `a stranger's ${sample.kind} is not what the rollback of a delete puts back`,
    async (stage) => {
      await prepare(stage, sample);
      await stage.write('other.yaml', 'email_templates: { other: { name: Other } }\n');
      await write(stage, sample, 'Own', false);
      await stage.apply();
      await stage.remove('one.yaml');
      await stage.apply({ allowDelete: true });
      sample.stranger(stage, 'Own', false);
      const planted = recordOf(stage, sample);
      const context = { dir: stage.folder, format: 'text', autoApprove: true } as const;
      const { out, err } = await stage.run((to) => rollback(context, to), { exit: [3, 4] });
      expect(`${out}${err}`.replace(/\s+/g, ' ')).toContain(`has its name: ${STRANGER}`);
      expect(recordOf(stage, sample)).toEqual(planted);
      expect(await idsInState(stage)).not.toContain(STRANGER);
    },
    { seed: TWO },
  );

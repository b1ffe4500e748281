import { describe, expect } from 'vitest';
import { rollback } from '../../src/cli/commands/rollback.ts';
import type { Dialect } from '../../src/simulator/index.ts';
import type { LedgerLine } from '../../src/state/journal.ts';
import { agentNamed } from '../e2e/clinic.ts';
import { longRows } from '../long.ts';
import { editAtEveryStep } from './every-step.ts';
import { type Stage, staged } from './stage.ts';

const MINA = 'user:mina';

/** Has a person edit the desk at the moment at which an operation on it arrives, for the first time. */
function editAt(stage: Stage, operation: string, patch: Parameters<Stage['sim']['edit']>[1]): void {
  const { faults } = stage.sim;
  const { strike } = faults;
  let isDone = false;
  Object.assign(faults, {
    strike: (target: Parameters<typeof strike>[0]) => {
      if (!isDone && target.operation === operation) {
        isDone = true;
        stage.sim.edit(deskId(stage), patch, MINA);
      }
      return strike(target);
    },
  });
}

const deskId = ({ sim }: Stage): string => agentNamed(sim).id;

const lineOf = (ledger: readonly LedgerLine[]) =>
  ledger.find(({ address }) => address === 'agent.desk');

/** The clinic as applied, with one change of the configuration to come. */
async function edited(stage: Stage): Promise<void> {
  await stage.apply();
  await stage.edit('agents.yaml', 'how can I help?', 'good day!');
}

const silent: Partial<Dialect> = { historyCreatedAt: false };

const rolledBack = (stage: Stage) =>
  stage.run((to) => rollback({ dir: stage.folder, format: 'json', autoApprove: true }, to), {
    exit: 4,
  });

const DATED = [
  ['as it is', {}],
  ['oldest first', { historyOrder: 'oldest' }],
  ['a moment later', { historyLagMs: 300 }],
] as const;

describe('somebody writes between the check and the write', () => {
  const rows = [
    ...DATED.map((one) => [...one, 'speed: 1.05', 'speed: 1.1'] as const),
    ['without times in the history', silent, 'speed: 1.05', 'speed: 1.1'],
    // Nobody could find the write later.
    ['without times, one field alone', silent, 'how can I help?', 'good day!'],
  ] as const;
  const short = longRows(
    rows,
    ([name]) => !['a moment later', 'without times in the history'].includes(name),
  );
  for (const [title, dialect, is, will] of short) {
    staged(
      `what else is sent back may undo it, so the run ends with 5 and says who: ${title}`,
      async (stage) => {
        await stage.apply();
        await stage.edit('agents.yaml', is, will);
        editAt(stage, 'updateAgent', { language: 'en-GB' });
        const line = lineOf(await stage.apply({}, { exit: 5 }));
        expect(line).toMatchObject({
          status: 'done',
          interleaved: [{ actor: MINA, source: 'dashboard', order: 'before' }],
        });
        expect(line?.message).toMatch(/between the check and this write \(user:mina via dashboard/);
        expect(line?.history?.after).toBeGreaterThan(line?.interleaved?.[0]?.entry ?? Infinity);
        const undone = await rolledBack(stage);
        expect(undone.err).toContain('Front desk (agent.desk) was edited while the run wrote it');
      },
      { dialect },
    );
  }

  for (const [title, dialect] of longRows(DATED, ([name]) => name !== 'oldest first')) {
    staged(
      `a write of its own fields alone undoes none of it, and a rollback knows it: ${title}`,
      async (stage) => {
        await edited(stage);
        editAt(stage, 'updateAgent', { language: 'en-GB' });
        expect(lineOf(await stage.apply())).toMatchObject({ status: 'done', history: null });
        expect(agentNamed(stage.sim).record).toMatchObject({
          language: 'en-GB',
          greeting_message: 'Harbor Dental, good day!',
        });
        stage.sim.advance(1000);
        const undone = await rolledBack(stage);
        expect(undone.err).toContain(
          'Front desk (agent.desk) was edited while the run wrote it, last by user:mina via dashboard',
        );
      },
      { dialect },
    );
  }

  staged('and to the same field: a rollback knows it, too', async (stage) => {
    await edited(stage);
    editAt(stage, 'updateAgent', { greeting_message: 'Mina was here' });
    await stage.apply();
    const undone = await rolledBack(stage);
    expect(undone.err).toContain(
      'Front desk (agent.desk) was edited while the run wrote it, last by user:mina',
    );
  });

  staged(
    'and on top of the write: who did stands beside the failed proof',
    async (stage) => {
      await edited(stage);
      let reads = 0;
      const { strike } = stage.sim.faults;
      Object.assign(stage.sim.faults, {
        strike: (target: Parameters<typeof strike>[0]) => {
          const isDesk = target.operation === 'getAgent' && target.path.includes(deskId(stage));
          if (isDesk) reads += 1;
          // The plan's, the check's, and then the one that proves.
          if (isDesk && reads === 3)
            stage.sim.edit(deskId(stage), { greeting_message: 'Hi' }, MINA);
          return strike(target);
        },
      });
      const line = lineOf(await stage.apply({}, { exit: 3 }));
      expect(line).toMatchObject({ status: 'failed', interleaved: [{ order: 'after' }] });
      expect(line?.message).toMatch(
        /somebody else has since changed .*edited again right after this write: user:mina/,
      );
      // By a plan file there is one read more.
    },
    { ways: ['apply'] },
  );
});

staged('a write whose answer is lost is sent again, and both are ours', async (stage) => {
  await edited(stage);
  stage.sim.advance(60_000);
  stage.sim.faults.add({ operation: 'updateAgent', reset: 'after' });
  const ledger = await stage.apply();
  expect(lineOf(ledger)?.status).toBe('done');
  expect(ledger.flatMap((line) => line.interleaved ?? [])).toEqual([]);
});

staged('another program that uses our account is told by the number of entries', async (stage) => {
  await stage.apply();
  await stage.edit('agents.yaml', 'speed: 1.05', 'speed: 1.1');
  // What is there was written some time ago.
  stage.sim.advance(60_000);
  const { strike } = stage.sim.faults;
  let isDone = false;
  Object.assign(stage.sim.faults, {
    strike: (target: Parameters<typeof strike>[0]) => {
      if (!isDone && target.operation === 'updateAgent') {
        isDone = true;
        const { account } = stage.sim.store;
        stage.sim.edit(deskId(stage), { language: 'en-GB' }, `api:${account.id}`);
        const entry = stage.sim.store.history.get(deskId(stage))?.at(-1);
        if (entry) Object.assign(entry, { source: 'dashboard-api' });
      }
      return strike(target);
    },
  });
  const ledger = await stage.apply({}, { exit: 5 });
  expect(lineOf(ledger)?.interleaved).toHaveLength(1);
});

const lives = [{}, { facetEntries: true }, { historyRetention: 1 }, { historyLagMs: 200 }];
for (const dialect of longRows(lives, (_, at) => at > 0)) {
  staged(
    `an ordinary life is nobody else's: ${JSON.stringify(dialect)}`,
    async (stage) => {
      await edited(stage);
      const ledger = await stage.apply();
      expect(ledger.flatMap((line) => line.interleaved ?? [])).toEqual([]);
      await stage.rollback();
    },
    { dialect },
  );
}

describe('an edit at any step of an apply is live afterwards, or told', () => {
  // More changes, in every dialect that matters: npm run torture.
  editAtEveryStep({ 'as it is': {} }, ['a member of an object']);
});

import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, vi } from 'vitest';
import { rollback } from '../../src/cli/commands/rollback.ts';
import { apply } from '../../src/console/apply.ts';
import { counting, type Stage, type StageOptions, staged } from '../apply/stage.ts';
import { agentNamed } from '../e2e/clinic.ts';
import { coveringRows } from '../long.ts';

/** A rollback costs at most five requests an agent, and tells of each edit that it may have undone (DESIGN §5, Thrift). */

const COUNT = 12;

/** Agents alone, so that every request is about one of them; `lines` is what each is like, and none where it has none. */
async function fleet(
  { folder }: Pick<Stage, 'folder'>,
  lines: (at: number) => readonly string[] | undefined,
  count = COUNT,
): Promise<void> {
  const agents = Array.from({ length: count }, (_, at) => {
    const own = lines(at);
    return own === undefined
      ? []
      : [`  a${at}:`, `    name: Agent ${at}`, ...own.map((one) => `    ${one}`)];
  });
  await rm(join(folder, 'resources.yaml'), { force: true });
  await writeFile(join(folder, 'agents.yaml'), ['agents:', ...agents.flat(), ''].join('\n'));
}

const applied = ({ run, folder }: Stage) =>
  run((to) =>
    apply(undefined, { dir: folder, format: 'json', autoApprove: true, allowDelete: true }, to),
  );

const GREETING = (text: string) => `greeting_message: ${text}`;
const STATUS = (text: string) => `status: ${text}`;

type Row = {
  readonly before: (at: number) => readonly string[] | undefined;
  readonly after: (at: number) => readonly string[] | undefined;
  /** How many agents the run changes. */
  readonly changed: number;
  /** Requests an agent that it changed, by operation, without lists. */
  readonly requests: Readonly<Record<string, number>>;
  /** Histories that are read beside them: one tells whether entries have times. */
  readonly once?: number;
};

const is = (text: string) => () => [GREETING(text)];
const ofAll = { changed: COUNT };
/** Planned, and read back. */
const REVERTED = { listAgentHistory: 2, getAgent: 2, revertAgent: 1 };

const ROWS: Readonly<Record<string, Row>> = {
  'a prompt of each': { before: is('Hello'), after: is('Good day'), ...ofAll, requests: REVERTED },
  'a prompt of one': {
    before: is('Hello'),
    after: (at) => [GREETING(at === 3 ? 'Good day' : 'Hello')],
    changed: 1,
    requests: REVERTED,
  },
  // What history does not record is checked by a read right before it is written.
  'a status of each': {
    before: () => [STATUS('active')],
    after: () => [STATUS('inactive')],
    ...ofAll,
    requests: { listAgentHistory: 1, getAgent: 3, updateAgent: 1 },
    once: 1,
  },
};

describe('a rollback costs as many requests as are needed to find, write and prove', () => {
  for (const [name, { before, after, changed, requests, once = 0 }] of Object.entries(ROWS))
    staged(`of ${name}`, async (stage) => {
      const asked = counting(stage);
      await fleet(stage, before);
      await applied(stage);
      await fleet(stage, after);
      await applied(stage);
      asked();
      await stage.rollback();
      const { listAgents: lists = 0, ...rest } = asked();
      const each = Object.entries(requests).map(([operation, count]) => [
        operation,
        count * changed + (operation === 'listAgentHistory' ? once : 0),
      ]);
      expect(rest).toEqual(Object.fromEntries(each));
      // To find them, and once everything is written.
      expect(lists).toBeLessThanOrEqual(2);
      const sum = Object.values(requests).reduce((all, one) => all + one);
      expect(sum).toBeLessThanOrEqual(5);
    });
});

/** A list that proves nothing has each agent read once more at the end. */
const DOUBTFUL: readonly (StageOptions & { readonly name: string })[] = [
  { name: 'lists have no time', dialect: { listUpdatedAt: false } },
  { name: 'times are of whole seconds', dialect: { timestamps: 'seconds' } },
];

for (const { name, ...options } of DOUBTFUL)
  staged(
    `where ${name} what was written is read once more`,
    async (stage) => {
      const asked = counting(stage);
      await fleet(stage, is('Hello'));
      await applied(stage);
      stage.sim.advance(60_000);
      await fleet(stage, is('Good day'));
      await applied(stage);
      asked();
      await stage.rollback({ concurrency: 1 });
      const { listAgents: _, getAgent: reads, ...rest } = asked();
      expect(rest).toEqual({ listAgentHistory: 2 * COUNT, revertAgent: COUNT });
      // No write came after the last one.
      expect(reads).toBe(3 * COUNT - 1);
    },
    options,
  );

/** What somebody else sets while an agent is rolled back: a field that history records, one that it does not. */
const EDITS = [
  ['language', 'es-US'],
  ['status', 'inactive'],
] as const;

/** How old what the plan read is by the time that it is written: a list is read before that, or not. */
const AGES = [
  ['at once', 0],
  ['some seconds later', 6000],
] as const;

const AT_STEPS = 3;

describe('an edit at any step of a rollback is live afterwards, or told', () => {
  const rows = EDITS.flatMap(([field, value]) =>
    AGES.map(([age, later]) => ({ field, value, age, later })),
  );
  for (const { field, value, age, later } of coveringRows(rows, (row) => [row.field, row.age])) {
    staged(`of ${field}, written ${age}`, async (stage) => {
      const real = performance.now.bind(performance);
      let passed = 0;
      const clock = vi.spyOn(performance, 'now').mockImplementation(() => real() + passed);
      const { strike } = stage.sim.faults;
      let outcomes = 0;
      try {
        for (let step = 1; ; step += 1) {
          await fleet(stage, is('Hello'), AT_STEPS);
          await applied(stage);
          stage.sim.edit(agentNamed(stage.sim, 'Agent 1').id, {
            language: 'en-US',
            status: 'active',
          });
          stage.sim.advance(60_000);
          await fleet(stage, is(`Good day ${step}`), AT_STEPS);
          await applied(stage);
          stage.sim.advance(60_000);
          let seen = 0;
          let isOld = false;
          Object.assign(stage.sim.faults, {
            strike: (target: Parameters<typeof strike>[0]) => {
              seen += 1;
              const { id } = agentNamed(stage.sim, 'Agent 1');
              if (seen === step) stage.sim.edit(id, { [field]: value }, 'user:mina');
              // All are read at once, before the first answer comes.
              if (target.operation === 'getAgent') {
                passed += isOld ? 0 : later;
                isOld = true;
              }
              return strike(target);
            },
          });
          const said = await stage.run(
            (to) => rollback({ dir: stage.folder, format: 'json', autoApprove: true }, to),
            { exit: [0, 3, 4, 5] },
          );
          Object.assign(stage.sim.faults, { strike });
          if (seen < step) {
            const operations = stage.sim.requests.slice(-seen).map(({ operation }) => operation);
            const before = operations.slice(0, operations.indexOf('revertAgent'));
            const lists = before.filter((operation) => operation === 'listAgents');
            expect(lists).toHaveLength(later > 0 ? 2 : 1);
            break;
          }
          const isLive = agentNamed(stage.sim, 'Agent 1').record[field] === value;
          const isTold = `${said.out}${said.err}`.includes('user:mina');
          expect({ step, isLiveOrTold: isLive || isTold, ...said }).toMatchObject({
            isLiveOrTold: true,
          });
          outcomes += 1;
          // What it left as it was, or undid in part, goes back before the next step.
          stage.sim.edit(agentNamed(stage.sim, 'Agent 1').id, { greeting_message: 'Hello' });
        }
      } finally {
        clock.mockRestore();
      }
      expect(outcomes).toBeGreaterThan(10);
    });
  }
});

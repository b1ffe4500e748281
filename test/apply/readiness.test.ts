import { setImmediate } from 'node:timers/promises';
import { describe, expect, onTestFinished, test } from 'vitest';
import { drift } from '../../src/cli/commands/drift.ts';
import type { Context } from '../../src/console/context.ts';
import { plan } from '../../src/console/plan.ts';
import type { Note, PlanDocument } from '../../src/core/plan-document.ts';
import type { Json } from '../../src/core/value.ts';
import { get } from '../../src/features/reading/get.ts';
import { drawInventions } from '../../src/simulator/dialect.ts';
import { ofEvent, openReceiver, startWatching } from '../features/watch/watching.ts';
import { coveringRows, longRows } from '../long.ts';
import { openStage, type Stage, staged } from './stage.ts';

/**
 * Sources whose ingestion the platform does not confirm, told by every command, and written again where that helps. The
 * specification shows `active` alone, so the table has words in several spellings for each phase, and words that are none.
 */

type Phase = 'failed' | 'running' | 'unknown';

/** What the platform returns as `status` of a source that was never ingested. */
const STATUSES: readonly (readonly [status: string | null, phase: Phase])[] = [
  ['failed', 'failed'],
  ['ERROR', 'failed'],
  ['ingestion-failed', 'failed'],
  ['source_errored', 'failed'],
  ['processing', 'running'],
  ['Indexing', 'running'],
  ['in_progress', 'running'],
  ['source_queued', 'running'],
  // A word that says of both, or of neither, is no word that Callsheet knows.
  ['failed_queued', 'unknown'],
  ['pending', 'unknown'],
  ['quarantined', 'unknown'],
  ['active', 'unknown'],
  [null, 'unknown'],
];

const WAYS = {
  page: 'url: "https://harbor.example.test/one"',
  document: 'file: documents/prices.csv',
} as const;
type Way = keyof typeof WAYS;

/** How a plan is carried out. */
const APPLIES = ['apply', 'plan file'] as const;

type Row = {
  readonly status: string | null;
  readonly phase: Phase;
  readonly way: Way;
  readonly isStateKept: boolean;
  readonly by: (typeof APPLIES)[number];
};

const ROWS: readonly Row[] = STATUSES.flatMap(([status, phase]) =>
  (Object.keys(WAYS) as Way[]).flatMap((way) =>
    [true, false].flatMap((isStateKept) =>
      APPLIES.map((by) => ({ status, phase, way, isStateKept, by })),
    ),
  ),
);

/** Whether the next apply has the platform ingest it again. Without a state it may be a making that ended half-way. */
const isWrittenAgain = ({ phase, isStateKept }: Row) =>
  phase === 'failed' || (phase === 'unknown' && !isStateKept);

const ADDRESS = 'knowledge_source.clinic.one';
const pause: NonNullable<Context['pause']> = { sleep: () => setImmediate(), random: () => 0.5 };
const outside = { pause };

async function openSource(way: Way, more = ''): Promise<Stage> {
  const stage = await openStage();
  onTestFinished(async () => {
    expect(stage.leaks()).toEqual([]);
    await stage.close();
  });
  await writeSource(stage, way, more);
  await stage.apply({}, { outside });
  return stage;
}

async function writeSource(stage: Stage, way: Way, more = ''): Promise<void> {
  await stage.write('agents.yaml', '');
  await stage.write(
    'resources.yaml',
    `knowledge_bases:
  clinic:
    id: 7c346549-f8c6-406a-809e-72392ed69b41
    sources: { one: { ${WAYS[way]}${more} } }
`,
  );
}

/** Gives all sources a status, as one that was never ingested has it. */
function turn({ sim }: Stage, status: string | null, facts: Record<string, Json> = {}): void {
  for (const source of sim.store.sources.values())
    source.record = { ...source.record, status, chunk_count: 0, last_synced_at: null, ...facts };
}

const created = ({ sim }: Stage) =>
  [...sim.store.sources.values()].map(({ record }) => String(record.created_at).slice(0, 19))[0] ??
  '';
/** Requests that have the platform ingest something. */
const posts = ({ sim }: Stage) =>
  sim.requests.filter(({ operation }) => operation === 'createKnowledgeSource').length;
const flat = (text: string) => text.replace(/[\s│|]+/g, ' ').replace(/\\([-_.<>])/g, '$1');
const unreadyIn = ({ notes }: Pick<PlanDocument, 'notes'>) =>
  notes.filter((note: Note) => note.unready !== undefined);

async function applied(stage: Stage, { by }: Pick<Row, 'by'>): Promise<PlanDocument['changes']> {
  if (by === 'apply') {
    const { changes } = await stage.plan();
    await stage.apply({}, { outside });
    return changes;
  }
  const file = 'saved.plan.json';
  const flags = { dir: stage.folder, format: 'json', out: `${stage.folder}/${file}` } as const;
  const { out } = await stage.run((to) => plan(flags, to));
  const { changes }: PlanDocument = JSON.parse(out);
  await stage.applyFile(file, {}, { outside });
  return changes;
}

/** In short: each status once, and each way, state and command with some. */
const isShort = (_: Row, index: number) => index % 8 === Math.floor(index / 8) % 8;

describe('what is not ready', () => {
  for (const row of longRows(ROWS, isShort)) {
    const { status, phase, way, isStateKept, by } = row;
    test(`a ${way} of status ${JSON.stringify(status)}, state ${isStateKept ? 'kept' : 'lost'}, ${by}`, async () => {
      const stage = await openSource(way);
      turn(stage, status);
      const since = created(stage);
      if (!isStateKept) await stage.forget();
      const word = status === null ? 'status not returned' : `status "${status}"`;

      const document = await stage.plan();
      expect(unreadyIn(document)).toMatchObject([
        { address: ADDRESS, unready: { phase, status, since: expect.any(String) } },
      ]);
      for (const format of ['text', 'markdown'] as const) {
        const { out } = await stage.run((to) => plan({ dir: stage.folder, format }, to));
        const text = flat(out);
        expect(text, format).toContain(ADDRESS);
        expect(text, format).toContain(word);
        expect(text, format).toContain(since);
        expect(text, format).not.toContain('The platform matches the configuration.');
      }
      const said = await stage.run((to) => drift({ dir: stage.folder, format: 'text' }, to));
      expect(flat(said.out)).toContain('1 resource that is not ready');
      expect(flat(said.out)).toContain(word);
      const drifted = await stage.run((to) => drift({ dir: stage.folder, format: 'json' }, to));
      expect(unreadyIn(JSON.parse(drifted.out))).toMatchObject([{ unready: { phase, status } }]);

      const flags = { dir: stage.folder, knowledgeBase: '7c346549-f8c6-406a-809e-72392ed69b41' };
      const got = await stage.run((to) =>
        get('sources', undefined, { ...flags, format: 'text' }, to),
      );
      expect(flat(got.out)).toContain(word);
      expect(flat(got.out)).toContain(since);
      const list = await stage.run((to) =>
        get('sources', undefined, { ...flags, format: 'json' }, to),
      );
      expect(JSON.parse(list.out).unready).toMatchObject([{ phase, status }]);

      const before = posts(stage);
      const changes = await applied(stage, row);
      const isAgain = isWrittenAgain(row);
      expect(changes.filter(({ action }) => action === 'update')).toHaveLength(isAgain ? 1 : 0);
      // What was declared again may be found by its content first.
      if (isAgain) expect(posts(stage)).toBeGreaterThan(before);
      else expect(posts(stage)).toBe(before);
      const after = await stage.plan();
      expect(after.changes).toEqual([]);
      expect(unreadyIn(after)).toHaveLength(isAgain ? 0 : 1);
      const last = posts(stage);
      await stage.apply({}, { outside });
      expect(posts(stage), 'the next apply').toBe(last);
    });
  }
});

test('watch tells it once when it is new and once when it is over, and the notification has it', async () => {
  const stage = await openSource('document');
  const { received, url } = await openReceiver();
  const watching = await startWatching(stage, {
    flags: { notify: true },
    env: { CALLSHEET_NOTIFY_URL: url },
  });
  expect(ofEvent(watching.lines, 'unready_found')).toEqual([]);

  turn(stage, 'failed');
  const lines = await watching.pass();
  expect(ofEvent(lines, 'unready_found')).toMatchObject([
    { address: ADDRESS, phase: 'failed', status: 'failed', since: expect.any(String) },
  ]);
  expect(ofEvent(lines, 'pass_ended')).toMatchObject([{ drifted: 0, unready: 1 }]);
  expect(received).toMatchObject([
    {
      is_drifted: false,
      summary: { drifted: 0, unready: 1 },
      unready: [{ address: ADDRESS, phase: 'failed', status: 'failed' }],
      text: expect.stringContaining(`${ADDRESS}: not ready`),
    },
  ]);
  // It is no news any more.
  expect((await watching.pass()).map(({ event }) => event)).toEqual(['pass_ended']);
  turn(stage, 'processing');
  expect(ofEvent(await watching.pass(), 'unready_found')).toMatchObject([{ phase: 'running' }]);
  expect(received).toHaveLength(2);

  turn(stage, 'active', { chunk_count: 3 });
  expect(ofEvent(await watching.pass(), 'unready_ended')).toEqual([
    { event: 'unready_ended', address: ADDRESS },
  ]);
  expect(received).toHaveLength(3);
  expect(received.at(-1)).toMatchObject({ summary: { unready: 0 }, unready: [] });
  expect(await watching.metrics()).toMatch(/callsheet_unready_resources\{[^}]*\} 0/);
});

/** What becomes of a failed ingestion between a plan file and its apply, and whether it is posted again. */
const MEANWHILE = [
  { status: 'failed', facts: {}, isPosted: true },
  { status: 'processing', facts: {}, isPosted: false },
  { status: 'active', facts: { chunk_count: 3 }, isPosted: false },
] as const;

for (const { status, facts, isPosted } of MEANWHILE)
  test(`a plan file of a failed ingestion that is "${status}" by now ${isPosted ? 'posts' : 'does not post'} it`, async () => {
    const stage = await openSource('document');
    turn(stage, 'failed');
    const out = `${stage.folder}/saved.plan.json`;
    await stage.run((to) => plan({ dir: stage.folder, format: 'json', out }, to));
    turn(stage, status, facts);
    const before = posts(stage);
    const { out: ledger } = await stage.applyFile('saved.plan.json', {}, { outside });
    expect(posts(stage) > before).toBe(isPosted);
    expect(JSON.parse(ledger).ledger).toMatchObject([{ address: ADDRESS, status: 'done' }]);
  });

/** What an ingestion comes to, how often three applies in a row post it, and what plans after each of them say. */
const INGESTIONS = [
  {
    what: 'fails each time',
    fault: { times: 100 },
    times: [1, 2, 3],
    phases: ['failed', 'failed', 'failed'],
  },
  { what: 'fails once', fault: { times: 1 }, times: [1, 2, 2], phases: ['failed', null, null] },
  {
    what: 'never ends',
    fault: { times: 100, hang: 'after' },
    times: [1, 1, 1],
    phases: ['running', 'running', 'running'],
  },
  { what: 'is late', reads: 6, times: [1, 1, 1], phases: ['running', 'running', null] },
] as const;

const INGESTED = INGESTIONS.flatMap((ingestion) =>
  (Object.keys(WAYS) as Way[]).map((way) => ({ ...ingestion, way })),
);

for (const { what, times, phases, way, ...row } of coveringRows(INGESTED, (one) => [
  one.what,
  one.way,
]))
  staged(
    `an ingestion of a ${way} that ${what} is posted ${times.join(', ')} times`,
    async (stage) => {
      const { dialect, faults } = stage.sim;
      dialect.inventions = plainSeed();
      dialect.reingestedFile = 'replaced';
      if ('reads' in row) dialect.ingestionReads = row.reads;
      else faults.add({ operation: 'ingestion', ...row.fault });
      await writeSource(stage, way, ', reingest_after: 7d');
      for (const [at, phase] of phases.entries()) {
        await stage.apply({}, { outside, leaves: () => true });
        expect(posts(stage), `apply ${at + 1}`).toBe(times[at]);
        const document = await stage.plan({}, phase === null ? {} : { now: aMonthLater });
        expect(unreadyIn(document).map(({ unready }) => unready?.phase ?? null)).toEqual(
          phase === null ? [] : [phase],
        );
        // However old it is, what runs is not asked for again.
        if (phase === 'running') expect(document.changes).toEqual([]);
      }
    },
  );

const aMonthLater = () => new Date(Date.now() + 30 * 86_400_000);

/** A seed whose words for what runs and what failed are among those that Callsheet knows. */
function plainSeed(): number {
  for (let seed = 1; ; seed += 1) {
    const { working, failed } = drawInventions(seed).states;
    if (/process|index|sync|ingesting|queued/i.test(working) && /error|failed/i.test(failed))
      return seed;
  }
}

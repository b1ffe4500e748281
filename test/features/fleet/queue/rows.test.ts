import { join } from 'node:path';
import { expect, test } from 'vitest';
import { believeRate, takeShare } from '../../../../src/features/fleet/queue/budget.ts';
import { enqueue } from '../../../../src/features/fleet/queue/enqueue.ts';
import { digestAt } from '../../../../src/features/fleet/work.ts';
import type { Value } from '../../../../src/features/stores/postgres/database.ts';
import { NEW_RATE } from '../../../../src/platform/rate.ts';
import { LONGEST_WAIT_MS } from '../../../../src/platform/send.ts';
import { longRows, longTest, timeFor } from '../../../long.ts';
import { contextFor } from '../tree.ts';
import { openStage, postgresForFile } from './stage.ts';

/** Without a key: with one what was not enqueued with it is not looked at. */
const NO_KEY = { env: { CALLSHEET_FINGERPRINT_KEY: '' } };

const postgres = postgresForFile();

/** Values that a column of each type may be given by somebody who can write to the database and nothing else. */
const VALUES: { readonly [type: string]: readonly (string | null)[] } = {
  text: [
    '',
    'x',
    '{"a":',
    '[]',
    '{"target":5,"autoApprove":"yes","__proto__":{"x":1}}',
    '{"exit":0,"said":"\\u001b[2J\\n::error::said","document":{"format":"callsheet-run"}}',
    '{"exit":0,"said":"","error":{"message":7}}',
    '\u001b[2J\n::error::written',
    '../../../etc',
    'y'.repeat(200_000),
    `{"exit":0,"said":"","document":${'{"a":'.repeat(10_000)}1${'}'.repeat(10_000)}}`,
  ],
  integer: ['-1', '0', '2147483647'],
  boolean: ['true', 'false'],
  'timestamp with time zone': ['infinity', '-infinity', '9999-12-31'],
  ARRAY: ['{}', '{NULL}', '{a,b,c,d,e,f}'],
};

/** Keys: a row with another one is another row. */
const KEYS = ['callsheet_batch.id', 'callsheet_task.batch', 'callsheet_task.number'];

test(
  'whatever stands in a row, the worker goes on, and the report shows no more than text',
  async () => {
    const url = await postgres.database();
    const queue = await (await openStage(url, { stacks: 1 })).queue();
    const { query } = queue.database;
    const columns = await query(
      `select table_name, column_name, data_type, is_nullable from information_schema.columns
     where table_schema = 'callsheet_queue' and table_name in ('callsheet_batch', 'callsheet_task')
     order by table_name, ordinal_position`,
      [],
    );
    const all = columns.flatMap(
      ({ table_name: table, column_name: column, data_type: type, ...of }) => {
        if (KEYS.includes(`${table}.${column}`)) return [];
        const values = VALUES[String(type)];
        if (values === undefined)
          throw new Error(`there are no values of the type ${String(type)}`);
        const given = of.is_nullable === 'YES' ? [...values, null] : values;
        return given.map((value) => ({
          table: String(table),
          column: String(column),
          type,
          value,
        }));
      },
    );
    const rows = longRows(all, (_, at) => at % 4 === 0);
    const stage = await openStage(url, { stacks: rows.length + 1 });
    const commit = await stage.commit();
    const context = contextFor(stage.sim).context;
    const tampered: string[] = [];
    for (const [at, { table, column, type, value }] of rows.entries()) {
      const stack = `clinic-${String(at).padStart(3, '0')}`;
      const digest = await digestAt({ dir: join(stage.dir, stack) }, context);
      const batch = { command: 'plan', commit, flags: {}, tasks: [{ stack, digest }] } as const;
      const { id } = await enqueue(queue, batch, `b${at}`);
      const key = table === 'callsheet_batch' ? 'id' : 'batch';
      const cast = type === 'ARRAY' ? 'text[]' : String(type);
      const given: Value[] = [id, value];
      await query(
        `update callsheet_queue.${table} set ${column} = $2::text::${cast} where ${key} = $1`,
        given,
      );
      tampered.push(id);
    }
    const shard = `${rows.length + 1}/${rows.length + 1}`;
    // With a flag: the same task again would be one of the batches above.
    const last = await stage.enqueue(['plan'], { shard, target: ['agent'] }, NO_KEY);
    const worked = await stage.work({}, NO_KEY);
    expect(worked.exit).toBe(0);
    expect((await stage.report(last.out.trim())).exit).toBe(0);
    for (const [at, id] of tampered.entries()) {
      for (const format of ['text', 'json', 'markdown'] as const) {
        const shown = await stage.report(id, { format }).catch((error: unknown) => ({
          exit: 1,
          out: error instanceof Error && error.name === 'CallsheetError' ? '' : String(error),
          err: '',
        }));
        const what = JSON.stringify([
          rows[at],
          format,
          shown.out.slice(0, 300),
          shown.err.slice(0, 300),
        ]);
        const text = `${shown.out}\n${shown.err}`;
        expect(text, what).not.toContain('\u001b[2J');
        expect(text, what).not.toMatch(/^\s*::error/m);
        expect(text, what).not.toMatch(/TypeError|Callsheet itself failed|internal/);
      }
    }
  },
  timeFor(100),
);

/** A rate that somebody else wrote: each member of it × values. */
const RATES = Object.keys(NEW_RATE).flatMap((member) =>
  [-1, 1e-12, 1, 1e12, 1e308, null, true, 'x', {}].map((value) => ({ member, value })),
);

test.each(RATES)('a rate whose $member is $value stops nobody for long', ({ member, value }) => {
  const now = 1_800_000_000_000;
  for (const start of [NEW_RATE, { ...NEW_RATE, ceiling: 10, refusals: 1 }]) {
    const rate = believeRate(JSON.stringify({ ...start, [member]: value }), now);
    const later = now + LONGEST_WAIT_MS + 61_000;
    const { share } = takeShare(rate, [], 1, later);
    expect(share.slots.length + (share.freeUntil > later ? 1 : 0)).toBeGreaterThan(0);
  }
});

test.each(['', '[]', 'null', '{"until":', '5'])(
  'a rate that is the text %j is a new one',
  (text) => {
    expect(believeRate(text, 0)).toEqual(NEW_RATE);
  },
);

// It took seven minutes beside other work.
longTest(
  'ten thousand tasks that fit no checkout take a worker no memory, and are no work',
  async () => {
    const url = await postgres.database();
    const stage = await openStage(url, { stacks: 1 });
    const queue = await stage.queue();
    const tasks = Array.from({ length: 10_000 }, (_, at) => ({ stack: `gone-${at}`, digest: 'x' }));
    await enqueue(queue, { command: 'plan', commit: await stage.commit(), flags: {}, tasks }, 'b');
    const peak = () => process.memoryUsage().heapUsed;
    await stage.work({}, NO_KEY);
    globalThis.gc?.();
    const first = peak();
    await queue.database.query(
      `update callsheet_queue.job set start_after = now() where state < 'active'`,
      [],
    );
    const second = await stage.work({}, NO_KEY);
    globalThis.gc?.();
    expect(second.out).toContain('10000 given back');
    expect(peak() - first).toBeLessThan(20_000_000);
  },
  900_000,
);

import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { apply } from '../../../src/console/apply.ts';
import { Origin } from '../../../src/core/origin.ts';
import { openDatabase } from '../../../src/features/stores/postgres/database.ts';
import { openStage } from '../../apply/stage.ts';
import { PASSWORD, startPostgres } from './postgres-server.ts';

/** A database may be a continent away: what a run waits for is how often it asks, whatever it asks for. */

vi.setConfig({ testTimeout: 60_000 });

let server: Awaited<ReturnType<typeof startPostgres>>;
beforeAll(async () => {
  server = await startPostgres();
});
afterAll(() => server.stop());

const ENV = { CALLSHEET_STATE_PASSWORD: PASSWORD };
const CREATES = 30;
const MORE = Array.from(
  { length: CREATES },
  (_, at) => `  more_${at}: { organization: harbor, name: More ${at}, agent_type: receptionist }\n`,
).join('');

/** The statements that a database is asked meanwhile, as the server itself writes them down. */
async function askedDuring(name: string, work: () => Promise<unknown>): Promise<readonly string[]> {
  const database = await openDatabase(Origin.given(server.url(name)), ENV, 30_000);
  const set = (what: string) => database.query(`alter database ${name} ${what}`, []);
  await set("set log_statement = 'all'");
  await work();
  await set('reset log_statement');
  await database.query(`do $$ begin raise log 'the end of ${name}'; end $$`, []);
  await expect.poll(() => server.log()).toContain(`LOG:  the end of ${name}`);
  await database.close();
  return server.log().match(/^.*LOG: {2}(statement|execute <unnamed>): .*$/gm) ?? [];
}

// One after the other nothing shares a round trip with another change.
test('thirty creates in a row ask the database no more than a hundred times', async () => {
  await server.createDatabase('trips');
  const stage = await openStage();
  try {
    const place = server.url('trips');
    const env = { ...ENV, CALLSHEET_STATE: `${place}?stack=desk` };
    await stage.apply({}, { env });
    await writeFile(join(stage.folder, 'more.yaml'), `agents:\n${MORE}`);
    const flags = { dir: stage.folder, format: 'json', autoApprove: true, concurrency: 1 } as const;
    const before = stage.writes().length;
    const asked = await askedDuring('trips', () =>
      stage.run((to) => apply(undefined, flags, to), { env }),
    );
    expect(stage.writes().length - before).toBe(CREATES);
    const journal = asked.filter((text) => text.includes('with held as'));
    expect(journal.length).toBeLessThanOrEqual(2 * CREATES + 5);
    // How often a heartbeat is written depends on how long the run takes.
    const beats = asked.filter((text) => text.includes('set beat ='));
    expect(asked.length - journal.length - beats.length).toBeLessThanOrEqual(20);
  } finally {
    await stage.close();
  }
});

import { join } from 'node:path';
import { afterAll, beforeAll, expect } from 'vitest';
import { runs } from '../../src/cli/commands/state.ts';
import { readReceipts } from '../../src/cli/state/edit.ts';
import { NoAnswer } from '../../src/features/stores/remote/failures.ts';
import { damagedJournal } from '../../src/state/failures.ts';
import { longStaged, type Stage, staged } from '../apply/stage.ts';
import { PASSWORD, startHttpServer, USERNAME } from '../features/stores/http-server.ts';
import { BUCKET, KEY_ID, SECRET, startS3 } from '../features/stores/s3-server.ts';
import { openKeyed } from '../state/keyed.ts';
import { began, deadPid, holder } from '../state/sample.ts';
import { stateCommands, stateIn, storeOf } from './state-stage.ts';

let http: Awaited<ReturnType<typeof startHttpServer>>;
let s3: Awaited<ReturnType<typeof startS3>>;
beforeAll(async () => {
  [http, s3] = await Promise.all([startHttpServer(), startS3()]);
});
afterAll(() => Promise.all([http.stop(), s3.stop()]));

const CREDENTIALS = {
  CALLSHEET_STATE_USERNAME: USERNAME,
  CALLSHEET_STATE_PASSWORD: PASSWORD,
  AWS_ACCESS_KEY_ID: KEY_ID,
  AWS_SECRET_ACCESS_KEY: SECRET,
};

async function told(stage: Stage, state: string | undefined) {
  const env = { ...CREDENTIALS, ...(state === undefined ? {} : { CALLSHEET_STATE: state }) };
  const flags = { dir: stage.folder, format: 'json' as const };
  const { resources, serial } = JSON.parse((await stateCommands(stage).list([], { env })).out);
  const listed = JSON.parse((await stage.run((to) => runs(undefined, flags, to), { env })).out);
  return { resources, serial, runs: listed.runs };
}

staged(
  'a state goes from store to store with its runs, and back',
  async (stage) => {
    await stage.apply();
    await stage.rollback({}, { exit: 3 });
    await stage.apply({ releaseHold: true });
    const before = await told(stage, undefined);
    expect(before.runs).toHaveLength(3);
    const places = [
      undefined,
      `${http.origin}/api/v4/projects/7/terraform/state/moved`,
      `s3://${BUCKET}/moved.json?endpoint=${s3.endpoint}`,
      join(stage.folder, '.callsheet/back/state.json'),
    ];
    for (const [index, to] of places.slice(1).entries()) {
      const from = places[index];
      const env = { ...CREDENTIALS, ...(from === undefined ? {} : { CALLSHEET_STATE: from }) };
      const { out } = await stateCommands(stage).migrate(to ?? '', { env });
      expect(JSON.parse(out)).toMatchObject({
        runs: 3,
        resources: before.resources.length,
        left: [],
      });
      expect(await told(stage, to)).toEqual(before);
      const { err } = await stateCommands(stage).list([], { env, exit: 1 });
      expect(err).toContain('was moved to');
      expect(err).not.toContain(PASSWORD);
    }
    // It goes on from there.
    const env = { CALLSHEET_STATE: places.at(-1) ?? '' };
    expect((await stage.plan({}, { env })).summary).toMatchObject({ create: 0, update: 0 });
    // Its stores are outside of the stage.
  },
  { ways: ['apply'] },
);

staged('what cannot be moved stays, and says why', async (stage) => {
  await stage.apply();
  const before = await stateIn(stage);
  const { migrate } = stateCommands(stage, 'text');
  const refused = async (to: string, exit: number, words: string) =>
    expect((await migrate(to, { exit })).err).toContain(words);
  const taken = join(stage.folder, 'taken/state.json');
  await stage.apply({}, { env: { CALLSHEET_STATE: taken } });
  await refused(taken, 4, 'there is already a state at');
  await refused(join(stage.folder, '.callsheet/state.json'), 1, 'already');
  await refused('ftp://x/y', 1, 'Callsheet cannot keep a state at ftp://');
  await refused('postgres://u:p4ss@db/x?stack=a', 1, 'contains a password');
  await refused(`${http.origin}/plain/x`, 1, 'answered 401');
  const lease = await storeOf(stage).acquire(holder('r9', deadPid()));
  await lease.append(began('r9', before.serial, before.lineage));
  await refused(join(stage.folder, 'empty/state.json'), 4, 'did not finish');
  expect(await stateIn(stage)).toEqual(before);
});

staged('a migration that was cut short is done again', async (stage) => {
  await stage.apply();
  const to = join(stage.folder, 'new/state.json');
  const { runs: before } = await told(stage, undefined);
  const [first] = before;
  const source = storeOf(stage);
  const entries = (await source.run(first.run)) ?? [];
  const target = openKeyed(to);
  const lease = await target.acquire(holder(''));
  await expect(
    lease.receive({ ...(await stateIn(stage)), salt: 'not hex' }, [{ run: first.run, entries }]),
  ).rejects.toThrow();
  await target.close();
  expect(JSON.parse((await stateCommands(stage).migrate(to)).out)).toMatchObject({ runs: 1 });
  expect((await told(stage, to)).runs).toEqual(before);
});

longStaged(
  'a state goes back to where it came from, and nowhere where another went',
  async (stage) => {
    await stage.apply();
    const away = join(stage.folder, 'away/state.json');
    const home = join(stage.folder, '.callsheet/state.json');
    await stateCommands(stage).migrate(away);
    await stage.edit('agents.yaml', 'how can I help?', 'good day!');
    const env = { CALLSHEET_STATE: away };
    await stage.apply({}, { env });
    const before = await told(stage, away);
    expect((await stateCommands(stage).list([], { exit: 1 })).err).toContain('move it back here');
    const elsewhere = join(stage.folder, 'elsewhere/state.json');
    await stage.apply({}, { env: { CALLSHEET_STATE: elsewhere } });
    const other = await stateCommands(stage, 'text').migrate(home, {
      env: { CALLSHEET_STATE: elsewhere },
      exit: 4,
    });
    expect(other.err).toContain(`the note of a state that was moved to ${away}`);
    await stateCommands(stage).migrate(home, { env });
    expect(await told(stage, undefined)).toEqual(before);
    expect((await stage.plan()).changes).toEqual([]);
    expect((await stateCommands(stage).list([], { env, exit: 1 })).err).toContain('was moved to');
  },
);

longStaged('a state that went from store to store goes back over each note', async (stage) => {
  await stage.apply();
  const places = [
    join(stage.folder, '.callsheet/state.json'),
    `${http.origin}/api/v4/projects/7/terraform/state/there-and-back`,
    `s3://${BUCKET}/there-and-back.json?endpoint=${s3.endpoint}`,
  ];
  const way = [0, 1, 2, 1, 0].map((index) => places[index] ?? '');
  const before = await told(stage, undefined);
  for (const [index, to] of way.slice(1).entries()) {
    const env = { ...CREDENTIALS, CALLSHEET_STATE: way[index] ?? '' };
    await stateCommands(stage).migrate(to, { env });
  }
  expect(await told(stage, undefined)).toEqual(before);
});

staged(
  'a receipt is left behind that is damaged, and none because the store does not answer',
  async (stage) => {
    await stage.apply();
    const receipts = async (error: Error) => {
      const found: unknown[] = [];
      const store = { ...storeOf(stage), run: () => Promise.reject(error) };
      for await (const receipt of readReceipts(store)) found.push(receipt);
      return found;
    };
    const run = expect.any(String);
    expect(await receipts(damagedJournal('r1', 'breaks off'))).toEqual([{ run }]);
    const lost = new NoAnswer('read', 'https://store.example.test', { words: 'it broke off' });
    await expect(receipts(lost)).rejects.toBe(lost);
  },
);

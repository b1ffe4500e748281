import { expect, test } from 'vitest';
import { apply } from '../../../../src/console/apply.ts';
import { openStage, type Stage } from '../../../apply/stage.ts';
import { CANARIES, FINGERPRINT_KEY, inventory, WHOLE } from '../../../e2e/clinic.ts';
import { openGate } from '../../../e2e/gate.ts';
import { mint } from '../../../e2e/mint.ts';
import { start } from '../../../e2e/process.ts';
import { type BadPlace, type Fault, openPlace, type Servers, type StoreName } from './places.ts';

/** A fault of a store, and what the message says of it: why, and what to do. */
export type Row = readonly [store: StoreName, fault: Fault, why: RegExp, todo: RegExp];

const AGAIN = /run\s+the\s+same\s+command\s+again/;
/** Until a run begins nothing is open: there is only the store to look at. */
const LOOK = /Check that the store runs|free some space there/;
const GONE = /no server listens there|connection was lost/;
const LATE = /did not answer in time/;
const PAGE = /the answer is a web page/;
const ADDRESS = /Correct the address/;

export const ROWS: readonly Row[] = [
  ['file', 'unreachable', /the disk cannot be reached/, AGAIN],
  ['file', 'read-only', /the file system is read-only/, /keep the state elsewhere/],
  ['file', 'full', /the disk is full/, AGAIN],
  ['file', 'newer', /written by a newer Callsheet/, /Use the newer Callsheet/],
  ['file', 'foreign', /is not a Callsheet state/, /Point the stack at its own/],
  ['HTTP', 'unreachable', GONE, AGAIN],
  ['HTTP', 'slow', LATE, AGAIN],
  ['HTTP', 'page', PAGE, ADDRESS],
  ['HTTP', 'read-only', /answered 403: Forbidden/, /CALLSHEET_STATE_USERNAME/],
  ['HTTP', 'full', /answered 507: Insufficient Storage/, AGAIN],
  ['HTTP', 'newer', /written by a newer Callsheet/, /Use the newer Callsheet/],
  ['HTTP', 'foreign', /is not a Callsheet state/, /Point the stack at its own/],
  ['S3', 'unreachable', GONE, AGAIN],
  ['S3', 'slow', LATE, AGAIN],
  ['S3', 'page', PAGE, ADDRESS],
  ['S3', 'read-only', /answered 403: AccessDenied/, /AWS_ACCESS_KEY_ID/],
  ['S3', 'full', /answered 507: XMinioStorageFull/, AGAIN],
  ['S3', 'newer', /written by a newer Callsheet/, /Use the newer Callsheet/],
  ['S3', 'foreign', /is not a Callsheet state/, /Point the stack at its own/],
  ['PostgreSQL', 'unreachable', GONE, AGAIN],
  ['PostgreSQL', 'slow', LATE, AGAIN],
  ['PostgreSQL', 'page', /is not PostgreSQL/, /host and the port/],
  ['PostgreSQL', 'read-only', /the database is read-only/, /primary/],
  ['PostgreSQL', 'full', /the disk of the database is full/, AGAIN],
  ['PostgreSQL', 'newer', /written by a newer Callsheet/, /Use the newer Callsheet/],
  ['PostgreSQL', 'foreign', /schema callsheet/, /another database/],
];

/** Faults that may come while a run is under way. */
const MID_RUN = new Set<Fault>(['unreachable', 'slow', 'page', 'read-only', 'full']);

type Broken = { readonly stage: Stage; readonly place: BadPlace };

export type Moment = 'start' | 'mid-run';

/** Tests that every fault stops a run before its next write, is told, and leaves nothing that the next run cannot settle. */
export function testBadStores(at: Moment, rows: readonly Row[], servers: () => Servers): void {
  if (at === 'start') testAtStart(rows, servers);
  else
    testInMidRun(
      rows.filter(([, fault]) => MID_RUN.has(fault)),
      servers,
    );
}

function testAtStart(rows: readonly Row[], servers: () => Servers): void {
  test.concurrent.each(rows)('%s, %s at the start', async (store, fault, why, todo) => {
    await inPlace(store, fault, servers(), async ({ stage, place }) => {
      await stage.apply({}, worldOf(place));
      await stage.edit('agents.yaml', 'how can I help?', 'good day!');
      const before = stage.writes().length;
      await place.break(fault);
      const said = await applied({ stage, place });
      const isOnlyRead = store !== 'file' && todo === AGAIN;
      expectTold(said, place, why, isOnlyRead ? new RegExp(`${LOOK.source}|${todo.source}`) : todo);
      expect(stage.writes().length).toBe(before);
      await place.mend();
      await settle({ stage, place });
      expect(stage.writes().length).toBe(before + 1);
    });
  });
}

function testInMidRun(rows: readonly Row[], servers: () => Servers): void {
  test.concurrent.each(rows)('%s, %s in mid-run', async (store, fault, why, todo) => {
    await inPlace(store, fault, servers(), async ({ stage, place }) => {
      const gate = await openGate(stage.sim.url);
      try {
        const env = {
          CALLSHEET_BASE_URL: gate.url,
          CALLSHEET_ACCESS_TOKEN: await mint(stage.sim),
        };
        const hold = gate.hold('answer', { method: 'POST', path: /retry-policies/ });
        const run = place.disk === undefined ? spawned : applied;
        const running = run({ stage, place }, env);
        await hold.reached;
        const sent = stage.writes().map(({ operation }) => operation);
        await place.break(fault);
        hold.release();
        expectTold(await running, place, why, todo);
        expect(stage.writes().map(({ operation }) => operation)).toEqual(sent);
        await place.mend();
        // All that was sent is written down, so the next command knows what to look for.
        expect(await place.intended()).toEqual(sent);
      } finally {
        await gate.close();
      }
      await settle({ stage, place });
    });
  });
}

async function inPlace(
  name: StoreName,
  fault: Fault,
  servers: Servers,
  body: (broken: Broken) => Promise<void>,
): Promise<void> {
  const stage = await openStage();
  const { place, close } = await openPlace(name, fault, servers, stage.folder);
  try {
    await body({ stage, place });
    expect(stage.leaks()).toEqual([]);
  } finally {
    await place.mend();
    await close();
    await stage.close();
  }
}

function worldOf({ env, disk }: BadPlace) {
  return { env, ...(disk === undefined ? {} : { outside: { disk } }) };
}

/** The same as a process of its own, whose lease ends with it. */
async function spawned({ stage, place }: Broken, more = {}): Promise<string> {
  const { sim, folder: cwd } = stage;
  const env = {
    ...CANARIES,
    CALLSHEET_FINGERPRINT_KEY: FINGERPRINT_KEY,
    CALLSHEET_CLIENT_ID: sim.clientId,
    CALLSHEET_CLIENT_SECRET: sim.clientSecret,
    ...place.env,
    ...more,
  };
  const { exit, err } = await start(['apply', '--auto-approve', '--concurrency', '1'], { cwd, env })
    .ended;
  expect(exit, err).toBe(1);
  return err;
}

/** Applies over a store that is at fault, and returns what that says. */
async function applied({ stage, place }: Broken, more = {}): Promise<string> {
  const { env, ...world } = worldOf(place);
  const flags = { dir: stage.folder, format: 'text', autoApprove: true, concurrency: 1 } as const;
  const options = { ...world, env: { ...env, ...more }, exit: 1 };
  return (await stage.run((to) => apply(undefined, flags, to), options)).err;
}

function expectTold(said: string, place: BadPlace, why: RegExp, todo: RegExp): void {
  const told = said.slice(said.indexOf('Error: '));
  expect(told).toContain(place.location);
  expect(told).toMatch(why);
  expect(told).toMatch(todo);
  expect(told).not.toMatch(/\n\s+at /);
  for (const credential of place.credentials) expect(said).not.toContain(credential);
}

/** The next command settles what is open; `stage.apply` finds the plan empty afterwards. */
async function settle({ stage, place }: Broken): Promise<void> {
  await stage.apply({}, worldOf(place));
  expect(inventory(stage.sim)).toEqual(WHOLE);
}

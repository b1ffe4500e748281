import { isDeepStrictEqual } from 'node:util';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { CallsheetError } from '../../../src/core/errors.ts';
import { openSeals } from '../../../src/state/seal.ts';
import { formatState } from '../../../src/state/state-text.ts';
import { isTorture } from '../../long.ts';
import { deadPid, holder } from '../sample.ts';
import { appendAll } from '../stores.ts';
import { PLACES, type Servers, startServers, type Tampered, type Texts } from './places.ts';
import { journalFull, STATE, uncovered } from './sample.ts';
import { changesOf, forgedJournal, forgedState, OF_LINES, SEALS } from './table.ts';

const KEY = 'a key of the team';

vi.setConfig({ testTimeout: 240_000 });

let servers: Servers;
beforeAll(async () => {
  servers = await startServers();
});
afterAll(() => servers.stop());

const [RECEIPT, OPEN] = ['r1', 'r2'];

/** A state with the receipt of its run beside it, and the journal of a run that died. */
async function filled(place: Tampered, key: string | undefined): Promise<Texts> {
  const store = place.open(key);
  const first = await store.acquire(holder(RECEIPT));
  await appendAll(first, journalFull(RECEIPT, 0));
  await first.commit(STATE);
  await first.release();
  const second = await store.acquire(holder(OPEN, deadPid()));
  await appendAll(second, journalFull(OPEN, 1).slice(0, -1));
  await second.release();
  await store.close();
  return place.read();
}

type Tampering = {
  readonly name: string;
  readonly texts: Texts;
  /** Which of them it changed. */
  readonly of: 'state' | typeof RECEIPT | typeof OPEN;
};

/** Every tampering of what is there. One that leaves a document as it was is none. */
function* tamperings(texts: Texts): Generator<Tampering> {
  const { checksum: _, seal: __, ...state } = JSON.parse(texts.state);
  for (const { name, make } of changesOf(state)) {
    if (isDeepStrictEqual(make(state), state)) continue;
    for (const seal of SEALS)
      yield {
        name: `state ${name}, seal ${seal}`,
        texts: { ...texts, state: forgedState(texts.state, make, seal) },
        of: 'state',
      };
  }
  for (const run of [RECEIPT, OPEN]) {
    const text = texts.journals.get(run) ?? '';
    const changed = (name: string, journal: string): Tampering => {
      const journals = new Map([...texts.journals, [run, journal]]);
      return { name: `journal ${run} ${name}`, texts: { ...texts, journals }, of: run };
    };
    for (const [name, change] of Object.entries(OF_LINES)) {
      const lines = text.trimEnd().split('\n');
      yield changed(name, `${change(lines).join('\n')}\n`);
    }
    const lines = text.split('\n');
    for (const [line, written] of lines.entries()) {
      if (line === 0 || written === '') continue;
      const { entry } = JSON.parse(written);
      for (const { name, make } of changesOf(entry)) {
        if (isDeepStrictEqual(make(entry), entry)) continue;
        for (const seal of SEALS)
          yield changed(
            `${entry.type} ${name}, seal ${seal}`,
            forgedJournal(text, line, make, seal),
          );
      }
    }
  }
}

/**
 * All of the state in a file, whose text the same code checks for the other stores; of the rest every so many-th, another
 * one in each store. `npm run torture` takes all in all.
 */
function tamperingsIn(store: string, texts: Texts): readonly Tampering[] {
  const all = [...tamperings(texts)];
  const at = Object.keys(PLACES).indexOf(store);
  return all.filter(
    ({ of }, index) => isTorture || (store === 'file' && of === 'state') || index % STRIDE === at,
  );
}

const STRIDE = 37;

/** What a store makes of it: its failure, or that it took it. */
async function read({ open }: Tampered, key: string | undefined, of: Tampering['of']) {
  const store = open(key);
  try {
    await (of === RECEIPT ? store.run(RECEIPT) : store.load());
    return 'taken' as const;
  } catch (error) {
    if (error instanceof CallsheetError) return error;
    throw error;
  } finally {
    await store.close();
  }
}

test('every member of the state and of a journal stands in the samples', async () => {
  const text = await formatState(STATE, openSeals({ key: KEY, place: 'there' }));
  // The note of a state that was moved away is no state that is used.
  expect(uncovered(JSON.parse(text), journalFull('r1', 0))).toEqual(['state.moved_to']);
});

describe.each(Object.entries(PLACES))('%s', (store, makePlace) => {
  test('sealed: whatever is changed is refused, and what is safe to do is said', async () => {
    const place = await makePlace(servers);
    const texts = await filled(place, KEY);
    expect(await read(place, KEY, 'state')).toBe('taken');
    const wrong: string[] = [];
    let count = 0;
    for (const { name, texts: tampered, of } of tamperingsIn(store, texts)) {
      await place.write(tampered);
      const said = await read(place, KEY, of);
      count += 1;
      const isSaid =
        said !== 'taken' &&
        said.code === 'state' &&
        /`callsheet state (repair|push|migrate)|newer Callsheet/.test(said.hint ?? '');
      if (!isSaid)
        wrong.push(`${name}: ${said === 'taken' ? said : `${said.message} ${said.hint}`}`);
    }
    expect(wrong).toEqual([]);
    expect(count).toBeGreaterThan(30);
    await place.write(texts);
    expect(await read(place, KEY, 'state')).toBe('taken');
  });

  test('unsealed: whatever is changed is taken or refused, and never a crash', async () => {
    const place = await makePlace(servers);
    const texts = await filled(place, undefined);
    const outcomes = { taken: 0, refused: 0 };
    for (const { texts: tampered, of } of tamperingsIn(store, texts)) {
      await place.write(tampered);
      const said = await read(place, undefined, of);
      outcomes[said === 'taken' ? 'taken' : 'refused'] += 1;
    }
    // What a plan shows of what was taken is held against the platform in the tests of plan and refresh.
    expect(outcomes.taken).toBeGreaterThan(10);
    expect(outcomes.refused).toBeGreaterThan(10);
  });

  test('an older state is refused beside a receipt that is newer, sealed or not', async () => {
    for (const key of [KEY, undefined]) {
      const place = await makePlace(servers);
      const { state: older } = await filled(place, key);
      const store = place.open(key);
      const lease = await store.acquire(holder(OPEN));
      await lease.append(journalFull(OPEN, 1).at(-1) ?? journalFull(OPEN, 1)[0] ?? fail());
      await lease.commit({ ...STATE, serial: 2, last_run: OPEN });
      await store.close();
      await place.write({ ...(await place.read()), state: older });
      const said = await read(place, key, 'state');
      expect(said).toMatchObject({ message: expect.stringContaining('is an older copy') });
      expect(said).toMatchObject({ hint: expect.stringContaining('`callsheet state repair`') });
    }
  });
});

function fail(): never {
  throw new Error('there is no entry');
}

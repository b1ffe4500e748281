import { describe, expect, test } from 'vitest';
import { sealPlace } from '../../src/core/stores.ts';
import { BrokenSeal, KeyMissing } from '../../src/state/failures.ts';
import type { JournalEntry } from '../../src/state/journal.ts';
import { formatEntry, JOURNAL_HEADER, linesIn, TORN } from '../../src/state/journal-text.ts';
import type { State } from '../../src/state/model.ts';
import { openSeals, type Seals, type Vouching } from '../../src/state/seal.ts';
import { formatState, parseState, readMark, readState } from '../../src/state/state-text.ts';
import {
  began,
  ended,
  entriesIn,
  failureOf,
  intent,
  recorded,
  resource,
  stateWith,
} from './sample.ts';

const KEY = 'a key of the team';
const HERE = sealPlace({ s3: { bucket: 'states', key: 'desk.json' }, by: 'operator' });
const sealsOf = (key: string | undefined = KEY, vouches?: Vouching, place = HERE) =>
  openSeals({ key, place, vouches });
const NO_KEY = openSeals({ place: HERE });
const LOCATION = 's3://states/desk.json';

const STATE = stateWith({ 'agent.desk': resource('a1'), 'agent.line': resource('a2') });

describe('the seal of a state', () => {
  const readings: Readonly<Record<string, (text: string, seals: Seals) => Promise<unknown>>> = {
    whole: (text, seals) => parseState(text, LOCATION, seals),
    'by lines': (text, seals) => readState(linesIn([text]), { location: LOCATION, seals }),
    'its mark': (text, seals) =>
      readMark(
        (async function* lines() {
          yield* linesIn([text]);
        })(),
        { location: LOCATION, seals },
      ),
  };

  for (const [how, read] of Object.entries(readings)) {
    const failing = async (text: string, seals: Seals) => {
      const failure = await failureOf(() => read(text, seals));
      expect(failure).toBeInstanceOf(BrokenSeal);
      expect(failure.hint).toMatch(/`callsheet state (repair|adopt)`/);
      return failure;
    };

    test(`is read with the key: ${how}`, async () => {
      const text = await formatState(STATE, sealsOf());
      const seals = sealsOf();
      expect(await read(text, seals)).toMatchObject({ lineage: STATE.lineage, serial: 1 });
      expect(seals.trust()).toBe('sealed');
    });

    test(`is asked for its key: ${how}`, async () => {
      const text = await formatState(STATE, sealsOf());
      const failure = await failing(text, NO_KEY);
      expect(failure).toBeInstanceOf(KeyMissing);
      expect(failure.message).toContain('CALLSHEET_FINGERPRINT_KEY is not set');
    });

    test(`of another key, and of another place: ${how}`, async () => {
      const text = await formatState(STATE, sealsOf());
      expect((await failing(text, sealsOf('another'))).message).toContain('another CALLSHEET');
      const elsewhere = sealPlace({ s3: { bucket: 'states', key: 'b.json' }, by: 'operator' });
      const failure = await failing(text, sealsOf(KEY, undefined, elsewhere));
      expect(failure.message).toContain('was sealed in another place');
      for (const seals of [sealsOf(KEY, 'place', elsewhere), sealsOf('another', 'everything')]) {
        await read(text, seals);
        expect(seals.trust()).toBe('vouched');
      }
    });

    test(`is missed: ${how}`, async () => {
      const text = await formatState(STATE);
      expect((await failing(text, sealsOf())).message).toContain('has no seal');
      expect((await failing(text, sealsOf(KEY, 'place'))).message).toContain('has no seal');
      const seals = sealsOf(KEY, 'everything');
      await read(text, seals);
      expect(seals.trust()).toBe('unsealed');
    });

    test(`does not fit what was changed, whoever vouches: ${how}`, async () => {
      const sealed = await formatState(STATE, sealsOf());
      const [top = ''] = sealed.split('\n');
      const [otherTop = '', ...rest] = (
        await formatState({ ...STATE, resources: { 'agent.desk': resource('b9') } })
      ).split('\n');
      // The checksum of the forger, and the seal of the owner.
      const forged = otherTop.replace(/,$/, `,${top.slice(top.indexOf('"seal"'))}`);
      const text = [forged, ...rest].join('\n');
      expect((await failing(text, sealsOf())).message).toContain('does not have the key');
      await failing(text, sealsOf(KEY, 'everything'));
    });
  }

  test('goes with a text that was laid out anew', async () => {
    const text = JSON.stringify(JSON.parse(await formatState(STATE, sealsOf())), null, 2);
    expect(await parseState(text, LOCATION, sealsOf())).toEqual(STATE);
    const without = text.replace(/"seal": .*\n/, '');
    const failure = await failureOf(() => parseState(without, LOCATION, sealsOf()));
    expect(failure.message).toContain('has no seal');
  });

  test('no member of a text may stand twice', async () => {
    const text = await formatState(STATE, sealsOf());
    const twice = text.replace('\n}}\n', '\n},"serial":7}\n');
    await failureOf(() => parseState(twice, LOCATION, sealsOf()));
  });
});

describe('the seals of a journal', () => {
  const OWNER = { stack: './a', environment: null };
  const BEGAN = { ...began('r1'), owner: OWNER };
  const ENTRIES: readonly JournalEntry[] = [
    BEGAN,
    intent(1, 'agent.desk'),
    recorded('agent.desk', resource('a1')),
    ended(['agent.desk']),
  ];

  function linesOf(entries = ENTRIES, run = 'r1', seals: Seals | null = sealsOf()) {
    const lines = seals?.lines(run);
    return entries.map((entry) => formatEntry(entry, lines).trimEnd());
  }

  async function read(lines: readonly string[], seals = sealsOf(), run = 'r1') {
    const text = `${JOURNAL_HEADER}${lines.map((line) => `${line}\n`).join('')}`;
    return (await entriesIn(text, 'runs/r1.jsonl', seals.lines(run))).entries;
  }

  test('fit what was written, also after a write that was cut off', async () => {
    expect(await read(linesOf())).toEqual(ENTRIES);
    const [first = '', second = '', ...rest] = linesOf();
    const torn = [first, `${second.slice(0, 30)}${TORN.trimEnd()}`, second, ...rest];
    expect(await read(torn)).toEqual(ENTRIES);
  });

  test('go on where another process left off', async () => {
    const lines = linesOf(ENTRIES.slice(0, 2));
    const more = sealsOf().lines('r1', { began: BEGAN, count: 2 });
    for (const entry of ENTRIES.slice(2)) lines.push(formatEntry(entry, more).trimEnd());
    expect(await read(lines)).toEqual(ENTRIES);
  });

  const [a = '', b = '', c = '', d = ''] = linesOf();
  const other = (entry: JournalEntry) => [BEGAN, entry, ...ENTRIES.slice(2)];
  const [, unsealed = ''] = linesOf(ENTRIES, 'r1', null);
  const [, ofOtherRun = ''] = linesOf([{ ...BEGAN, run: 'r2' }, ...ENTRIES.slice(1)], 'r2');
  const [, ofOtherLineage = ''] = linesOf([{ ...BEGAN, lineage: 'x' }, ...ENTRIES.slice(1)]);
  const [, ofOtherOwner = ''] = linesOf([
    { ...BEGAN, owner: { ...OWNER, stack: './b' } },
    ...ENTRIES.slice(1),
  ]);
  const [, forged = ''] = linesOf(other(intent(1, 'agent.other')), 'r1', null);
  const TAMPERINGS: Readonly<Record<string, readonly string[]>> = {
    'a line is removed': [a, c, d],
    'the first line is removed': [b, c, d],
    'two lines are exchanged': [a, c, b, d],
    'a line stands twice': [a, b, b, c, d],
    'a line is invented': [a, forged, b, c, d],
    'a line has no seal': [a, unsealed, c, d],
    'a line is put in the place of another': [
      a,
      forged.replace('"entry"', `${/"number".*?,"seal":".*?",/.exec(b)?.[0]}"entry"`),
      c,
      d,
    ],
    'a line of another run': [a, ofOtherRun, c, d],
    'a line of another lineage': [a, ofOtherLineage, c, d],
    'a line of another owner': [a, ofOtherOwner, c, d],
    'a line is appended': [a, b, c, d, forged],
    'a line is made the rest of a write': [a, b, `{"torn":true}`, c, d],
    'its number is another': [a, b.replace('"number":2', '"number":3'), c, d],
  };

  test.each(Object.entries(TAMPERINGS))('do not fit where %s', async (_, lines) => {
    const failure = await failureOf(() => read(lines));
    expect(failure).toBeInstanceOf(BrokenSeal);
    expect(failure.message).toMatch(/^line \d of the journal runs\/r1\.jsonl /);
    expect(failure.hint).toContain('`callsheet state repair`');
  });

  test('do not fit under the name of another run', async () => {
    await failureOf(() => read(linesOf(), sealsOf(), 'r2'));
  });

  test('are asked for, unless somebody vouches', async () => {
    const lines = linesOf(ENTRIES, 'r1', null);
    expect(await read(lines, NO_KEY)).toEqual(ENTRIES);
    expect((await failureOf(() => read(lines))).message).toContain('line 1 of the journal');
    const seals = sealsOf(KEY, 'everything');
    expect(await read(lines, seals)).toEqual(ENTRIES);
    expect(seals.trust()).toBe('unsealed');
    expect(await failureOf(() => read(linesOf(), NO_KEY))).toBeInstanceOf(KeyMissing);
    expect(await read(linesOf(), sealsOf('another', 'everything'))).toEqual(ENTRIES);
  });
});

describe('the place of a seal', () => {
  const same = (...places: Parameters<typeof sealPlace>[0][]) =>
    expect(new Set(places.map(sealPlace)).size).toBe(1);
  const by = 'operator';

  test('is the same by another way to one store', () => {
    same(
      { postgres: { url: 'postgres://db.example.test/states', stack: 'a' }, by },
      { postgres: { url: 'postgresql://127.0.0.1:6543/states?sslmode=require', stack: 'a' }, by },
    );
    same(
      { http: { address: 'https://git.example.test/api/state/a' }, by },
      { http: { address: 'http://10.0.0.1:8080/api/state/a/' }, by },
    );
    same({ file: '/home/sam/a/.callsheet/state.json' }, { file: '/ci/7/.callsheet/state.json' });
    same({ file: 'C:\\cache\\a.json' }, { file: '/cache/a.json' });
  });

  test('tells states of one store apart', () => {
    const places = [
      { postgres: { url: 'postgres://db.example.test/states', stack: 'a' }, by },
      { postgres: { url: 'postgres://db.example.test/states', stack: 'b' }, by },
      { postgres: { url: 'postgres://db.example.test', stack: 'a' }, by },
      { http: { address: 'https://git.example.test/a' }, by },
      { http: { address: 'https://git.example.test/b' }, by },
      { s3: { bucket: 'x', key: 'a' }, by },
      { s3: { bucket: 'y', key: 'a' }, by },
      { file: '/a/.callsheet/state.json' },
      { file: '/a/.callsheet/staging/state.json' },
      { file: '/a/other.json' },
    ] as const;
    expect(new Set(places.map(sealPlace)).size).toBe(places.length);
  });
});

test('a state keeps no trace of the key', async () => {
  const text = await formatState(STATE satisfies State, sealsOf());
  expect(text).not.toContain(KEY);
});

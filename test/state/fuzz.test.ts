import { createHash } from 'node:crypto';
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { runs as listRuns } from '../../src/cli/commands/state.ts';
import { plan } from '../../src/console/plan.ts';
import { CallsheetError } from '../../src/core/errors.ts';
import { believeRate } from '../../src/features/fleet/queue/budget.ts';
import { type DocumentPlace, documentRemote } from '../../src/features/stores/remote/document.ts';
import { openRetries } from '../../src/features/stores/remote/failures.ts';
import { openRemoteStore } from '../../src/features/stores/remote/store.ts';
import { JOURNAL_HEADER, linesIn } from '../../src/state/journal-text.ts';
import { realEffects } from '../../src/state/lock.ts';
import { replay } from '../../src/state/replay.ts';
import type { StateStore } from '../../src/state/store.ts';
import { openStage } from '../apply/stage.ts';
import { STATE, stateCommands } from '../cli/state-stage.ts';
import { isTorture } from '../long.ts';
import { deep, sealedText } from './sample.ts';

/** Texts that a run really leaves, and what somebody might make of them. */
let stage: Awaited<ReturnType<typeof openStage>>;
let state = '';
let receipt = '';
let run = '';
beforeAll(async () => {
  stage = await openStage();
  await stage.apply();
  state = await readFile(join(stage.folder, STATE), 'utf8');
  const [name = ''] = await readdir(join(stage.folder, '.callsheet/runs'));
  run = name.replace('.jsonl', '');
  receipt = await readFile(join(stage.folder, '.callsheet/runs', name), 'utf8');
});
afterAll(async () => {
  await stage.close();
});

const CASES = isTorture ? 10_000 : 400;
const COMMANDS = isTorture ? 400 : 20;
const MOST_BYTES = 512 * 1024 * 1024;

/** What stands in a JSON document where something else stood. */
const odd: fc.Arbitrary<unknown> = fc.oneof(
  fc.constantFrom<unknown>(
    null,
    true,
    '',
    0,
    -1,
    1.5,
    1e308,
    Number.MAX_SAFE_INTEGER,
    [],
    {},
    [null],
    '../../vault/prod.env',
    '__proto__',
    '\u001b]0;x\u0007',
    '\ud800',
    '2026-13-45T99:99:99Z',
    'sha256:0',
    'x'.repeat(100_000),
    JSON.parse('{"__proto__":{"a":1},"constructor":{"prototype":null}}'),
  ),
  fc.integer({ min: 100, max: 20_000 }).map((levels) => `levels ${levels}`),
  fc.jsonValue({ maxDepth: 3 }),
);

/** The JSON of a value, with as many levels where `levels 5000` stands: `JSON.stringify` overflows its stack by as many. */
function textOf(value: unknown): string {
  const text = JSON.stringify(value) ?? 'null';
  return text.replaceAll(/"levels (\d+)"/g, (_, levels) => deep(Number(levels)));
}

/** One change of a JSON document: where, chosen by numbers, and what. */
const edit = fc.record({
  path: fc.array(fc.nat(1_000), { minLength: 1, maxLength: 8 }),
  how: fc.constantFrom('replace' as const, 'remove' as const, 'repeat' as const, 'rename' as const),
  value: odd,
});
type Edit = typeof edit extends fc.Arbitrary<infer T> ? T : never;

function edited(document: unknown, { path, how, value }: Edit): unknown {
  const [index = 0, ...rest] = path;
  if (typeof document !== 'object' || document === null) return how === 'remove' ? null : value;
  const names = Object.keys(document);
  const name = names[index % Math.max(names.length, 1)];
  if (name === undefined) return value;
  const inner: unknown = Reflect.get(document, name);
  const isInner = rest.length > 0 && typeof inner === 'object' && inner !== null;
  if (Array.isArray(document)) {
    const copy = [...document];
    if (isInner) copy[Number(name)] = edited(inner, { path: rest, how, value });
    else if (how === 'remove') copy.splice(Number(name), 1);
    else if (how === 'repeat') copy.push(inner, inner);
    else copy[Number(name)] = value;
    return copy;
  }
  const members = Object.entries(document).flatMap(([own, one]): [string, unknown][] => {
    if (own !== name) return [[own, one]];
    if (isInner) return [[own, edited(one, { path: rest, how, value })]];
    if (how === 'remove') return [];
    if (how === 'repeat')
      return [
        [own, one],
        [`${own}2`, one],
      ];
    return how === 'rename' ? [[typeof value === 'string' ? value : 'other', one]] : [[own, value]];
  });
  return Object.fromEntries(members);
}

/** One change of a text. */
const cut = fc.oneof(
  fc
    .record({
      at: fc.double({ min: 0, max: 1, noNaN: true }),
      text: fc.string({ maxLength: 8, unit: 'binary' }),
    })
    .map(({ at, text }) => (whole: string) => {
      const from = Math.floor(at * whole.length);
      return whole.slice(0, from) + text + whole.slice(from + text.length);
    }),
  fc
    .double({ min: 0, max: 1, noNaN: true })
    .map((at) => (whole: string) => whole.slice(0, Math.floor(at * whole.length))),
  fc
    .record({
      from: fc.double({ min: 0, max: 1, noNaN: true }),
      size: fc.nat(3_000),
      times: fc.nat(40),
    })
    .map(({ from, size, times }) => (whole: string) => {
      const at = Math.floor(from * whole.length);
      return whole.slice(0, at) + whole.slice(at, at + size).repeat(times) + whole.slice(at + size);
    }),
  fc
    .constantFrom('\n', '\r\n', '\0', '{"torn":true}\n', '}}\n')
    .map((text) => (whole: string) => whole.replaceAll('\n', text)),
);

/** A state with edits under a checksum that fits, or cut up. */
function spoiltState(edits: readonly Edit[], cuts: readonly ((text: string) => string)[]): string {
  const { checksum: _, ...document } = JSON.parse(state);
  const spoilt = edits.reduce<unknown>(edited, document);
  const isRecord = typeof spoilt === 'object' && spoilt !== null;
  const text = edits.length === 0 ? state : isRecord ? sealedText(textOf(spoilt)) : textOf(spoilt);
  return cuts.reduce((whole, change) => change(whole), text);
}

/** A journal whose entries are edited under sums that fit, or cut up. */
function spoiltJournal(
  edits: readonly Edit[],
  cuts: readonly ((text: string) => string)[],
): string {
  const entries: unknown = receipt
    .split('\n')
    .slice(1, -1)
    .map((line) => JSON.parse(line).entry);
  const spoilt = edits.reduce<unknown>(edited, entries);
  const lines = Array.isArray(spoilt) ? spoilt.filter((one) => one !== undefined) : [];
  const text = edits.length === 0 ? receipt : JOURNAL_HEADER + lines.map(lineOf).join('');
  return cuts.reduce((whole, change) => change(whole), text);
}

/** As `formatEntry`. */
function lineOf(entry: unknown): string {
  const text = textOf(entry);
  const sum = createHash('sha256').update(text).digest('hex').slice(0, 16);
  return `{"sum":"${sum}","entry":${text}}\n`;
}

const spoiling = fc.record({
  what: fc.constantFrom('state' as const, 'journal' as const, 'document' as const),
  edits: fc.array(edit, { maxLength: 3 }),
  cuts: fc.array(cut, { maxLength: 2 }),
  form: fc.constantFrom('text' as const, 'gz' as const),
  isOpen: fc.boolean(),
});

type Spoiling = typeof spoiling extends fc.Arbitrary<infer T> ? T : never;

/** The document of a store, with one thing spoilt. */
function documentOf({ what, edits, cuts, form, isOpen }: Spoiling): string {
  const part = (text: string) =>
    form === 'text' ? { text } : { gz: gzipSync(text).toString('base64') };
  const journal = {
    run,
    parts: [part(what === 'journal' ? spoiltJournal(edits, cuts) : receipt)],
  };
  const document = {
    format: 'callsheet-remote-state',
    version: 1,
    serial: 3,
    lineage: 'x',
    ticket: null,
    state: part(what === 'state' ? spoiltState(edits, cuts) : state),
    open: isOpen ? [journal] : [],
    finished: isOpen ? [] : [journal],
    aside: [],
  };
  if (what !== 'document') return JSON.stringify(document);
  const text = textOf(edits.reduce<unknown>(edited, document));
  return cuts.reduce((whole, change) => change(whole), text);
}

/** A store over a document in memory. */
function storeOver(text: string): StateStore {
  const kept = { text };
  const place: DocumentPlace = {
    location: 'memory',
    timing: { beat: 1, silent: 1, watch: 1 },
    most: { runs: 9, size: 9_999_999, state: 9_999_999, journal: 9_999_999 },
    read: async () => ({ text: kept.text, tag: 'x' }),
    put: async () => 'lost',
    enter: async () => true,
    leave: async () => {},
    keep: async (one) => ({ text: one }),
    fetch: async () => undefined,
    discard: async () => {},
    pack: async (parts) => parts,
    retries: openRetries(1_000, { now: () => 0, sleep: async () => {} }),
    close: async () => {},
  };
  return openRemoteStore(documentRemote(place), realEffects());
}

/** What a piece of work ends with; anything but a refusal in words fails the test. */
async function refusedOrDone<T>(work: () => Promise<T>): Promise<T | undefined> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof CallsheetError && error.hint !== undefined) return undefined;
    throw error;
  }
}

describe('whatever is made of a state', () => {
  test(`is read or refused in words, ${CASES} times`, async () => {
    let most = 0;
    // Other tests of the process leave their garbage.
    globalThis.gc?.();
    const before = process.memoryUsage().heapUsed;
    await fc.assert(
      fc.asyncProperty(spoiling, async (how) => {
        const store = storeOver(documentOf(how));
        const loaded = await refusedOrDone(() => store.load());
        if (loaded !== undefined) replay(loaded.state, loaded.pending);
        await refusedOrDone(() => store.salvage());
        await refusedOrDone(() => store.lock());
        for (const { run: id } of (await refusedOrDone(() => store.runs())) ?? [])
          await refusedOrDone(() => store.run(id));
        most = Math.max(most, process.memoryUsage().heapUsed - before);
      }),
      { numRuns: CASES },
    );
    expect(most).toBeLessThan(MOST_BYTES);
  });

  test('is a rate or none in the row of a budget', () => {
    const rate = { ceiling: 5, until: 1, next: 2, refusedAt: null, since: 3 };
    const row = fc.tuple(fc.array(edit, { maxLength: 3 }), fc.array(cut, { maxLength: 2 }));
    fc.assert(
      fc.property(row, ([edits, cuts]) => {
        const text = textOf(edits.reduce<unknown>(edited, rate));
        const read = believeRate(
          cuts.reduce((whole, change) => change(whole), text),
          1_000,
        );
        expect(read.until).toBeLessThan(1_000 + 3_600_000);
      }),
      { numRuns: CASES },
    );
  });

  test(`does not make a command fail by itself, ${COMMANDS} times`, async () => {
    const path = join(stage.folder, STATE);
    const runs = join(stage.folder, '.callsheet/runs');
    const flags = { dir: stage.folder, format: 'text' } as const;
    const { list } = stateCommands(stage, 'text');
    const writes = stage.writes().length;
    await fc.assert(
      fc.asyncProperty(spoiling, async ({ what, edits, cuts, isOpen }) => {
        await rm(runs, { recursive: true });
        await mkdir(runs);
        await writeFile(path, what === 'journal' ? state : spoiltState(edits, cuts));
        const text = what === 'state' ? receipt : spoiltJournal(edits, cuts);
        await writeFile(join(runs, `${run}${isOpen ? '.open' : ''}.jsonl`), text);
        const said = [
          await stage.run((to) => plan(flags, to), { exit: 'any' }),
          await list([], { exit: 'any' }),
          await stage.run((to) => listRuns(undefined, flags, to), { exit: 'any' }),
          await stage.run((to) => listRuns(run, flags, to), { exit: 'any' }),
        ];
        for (const { err } of said) expect(err).not.toContain('itself failed');
      }),
      { numRuns: COMMANDS },
    );
    expect(stage.writes().length).toBe(writes);
  });
});

test('lines come whole out of pieces, wherever those end', () => {
  fc.assert(
    fc.property(fc.array(fc.string({ maxLength: 20 })), (pieces) => {
      const lines = [...linesIn(pieces)];
      expect(lines.map(({ text, isWhole }) => (isWhole ? `${text}\n` : text)).join('')).toBe(
        pieces.join(''),
      );
    }),
  );
});

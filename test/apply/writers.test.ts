import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { findWriter } from '../../src/apply/history.ts';
import { isBefore, mayFollow } from '../../src/core/moment.ts';
import { editsSince } from '../../src/plan/drift.ts';
import type { HistoryEntry } from '../../src/plan/reader.ts';
import type { JournalEntry } from '../../src/state/journal.ts';
import { runs, timeFor } from '../long.ts';
import { journalOf } from '../rollback/runs.ts';
import { resource } from '../state/sample.ts';

/** The same moments, told in every way that a platform may tell them in. */

/** Ways of writing a moment, which is in milliseconds since 1970. */
const TELLINGS: Readonly<Record<string, (at: number) => string>> = {
  milliseconds: (at) => new Date(at).toISOString(),
  microseconds: (at) => new Date(at).toISOString().replace('Z', '000Z'),
  'whole seconds': (at) => new Date(at).toISOString().replace(/\.\d+/, ''),
  'whole seconds, with zeros': (at) => new Date(at).toISOString().replace(/\.\d+/, '.000'),
  'tenths of a second': (at) => new Date(at).toISOString().replace(/(\.\d)\d+/, '$1'),
  'with an offset': (at) => `${new Date(at + 7_200_000).toISOString().slice(0, -1)}+02:00`,
  'without a zone': (at) => new Date(at).toISOString().slice(0, -1),
  'whole seconds without a zone': (at) => new Date(at).toISOString().slice(0, 19),
};
const telling = fc.constantFrom(...Object.keys(TELLINGS));
const tell = (name: string, at: number) => TELLINGS[name]?.(at) ?? '';

const START = Date.parse('2026-11-21T10:00:00Z');
const ACCOUNT = 'api:own';

/** A deed on one agent: a run that writes its fields, a facet alone or nothing new, or an edit by hand. */
type Deed = {
  readonly what: 'run' | 'facet' | 'idle' | 'hand';
  readonly after: number;
  /** True if the run read the history, with its own entry if it saw that. */
  readonly saw: 'nothing read' | 'none' | 'own';
};

const deeds = fc.array(
  fc.record({
    what: fc.constantFrom<Deed['what']>('run', 'run', 'run', 'facet', 'facet', 'idle', 'hand'),
    after: fc.oneof(fc.integer({ min: 1, max: 900 }), fc.integer({ min: 901, max: 20_000 })),
    saw: fc.constantFrom<Deed['saw']>('nothing read', 'nothing read', 'none', 'own'),
  }),
  { minLength: 1, maxLength: 8 },
);

/** Traces that a change of a facet leaves: an entry or none, and a new `updated_at` or the one before. */
type Facets = { readonly haveEntries: boolean; readonly stamp: boolean };
const facets: fc.Arbitrary<Facets> = fc.record({ haveEntries: fc.boolean(), stamp: fc.boolean() });

const entryOf = (id: number, actor: string, at: string | null): HistoryEntry => ({
  id,
  action: 'updated',
  actor,
  source: actor === ACCOUNT ? 'dashboard-api' : 'dashboard',
  at,
  reverted_from_id: null,
});

/** The runs and the history of an agent, both the newest first, and which run made which entry. */
function played(
  all: readonly Deed[],
  updatedIn: string,
  entriesIn: string,
  { haveEntries, stamp }: Facets,
) {
  const history: HistoryEntry[] = [entryOf(1, 'user:kim', tell(entriesIn, START))];
  const journals: { run: string; entries: readonly JournalEntry[] }[] = [];
  const truth = new Map<number, string>();
  const times = new Map<number, number>([[1, START]]);
  let now = START;
  let updated = START;
  for (const [at, { what, after, saw }] of all.entries()) {
    now += after;
    const id = history.length + 1;
    const isTold = what === 'facet' ? haveEntries : what !== 'idle';
    if (isTold) {
      history.unshift(entryOf(id, what === 'hand' ? 'user:kim' : ACCOUNT, tell(entriesIn, now)));
      times.set(id, now);
    }
    const was = updated;
    if (what === 'facet' ? stamp : what !== 'idle') updated = now;
    if (what === 'hand') continue;
    const run = `r${at}`;
    if (isTold) truth.set(id, run);
    const pin = (moment: number, digest: string) => ({
      digest: `sha256:${digest}`,
      updated_at: tell(updatedIn, moment),
      history_id: null,
    });
    const recorded = resource('a1', { pin: pin(updated, what === 'idle' ? 'before' : 'after') });
    const seen = { before: id - 1, after: saw === 'own' && isTold ? id : id - 1 };
    // A run waits for the entry of its fields.
    const isRead = saw === 'own' || (saw === 'none' && what !== 'run');
    const [snapshot, ...rest] = journalOf([
      {
        address: 'agent.desk',
        action: 'update',
        id: 'a1',
        before: { name: 'Desk' },
        recorded,
        steps: [what === 'facet' ? 'facet' : 'update'],
        ...(isRead ? { history: seen } : {}),
      },
    ]);
    if (snapshot?.type !== 'snapshot') throw new Error('a journal begins with a copy');
    journals.unshift({ run, entries: [{ ...snapshot, pin: pin(was, 'before') }, ...rest] });
  }
  return { history, journals, truth, times };
}

const RUNS = Number(process.env.CALLSHEET_RUNS ?? runs(2000));

/** A run whose history has no times: what it writes, and if it sees the entry of a facet. */
type Undated = { readonly what: 'update' | 'facet' | 'both' | 'hand'; readonly isLate: boolean };

/** The runs and the history of an agent in the order of `all`, where facets have entries or have none. */
function playedUndated(all: readonly Undated[], hasFacetEntries: boolean) {
  const history: HistoryEntry[] = [entryOf(1, 'user:kim', null)];
  const journals: { run: string; entries: readonly JournalEntry[] }[] = [];
  const truth = new Map<number, string>();
  let unseen = 0;
  const seen = () => history[unseen]?.id ?? 0;
  const leave = (actor: string, run?: string) => {
    const id = history.length + 1;
    history.unshift(entryOf(id, actor, null));
    if (run !== undefined) truth.set(id, run);
  };
  for (const [at, { what, isLate }] of all.entries()) {
    const run = `r${at}`;
    const before = seen();
    if (what === 'hand') leave('user:kim');
    if (what === 'hand') unseen = 0;
    if (what === 'hand') continue;
    // A run waits for the entry of its update, and sees all before it.
    if (what !== 'facet') leave(ACCOUNT, run);
    if (what !== 'facet') unseen = 0;
    if (what !== 'update' && hasFacetEntries) leave(ACCOUNT, run);
    if (what !== 'update' && hasFacetEntries) unseen = isLate ? unseen + 1 : 0;
    const after = history.slice(unseen).find(({ id }) => id > before && truth.has(id))?.id;
    const steps = what === 'both' ? (['update', 'facet'] as const) : [what];
    const address = 'agent.desk';
    const line = { history: { before, after: after ?? before }, steps };
    const entries = journalOf([
      { address, action: 'update', id: 'a1', before: { name: 'Desk' }, ...line },
    ]);
    journals.unshift({ run, entries });
  }
  return { history, journals, truth };
}

const undated = fc.array(
  fc.record({
    what: fc.constantFrom<Undated['what']>('update', 'facet', 'facet', 'both', 'hand'),
    isLate: fc.boolean(),
  }),
  { minLength: 1, maxLength: 8 },
);

describe('entries without times', () => {
  test('name the run that made them, seen late or not, and never another one', () => {
    const most = fc.constantFrom(2, 3, 20);
    const property = fc.asyncProperty(
      undated,
      fc.boolean(),
      most,
      async (all, hasEntries, kept) => {
        const { history: whole, journals, truth } = playedUndated(all, hasEntries);
        const history = whole.slice(0, kept);
        const isPlain = all.every(({ what }) => what !== 'both') && history.length === whole.length;
        for (const entry of history) {
          if (entry.actor !== ACCOUNT) continue;
          const found = await findWriter(journals, entry, history, ACCOUNT);
          const wanted = truth.get(entry.id);
          expect([wanted, undefined], `entry ${entry.id}`).toContain(found);
          if (isPlain) expect(found, `entry ${entry.id}`).toBe(wanted);
        }
      },
    );
    return fc.assert(property, { numRuns: RUNS, seed: 4711 });
  });

  test('are those of the run that knows what was there, where earlier ones are gone', async () => {
    const journals = [3, 2, 1].map((before) => ({
      run: `r${before}`,
      entries: journalOf([
        {
          ...{ address: 'agent.desk', action: 'update', id: 'a1', before: { name: 'Desk' } },
          ...{ steps: ['facet'], history: { before, after: before } },
        },
      ]),
    }));
    const history = [4, 3].map((id) => entryOf(id, ACCOUNT, null));
    for (const entry of history)
      expect(await findWriter(journals, entry, history, ACCOUNT)).toBe(`r${entry.id - 1}`);
  });

  test('are those of a facet before those of an update that left everything as it was', async () => {
    const pin = { digest: 'sha256:1', updated_at: null, history_id: 1 };
    const journal = (step: 'update' | 'facet', left: object) => {
      const [snapshot, ...rest] = journalOf([
        {
          address: 'agent.desk',
          action: 'update',
          id: 'a1',
          before: { name: 'Desk' },
          recorded: resource('a1', { pin: { ...pin, ...left } }),
          steps: [step],
          history: { before: 1, after: 1 },
        },
      ]);
      if (snapshot?.type !== 'snapshot') throw new Error('a journal begins with a copy');
      return [{ ...snapshot, pin }, ...rest];
    };
    const journals = [
      { run: 'r1', entries: journal('facet', { digest: 'sha256:2' }) },
      { run: 'r0', entries: journal('update', {}) },
    ];
    const entry = entryOf(2, ACCOUNT, null);
    const history = [entry, entryOf(1, ACCOUNT, null)];
    expect(await findWriter(journals, entry, history, ACCOUNT)).toBe('r1');
  });

  test.each([
    ['one that is too many may be of another program', ['facet'], 2, undefined],
    ['as many as the requests of a run are its own', ['facet'], 1, 'r0'],
    ['an update that was seen leaves none', ['update'], 1, undefined],
  ] as const)('%s', async (_, deeds, more, wanted) => {
    const all = deeds.map((what) => ({ what, isLate: true }));
    const { history, journals } = playedUndated(all, false);
    const first = history.length + 1;
    for (let count = 0; count < more; count += 1)
      history.unshift(entryOf(history.length + 1, ACCOUNT, null));
    const entry = history.find(({ id }) => id === first);
    expect(entry && (await findWriter(journals, entry, history, ACCOUNT))).toBe(wanted);
  });
});

describe('times of any resolution', () => {
  test('name the run that made an entry, and never another one', { timeout: timeFor(60) }, () => {
    const property = fc.asyncProperty(
      deeds,
      telling,
      telling,
      facets,
      async (all, updatedIn, entriesIn, told) => {
        const { history, journals, truth, times } = played(all, updatedIn, entriesIn, told);
        for (const entry of history) {
          if (entry.actor !== ACCOUNT) continue;
          const found = await findWriter(journals, entry, history, ACCOUNT);
          const wanted = truth.get(entry.id);
          expect([wanted, undefined], `entry ${entry.id}`).toContain(found);
          // Deeds within two seconds of each other may be told as one moment.
          const at = times.get(entry.id) ?? 0;
          const beside = all.reduce(
            ({ now, near }, { after }) => ({
              now: now + after,
              near: near + Number(Math.abs(now + after - at) <= 2000),
            }),
            { now: START, near: 0 },
          );
          if (beside.near === 1) expect(found, `entry ${entry.id} alone`).toBe(wanted);
        }
      },
    );
    return fc.assert(property, { numRuns: RUNS, seed: 4711 });
  });

  test('count no run before one that knows what was there, such as one whose entry never came', async () => {
    const told = { haveEntries: true, stamp: false };
    const facet = { what: 'facet', after: 5000, saw: 'nothing read' } as const;
    const all: readonly Deed[] = [{ ...facet, what: 'run' }, facet, { ...facet, saw: 'none' }];
    const { history, journals, truth } = played(all, 'whole seconds', 'whole seconds', told);
    const left = history.filter(({ id }) => truth.get(id) !== 'r1');
    const [entry] = left;
    expect(entry && (await findWriter(journals, entry, left, ACCOUNT))).toBe('r2');
  });

  test('say of no moment that it is before one that it follows', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 0, max: 5000 }),
        fc.integer({ min: 0, max: 5000 }),
        telling,
        telling,
        (one, later, first, second) => {
          const [a, b] = [tell(first, START + one), tell(second, START + one + later)];
          expect(isBefore(b, a, 0)).toBe(false);
          if (later > 1000) expect(isBefore(a, b, 0)).toBe(true);
          expect(mayFollow(b, a, later + 1)).toBe(true);
        },
      ),
      { numRuns: RUNS, seed: 4711 },
    );
  });

  test('leave no edit out that came after a run', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 0, max: 999 }),
        fc.integer({ min: 1, max: 5000 }),
        telling,
        telling,
        (start, later, updatedIn, entriesIn) => {
          const at = START + start;
          const edit = entryOf(3, 'user:kim', tell(entriesIn, at + later));
          const own = entryOf(2, ACCOUNT, tell(entriesIn, at));
          const since = { history_id: 2, updated_at: tell(updatedIn, at) };
          const { entries } = editsSince([edit, own], since, ACCOUNT);
          expect(entries.map(({ id }) => id)).toEqual([3]);
        },
      ),
      { numRuns: RUNS, seed: 4711 },
    );
  });
});

import type { Dialect } from '../../src/simulator/index.ts';

type Values = { readonly [name in keyof Dialect]: readonly [Dialect[name], ...Dialect[name][]] };

/** The readings that are tried of each option; the first is what the simulator does on its own. */
export const VALUES: Values = {
  merge: ['deep', 'shallow'],
  nulls: ['clears', 'rejected'],
  emptyText: ['kept', 'null', 'absent'],
  unset: ['absent', 'null'],
  nestedDefaults: [false, true],
  newFields: ['snake_case', 'as_sent', 'dropped'],
  values: ['documented', 'any'],
  translatorNull: ['kept', 'cleared'],
  characters: ['code_points', 'utf16'],
  megabyte: ['binary', 'decimal'],
  sipData: ['camelCase', 'snake_case'],
  newAgentStatus: ['active', 'inactive', 'pending'],
  createAnswer: ['record', 'id'],
  updateAnswer: ['record', 'success'],
  createdStatus: [201, 200],
  deletedStatus: [204, 200],
  enqueuedStatus: [202, 200],
  me: ['bare', 'wrapped'],
  meScope: ['nested', 'flat'],
  readiness: ['bare', 'wrapped'],
  listOrder: ['created', 'newest', 'name'],
  listFields: ['some', 'fewest', 'all'],
  listUpdatedAt: [true, false],
  listPages: ['counted', 'bare', 'whole'],
  emptyListPages: [0, 1],
  pageLimit: ['refused', 'clamped'],
  historyOrder: ['newest', 'oldest'],
  historyCreatedAt: [true, false],
  historyLagMs: [0, 40],
  historyRetention: [null, 2],
  emptyUpdates: ['recorded', 'ignored'],
  facetEntries: [false, true],
  deletedPolicy: ['emptied', 'unstamped', 'dangling'],
  voiceIds: ['uuid', 'text'],
  voiceLanguage: ['stored', 'spoken', 'imposed'],
  stores: [[], ['drawn']],
  counters: ['still', 'moving'],
  limitsOff: ['kept', 'forgotten'],
  pageNames: ['url', 'title', 'none'],
  inventions: [null, 7],
  ingestionReads: [0, 2],
  duplicates: ['announced', 'uploaded'],
  reingestedFile: ['added', 'replaced'],
  emptyEnqueue: ['refused', 'failed'],
  sipLagMs: [0, 40],
  sipForeign: [403, 400, 409],
  wrongCredentials: [401, 400, 403],
  emailErrors: ['apart', 'bad-request'],
  featureRows: ['all', 'named'],
  callLogOrder: ['newest', 'oldest'],
  limitBody: ['coded', 'empty', 'text'],
  absent: [[], ['getEmailTemplate', 'getSmsTemplate'], ['listRetryPolicies']],
  absentAnswer: ['coded', 'page', 'method'],
  dates: [true, false],
  timestamps: ['milliseconds', 'microseconds', 'seconds', 'offset'],
  unknownFields: [false, true],
  keyOrder: ['stable', 'shuffled'],
  numbers: ['plain', 'decimal'],
  // What is planned and applied never asks for them.
  metrics: ['complete'],
};

const SIZES = Object.values(VALUES).map(({ length }) => length);
const NAMES = Object.keys(VALUES);

/** Every reading has a number; this is the first of each option's. */
const FIRST = SIZES.map((_, option) => SIZES.slice(0, option).reduce((sum, size) => sum + size, 0));
const COUNT = SIZES.reduce((sum, size) => sum + size, 0);

/** One reading of each option, by their places in the table. */
type Row = readonly number[];

/** Which pairs of readings no row has yet. */
type Missing = Uint8Array;

const numberOf = (option: number, value: number) => (FIRST[option] ?? 0) + value;

/**
 * Dialects in which every pair of readings occurs at least once, the simulator's own first. Each next one
 * is the best of some that are put together greedily, so there are few of them, and always the same.
 */
function coverPairs(): readonly Row[] {
  const missing = allPairs();
  const rows: Row[] = [];
  let row: Row = SIZES.map(() => 0);
  while (gainOf(row, missing) > 0) {
    for (const [a, b] of pairsOf(row)) missing[a * COUNT + b] = 0;
    rows.push(row);
    row = nextRow(missing, rows.length);
  }
  return rows;
}

function allPairs(): Missing {
  const missing = new Uint8Array(COUNT * COUNT);
  for (const [a, sizeA] of SIZES.entries())
    for (const [b, sizeB] of SIZES.entries())
      for (let pair = 0; a < b && pair < sizeA * sizeB; pair += 1)
        missing[numberOf(a, pair % sizeA) * COUNT + numberOf(b, Math.floor(pair / sizeA))] = 1;
  return missing;
}

function* pairsOf(row: Row): Generator<readonly [number, number]> {
  for (const [a, x] of row.entries())
    for (let b = a + 1; b < row.length; b += 1) yield [numberOf(a, x), numberOf(b, row[b] ?? 0)];
}

function gainOf(row: Row, missing: Missing): number {
  let gain = 0;
  for (const [a, b] of pairsOf(row)) gain += missing[a * COUNT + b] ?? 0;
  return gain;
}

const CANDIDATES = 15;

function nextRow(missing: Missing, seed: number): Row {
  let best: Row = [];
  for (let candidate = 0; candidate < CANDIDATES; candidate += 1) {
    const row = greedyRow(missing, seed * CANDIDATES + candidate);
    if (best.length === 0 || gainOf(row, missing) > gainOf(best, missing)) best = row;
  }
  return best;
}

/** Chooses option by option, in an order that the seed shuffles, what adds the most pairs. */
function greedyRow(missing: Missing, seed: number): Row {
  const row: number[] = SIZES.map(() => -1);
  const order = SIZES.map((_, option) => option).sort((a, b) => mix(a, seed) - mix(b, seed));
  for (const option of order) {
    const gains = Array.from({ length: SIZES[option] ?? 0 }, (_, value) => {
      const own = numberOf(option, value);
      return row.reduce((gain, other, at) => {
        if (other < 0) return gain;
        const [low, high] = [
          Math.min(own, numberOf(at, other)),
          Math.max(own, numberOf(at, other)),
        ];
        return gain + (missing[low * COUNT + high] ?? 0);
      }, 0);
    });
    const most = Math.max(...gains);
    const best = gains.flatMap((gain, value) => (gain === most ? [value] : []));
    row[option] = best[mix(option, seed) % best.length] ?? 0;
  }
  return row;
}

/** A number that looks drawn and is not. */
function mix(value: number, seed: number): number {
  return Math.imul(value * 7919 + seed * 104_729 + 1, 2_654_435_761) >>> 8;
}

/** A dialect and how it departs from the simulator's own. */
export type NamedDialect = { readonly name: string; readonly dialect: Partial<Dialect> };

/** See `coverPairs`. */
export const DIALECTS: readonly NamedDialect[] = coverPairs().map((row) => {
  const chosen = NAMES.map((name, option) => {
    const values: readonly unknown[] = VALUES[name as keyof Dialect];
    return [name, values[row[option] ?? 0], row[option] !== 0] as const;
  });
  const departures = chosen.filter(([, , departs]) => departs);
  return {
    name: departures.map(([name, value]) => `${name} ${value}`).join(', ') || 'its own',
    // Names and values come from one table, whose type holds them together.
    dialect: Object.fromEntries(chosen.map(([name, value]) => [name, value])) as Partial<Dialect>,
  };
});

import { randomInt } from 'node:crypto';
import type { Json, JsonObject } from '../core/value.ts';
import { type Chance, chanceOf } from './calls/chance.ts';

/**
 * What a platform must have and the specification does not show. It is drawn for each start, so that nothing can
 * come to rely on what this simulator made up. The specification shows that a source can be `active`, not when: it
 * may be that before it is ingested, too.
 */
export type Inventions = {
  /** What `status` of a source is before it is ingested, while it is, and where that failed. */
  readonly states: { readonly waiting: string; readonly working: string; readonly failed: string };
  /** How a source that was never ingested tells so. */
  readonly nothing: JsonObject;
  /** Members that no schema knows, where answers have such (`unknownFields`). */
  readonly unknown: JsonObject;
};

const STATES: Readonly<Record<keyof Inventions['states'], readonly string[]>> = {
  waiting: [
    'active',
    'awaiting_upload',
    'created',
    'draft',
    'new',
    'pending',
    'ready',
    'uploading',
  ],
  working: ['active', 'indexing', 'ingesting', 'pending', 'processing', 'queued', 'syncing'],
  failed: ['active', 'broken', 'done', 'error', 'failed', 'inactive', 'processing'],
};

const SPELLINGS: readonly ((word: string) => string)[] = [
  (word) => word,
  (word) => word.toUpperCase(),
  (word) => word.replaceAll('_', '-'),
  (word) => `${word.charAt(0).toUpperCase()}${word.slice(1)}`,
  (word) => `source_${word}`,
];

const NOTHING: readonly JsonObject[] = [
  { chunk_count: 0, last_synced_at: null },
  { chunk_count: 0 },
  { last_synced_at: null },
  {},
];

const MEMBERS: readonly (readonly [string, Json])[] = [
  ['_links', { self: null }],
  ['failure', null],
  ['experiments', ['b']],
  ['ingested', true],
  ['job', { id: 'job-1', state: 'finished' }],
  ['progress', 100],
  ['tenant_shard', 7],
];

const drawn = new Map<number | null, Inventions>();

/** The inventions of a seed; the same seed draws the same. */
export function inventionsOf(seed: number | null): Inventions {
  const known = drawn.get(seed);
  if (known !== undefined) return known;
  const inventions = draw(chanceOf(seed ?? 0));
  drawn.set(seed, inventions);
  return inventions;
}

/** A seed for a start that names none. */
export function drawSeed(): number {
  return randomInt(1, 2 ** 31);
}

function draw(chance: Chance): Inventions {
  const spell = chance.pick(SPELLINGS);
  // Spelled in another way, `active` would be another word.
  const named = (words: readonly string[]) => {
    const word = chance.pick(words);
    return word === 'active' ? word : spell(word);
  };
  const members = MEMBERS.filter(() => chance.isLikely(0.5));
  return {
    states: {
      waiting: named(STATES.waiting),
      working: named(STATES.working),
      failed: named(STATES.failed),
    },
    nothing: chance.pick(NOTHING),
    unknown: { [`x_${chance.between(0, 9999)}`]: true, ...Object.fromEntries(members) },
  };
}

import fc from 'fast-check';
import { test } from 'vitest';
import { isTorture, timeFor } from '../long.ts';
import found from './found.json' with { type: 'json' };
import { play, type Sequence } from './play.ts';
import { sequences } from './sequence.ts';

/** Longer than it takes until no two changes can have one `updated_at`. */
const A_WHILE_MS = 61_000;

/**
 * A model of the whole: random lives of a stack, on random platforms, and after each command an oracle that shares
 * nothing with the program says what must hold. What fails is cut down, and belongs into `found.json`.
 */
test.each(found)('once: $why', async ({ commands, dialect = {} }) => {
  // The types of the file are those of JSON.
  const kept = { dialect, commands } as Pick<Sequence, 'dialect' | 'commands'>;
  await play({ ...kept, pace: A_WHILE_MS });
});

/** `npm test` plays the same lives each time; new ones are drawn in torture. */
const drawn = isTorture ? { numRuns: 1_000 } : { numRuns: 12, seed: 38 };
const { numRuns: count } = drawn;

test(
  `${count} lives of a stack`,
  async () => {
    const property = fc.asyncProperty(sequences, (sequence) => play(sequence));
    await fc.assert(property, drawn);
  },
  timeFor(count * 4),
);

import type { StoreEffects } from '../../src/state/file/store.ts';
import { openFileStore } from '../../src/state/file/store.ts';
import type { JournalEntry } from '../../src/state/journal.ts';
import { formatEntry, JOURNAL_HEADER } from '../../src/state/journal-text.ts';
import type { State } from '../../src/state/model.ts';
import { openStateSeals } from '../../src/state/open.ts';
import type { Seals } from '../../src/state/seal.ts';
import { formatState, parseState } from '../../src/state/state-text.ts';
import type { StateStore } from '../../src/state/store.ts';
import { FINGERPRINT_KEY } from '../e2e/clinic.ts';

/** States of stages, which are sealed with the key that every stage of these tests has. */

export function keyedSeals(file: string, key = FINGERPRINT_KEY): Seals {
  return openStateSeals({ file }, { env: { CALLSHEET_FINGERPRINT_KEY: key } });
}

export function openKeyed(file: string, effects: Partial<StoreEffects> = {}): StateStore {
  return openFileStore(file, { seals: keyedSeals(file), ...effects });
}

export function formatKeyed(state: State, file = '.callsheet/state.json'): Promise<string> {
  return formatState(state, keyedSeals(file));
}

export function parseKeyed(text: string, file = '.callsheet/state.json'): Promise<State> {
  return parseState(text, file, keyedSeals(file));
}

/** A journal's text, header included. The first entry is its beginning. */
export function keyedJournal(run: string, entries: readonly JournalEntry[]): string {
  const seals = keyedSeals('state.json').lines(run);
  return JOURNAL_HEADER + entries.map((entry) => formatEntry(entry, seals)).join('');
}

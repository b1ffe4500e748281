import { CallsheetError } from '../core/errors.ts';
import type { Layout } from './layout.ts';
import type { State } from './model.ts';
import { type OpenRuns, readOpenRuns, readText, sortOpenRuns } from './run-files.ts';
import { parseState } from './state-text.ts';

/** How a state stands: as committed, and what the journals beside it hold. */
export type Standing = { readonly state: State | undefined; readonly runs: OpenRuns };

/** Readers take no lock. A run that commits between two reads can look like a mismatch once, not three times. */
const TRIES = 3;

/** Throws `CallsheetError('state')` when state or journals are damaged, or do not belong together. */
export async function readStanding(layout: Layout, location: string): Promise<Standing> {
  for (let attempt = 1; ; attempt += 1) {
    const state = await readState(layout, location);
    const open = await readOpenRuns(layout);
    // One was filed between the listing and the reading: look again.
    if (open === undefined) continue;
    try {
      return { state, runs: sortOpenRuns(state, open, location) };
    } catch (error) {
      if (attempt === TRIES || !(error instanceof CallsheetError)) throw error;
    }
  }
}

/** Undefined when there is none yet. */
export async function readState(layout: Layout, location: string): Promise<State | undefined> {
  const text = await readText(layout.state);
  return text === undefined ? undefined : parseState(text, location);
}

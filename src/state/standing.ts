import { CallsheetError } from '../core/errors.ts';
import type { State } from './model.ts';
import type { Place } from './place.ts';
import { type OpenRuns, readOpenRuns, sortOpenRuns } from './run-files.ts';
import { parseState } from './state-text.ts';

/** How a state stands: as committed, and what the journals beside it hold. */
export type Standing = { readonly state: State | undefined; readonly runs: OpenRuns };

/**
 * Readers take no lock, so a run can commit and another begin between two reads. What then does not fit
 * together does so at the next look; what still does not is so on disk.
 */
const TRIES = 3;

/** Throws `CallsheetError('state')` when state or journals are damaged, or do not belong together. */
export async function readStanding(place: Place): Promise<Standing> {
  for (let attempt = 1; ; attempt += 1) {
    const state = await readState(place);
    const open = await readOpenRuns(place);
    // One was filed between the listing and the reading: look again.
    if (open === undefined) continue;
    try {
      const runs = sortOpenRuns(state, open, place.location);
      const from = runs.pending?.began.serial;
      if (from === undefined || from === (state?.serial ?? 0) || attempt === TRIES)
        return { state, runs };
    } catch (error) {
      if (attempt === TRIES || !(error instanceof CallsheetError)) throw error;
    }
  }
}

/** Undefined when there is none yet. */
async function readState({ layout, location, disk }: Place): Promise<State | undefined> {
  const text = await disk.read(layout.state);
  return text === undefined ? undefined : parseState(text, location);
}

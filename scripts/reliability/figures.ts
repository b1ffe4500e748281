import { isObject, type Json, type JsonObject } from '../../src/core/value.ts';

/** How many points of a run a kill was tried at, and how many of them came to the right end. */
export type Kills = { readonly points: number; readonly converged: number };

/** The outcome of killing commands at every moment of theirs. */
export type KillMatrix = Kills & {
  readonly by_scenario: { readonly [scenario: string]: Kills };
  /** `before journal intent`, `after request POST`, `within write draft`. */
  readonly by_step: { readonly [step: string]: Kills };
  /** The moments that came to a wrong end, and what was wrong. */
  readonly broken: readonly object[];
};

/** Rollouts that were played, of one change to one fleet. Hours are medians from the start; null where none ended so. */
export type PlayedRollouts = {
  readonly fleet: string;
  readonly change: string;
  readonly rollouts: number;
  readonly stopped: number;
  /** Rollouts that were stopped before half of the fleet had the change; `stopped` counts them, too. */
  readonly early: number;
  readonly finished: number;
  readonly hours_to_stop: number | null;
  readonly hours_to_finish: number | null;
};

/** The figures that the long tests wrote; a part is missing if its test has not run. */
export type Measured = {
  readonly kill_matrix?: KillMatrix;
  /** Faults of the requests that create something, on each of some platforms. */
  readonly makings?: Kills & {
    readonly requests: number;
    readonly cells: number;
    readonly platforms: number;
  };
  readonly worlds?: {
    readonly worlds: number;
    readonly steps: number;
    readonly faults: number;
    readonly seed: number;
  };
  /** The outcome of each fault of each kind of store: `right`, `goes on`, `refused`, `not run`. */
  readonly stores?: { readonly [store: string]: { readonly [what: string]: string } };
  readonly canaries?: {
    readonly positions: number;
    readonly commands: number;
    readonly checks: number;
    readonly leaks: number;
  };
  readonly rollouts?: readonly PlayedRollouts[];
};

/** Everything that the page shows. */
export type Figures = Measured & { readonly mutation?: readonly MutatedFolder[] };

/** When something was measured, and at which commit. */
export type Measurement = { readonly on: string; readonly at: string };

/** The newest figures of each part, as `docs/contributing/reliability.json` keeps them. */
export type Kept = {
  readonly [part in keyof Figures]?: Measurement & { readonly figures: Required<Figures>[part] };
};

export type MutatedFolder = {
  readonly folder: string;
  readonly files: number;
  readonly detected: number;
  readonly undetected: number;
};

const DETECTED = ['Killed', 'Timeout'];
const UNDETECTED = ['Survived', 'NoCoverage'];

/** Counts the mutants of files in mutation reports, folder by folder. Those that were never run count for nothing. */
export function foldersIn(mutated: JsonObject): readonly MutatedFolder[] {
  const folders = new Map<string, MutatedFolder>();
  for (const [file, result] of Object.entries(mutated)) {
    const folder = file.split('/').slice(0, 2).join('/');
    const known = folders.get(folder) ?? { folder, files: 0, detected: 0, undetected: 0 };
    const statuses = statusesIn(result);
    const count = (wanted: readonly string[]) =>
      statuses.filter((status) => wanted.includes(status)).length;
    folders.set(folder, {
      folder,
      files: known.files + 1,
      detected: known.detected + count(DETECTED),
      undetected: known.undetected + count(UNDETECTED),
    });
  }
  return [...folders.values()];
}

function statusesIn(result: Json): readonly string[] {
  const mutants = isObject(result) && Array.isArray(result.mutants) ? result.mutants : [];
  return mutants.map((mutant: Json) => (isObject(mutant) ? String(mutant.status) : ''));
}

import { readFile } from 'node:fs/promises';
import { isObject, type JsonObject } from '../../src/core/value.ts';
import { type Figures, foldersIn, type Kept, type Measurement } from './figures.ts';

/** Reads the figures of the last runs. A file that is missing or incomplete has none. */
export async function collectFigures(
  tortured: string,
  mutated: readonly string[],
): Promise<Figures> {
  const figures: Figures = await readObject(tortured);
  const reports = await Promise.all(mutated.map(readObject));
  const files = reports.map((report) => report.files).filter(isObject);
  // One of them alone would look like all of it.
  return files.length < mutated.length
    ? figures
    : { ...figures, mutation: foldersIn(Object.assign({}, ...files)) };
}

/** Reads the last known figures of each part; none if the file is missing or unreadable. */
export async function readKept(file: string): Promise<Kept> {
  return readObject(file);
}

/** Returns the kept figures with the newest of each part that was measured. */
export function withFigures(kept: Kept, figures: Figures, measured: Measurement): Kept {
  const parts = Object.entries(figures).map(([part, its]) => [part, { ...measured, figures: its }]);
  return { ...kept, ...Object.fromEntries(parts) };
}

async function readObject(file: string): Promise<JsonObject> {
  try {
    const value = JSON.parse(await readFile(file, 'utf8'));
    return isObject(value) ? value : {};
  } catch {
    return {};
  }
}

/** A command that was run, and what it ended with; null where it was killed or could not be started. */
export type Ended = { readonly command: string; readonly exit: number | null };

const PARTS: { readonly [part in keyof Required<Figures>]: string } = {
  kill_matrix: 'kill matrix',
  makings: 'what takes several requests',
  worlds: 'random worlds',
  stores: 'stores',
  canaries: 'canary secrets',
  rollouts: 'rollouts judged by calls',
  mutation: 'mutation testing',
};

/** Lists the problems, a line each: commands that failed, and parts that were never measured. */
export function problemsOf(ended: readonly Ended[], figures: Kept): readonly string[] {
  const failed = ended
    .filter(({ exit }) => exit !== 0)
    .map(
      ({ command, exit }) => `${command} failed${exit === null ? '' : ` with exit code ${exit}`}`,
    );
  const names = Object.keys(PARTS) as (keyof Figures)[];
  const missing = names
    .filter((part) => figures[part] === undefined)
    .map((part) => `not measured: ${PARTS[part]}`);
  return [...failed, ...missing];
}

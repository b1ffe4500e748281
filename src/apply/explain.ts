import { ApiError } from '../api/errors.ts';
import type { LeafChange } from '../diff/compare.ts';
import { type Barred, findRefusals, ownersOf, type PreflightContext } from '../plan/preflight.ts';
import type { LiveResource } from '../plan/reader.ts';
import { remaining, type Work } from './work.ts';

/**
 * Why the platform refuses a write that the plan took for allowed, if it says so now: somebody locked a
 * feature since, say. Asks what preflight asks; undefined where that tells nothing.
 */
export async function explainRefusal(
  error: unknown,
  work: Work,
  live: LiveResource | undefined,
): Promise<string | undefined> {
  if (!(error instanceof ApiError) || !REFUSALS.has(error.status)) return undefined;
  // What was known before this refusal may be older than the lock.
  const reasons = (await ask(work, live, false)) ?? (await ask(work, live, true));
  return reasons && `refused since the plan: ${reasons}`;
}

/** A lock is a 403 or, for a template, a status that the specification does not show. */
const REFUSALS: ReadonlySet<number> = new Set([400, 403]);

/** What stands against writing these leaves, asked anew; nothing where the platform does not say. */
export async function askBarred(
  work: Work,
  live: LiveResource,
  leaves: readonly LeafChange[],
): Promise<readonly Barred[]> {
  try {
    const { barred } = await findRefusals(...question(work, live, leaves, true));
    return barred;
  } catch {
    return [];
  }
}

async function ask(
  work: Work,
  live: LiveResource | undefined,
  fresh: boolean,
): Promise<string | undefined> {
  const left = live === undefined ? [] : remaining(work, live, false);
  try {
    const { refusals } = await findRefusals(...question(work, live, left, fresh));
    return refusals.length === 0 ? undefined : refusals.join('; ');
  } catch {
    // The refusal itself is what has to be told; that nobody can say why is no other failure.
    return undefined;
  }
}

function question(
  { change, desired, deps, organizations }: Work,
  live: LiveResource | undefined,
  leaves: readonly LeafChange[],
  fresh: boolean,
): Parameters<typeof findRefusals> {
  const context: PreflightContext = {
    reader: deps.reader,
    terms: deps.reader.terms(fresh),
    organizations,
    ...ownersOf([...deps.desired.values()]),
  };
  const { operations } = change;
  // What was made before the refusal is there now.
  const steps =
    live === undefined ? operations : operations.filter(({ step }) => step !== 'create');
  const writing = { document: desired?.document ?? {}, leaves, live: live?.document ?? {} };
  const tried = { ...change, id: live?.id ?? change.id, operations: steps };
  return [tried, writing, context];
}

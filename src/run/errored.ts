import { createReadStream } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { commandSpan, quoted } from '../core/command-line.ts';
import { CallsheetError } from '../core/errors.ts';
import type { Stack } from '../stack/index.ts';
import { NotKept } from '../state/failures.ts';
import { writeStateCopy } from '../state/file/store.ts';
import type { State } from '../state/model.ts';
import { openStateSeals } from '../state/open.ts';
import { readHead, type StateHead } from '../state/state-text.ts';
import type { RunContext } from './context.ts';

/**
 * The copy of a state that its store did not take, beside the stack: a server may have lost what it had, too.
 *
 *     the store has this serial or a later one     the copy is over: the next commit or push removes it
 *     it has an earlier one, and an open journal   the journal is recovered as ever, which commits the same again
 *     it has an earlier one, or none, or damage    refused, with the command that pushes the copy
 */
export type Errored = StateHead & { readonly file: string };

type Place = Pick<Stack, 'dir' | 'environment' | 'state'>;

/** Each environment has a state of its own. */
function nameCopy({ dir, environment }: Pick<Place, 'dir' | 'environment'>): string {
  const middle = environment === undefined ? '' : `.${environment}`;
  return join(dir, `errored${middle}.callsheet-state`);
}

/** The copy that a run left, and the state that it is of; undefined where there is none. */
export async function readErrored(place: Place): Promise<Errored | undefined> {
  const file = nameCopy(place);
  const stream = createReadStream(file);
  try {
    const head = await readHead(linesOf(stream));
    return head && { ...head, file };
  } catch {
    // There is none, or none that can be read: nothing is known of it then.
    return undefined;
  } finally {
    stream.destroy();
  }
}

async function* linesOf(stream: NodeJS.ReadableStream) {
  for await (const text of createInterface({ input: stream, crlfDelay: Infinity }))
    yield { text, isWhole: true };
}

/** Removes the copy of a state that is kept by now. */
export async function dropErrored(place: Place, kept: StateHead): Promise<void> {
  const errored = await readErrored(place);
  if (errored !== undefined && isCovered(errored, kept)) await rm(errored.file, { force: true });
}

function isCovered({ lineage, serial }: StateHead, kept: StateHead): boolean {
  return lineage === kept.lineage && serial <= kept.serial;
}

/**
 * Throws `CallsheetError('state')` where a run left a later state here than its store has. `found`: what the store has;
 * one that has none, or a damaged one, may have lost it.
 */
export async function refuseErrored(
  place: Place,
  found: State | undefined,
  location: string,
  cause?: unknown,
): Promise<void> {
  const errored = await readErrored(place);
  if (errored === undefined) return;
  const { file, serial, lineage } = errored;
  if (found !== undefined && (found.lineage !== lineage || isCovered(errored, found))) return;
  const has =
    found === undefined
      ? cause === undefined
        ? 'none'
        : 'a damaged one'
      : `serial ${found.serial}`;
  throw new CallsheetError(
    'state',
    `a run could not write its state to ${location}, which has ${has}; serial ${serial} is kept in ${file}`,
    {
      hint: `Put it there: ${pushCommand(place, file, found === undefined)}. Or delete the file, if the state of the store is the right one.`,
      ...(cause === undefined ? {} : { cause }),
    },
  );
}

/**
 * Keeps a state beside its stack that the store did not take, in place of an earlier copy of the same state. Resolves to
 * the failure with the way on. A run that lost its lock keeps none: another one goes on from its journal.
 */
export async function keepErrored(
  failure: unknown,
  state: State,
  place: Place,
  context: RunContext,
): Promise<unknown> {
  if (!(failure instanceof CallsheetError) || failure.code === 'locked') return failure;
  const errored = await readErrored(place);
  if (errored !== undefined && errored.lineage !== state.lineage) return failure;
  const file = nameCopy(place);
  try {
    const { disk } = context;
    await rm(file, { force: true });
    await writeStateCopy(file, state, { disk, seals: openStateSeals(place.state, context) });
  } catch {
    if (!(failure instanceof NotKept)) return failure;
    return failure.withTodo(
      'The changes of the run are made, and its state is lost. The next plan finds resources by their names.',
    );
  }
  const push = pushCommand(place, file);
  if (failure instanceof NotKept)
    return failure.withTodo(
      `The changes of the run are made, and its state is kept in ${file}. Then put it there: ${push}`,
    );
  return new CallsheetError(failure.code, failure.message, {
    hint: `${failure.hint ?? ''} The state as this run knows it is kept in ${file}. If the store lost its own, put it there: ${push}`.trim(),
    cause: failure,
  });
}

/** A whole state of the same lineage is replaced by its successor as ever; anything else needs more. */
function pushCommand({ dir, environment }: Place, file: string, isOverwriting = true): string {
  const flag = isOverwriting ? '--overwrite ' : '';
  return commandSpan(`state push ${flag}${quoted(file)}`, { dir, env: environment });
}

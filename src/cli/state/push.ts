import { readFile } from 'node:fs/promises';
import { text as textFrom } from 'node:stream/consumers';
import type { Address } from '../../core/address.ts';
import { digestOf } from '../../core/digest.ts';
import { CallsheetError } from '../../core/errors.ts';
import type { LedgerLine } from '../../state/journal.ts';
import type { State } from '../../state/model.ts';
import { parseState } from '../../state/state-text.ts';
import { describeActor } from '../actor.ts';
import type { CommonFlags, Context } from '../context.ts';
import { runId } from '../run-id.ts';
import { beginning, type Edited, editLine, ending, originOf } from './edit.ts';
import { holderFor, type OpenState, withStore } from './open.ts';
import { settledState } from './settle.ts';

/** What came of a push; without an edit the state was the same already. */
type Pushed = {
  readonly edited: Edited | undefined;
  /** Names, beside the state, of what it took the place of. */
  readonly setAside: readonly string[];
};

/**
 * Puts the state of a file in the place of the stack's. It must be of the same lineage and account, and
 * newer; `force` puts it there whatever it is and whatever is there.
 */
export function pushState(
  file: string,
  force: boolean,
  flags: CommonFlags,
  context: Context,
): Promise<Pushed> {
  return withStore(flags, context, async (open) => {
    const given = await readGiven(file);
    const { store } = open;
    const run = runId(context.now());
    const actor = await describeActor(open.settings.dir, context);
    const lease = await store.acquire(holderFor(run, 'state push', actor, context));
    const current = force
      ? (await store.salvage()).state
      : await settledState(open, lease, context);
    if (!force && current !== undefined && isSame(current, given))
      return { edited: undefined, setAside: [] };
    if (!force && current !== undefined) checkSuccessor(given, current, open);
    const known = current?.lineage === given.lineage ? current.serial : 0;
    const before = { ...given, serial: Math.max(given.serial, known) };
    const ledger = differences(current, given);
    const state: State = { ...before, serial: before.serial + 1, last_run: run };
    const began = await beginning(run, 'state push', open, context);
    const setAside = await lease.replace(state, [
      { ...began, ...originOf(before) },
      ending(ledger, context),
    ]);
    return { edited: { run, serial: state.serial, ledger }, setAside };
  });
}

/** `-` is standard input. */
async function readGiven(file: string): Promise<State> {
  try {
    const text = file === '-' ? await textFrom(process.stdin) : await readFile(file, 'utf8');
    return await parseState(text, file === '-' ? 'the state on standard input' : file);
  } catch (error) {
    if (error instanceof CallsheetError)
      throw new CallsheetError('usage', error.message, {
        hint: 'Nothing was pushed. callsheet state pull > FILE writes a state that can be pushed.',
      });
    throw new CallsheetError('usage', `the file ${file} cannot be read`, {
      hint: 'Nothing was pushed.',
      cause: error,
    });
  }
}

function isSame(current: State, given: State): boolean {
  return digestOf({ ...current }) === digestOf({ ...given });
}

function checkSuccessor(given: State, current: State, { store }: OpenState): void {
  const refuse = (why: string) => {
    throw new CallsheetError('refused', `the state ${store.location} was not replaced: ${why}`, {
      hint: 'With --force the file takes its place all the same. What was there is kept beside it under another name; what only that knew is then found by name, or not at all.',
    });
  };
  if (given.lineage !== current.lineage)
    refuse(`the file is of another stack (lineage ${given.lineage}, here ${current.lineage})`);
  if (current.account_id !== undefined && given.account_id !== current.account_id)
    refuse(`the file is of account ${given.account_id ?? 'none'}, this of ${current.account_id}`);
  if (given.serial < current.serial)
    refuse(`the file is older (serial ${given.serial}, here ${current.serial})`);
  if (given.serial === current.serial)
    refuse(`the file differs, though it has the same serial (${given.serial})`);
}

/** What the new state knows otherwise than the one before. */
function differences(before: State | undefined, after: State): readonly LedgerLine[] {
  const old = before?.resources ?? {};
  const digest = (state: State['resources'], address: Address) => digestOf({ ...state[address] });
  const gone = Object.entries(old).flatMap(([address, { id }]) =>
    after.resources[address] === undefined ? [editLine(address, 'forget', id)] : [],
  );
  const told = Object.entries(after.resources).flatMap(([address, { id }]) => {
    if (old[address] === undefined) return [editLine(address, 'record', id)];
    return digest(old, address) === digest(after.resources, address)
      ? []
      : [editLine(address, 'record', id)];
  });
  return [...told, ...gone];
}

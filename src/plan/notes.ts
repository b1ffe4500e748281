import type { Address } from '../core/address.ts';
import type { Change, Note } from '../core/plan-document.ts';
import { inSeconds } from '../core/time.ts';
import { Blob } from '../core/value.ts';
import type { LeafChange } from '../diff/compare.ts';
import type { HistoryEntry, LiveResource } from './reader.ts';

/** What a comparison found that writes nothing but that a person should know; of secrets see `secrets.ts`. */
export function leafNotes(address: Address, leaves: readonly LeafChange[]): readonly Note[] {
  return leaves.flatMap((leaf) => {
    const note = leafNote(leaf);
    return note === undefined ? [] : [{ ...note, address }];
  });
}

function leafNote({
  cause,
  text,
  before,
  after,
  unreadable,
  sensitive,
}: LeafChange): Omit<Note, 'address'> | undefined {
  if (cause === 'released') {
    const message = `${text} is no longer configured; it cannot be cleared, so its value stays on the platform`;
    return { severity: 'warning', message };
  }
  if (cause === 'unknown_content') {
    const message =
      after instanceof Blob
        ? `${text}: the platform does not return its content; it is taken to be this file`
        : `${text}: the platform does not return it, so it is not compared; it is left alone`;
    return { severity: 'info', message };
  }
  if (unreadable && !sensitive) {
    return before === undefined
      ? {
          severity: 'info',
          message: `${text}: Callsheet does not know this field, and the platform returns none of this name now. The run says whether it could be verified.`,
        }
      : {
          severity: 'warning',
          message: `${text}: the platform does not return it, so nobody can verify that it took`,
        };
  }
  return undefined;
}

/** What a person should know of a resource that is taken to be what it was, since it cannot be read. */
export function extentNotes(
  { address, action }: Change,
  live: LiveResource | undefined,
): readonly Note[] {
  if (live?.extent !== 'nothing' || action !== 'no_op') return [];
  const message = 'it cannot be read; it is taken to be what was last written';
  return [{ severity: 'info', address, message }];
}

/** When a resource without a history was changed last; by whom, nobody records. Undefined: not told either. */
export function attributeUnrecorded(updated: string | null): string | undefined {
  return updated === null
    ? undefined
    : `last changed at ${inSeconds(updated)}, by whom is not recorded`;
}

/** Who changed a resource since its last known history entry: the newest ones, in words. */
export function attributeDrift(
  history: readonly HistoryEntry[],
  since: number | null | undefined,
): string {
  if (since === null || since === undefined) {
    return 'by whom is unknown: no history entry of the last apply is known';
  }
  const newer = history.filter(({ id }) => id > since);
  const last = newer[0];
  if (last === undefined) return 'by whom is unknown: its history has no newer entry';
  const who = `${last.actor ?? 'someone'}${last.source === null ? '' : ` via ${last.source}`}`;
  const more = newer.length > 1 ? `, ${newer.length - 1} earlier` : '';
  return `last by ${who}${last.at === null ? '' : ` at ${inSeconds(last.at)}`}, history entry ${last.id}${more}`;
}

import { digestOfMembers } from '../core/digest.ts';
import type { Pin } from '../core/plan-document.ts';
import { liveForm } from '../diff/leaves.ts';
import type { Kind } from '../kinds/kind.ts';
import type { RememberedPin } from '../state/model.ts';
import type { LiveResource } from './reader.ts';

/** The pin of a live resource. `history_id` is filled in where a plan would change it. */
export function pinOf(kind: Kind, live: LiveResource, history: number | null): Pin {
  const updated = live.record.updated_at;
  return {
    digest: digestOfMembers(liveForm(kind.schema, live.document)),
    updated_at: typeof updated === 'string' ? updated : null,
    history_id: history,
  };
}

/** The pin to remember of a resource; what could not be read has none, or the one that it had. */
export function livePin(
  kind: Kind,
  live: LiveResource,
  known: Pin | null,
  history = known?.history_id ?? null,
): Pin | null {
  return live.extent === 'nothing' ? known : pinOf(kind, live, history);
}

/**
 * How long a stamp must be over for a change that comes after the reading to be sure to get another one: it may be
 * told in whole seconds, rounded up, and set by another of the platform's machines than the one that said what
 * time it was.
 */
export const STAMP_DOUBT_MS = 10_000;

/**
 * The pin with what a later plan may conclude from it. Only for a resource that is just as the state is going to
 * remember it: see `unmoved.ts`.
 */
export function certified(
  kind: Kind,
  { readAt, extent }: LiveResource,
  pin: RememberedPin | null,
  known?: RememberedPin | null,
): RememberedPin | null {
  if (pin === null || kind.stamp === undefined || extent !== 'whole') return pin;
  const isOver = readAt !== undefined && isStampOver(pin.updated_at, readAt);
  const isKnown = known?.certain === true && known.form === undefined && isSamePin(known, pin);
  return isOver || isKnown ? { ...pin, certain: true } : pin;
}

/** Whether two pins are of one and the same state of a resource. */
export function isSamePin(one: Pin, other: Pin): boolean {
  return one.digest === other.digest && one.updated_at === other.updated_at;
}

/** Whether a stamp is long over at a time of the platform's clock. One that does not say its zone says nothing. */
export function isStampOver(stamp: string | null, at: number): boolean {
  if (stamp === null || !/(?:Z|[+-]\d\d:?\d\d)$/i.test(stamp)) return false;
  return Date.parse(stamp) + STAMP_DOUBT_MS <= at;
}

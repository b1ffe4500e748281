import { type Heard, heed, type RateCourse, rateOf, takeTurn } from '../api/rate.ts';

/** What one who works for an account is given of its rate. Times are those of the database. */
export type Share = {
  /** When a request may be sent, one for each. */
  readonly slots: readonly number[];
  /** Until then as many may be sent as one likes: no limit is known. */
  readonly freeUntil: number;
  /** Where there are fewer slots than were asked for: when to ask again. */
  readonly askAt: number;
};

/** Slots are given for so many milliseconds ahead: whoever dies with some in hand has lost no more than that. */
export const HORIZON_MS = 120;
/** Longer than that nobody waits without looking again: others may have heard meanwhile that requests are taken. */
const LOOK_AGAIN_MS = 500;

/**
 * Tells the course what was heard, and takes a share of it. Pure: the row that keeps the course is locked meanwhile,
 * so that of all who ask at once each gets slots of its own.
 */
export function takeShare(
  before: RateCourse,
  heard: readonly Heard[],
  wanted: number,
  now: number,
): { readonly course: RateCourse; readonly share: Share } {
  let course = heard.toSorted((a, b) => a.at - b.at).reduce(heed, before);
  const isFree = rateOf(course) === null && course.refusals === 0 && course.until <= now;
  if (isFree)
    return { course, share: { slots: [], freeUntil: now + HORIZON_MS, askAt: now + HORIZON_MS } };
  const slots: number[] = [];
  let at = now;
  while (slots.length < wanted) {
    const turn = takeTurn(course, at);
    if (turn.wait === 0) {
      slots.push(at);
      course = turn.course;
      continue;
    }
    at += turn.wait;
    if (at > now + (slots.length === 0 ? LOOK_AGAIN_MS : HORIZON_MS)) break;
  }
  const askAt = slots.length === 0 ? Math.min(at, now + LOOK_AGAIN_MS) : at;
  return { course, share: { slots, freeUntil: 0, askAt } };
}

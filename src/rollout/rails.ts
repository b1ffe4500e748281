/** Guard rails of a rollout: agents that fall silent, and calls with errors, computed from counts alone. */
import type { Address } from '../core/address.ts';
import { sum } from '../core/value.ts';

/** Calls of an agent in a stretch up to now, and in the same stretch of each of some weeks before it had the change. */
export type Stretch = {
  readonly address: Address;
  readonly calls: number;
  readonly weeks: readonly number[];
};

/** A broken rail rolls back, or holds as long as it is broken. */
export type Broken = {
  readonly does: 'rollback' | 'hold';
  readonly agents: readonly { readonly address: Address; readonly expected: number }[];
};

/** So many of the others that would have calls may have none. Where it is more, figures are missing. */
const SILENT_SHARE = 0.15;

/**
 * Agents of one step that got no call in a stretch in which they had some in each of the weeks before: weekdays, closing
 * times and agents that nobody calls are no silence. An agent with `least` expected calls holds; where half of the step
 * is silent, with as many calls expected of all together, it is rolled back.
 */
export function findSilence(
  changed: readonly Stretch[],
  others: readonly Stretch[],
  least: number,
): Broken | null {
  const isCalled = ({ weeks }: Stretch) => weeks.length > 0 && weeks.every((calls) => calls > 0);
  const called = others.filter(isCalled);
  const quiet = called.filter(({ calls }) => calls === 0).length;
  if (called.length === 0 || quiet > SILENT_SHARE * called.length) return null;
  const silent = changed
    .filter((one) => one.calls === 0 && isCalled(one))
    .map(({ address, weeks }) => ({ address, expected: sum(weeks) / weeks.length }));
  const isHalf = silent.length > 1 && silent.length >= changed.length / 2;
  if (isHalf && sum(silent.map(({ expected }) => expected)) >= least)
    return { does: 'rollback', agents: silent };
  const agents = silent.filter(({ expected }) => expected >= least);
  return agents.length === 0 ? null : { does: 'hold', agents };
}

/** Calls of an agent on one day, and how many of them have an error. */
export type DayOfCalls = { readonly calls: number; readonly errors: number };

/** Fewer errors make no bad day: one fault easily makes two, since a caller who is cut off calls again. */
const LEAST_ERRORS = 3;

/** Percent of calls with an error, from which on a broken rail rolls back. */
const MANY_ERRORS = 30;

/**
 * Errors come in days: one fault fails many calls of a day. So the unit is an agent's day, which is bad where more than
 * `limit` percent of its calls have an error. The rail is broken where agents with the change have more bad days than
 * agents have elsewhere: the others, and all of them before. The share counts by the lower end of a confidence sequence
 * (Robbins 1970 with the mixture of Krichevsky and Trofimov 1981, exact for independent days).
 */
export function findErrors(
  days: readonly DayOfCalls[],
  usual: { readonly days: number; readonly bad: number },
  limit: number,
  alpha: number,
): ({ readonly does: 'rollback' | 'hold' } & DayOfCalls) | null {
  const found = days.filter((day) => isBad(day, limit)).length;
  const allowed = (usual.bad + 1) / (usual.days + 2);
  if (found === 0 || leastShare(found, days.length, alpha) <= allowed) return null;
  const [calls, errors] = [sum(days.map((one) => one.calls)), sum(days.map((one) => one.errors))];
  return { does: 100 * errors < MANY_ERRORS * calls ? 'hold' : 'rollback', calls, errors };
}

export function isBad({ calls, errors }: DayOfCalls, limit: number): boolean {
  return errors >= LEAST_ERRORS && 100 * errors > limit * calls;
}

/** The least share that the mixture over all shares does not exclude. */
function leastShare(found: number, days: number, alpha: number): number {
  let mixed = 0;
  for (let index = 0; index < found; index++) mixed += Math.log((index + 0.5) / (index + 1));
  for (let index = 0; index < days - found; index++)
    mixed += Math.log((index + 0.5) / (found + index + 1));
  const missed = days - found;
  let [low, high] = [0, found / days];
  for (let step = 0; step < 50; step++) {
    const share = (low + high) / 2;
    const against =
      mixed - found * Math.log(share) - (missed === 0 ? 0 : missed * Math.log1p(-share));
    if (against >= -Math.log(alpha)) low = share;
    else high = share;
  }
  return low;
}

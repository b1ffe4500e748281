/** The platform's time: that of another clock, moved on as far as anybody asked. */
type Clock = {
  readonly now: () => Date;
  /** Moves it on by milliseconds. */
  readonly advance: (milliseconds: number) => void;
  /** The time of a change: later than that of every change before it, so that `updated_at` tells them apart. */
  readonly stamp: () => string;
};

export function createClock(source: () => Date): Clock {
  let ahead = 0;
  let last = 0;
  const now = () => new Date(source().getTime() + ahead);
  return {
    now,
    advance: (milliseconds) => {
      ahead += milliseconds;
    },
    stamp: () => {
      // A clock that stands still is pushed on by a millisecond.
      last = Math.max(now().getTime(), last + 1);
      return new Date(last).toISOString();
    },
  };
}

import { endsRefusals, heed, NEW_COURSE, type RateCourse, strikesWith, takeTurn } from './rate.ts';
import { createWidth } from './width.ts';

/** Lets requests to one host through, in the order in which they come, as its answers allow. */
export type Gate = {
  /**
   * Calls `go` when a request may be sent. That may take any time where the host takes requests, but `patience`
   * milliseconds at most of the time in which it refuses them.
   */
  readonly enter: (patience: number, go: (pass: Pass) => void) => void;
  /** Lets everyone through at once. */
  readonly open: () => void;
};

/** A request that was let through. One of the two is to be called when it ends. */
export type Pass = {
  /** Milliseconds that it stood at the gate while the host refused requests. */
  readonly held: number;
  /** Whether it was let through because the gate is open for good. */
  readonly isOpen: boolean;
  /** It was answered. A 429 says for how long nothing is to be sent, by how many refusals in a row it makes. */
  readonly answered: (pause?: (refusals: number) => number) => void;
  /** It ended without an answer. */
  readonly lost: () => void;
};

export type GateOptions = {
  /** Most that are under way at once. */
  readonly most: number;
  /** Milliseconds of a clock that is never set back. */
  readonly now: () => number;
  /** Calls back after so many milliseconds. */
  readonly later: (milliseconds: number, wake: () => void) => void;
};

type Waiting = {
  readonly patience: number;
  readonly go: (pass: Pass) => void;
  /** Since when it is held up by refusals; undefined while the host takes requests. */
  since: number | undefined;
  held: number;
};

/** Opens the gate before a host that nothing is known of. */
export function createGate({ most, now, later }: GateOptions): Gate {
  const width = createWidth(most);
  let course: RateCourse = NEW_COURSE;
  let waiting: Waiting[] = [];
  let underWay = 0;
  let wakeAt = Number.POSITIVE_INFINITY;
  let isOpen = false;

  function pump(): void {
    while (waiting.length > 0 && underWay < width.most()) {
      const at = now();
      const turn = takeTurn(course, at);
      if (turn.wait > 0) {
        wakeIn(at, Math.min(turn.wait, letImpatientThrough(at)));
        return;
      }
      course = turn.course;
      const [next] = waiting.splice(0, 1);
      if (next !== undefined) letThrough(next, at);
    }
  }

  function wakeIn(at: number, milliseconds: number): void {
    // A timer that is set for later wakes in vain.
    if (at + milliseconds >= wakeAt && wakeAt > at) return;
    const time = at + milliseconds;
    wakeAt = time;
    later(milliseconds, () => {
      if (wakeAt === time) wakeAt = Number.POSITIVE_INFINITY;
      pump();
    });
  }

  /** Lets those through who waited long enough, and gives the milliseconds until the next one will have. */
  function letImpatientThrough(at: number): number {
    if (course.refusals === 0) return Number.POSITIVE_INFINITY;
    const left = ({ since, held, patience }: Waiting) =>
      since === undefined ? Number.POSITIVE_INFINITY : patience - held - (at - since);
    const gone = waiting.filter((one) => left(one) <= 0);
    waiting = waiting.filter((one) => left(one) > 0);
    for (const one of gone) letThrough(one, at);
    return Math.min(...waiting.map(left));
  }

  function letThrough(one: Waiting, at: number): void {
    release(one, at);
    underWay += 1;
    const place = underWay;
    const leave = () => {
      underWay -= 1;
      pump();
    };
    one.go({
      held: one.held,
      isOpen,
      answered(pause) {
        hear(at, Math.min(place, most), pause);
        leave();
      },
      lost: leave,
    });
  }

  function hear(sentAt: number, place: number, pause: ((refusals: number) => number) | undefined) {
    const at = now();
    const { refusals } = course;
    if (pause !== undefined) {
      const isProbe = endsRefusals(course, sentAt);
      if (!isProbe) width.refused(place);
      course = heed(course, { sentAt, at, pause: pause(strikesWith(course, sentAt)) });
      if (refusals === 0) for (const one of waiting) hold(one, at);
      return;
    }
    const isNews = endsRefusals(course, sentAt);
    const wasCrowd = isNews && width.wasCrowd(at);
    width.letIn(place, at);
    course = heed(course, { sentAt, at, wasCrowd });
    if (isNews) for (const one of waiting) release(one, at);
  }

  function hold(one: Waiting, at: number): void {
    if (course.refusals > 0) one.since ??= at;
  }

  return {
    enter(patience, go) {
      const one: Waiting = { patience, go, since: undefined, held: 0 };
      const at = now();
      if (isOpen) return letThrough(one, at);
      hold(one, at);
      waiting.push(one);
      pump();
    },
    open() {
      isOpen = true;
      const at = now();
      for (const one of waiting.splice(0)) letThrough(one, at);
    },
  };
}

function release(one: Waiting, at: number): void {
  if (one.since !== undefined) one.held += at - one.since;
  one.since = undefined;
}

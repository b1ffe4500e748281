import pLimit from 'p-limit';
import { NEW_RATE, observe, type Pause, type RateState, refusalsWith, takeTurn } from './rate.ts';
import type { WireAnswer } from './transport.ts';

/** How many calls run at once, and when their requests are sent. */
export type Limiter = {
  /** Runs a task when there is room for it: as many as were asked for, waiting ones included. */
  readonly run: <T>(task: () => Promise<T>) => Promise<T>;
  /**
   * Sends one request of a running task when its host has room for it, and learns from the answer. What is sent
   * again takes its turn like any other.
   */
  readonly send: (host: string, attempt: Attempt) => Promise<Sent>;
};

export type Attempt = {
  /** Gives nothing, and sends nothing, where its sender is closed. */
  readonly send: () => Promise<WireAnswer | undefined>;
  /**
   * For how many milliseconds nothing is to be sent to the host after a 429, the so-manyth in a row, of a request
   * that had been held up for so long before.
   */
  readonly pauseAfter: (
    answer: WireAnswer,
    after: { readonly refusals: number; readonly held: number },
  ) => number;
  /** Milliseconds that it may be held up because the host refuses requests; it is sent then whatever comes of it. */
  readonly patience: number;
  /** Aborted when its sender closes: it waits no longer then. */
  readonly stop: AbortSignal;
};

type Sent = {
  /** Undefined where it was not sent. */
  readonly answer: WireAnswer | undefined;
  /** Milliseconds that it was held up because the host refused requests. */
  readonly held: number;
};

type LimiterOptions = {
  /** Most requests in flight at once. */
  readonly most: number;
  readonly pause: Pause;
  /** Milliseconds of a clock that is never set back. */
  readonly now: () => number;
  /** Aborted when the connection closes. */
  readonly stop: AbortSignal;
};

/** Timers of the machine may wake so much too early. */
const TIMER_MS = 2;

/** One limiter for reads and writes. Holds nothing back before a host says 429, and then as its answers allow. */
export function createLimiter({ most, pause, now, stop }: LimiterOptions): Limiter {
  const tasks = pLimit(most);
  const hosts = new Map<string, HostLimiter>();
  // A pause counts as spent even if the given `pause` returns early: else only more pauses would pass the time.
  let ahead = 0;
  const clock = () => now() + ahead;

  async function spend(milliseconds: number): Promise<void> {
    const due = clock() + milliseconds;
    await pause.sleep(milliseconds, stop);
    const early = due - clock();
    if (early > TIMER_MS) ahead += early;
  }

  const later = (milliseconds: number, wake: () => void) =>
    void spend(milliseconds).then(() => stop.aborted || wake());

  function getLimiter(host: string): HostLimiter {
    const limiter = hosts.get(host) ?? createHostLimiter({ most, now: clock, later });
    hosts.set(host, limiter);
    return limiter;
  }

  return {
    run: (task) => tasks(task),
    async send(host, { send, pauseAfter, ...waiting }) {
      // The answer to somebody else's request gives the turn; what is sent then is still sent for its own sender.
      const { held, answered, lost } = await new Promise<Pass>((go) => {
        getLimiter(host).enter(waiting, go);
      });
      const answer = await send().catch((error: unknown) => {
        lost();
        throw error;
      });
      if (answer === undefined) lost();
      else if (answer.status !== 429) answered();
      else answered((refusals) => pauseAfter(answer, { refusals, held }));
      return { answer, held };
    },
  };
}

/** Lets requests to one host through, in the order in which they come, as its answers allow. */
type HostLimiter = {
  /**
   * Calls `go` when a request may be sent. That may take any time where the host takes requests, but `patience`
   * milliseconds at most of the time in which it refuses them, and none once `stop` is aborted.
   */
  readonly enter: (request: Pick<Attempt, 'patience' | 'stop'>, go: (pass: Pass) => void) => void;
};

/** A request that was let through. One of the two is to be called when it ends. */
type Pass = {
  /** Milliseconds that it waited while the host refused requests. */
  readonly held: number;
  /** It was answered. A 429 says for how long nothing is to be sent, by how many refusals in a row it makes. */
  readonly answered: (pause?: (refusals: number) => number) => void;
  /** It ended without an answer. */
  readonly lost: () => void;
};

type Waiting = {
  readonly go: (pass: Pass) => void;
  readonly stop: AbortSignal;
  /** How long the host had refused requests, all in all, when it came, and when it waits no longer. */
  readonly came: number;
  readonly leaves: number;
};

/** The limiter of a host that nothing is known of. `later` calls back after so many milliseconds. */
export function createHostLimiter({
  most,
  now,
  later,
}: Pick<LimiterOptions, 'most' | 'now'> & {
  readonly later: (milliseconds: number, wake: () => void) => void;
}): HostLimiter {
  let rate: RateState = NEW_RATE;
  let waiting: Waiting[] = [];
  let inFlight = 0;
  let wakeAt = Number.POSITIVE_INFINITY;
  /** Signals of those who sent something here: one listener for each, however many requests. */
  const stops = new WeakSet<AbortSignal>();
  /** Milliseconds for which the host refused requests, but for those of the present row. */
  let refused = 0;
  const refusedUntil = (at: number) =>
    refused + (rate.refusals > 0 ? at - (rate.refusedAt ?? at) : 0);

  function letThroughInTurn(): void {
    while (waiting.length > 0 && inFlight < most) {
      const at = now();
      const turn = takeTurn(rate, at);
      if (turn.wait > 0) {
        wakeIn(at, Math.min(turn.wait, letImpatientThrough(at)));
        return;
      }
      rate = turn.state;
      const next = waiting.shift();
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
      letThroughInTurn();
    });
  }

  /** Lets those through who waited long enough, and gives the milliseconds until the next one will have. */
  function letImpatientThrough(at: number): number {
    if (rate.refusals === 0) return Number.POSITIVE_INFINITY;
    const until = refusedUntil(at);
    letThroughAll(({ leaves }) => leaves <= until, at);
    return Math.min(...waiting.map(({ leaves }) => leaves - until));
  }

  function letThroughAll(isDone: (one: Waiting) => boolean, at: number): void {
    const { done = [], others = [] } = Object.groupBy(waiting, (one) =>
      isDone(one) ? 'done' : 'others',
    );
    waiting = others;
    for (const one of done) letThrough(one, at);
  }

  function letThrough({ go, came }: Waiting, sentAt: number): void {
    inFlight += 1;
    const lost = () => {
      inFlight -= 1;
      letThroughInTurn();
    };
    const answered: Pass['answered'] = (pause) => {
      learn(sentAt, pause);
      lost();
    };
    go({ held: refusedUntil(sentAt) - came, answered, lost });
  }

  function learn(sentAt: number, pauseAfter?: (refusals: number) => number): void {
    const at = now();
    const pause = pauseAfter?.(refusalsWith(rate, sentAt));
    const until = refusedUntil(at);
    rate = observe(rate, { sentAt, at, ...(pause !== undefined && { pause }) });
    if (rate.refusals === 0) refused = until;
  }

  return {
    enter({ patience, stop }, go) {
      const at = now();
      const came = refusedUntil(at);
      const one = { go, stop, came, leaves: came + patience };
      if (stop.aborted) return letThrough(one, at);
      if (!stops.has(stop)) {
        const leave = () => letThroughAll((other) => other.stop === stop, now());
        stop.addEventListener('abort', leave, { once: true });
        stops.add(stop);
      }
      waiting.push(one);
      letThroughInTurn();
    },
  };
}

import pLimit from 'p-limit';
import { sum } from '../core/value.ts';
import {
  endsRefusals,
  NEW_RATE,
  observe,
  type Pause,
  type RateState,
  refusalsWith,
  takeTurn,
} from './rate.ts';
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
  /** Gives nothing, and sends nothing, where whoever sends it is closed. */
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
  /** Aborted when whoever sends it closes: it waits no longer then. */
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
  /** Aborted when there is nobody left who could wait. */
  readonly stop: AbortSignal;
};

/** Timers of the machine may wake so much too early. */
const TIMER_MS = 2;

/** One limiter for reads and writes. Holds nothing back before a host says 429, and then as its answers allow. */
export function createLimiter({ most, pause, now, stop }: LimiterOptions): Limiter {
  const tasks = pLimit(most);
  const hosts = new Map<string, HostLimiter>();
  // A pause counts as spent, however whoever gave it spends it: else nothing but asking again would pass the time.
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
      // The answer to somebody else's request gives the turn; what is sent then is still sent for whoever waits for it.
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
  const concurrency = createConcurrency(most);
  let rate: RateState = NEW_RATE;
  let waiting: Waiting[] = [];
  let inFlight = 0;
  let wakeAt = Number.POSITIVE_INFINITY;
  /** Of whoever sent something here: one listener for each, however many requests. */
  const stops = new WeakSet<AbortSignal>();
  /** Milliseconds for which the host refused requests, but for those of the present row. */
  let refused = 0;
  const refusedUntil = (at: number) =>
    refused + (rate.refusals > 0 ? at - (rate.refusedAt ?? at) : 0);

  function letThroughInTurn(): void {
    while (waiting.length > 0 && inFlight < concurrency.most()) {
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
    const place = Math.min(inFlight, most);
    const lost = () => {
      inFlight -= 1;
      letThroughInTurn();
    };
    const answered: Pass['answered'] = (pause) => {
      learn(sentAt, place, pause);
      lost();
    };
    go({ held: refusedUntil(sentAt) - came, answered, lost });
  }

  /** From the answer to a request that was sent as the so-manyth in flight. */
  function learn(sentAt: number, place: number, pause?: (refusals: number) => number): void {
    const at = now();
    const ends = endsRefusals(rate, sentAt);
    if (pause !== undefined) {
      if (!ends) concurrency.refused(place);
      rate = observe(rate, { sentAt, at, pause: pause(refusalsWith(rate, sentAt)) });
      return;
    }
    if (ends) refused = refusedUntil(at);
    const wasCrowd = ends && concurrency.cutAfterRefusals(at);
    concurrency.letIn(place, at);
    rate = observe(rate, { sentAt, at, wasCrowd });
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

/** After a cut, more are tried only when so many were let in while as many were in flight as may be, */
const FEWEST_BEFORE_MORE = 300;
/** and not sooner than in so many milliseconds, twice as many each time that there turns out to be no room for more. */
const REST_MS = { first: 30_000, longest: 240_000 };

/**
 * How many requests to a host are in flight at once. A limit on these is told from one on their rate by who is refused: the former refuses those that were
 * sent while many were in flight, and lets no others in there; the latter lets in as many, and then refuses any.
 */
function createConcurrency(most: number) {
  const places = () => Array.from({ length: most + 1 }, () => 0);
  const [takenAt, refusedAt] = [places(), places()];
  let [cap, step, left, rest, restUntil] = [most, 1, 0, REST_MS.first, 0];
  /** So many fit in, as was found the last time; undefined where that was wrong. */
  let found: number | undefined;

  /** How many fit in by what was heard; undefined where that does not go by how many there are. */
  function fittingIn(): number | undefined {
    // Answers that speak against so many: others that were let in, and these that were not.
    let against = sum(takenAt);
    let best = { fits: 0, against };
    for (let fits = 1; fits < cap; fits += 1) {
      against += (refusedAt[fits] ?? 0) - (takenAt[fits] ?? 0);
      if (against < best.against) best = { fits, against };
    }
    return best.fits === 0 || best.against > sum(refusedAt) / 2 ? undefined : best.fits;
  }

  return {
    most: () => cap,
    /** A request was let in that was sent as the so-manyth in flight. */
    letIn(place: number, at: number): void {
      takenAt[place] = (takenAt[place] ?? 0) + 1;
      if (cap === most || place < cap) return;
      left -= 1;
      if (left > 0 || at < restUntil) return;
      [cap, step, left] = [Math.min(most, cap + step), step * 2, FEWEST_BEFORE_MORE];
    },
    /** A request was refused that was sent as the so-manyth in flight. */
    refused(place: number): void {
      refusedAt[place] = (refusedAt[place] ?? 0) + 1;
    },
    /** The host takes requests again. True where it refused because too many were in flight: then fewer will be. */
    cutAfterRefusals(at: number): boolean {
      found = cap === found ? undefined : fittingIn();
      takenAt.fill(0);
      refusedAt.fill(0);
      if (found === undefined) return false;
      rest = restUntil === 0 ? REST_MS.first : Math.min(REST_MS.longest, rest * 2);
      [cap, step, left, restUntil] = [found, 1, FEWEST_BEFORE_MORE, at + rest];
      return true;
    },
  };
}

import { createLimiter } from '../../src/platform/limiter.ts';
import { createSender, fullJitter } from '../../src/platform/send.ts';
import type { WireAnswer } from '../../src/platform/transport.ts';
import { draws } from './rush.ts';
import { virtualTime } from './virtual-time.ts';

/** A host that turns requests away at random, however slowly they come. */
export type Storm = {
  /** Shares of all requests that are answered 429 and 503, from 0 to 1. */
  readonly refused: number;
  readonly failed: number;
  /** Of a 429, in seconds. */
  readonly retryAfter?: number;
  readonly requests: number;
  /** Milliseconds that every answer takes. */
  readonly latency: number;
  readonly seed: number;
  /** After so many requests it is over. */
  readonly calmAfter?: number;
};

/** What a client came to: requests that were let in at last, and the seconds that all of them took. */
export type Passage = { readonly done: number; readonly sent: number; readonly seconds: number };

const LANES = 8;

/** Sends the requests of a storm with a client, in virtual time. */
async function pass(storm: Storm, open: (host: Host) => () => Promise<WireAnswer>) {
  const random = draws(storm.seed * 7919);
  const time = virtualTime(draws(storm.seed * 104_729));
  let sent = 0;
  const answer = async (): Promise<WireAnswer> => {
    sent += 1;
    const number = sent;
    await time.after(storm.latency);
    const drawn = number > (storm.calmAfter ?? Number.POSITIVE_INFINITY) ? 1 : random();
    const isRefused = drawn < storm.refused;
    const isFailed = !isRefused && drawn < storm.refused + storm.failed;
    const asks = isRefused && storm.retryAfter !== undefined;
    return {
      status: isRefused ? 429 : isFailed ? 503 : 200,
      headers: asks ? { 'retry-after': String(storm.retryAfter) } : {},
      requestId: undefined,
      body: null,
      length: 0,
    };
  };
  const one = open({ answer, time });
  const all = await time.until(Promise.all(Array.from({ length: storm.requests }, () => one())));
  const done = all.filter(({ status }) => status === 200).length;
  return { done, sent, seconds: time.now() / 1000 };
}

type Host = {
  readonly answer: () => Promise<WireAnswer>;
  readonly time: ReturnType<typeof virtualTime>;
};

/** Callsheet's own client. */
export function passCallsheet(storm: Storm): Promise<Passage> {
  return pass(storm, ({ answer, time: { pause, now } }) => {
    const stop = new AbortController().signal;
    const limiter = createLimiter({ most: LANES, pause, now, stop });
    const transport = { send: answer, close: async () => {} };
    const sender = createSender({ transport, limiter, pause, now, stop, trace: undefined });
    const request = { method: 'GET', url: '/', headers: {}, attempt: 1 } as const;
    return () => limiter.run(() => sender.send('host.example.test', () => request, true));
  });
}

/** A plain client: each lane waits exponentially longer for its own request, and for as long as it is asked to. */
export function passPlain(storm: Storm): Promise<Passage> {
  return pass(storm, ({ answer, time: { pause } }) => {
    const stop = new AbortController().signal;
    let [free, waiting]: [number, (() => void)[]] = [LANES, []];
    return async () => {
      if (free === 0) await new Promise<void>((go) => waiting.push(go));
      else free -= 1;
      for (let attempt = 1; ; attempt += 1) {
        const given = await answer();
        if (given.status === 200) {
          const [next, ...others] = waiting;
          waiting = others;
          if (next === undefined) free += 1;
          else next();
          return given;
        }
        const asked = Number(given.headers['retry-after'] ?? 0) * 1000;
        await pause.sleep(Math.max(asked, fullJitter(attempt, pause.random)), stop);
      }
    };
  });
}

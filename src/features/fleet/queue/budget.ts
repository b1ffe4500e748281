import { setTimeout as sleep } from 'node:timers/promises';
import pLimit from 'p-limit';
import { parseWithin } from '../../../core/bounds.ts';
import type { Attempt, Limiter } from '../../../platform/limiter.ts';
import {
  computeRate,
  NEW_RATE,
  type Observation,
  observe,
  type RateState,
  steadyTime,
  takeTurn,
} from '../../../platform/rate.ts';
import { LONGEST_WAIT_MS } from '../../../platform/send.ts';
import type { Query, Row } from '../../stores/postgres/database.ts';
import { type QueueDatabase, SCHEMA } from './database.ts';

/** A rate that several processes of one account keep together. */
export type Budget = {
  /**
   * Resolves when one request may be sent, with the milliseconds that it was held up because the host refused
   * requests; after `patience` of those it is sent whatever comes of it, and once `stop` is aborted there is nothing
   * to wait for. Rejects if the budget is closed or its database is lost.
   */
  readonly turn: (request: Pick<Attempt, 'patience' | 'stop'>) => Promise<number>;
  /** How many refusals in a row it is with one more. */
  readonly refusals: () => number;
  /** Records an answer. `pause`: it was a 429, and for so many milliseconds nothing is to be sent. */
  readonly heard: (answer: Observation) => void;
};

/** The owner of a rate. Several keys of one account have one limit. */
type BudgetOf = { readonly baseUrl: string; readonly account: string };

/** A database that is away for longer ends what waits for it. */
const PATIENCE_MS = 60_000;
const RETRY_MS = 500;
/** Moments that are taken before anybody asks for them. */
const MOST_SPARE = 8;
/** A moment that has gone by for longer has lapsed. */
const SLACK_MS = 40;

/** A shorter wait is nothing to tell. */
const LONG_WAIT_MS = 5_000;

type Waiter = {
  readonly go: () => void;
  readonly fail: (error: unknown) => void;
};

/**
 * The rate of an account, kept in a row of the queue's database. Each asks for as many turns as it has requests
 * waiting or is about to have, a few at a time, and tells with the same query what was answered since: a request costs no
 * query of its own. A turn is a moment, so what is not used lapses by itself, that of a process that died, too. A 429 is
 * reported at once, and turns given before it are not used. `onHeld` gets each wait of seconds, in milliseconds.
 */
export function openBudget(
  database: Pick<QueueDatabase, 'explainFailures' | 'transaction'>,
  { baseUrl, account }: BudgetOf,
  onHeld: (milliseconds: number) => void = () => undefined,
): Budget & { readonly close: () => Promise<void> } {
  const waiting: Waiter[] = [];
  /** Those that have a moment, until it comes. */
  const timed = new Map<Waiter, NodeJS.Timeout>();
  /** Turns that no request has taken yet, by the local clock. */
  let spare: number[] = [];
  /** Turns since it was asked last: about as many will be wanted until it is asked again. */
  let turns = 0;
  let heard: Observation[] = [];
  let freeUntil = 0;
  let refusals = 0;
  /** Milliseconds that the clock of the database is ahead of ours. */
  let ahead = 0;
  let asking: Promise<void> | undefined;
  let next: NodeJS.Timeout | undefined;
  let isClosed = false;
  let isHeldReported = false;

  function ask(): void {
    if (isClosed || asking !== undefined) return;
    clearTimeout(next);
    next = undefined;
    asking = exchange().then(
      (share) => {
        asking = undefined;
        give(share);
      },
      (error: unknown) => {
        asking = undefined;
        for (const waiter of waiting.splice(0)) waiter.fail(error);
      },
    );
  }

  function give({ slots, freeUntil: free, askAt }: Share): void {
    freeUntil = free - ahead;
    if (freeUntil > steadyTime()) for (const waiter of waiting.splice(0)) waiter.go();
    spare = slots.map((slot) => slot - ahead);
    while (waiting.length > 0 && spare.length > 0) goAtNext();
    if (waiting.length > 0) next = setTimeout(ask, Math.max(0, askAt - ahead - steadyTime()));
  }

  /** The first in the row goes at the next moment that there is. */
  function goAtNext(): void {
    const [waiter] = waiting.splice(0, 1);
    const [moment = 0] = spare.splice(0, 1);
    if (waiter === undefined) return;
    const go = () => {
      timed.delete(waiter);
      waiter.go();
    };
    timed.set(waiter, setTimeout(go, Math.max(0, moment - steadyTime())));
  }

  /** Requests that wait for a moment that was given before ask for another one. */
  function giveBack(): void {
    freeUntil = 0;
    spare = [];
    for (const [waiter, timer] of timed) {
      clearTimeout(timer);
      waiting.push(waiter);
    }
    timed.clear();
  }

  /** It waited long enough: it goes, unless it has gone. */
  function leave(waiter: Waiter): void {
    const at = waiting.indexOf(waiter);
    if (at >= 0) waiting.splice(at, 1);
    else if (!timed.has(waiter)) return;
    clearTimeout(timed.get(waiter));
    timed.delete(waiter);
    waiter.go();
  }

  async function exchange(): Promise<Share> {
    const end = steadyTime() + PATIENCE_MS;
    for (;;) {
      const observations = heard;
      heard = [];
      try {
        return await database.explainFailures(() => exchangeOnce(observations));
      } catch (error) {
        heard = [...observations, ...heard];
        if (steadyTime() > end || isClosed) throw error;
        await sleep(RETRY_MS);
      }
    }
  }

  async function exchangeOnce(observations: readonly Observation[]): Promise<Share> {
    return database.transaction('write', async (query) => {
      const row = (await readRow(query)) ?? (await makeRow(query));
      const at = Number(row?.now);
      ahead = at - steadyTime();
      const before = believeRate(row?.rate, at);
      const there = observations.map((one) => ({
        ...one,
        sentAt: one.sentAt + ahead,
        at: one.at + ahead,
      }));
      const wanted = waiting.length + Math.min(MOST_SPARE, turns);
      turns = 0;
      const { state, share } = takeShare(before, there, wanted, at);
      refusals = state.refusals;
      tellHeld(state.until - at);
      if (state !== before)
        await query(
          `update ${SCHEMA}.callsheet_budget set rate = $3 where base_url = $1 and account = $2`,
          [baseUrl, account, JSON.stringify(state)],
        );
      return share;
    });
  }

  /** Reports a wait once, when it begins or is found. */
  function tellHeld(wait: number): void {
    const isHeld = wait > LONG_WAIT_MS;
    if (isHeld && !isHeldReported) onHeld(wait);
    isHeldReported = isHeld;
  }

  async function readRow(query: Query): Promise<Row | undefined> {
    const [row] = await query(
      `select rate, (extract(epoch from clock_timestamp()) * 1000)::float8 as now
       from ${SCHEMA}.callsheet_budget where base_url = $1 and account = $2 for update`,
      [baseUrl, account],
    );
    return row;
  }

  async function makeRow(query: Query): Promise<Row | undefined> {
    await query(
      `insert into ${SCHEMA}.callsheet_budget (base_url, account, rate) values ($1, $2, $3)
       on conflict do nothing`,
      [baseUrl, account, JSON.stringify(NEW_RATE)],
    );
    return readRow(query);
  }

  return {
    turn({ patience, stop }) {
      if (freeUntil > steadyTime() || stop.aborted) return Promise.resolve(0);
      const since = steadyTime();
      return new Promise((resolve, reject) => {
        let isHeld = refusals > 0;
        const end = () => {
          clearTimeout(impatient);
          stop.removeEventListener('abort', giveUp);
        };
        const waiter: Waiter = {
          go: () => {
            end();
            isHeld ||= refusals > 0;
            resolve(isHeld ? steadyTime() - since : 0);
          },
          fail: (error) => {
            end();
            reject(error);
          },
        };
        const giveUp = () => leave(waiter);
        const impatient = setTimeout(giveUp, Math.max(0, patience));
        stop.addEventListener('abort', giveUp);
        waiting.push(waiter);
        turns += 1;
        spare = spare.filter((moment) => moment > steadyTime() - SLACK_MS);
        if (spare.length > 0) goAtNext();
        else if (next === undefined) ask();
      });
    },
    refusals: () => refusals + 1,
    heard(answer) {
      heard.push(answer);
      if (answer.pause !== undefined) giveBack();
      if (answer.pause !== undefined || refusals > 0) ask();
    },
    async close() {
      isClosed = true;
      clearTimeout(next);
      giveBack();
      await asking;
      const gone = new Error('the budget was closed');
      for (const waiter of waiting.splice(0)) waiter.fail(gone);
      if (heard.length > 0) await exchangeOnce(heard).catch(() => undefined);
    },
  };
}

type BudgetedOptions = {
  /** The budget is for requests to this host. Presigned addresses belong to other hosts. */
  readonly host: string;
  readonly budget: Budget;
  /** Most requests in flight at once. */
  readonly most: number;
};

/**
 * A limiter whose requests to a host go by a budget, instead of by what this process alone has heard: a process that
 * held itself to its own share would not notice that the others are gone.
 */
export function budgetedLimiter(others: Limiter, { host, budget, most }: BudgetedOptions): Limiter {
  const requests = pLimit(most);
  return {
    run: others.run,
    send: (to, attempt) =>
      to !== host
        ? others.send(to, attempt)
        : requests(async () => {
            const held = await budget.turn(attempt);
            const sentAt = steadyTime();
            const answer = await attempt.send();
            if (answer === undefined) return { answer, held };
            const refusals = budget.refusals();
            const pause =
              answer.status === 429 ? attempt.pauseAfter(answer, { refusals, held }) : undefined;
            budget.heard({ sentAt, at: steadyTime(), ...(pause === undefined ? {} : { pause }) });
            return { answer, held };
          }),
  };
}

/**
 * Reads the rate of a row, at that time of the database. Others can write the row, so no request waits longer for it
 * than for a `Retry-After`, and an invalid rate is read as that of an unknown host.
 */
export function believeRate(text: unknown, now: number): RateState {
  const read = { ...NEW_RATE, ...readRate(String(text)) };
  const isRate = Object.entries(NEW_RATE).every(([name, start]) => {
    const value: unknown = read[name as keyof RateState];
    if (typeof start === 'boolean') return typeof value === 'boolean';
    return (value === null && start === null) || (typeof value === 'number' && value >= 0);
  });
  if (!isRate) return NEW_RATE;
  // A moment that lies ahead of now was never measured.
  const past = (moment: number | null) => (moment === null ? null : Math.min(moment, now));
  return {
    ...read,
    until: Math.min(read.until, now + LONGEST_WAIT_MS),
    next: Math.min(read.next, now + LONGEST_WAIT_MS),
    refusedAt: past(read.refusedAt),
    resumedAt: past(read.resumedAt),
  };
}

function readRate(text: string): object | undefined {
  try {
    return Object(parseWithin(text, { levels: 1, values: 100 }));
  } catch {
    return undefined;
  }
}

/** A worker's part of the rate of an account. Times are those of the database. */
type Share = {
  /** When a request may be sent, one for each. */
  readonly slots: readonly number[];
  /** Until then as many may be sent as one likes: no limit is known. */
  readonly freeUntil: number;
  /** The time to ask again, where there are fewer slots than were asked for. */
  readonly askAt: number;
};

/** Slots are given for so many milliseconds ahead: a process that dies wastes no more than that. */
export const HORIZON_MS = 120;
/** The longest wait between two looks: other processes may have learned meanwhile that requests are taken. */
const LOOK_AGAIN_MS = 500;

/**
 * Tells the rate what was heard, and takes a share of it. Pure: the row that keeps the rate is locked meanwhile,
 * so that of all who ask at once each gets slots of its own.
 */
export function takeShare(
  before: RateState,
  heard: readonly Observation[],
  wanted: number,
  now: number,
): { readonly state: RateState; readonly share: Share } {
  let state = heard.toSorted((a, b) => a.at - b.at).reduce(observe, before);
  const isFree = computeRate(state) === null && state.refusals === 0 && state.until <= now;
  if (isFree)
    return { state, share: { slots: [], freeUntil: now + HORIZON_MS, askAt: now + HORIZON_MS } };
  const slots: number[] = [];
  let at = now;
  while (slots.length < wanted) {
    const turn = takeTurn(state, at);
    if (turn.wait === 0) {
      slots.push(at);
      state = turn.state;
      continue;
    }
    at += turn.wait;
    if (at > now + (slots.length === 0 ? LOOK_AGAIN_MS : HORIZON_MS)) break;
  }
  const askAt = slots.length === 0 ? Math.min(at, now + LOOK_AGAIN_MS) : at;
  return { state, share: { slots, freeUntil: 0, askAt } };
}

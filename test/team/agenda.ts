/**
 * Time that passes only in this test, and those who live in it. One of them acts at a time, the earliest first: a month
 * takes as long as its commands do, and one seed gives one month.
 */
export type Agenda = {
  readonly now: () => Date;
  /** Milliseconds since the beginning. */
  readonly at: () => number;
  /** Moves the time on while somebody acts, as what waits inside of a command does. */
  readonly advance: (milliseconds: number) => void;
  /** Lets the others act until so much time has passed. */
  readonly sleep: (milliseconds: number) => Promise<void>;
  /** Begins a life of its own. What it throws ends the whole. */
  readonly begin: (life: () => Promise<void>, after?: number) => void;
  /** Lets everybody act until that moment (milliseconds since the beginning). */
  readonly runUntil: (end: number) => Promise<void>;
};

export const SECOND = 1_000;
export const MINUTE = 60 * SECOND;
export const HOUR = 60 * MINUTE;
export const DAY = 24 * HOUR;

type Turn = { readonly at: number; readonly number: number; readonly wake: () => void };

/** @param onTurn called after everybody who acted */
export function openAgenda(start: Date, onTurn: () => void = () => undefined): Agenda {
  const turns: Turn[] = [];
  let time = 0;
  let numbers = 0;
  let problem: { readonly error: unknown } | undefined;
  /** Gives the word back to who lets the others act. */
  let giveBack: () => void = () => undefined;

  const wait = (after: number) =>
    new Promise<void>((wake) => {
      numbers += 1;
      turns.push({ at: time + Math.max(0, after), number: numbers, wake });
    });
  return {
    now: () => new Date(start.getTime() + time),
    at: () => time,
    advance: (milliseconds) => {
      time += milliseconds;
    },
    async sleep(milliseconds) {
      const turn = wait(milliseconds);
      giveBack();
      await turn;
    },
    begin(life, after = 0) {
      wait(after)
        .then(life)
        .catch((error: unknown) => {
          problem ??= { error };
        })
        .finally(() => giveBack());
    },
    async runUntil(end) {
      for (;;) {
        turns.sort((one, other) => one.at - other.at || one.number - other.number);
        const [next] = turns;
        if (next === undefined || next.at > end) break;
        turns.shift();
        time = Math.max(time, next.at);
        const acted = new Promise<void>((done) => {
          giveBack = done;
        });
        next.wake();
        await acted;
        if (problem !== undefined) throw problem.error;
        onTurn();
      }
      time = Math.max(time, end);
    },
  };
}

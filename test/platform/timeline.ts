/** Things that happen in virtual time, one after the other: a run of minutes takes milliseconds. */
export type Timeline = {
  readonly now: () => number;
  readonly after: (milliseconds: number, happen: () => void) => void;
  /** Lets everything happen until a time. */
  readonly until: (time: number) => void;
};

type Happening = { readonly at: number; readonly number: number; readonly happen: () => void };

/** Begins at 0. What is due at one time happens in the order in which it was planned. */
export function createTimeline(): Timeline {
  const heap: Happening[] = [];
  let [clock, count] = [0, 0];

  const isFirst = (one: number, other: number) => {
    const [a, b] = [heap[one], heap[other]];
    if (a === undefined || b === undefined) return b === undefined;
    return a.at < b.at || (a.at === b.at && a.number < b.number);
  };
  const swap = (one: number, other: number) => {
    const [a, b] = [heap[one], heap[other]];
    if (a !== undefined && b !== undefined) [heap[one], heap[other]] = [b, a];
  };

  function push(happening: Happening): void {
    heap.push(happening);
    for (let at = heap.length - 1; at > 0; ) {
      const above = (at - 1) >> 1;
      if (isFirst(above, at)) break;
      swap(above, at);
      at = above;
    }
  }

  function pop(): Happening | undefined {
    const [first] = heap;
    const last = heap.pop();
    if (last === undefined || heap.length === 0) return first;
    heap[0] = last;
    for (let at = 0; ; ) {
      const [left, right] = [2 * at + 1, 2 * at + 2];
      if (left >= heap.length) break;
      const next = right >= heap.length || isFirst(left, right) ? left : right;
      if (isFirst(at, next)) break;
      swap(at, next);
      at = next;
    }
    return first;
  }

  return {
    now: () => clock,
    after(milliseconds, happen) {
      count += 1;
      push({ at: clock + Math.max(0, milliseconds), number: count, happen });
    },
    until(time) {
      while ((heap[0]?.at ?? Number.POSITIVE_INFINITY) <= time) {
        const next = pop();
        if (next === undefined) break;
        clock = next.at;
        next.happen();
      }
      clock = time;
    },
  };
}

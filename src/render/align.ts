/** A stretch of two sequences: tokens they share, or what stands in one where the other has something else. */
export type Stretch =
  | { readonly same: true; readonly tokens: readonly string[] }
  | {
      readonly same: false;
      readonly removed: readonly string[];
      readonly added: readonly string[];
    };

/**
 * Above this many insertions and deletions two texts have so little in common that the shortest way from
 * one to the other explains nothing; it also bounds the time and the memory that the search takes.
 */
const MAX_EDITS = 1000;

/** How two sequences of tokens relate: by E. Myers' greedy search for the fewest edits. */
export function align(before: readonly string[], after: readonly string[]): readonly Stretch[] {
  let start = 0;
  while (start < before.length && start < after.length && before[start] === after[start])
    start += 1;
  let tail = 0;
  const most = Math.min(before.length, after.length) - start;
  while (tail < most && before.at(-1 - tail) === after.at(-1 - tail)) tail += 1;
  const old = before.slice(start, before.length - tail);
  const fresh = after.slice(start, after.length - tail);
  const stretches: Stretch[] = [];
  push(stretches, { same: true, tokens: before.slice(0, start) });
  for (const stretch of middle(old, fresh)) push(stretches, stretch);
  push(stretches, { same: true, tokens: before.slice(before.length - tail) });
  return stretches;
}

function push(stretches: Stretch[], stretch: Stretch): void {
  const empty = stretch.same
    ? stretch.tokens.length === 0
    : stretch.removed.length === 0 && stretch.added.length === 0;
  if (!empty) stretches.push(stretch);
}

function middle(old: readonly string[], fresh: readonly string[]): readonly Stretch[] {
  if (old.length === 0 || fresh.length === 0) {
    return [{ same: false, removed: old, added: fresh }];
  }
  const trace = search(old, fresh);
  return trace === undefined
    ? [{ same: false, removed: old, added: fresh }]
    : retrace(old, fresh, trace);
}

/**
 * `trace[d]` holds, for each diagonal k = x - y from -d to d (at index k + d), the furthest x that d
 * edits reach. Undefined when more than `MAX_EDITS` are needed.
 */
function search(old: readonly string[], fresh: readonly string[]): Int32Array[] | undefined {
  const trace: Int32Array[] = [];
  const limit = Math.min(MAX_EDITS, old.length + fresh.length);
  for (let d = 0; d <= limit; d += 1) {
    const reach = new Int32Array(2 * d + 1);
    trace.push(reach);
    for (let k = -d; k <= d; k += 2) {
      let x = d === 0 ? 0 : entry(trace, d, k).x;
      while (x < old.length && x - k < fresh.length && x - k >= 0 && old[x] === fresh[x - k])
        x += 1;
      reach[k + d] = x;
      if (x >= old.length && x - k >= fresh.length) return trace;
    }
  }
  return undefined;
}

/** Where the d-th edit enters diagonal k, and the diagonal it comes from. */
function entry(trace: readonly Int32Array[], d: number, k: number) {
  const last = trace[d - 1];
  const at = (diagonal: number) =>
    Math.abs(diagonal) > d - 1 ? -1 : (last?.[diagonal + d - 1] ?? -1);
  const down = k === -d || (k !== d && at(k - 1) < at(k + 1));
  return down ? { x: at(k + 1), from: k + 1 } : { x: at(k - 1) + 1, from: k - 1 };
}

/** Walks the trace back from the end and groups the edits between shared tokens. */
function retrace(
  old: readonly string[],
  fresh: readonly string[],
  trace: readonly Int32Array[],
): readonly Stretch[] {
  const reversed: Stretch[] = [];
  let x = old.length;
  let y = fresh.length;
  let [endX, endY] = [x, y];
  const edits = () => {
    push(reversed, { same: false, removed: old.slice(x, endX), added: fresh.slice(y, endY) });
  };
  for (let d = trace.length - 1; d >= 0; d -= 1) {
    const k = x - y;
    const { x: entered, from } = d === 0 ? { x: 0, from: 0 } : entry(trace, d, k);
    if (x > entered) {
      edits();
      reversed.push({ same: true, tokens: old.slice(entered, x) });
      [endX, endY] = [entered, entered - k];
    }
    x = from > k ? entered : entered - 1;
    y = x - from;
    if (d === 0) [x, y] = [0, 0];
  }
  edits();
  return reversed.reverse();
}

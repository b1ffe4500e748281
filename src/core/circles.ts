/**
 * Strongly connected components: members of one circle get the same value, everything else a value of its own. `starts`
 * and all that they lead to are looked at.
 */
export function findCircles<T>(
  starts: readonly T[],
  next: (one: T) => readonly T[],
): ReadonlyMap<T, T> {
  const ended = [...walkFrom(starts, next, new Set())];
  const leading = new Map<T, T[]>(ended.map((one) => [one, []]));
  for (const one of ended) for (const other of next(one)) leading.get(other)?.push(one);
  const seen = new Set<T>();
  const circles = new Map<T, T>();
  // Against the order in which a walk ended, a walk back comes no further than round the circle.
  for (const first of ended.toReversed())
    for (const one of walkFrom([first], (other) => leading.get(other) ?? [], seen))
      circles.set(one, first);
  return circles;
}

/** Each once, after all that it leads to; without recursion, as thousands may stand in one row. */
function* walkFrom<T>(
  starts: readonly T[],
  next: (one: T) => readonly T[],
  seen: Set<T>,
): Generator<T> {
  const path: { readonly one: T; readonly left: T[] }[] = [];
  const enter = (one: T) => {
    if (seen.has(one)) return;
    seen.add(one);
    path.push({ one, left: [...next(one)] });
  };
  for (const start of starts) {
    enter(start);
    for (let last = path.at(-1); last !== undefined; last = path.at(-1)) {
      const following = last.left.pop();
      if (following !== undefined) enter(following);
      else {
        path.pop();
        yield last.one;
      }
    }
  }
}

/**
 * What becomes of each item, in their order, while up to `ahead` of them are worked on: so that requests
 * overlap, and no more is held in memory than those.
 */
export async function* mapAhead<T, R>(
  items: AsyncIterable<T> | Iterable<T>,
  ahead: number,
  work: (item: T) => Promise<R>,
): AsyncGenerator<R> {
  const begun: Promise<R>[] = [];
  const next = () => begun.shift() as Promise<R>;
  for await (const item of items) {
    const working = work(item);
    // Its failure is told when its turn comes.
    working.catch(() => {});
    begun.push(working);
    if (begun.length >= ahead) yield await next();
  }
  while (begun.length > 0) yield await next();
}

/** Works through items, so many at a time, and never holds more than it works on. The first failure ends it. */
export async function inTurns<T>(
  items: Iterable<T>,
  concurrency: number,
  work: (item: T) => Promise<void>,
): Promise<void> {
  const turns = items[Symbol.iterator]();
  let hasFailed = false;
  const worker = async () => {
    for (let turn = turns.next(); turn.done !== true && !hasFailed; turn = turns.next()) {
      try {
        await work(turn.value);
      } catch (error) {
        hasFailed = true;
        throw error;
      }
    }
  };
  await Promise.all(Array.from({ length: concurrency }, worker));
}

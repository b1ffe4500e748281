/** What ends when a signal is aborted, by signal. */
const under = new WeakMap<AbortSignal, Set<() => void>>();

/**
 * Does something when a signal is aborted, unless the function that it gives back is called before. Every read
 * goes under the same signal, so that has one listener, however many they are.
 */
export function whenAborted(signal: AbortSignal, act: () => void): () => void {
  const known = under.get(signal) ?? listenTo(signal);
  known.add(act);
  return () => known.delete(act);
}

function listenTo(signal: AbortSignal): Set<() => void> {
  const acts = new Set<() => void>();
  under.set(signal, acts);
  const end = () => {
    for (const act of [...acts]) act();
  };
  signal.addEventListener('abort', end, { once: true });
  return acts;
}

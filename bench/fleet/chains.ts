import type { LoggedRequest } from '../../src/simulator/index.ts';

/** One request of the bare loop. */
export type Asked = { readonly method: string; readonly path: string; readonly body?: string };

/** Requests of which each waits for the one before: a write follows the read before it. */
export type Chain = readonly Asked[];

/**
 * Counts round trips in a row: requests of which each begins once the one before has ended. `at` is the end of each, and
 * `latency` the milliseconds that the platform lets it wait.
 */
export function countRoundTrips(
  requests: readonly Pick<LoggedRequest, 'at'>[],
  latency: number,
): number {
  const ends = requests.map(({ at }) => Date.parse(at)).sort((a, b) => a - b);
  let [count, last] = [0, Number.NEGATIVE_INFINITY];
  // Whoever ends first leaves most room for those that follow.
  for (const end of ends) {
    if (end - latency < last) continue;
    count += 1;
    last = end;
  }
  return count;
}

/** Turns logged requests into those of the bare loop: one chain for each agent. */
export function chainsOf(requests: readonly LoggedRequest[]): readonly Chain[] {
  const chains = new Map<string, Asked[]>();
  for (const { method, path, operation, body } of requests) {
    // The loop gets a token of its own.
    if (operation === 'createToken') continue;
    const [, agent] = /^\/v1\/agents\/([^/?]+)/.exec(path) ?? [];
    const asked = { method, path, ...(body === undefined ? {} : { body: JSON.stringify(body) }) };
    const chain = chains.get(agent ?? path) ?? [];
    chain.push(asked);
    chains.set(agent ?? path, chain);
  }
  return [...chains.values()];
}

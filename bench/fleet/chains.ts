import type { LoggedRequest } from '../../src/simulator/index.ts';

/** One request of the bare loop. */
export type Asked = { readonly method: string; readonly path: string; readonly body?: string };

/** Requests of which each waits for the one before: a write follows the read before it. */
export type Chain = readonly Asked[];

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

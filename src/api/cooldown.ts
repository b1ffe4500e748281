/** Which hosts have asked to be left alone for a while. */
export type Cooldown = {
  /** Nothing is to be sent to a host for so many milliseconds from now; a longer one stays. */
  readonly extend: (host: string, milliseconds: number) => void;
  /** Milliseconds that a host is still to be left alone. */
  readonly remaining: (host: string) => number;
};

/**
 * A 429 is about the client, not about the request that got it: whatever else is sent to that host in the
 * meantime would be turned away as well, and would count against the limit. So all of them wait. `now` is
 * in milliseconds since 1970.
 */
export function createCooldown(now: () => number): Cooldown {
  const until = new Map<string, number>();
  return {
    extend: (host, milliseconds) => {
      until.set(host, Math.max(until.get(host) ?? 0, now() + milliseconds));
    },
    remaining: (host) => Math.max(0, (until.get(host) ?? 0) - now()),
  };
}

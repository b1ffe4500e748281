/** Limits that a plan must stay within: `guards:` in callsheet.yaml. */
export type Guards = {
  readonly max_delete?: number;
  /** Of the resources that exist, from 0 to 100. */
  readonly max_change_percent?: number;
  /** Below this many existing resources `max_change_percent` does not count. */
  readonly min_resources?: number;
  readonly freeze?: readonly FreezeWindow[];
};

export const WEEKDAYS = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'] as const;

/**
 * A stretch of time in which nothing is written. Weekdays and dates name the day on which it begins, by
 * the calendar of its zone; what is not given does not narrow it.
 */
export type FreezeWindow = {
  /** IANA name. */
  readonly zone: string;
  readonly weekdays?: readonly (typeof WEEKDAYS)[number][];
  readonly hours?: Hours;
  readonly dates?: readonly DateSpan[];
  /** Name for people. */
  readonly reason?: string;
  /** Where it stands: `callsheet.yaml:14`. */
  readonly source: string;
};

/** Minutes since midnight, up to 1440. Where `to` is not after `from`, it is on the next day. */
export type Hours = { readonly from: number; readonly to: number };

/** Days such as `2026-12-20`, both included. */
export type DateSpan = { readonly from: string; readonly to: string };

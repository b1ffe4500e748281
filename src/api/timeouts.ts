/** How long is waited, in milliseconds. */
export type Timeouts = {
  /** For a connection. */
  readonly connect: number;
  /** For an answer to begin. */
  readonly headers: number;
  /** For the next piece of an answer. */
  readonly body: number;
  /** For an answer to be whole once it has begun, however steadily it trickles. */
  readonly answer: number;
};

/** The platform answers within seconds; a server that stays silent for longer is treated as gone. */
export const DEFAULT_TIMEOUTS: Timeouts = {
  connect: 10_000,
  headers: 30_000,
  body: 60_000,
  answer: 60_000,
};

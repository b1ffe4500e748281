/** Requests that Callsheet and the bare loop have under way at once. */
export const CONCURRENCY = 16;

/**
 * `npm test` has four minutes. What is longer stands beside the short tests of the same matter and is run by
 * `npm run torture`, which sets this and leaves the short ones out.
 */
export const isTorture = process.env.CALLSHEET_TORTURE === '1';

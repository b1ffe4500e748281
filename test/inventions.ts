import { drawSeed } from '../src/simulator/dialect.ts';

/**
 * The seed of what simulators of this process invent (`inventions` of the dialect). Tests hold under any; one that
 * fails names it, and CALLSHEET_INVENTIONS draws the same again.
 */
export const INVENTIONS = Number(process.env.CALLSHEET_INVENTIONS ?? drawSeed());

import { nth } from '../fleet.ts';

/** A name of a list; those who come after its end get a number. */
export function numbered(names: readonly string[], index: number): string {
  const round = Math.floor(index / names.length);
  return round === 0 ? nth(names, index) : `${nth(names, index)} ${round + 1}`;
}

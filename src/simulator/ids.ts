import { createHash } from 'node:crypto';

/** Where identifiers come from: counted, not drawn, so that the same calls give the same ones. */
export type Ids = {
  /** A UUID of version 4 in form. */
  readonly uuid: (kind: string) => string;
  /** Hex digits that nobody would guess by accident, such as a token. */
  readonly token: (kind: string) => string;
  /** Whole numbers from 1, as history entries have them. */
  readonly number: () => number;
};

/** Counts anew; another `salt` gives other identifiers. */
export function countIds(salt = ''): Ids {
  let count = 0;
  let numbers = 0;
  const hash = (kind: string) => {
    count += 1;
    return createHash('sha256').update(`${salt}${kind}:${count}`).digest('hex');
  };
  return {
    uuid: (kind) => shapeUuid(hash(kind)),
    token: (kind) => hash(kind),
    number: () => {
      numbers += 1;
      return numbers;
    },
  };
}

/** A UUID that depends on a text alone. */
export function uuidOf(text: string): string {
  return shapeUuid(createHash('sha256').update(text).digest('hex'));
}

function shapeUuid(hex: string): string {
  return [
    hex.slice(0, 8),
    hex.slice(8, 12),
    `4${hex.slice(13, 16)}`,
    `a${hex.slice(17, 20)}`,
    hex.slice(20, 32),
  ].join('-');
}

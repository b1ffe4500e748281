/**
 * Whether two plain values have the same JSON but for the order of members; one that is undefined counts as absent.
 * Tells what equal digests would, for a fraction of their cost.
 */
export function isSameJson(one: unknown, other: unknown): boolean {
  if (one === other) return true;
  if (typeof one !== 'object' || typeof other !== 'object') return false;
  if (one === null || other === null || Array.isArray(one) !== Array.isArray(other)) return false;
  const keys = keysOf(one);
  return (
    keys.length === keysOf(other).length &&
    keys.every((key) => isSameJson(Reflect.get(one, key), Reflect.get(other, key)))
  );
}

function keysOf(value: object): readonly string[] {
  return Object.keys(value).filter((key) => Reflect.get(value, key) !== undefined);
}

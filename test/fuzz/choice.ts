import fc, { type Arbitrary } from 'fast-check';

/**
 * One of some alternatives, the usual one first. Findings are cut down to the first alternative that shows
 * them: `fc.oneof` by itself stays with the one that was drawn, and `withCrossShrink` tries the first only.
 */
export function oneOf<T>(
  ...alternatives: readonly (Arbitrary<T> | fc.WeightedArbitrary<T>)[]
): Arbitrary<T> {
  const weighted = alternatives.map((one) =>
    'weight' in one ? one : { weight: 1, arbitrary: one },
  );
  return weighted.reduceRight((later, { weight, arbitrary }) => ({
    weight: weight + later.weight,
    arbitrary: fc.oneof({ withCrossShrink: true }, { weight, arbitrary }, later),
  })).arbitrary;
}

import type { ComposedResource, Made } from './compose.ts';
import { SILENT } from './problems.ts';
import { resolve } from './resolve.ts';
import { type Context, type FilledText, rootField, type Surroundings } from './resolved.ts';
import { resourceSchema } from './schema.ts';
import { rootSpot, type Spot } from './trace.ts';

/** A resource that was made and resolved. */
type ResolvedSpot = {
  readonly made: Made;
  /** The whole of it as it was written and became, under the configuration's names. */
  readonly spot: Spot;
  readonly context: Context;
  /** What templates came to, by the configuration's names. */
  readonly filled: ReadonlyMap<string, FilledText>;
};

/** Lays the layers of a resource over each other and follows its forms. */
export function resolveMade(composed: ComposedResource, surroundings: Surroundings): ResolvedSpot {
  const { kind, address, keyPlace, foundation } = composed;
  const made = composed.make(surroundings.report);
  const { body, row } = made;
  const root = resourceSchema(kind);
  const filled = new Map<string, FilledText>();
  const own = { root, subject: address, address, refs: [], secrets: [], foundation, row, filled };
  const context: Context = { ...surroundings, ...own };
  const value = resolve(body, rootField(root), context);
  return { made, spot: rootSpot(root, value, body, keyPlace), context, filled };
}

/**
 * A second look at resources that were resolved, for those who ask where something stands. Only the last one is
 * kept: whoever asks goes on asking about the same one, and all of them together fill the memory.
 */
export type Looks = {
  readonly made: (composed: ComposedResource) => Made;
  readonly spot: (composed: ComposedResource) => Spot;
};

export function openLooks(surroundings: Surroundings): Looks {
  // What was wrong was said the first time.
  const quiet = { ...surroundings, report: SILENT };
  return {
    made: keepLast((composed) => composed.make(SILENT)),
    spot: keepLast((composed) => resolveMade(composed, quiet).spot),
  };
}

function keepLast<K, V>(make: (key: K) => V): (key: K) => V {
  let last: { readonly key: K; readonly value: V } | undefined;
  return (key) => {
    if (last?.key !== key) last = { key, value: make(key) };
    return last.value;
  };
}

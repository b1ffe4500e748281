import type { DesiredResource } from '../core/desired.ts';
import type { ValueObject } from '../core/value.ts';
import type { ResolvedResource } from './resource.ts';
import { positionOf } from './source.ts';

const NONE: readonly never[] = [];

/** A resource without holes, as the rest of Callsheet knows it. Only called once nothing is wrong. */
export function toDesired(resource: ResolvedResource): DesiredResource {
  const { kind, address, document, lifecycle, refs, ownPlace, placeOf } = resource;
  const position = positionOf(ownPlace);
  return {
    address,
    kind: kind.name,
    // Without errors there is no `Failed` in it.
    document: document as ValueObject,
    lifecycle,
    isPartial: false,
    references: refs.length === 0 ? NONE : [...new Set(refs.map((ref) => ref.address))],
    position,
    locate: (path) => {
      const place = placeOf(path);
      return place === undefined ? position : positionOf(place);
    },
  };
}

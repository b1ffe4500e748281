import { resolve } from './resolve.ts';
import {
  type Context,
  membersOf,
  type Resolved,
  type ResolvedObject,
  rootField,
  type Surroundings,
} from './resolved.ts';
import type { WrittenBlock } from './resources.ts';
import { blockSchema } from './schema.ts';
import type { Place } from './source.ts';
import { rootSpot } from './trace.ts';
import { validate } from './validate.ts';
import { memberOf } from './written.ts';

/** What a block hands down to its resources, under the names of their fields. */
export type Inherited = {
  readonly fields: ResolvedObject;
  readonly places: ReadonlyMap<string, Place>;
};

/** Checks a block of nested resources and takes from it what its resources inherit. */
export function resolveBlock(block: WrittenBlock, surroundings: Surroundings): Inherited {
  const { kind, label: subject, settings, keyPlace } = block;
  const schema = blockSchema(kind);
  const own = { root: schema, subject, address: undefined, refs: [], secrets: [] };
  const context: Context = { ...surroundings, ...own };
  const value = resolve(settings, rootField(schema), context);
  const root = rootSpot(schema, value, settings, keyPlace);
  validate({ subject, address: undefined, root }, surroundings.report);
  const places = new Map<string, Place>();
  const fields: Record<string, Resolved> = {};
  for (const [member, field] of Object.entries(kind.nested?.inherit ?? {})) {
    const place = memberOf(settings, member)?.keyPlace;
    const given = membersOf(value)[member];
    if (place !== undefined) places.set(field, place);
    if (given !== undefined) fields[field] = given;
  }
  return { fields, places };
}

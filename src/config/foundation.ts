import type { FieldSchema } from '../core/schema.ts';
import type { Layer } from './bases.ts';
import { layOver } from './lay-over.ts';
import type { RefUse, Resolved, SecretUse } from './resolved.ts';
import type { WrittenMap } from './written.ts';

/** Layers that many resources begin with, laid over each other once. */
export type Foundation = {
  readonly body: WrittenMap;
  /** What became of its members, by key; filled by `resolve-common.ts`. */
  readonly common: Map<string, Common>;
};

/** What a member comes to in every resource; `own` where it is another in each, or something is wrong with it. */
export type Common =
  | 'own'
  | {
      readonly value: Resolved;
      readonly refs: readonly RefUse[];
      readonly secrets: readonly SecretUse[];
    };

/**
 * The foundation that layers make. Undefined where there is none, and where something is wrong with it: then
 * each resource lays the layers itself, and so is named in what is said.
 */
export type Foundations = (layers: readonly Layer[], schema: FieldSchema) => Foundation | undefined;

type Step = Foundation & { readonly above: WeakMap<WrittenMap, Step | 'faulty'> };

/** For one load: layers are told apart by the nodes that they were read into. */
export function openFoundations(): Foundations {
  const grounds = new WeakMap<FieldSchema, Step['above']>();
  return (layers, schema) => {
    let above: Step['above'] = grounds.get(schema) ?? new WeakMap();
    grounds.set(schema, above);
    let last: Step | undefined;
    for (const { body } of layers) {
      const step: Step | 'faulty' = above.get(body) ?? lay(body, last?.body, schema);
      above.set(body, step);
      if (step === 'faulty') return undefined;
      ({ above } = step);
      last = step;
    }
    return last;
  };
}

function lay(top: WrittenMap, below: WrittenMap | undefined, root: FieldSchema): Step | 'faulty' {
  let isFaulty = false;
  const add = () => {
    isFaulty = true;
  };
  const body = layOver(below ?? { ...top, members: new Map() }, top, root, { root, add });
  return isFaulty ? 'faulty' : { body, common: new Map(), above: new WeakMap() };
}

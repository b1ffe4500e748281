import type { FieldSchema } from '../core/schema.ts';
import type { Layer } from './bases.ts';
import { layOver } from './lay-over.ts';
import type { WrittenMap } from './written.ts';

/**
 * Layers that many resources begin with, laid over each other once. Undefined where something is wrong with
 * them: then each resource lays them itself, and so is named in what is said.
 */
export type Foundations = (layers: readonly Layer[], schema: FieldSchema) => WrittenMap | undefined;

type Step = { readonly body: WrittenMap; readonly above: WeakMap<WrittenMap, Step | 'faulty'> };

/** For one load: layers are told apart by the nodes that they were read into. */
export function openFoundations(): Foundations {
  const grounds = new WeakMap<FieldSchema, WeakMap<WrittenMap, Step | 'faulty'>>();
  return (layers, schema) => {
    let above = grounds.get(schema) ?? new WeakMap<WrittenMap, Step | 'faulty'>();
    grounds.set(schema, above);
    let below: WrittenMap | undefined;
    for (const { body } of layers) {
      const step = above.get(body) ?? lay(body, below, schema);
      above.set(body, step);
      if (step === 'faulty') return undefined;
      ({ body: below, above } = step);
    }
    return below;
  };
}

function lay(top: WrittenMap, below: WrittenMap | undefined, root: FieldSchema): Step | 'faulty' {
  let isFaulty = false;
  const add = () => {
    isFaulty = true;
  };
  const body = layOver(below ?? { ...top, members: new Map() }, top, root, { root, add });
  return isFaulty ? 'faulty' : { body, above: new WeakMap() };
}

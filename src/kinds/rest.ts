import { dataOf, textOf } from './answer.ts';
import type { Kind } from './kind.ts';

type Calls = Required<Pick<Kind, 'making' | 'get' | 'create' | 'update' | 'delete' | 'operations'>>;

/** The calls of a kind that is created, read, updated and deleted one record at a time with JSON bodies. */
export function restCalls(operations: {
  readonly list: string;
  readonly get: string;
  readonly create: string;
  readonly update: string;
  readonly delete: string;
  /** Name of the path parameter that holds the id. */
  readonly id: string;
  readonly revert?: readonly string[];
}): Calls {
  const at = (id: string) => ({ path: { [operations.id]: id } });
  return {
    operations: {
      read: [operations.list, operations.get],
      create: [operations.create],
      update: [operations.update],
      delete: [operations.delete],
      revert: operations.revert ?? [],
    },
    making: [
      {
        name: 'record',
        requests: [{ operation: operations.create, resumed: 'it is created again' }],
      },
    ],
    get: (id) => ({ operation: operations.get, ...at(id) }),
    create: async ({ body }, io) => {
      const answer = await io.call({ operation: operations.create, body });
      return { id: textOf(dataOf(answer), 'id') };
    },
    update: async (id, { body }, io) => {
      await io.call({ operation: operations.update, ...at(id), body });
    },
    delete: async (id, io) => {
      await io.call({ operation: operations.delete, ...at(id) });
    },
  };
}

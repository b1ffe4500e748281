import { CallsheetError } from '../core/errors.ts';
import { findFilled, isObject, type Json, type JsonObject, objectsIn } from '../core/value.ts';
import type { Kind, Making, MakingRequest } from './kind.ts';

/**
 * How resources come to be, as far as several requests make them: `making` of each kind, and its facets, which are
 * written once it is there. What was done of it is remembered from the first answer on (`unfinished` in the state),
 * however a run ended, and the next one goes on from there:
 *
 * | kind             | way      | requests                                                                |
 * |------------------|----------|-------------------------------------------------------------------------|
 * | knowledge_source | document | createKnowledgeSource → upload (bound to its address) → enqueueKnowledgeSource |
 * | knowledge_source | page     | createKnowledgeSource                                                    |
 * | agent            | record   | createAgent → setPaymentTool                                             |
 * | every other      |          | one                                                                      |
 *
 * The tests of what can go wrong at each of them are generated from the kinds (`test/kill/makings.ts`).
 */

/** The request that a making goes on with; undefined: all of them were answered. */
export function nextRequest(
  kind: Kind,
  record: JsonObject,
  answered: readonly string[],
): MakingRequest | undefined {
  const { requests } = getMaking(kind, record);
  const missing = requests.findIndex(({ operation }) => !answered.includes(operation));
  if (missing < 0) return undefined;
  const from = requests.slice(0, missing + 1).findLastIndex(({ isBound }) => isBound !== true);
  return requests[from];
}

/** True if an existing resource is known to be complete, by its record or by the answers of its making. */
export function isWhole(kind: Kind, record: JsonObject, answered: readonly string[]): boolean {
  const { requests } = getMaking(kind, record);
  // It is there, so the first one was carried out, whether or not its answer came.
  const isMade = requests.slice(1).every(({ operation }) => answered.includes(operation));
  return isMade || kind.unready?.(record) === undefined;
}

/** The requests that make a resource of a kind, in their order. */
export function listRequests(kind: Kind, record: JsonObject): readonly MakingRequest[] {
  return getMaking(kind, record).requests;
}

function getMaking(kind: Kind, record: JsonObject): Making {
  const making = kind.making.find(({ when }) => when === undefined || Boolean(record[when]));
  if (making === undefined) throw new Error(`${kind.name}: no create operation fits its fields`);
  return making;
}

type Calls = Required<
  Pick<Kind, 'list' | 'making' | 'get' | 'create' | 'update' | 'delete' | 'operations'>
>;

/** The calls of a kind that is listed by its scope, and created, read, updated and deleted one record at a time as JSON. */
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
    list: (scope) => ({ operation: operations.list, query: scope }),
    get: (id) => ({ operation: operations.get, ...at(id) }),
    create: async ({ body }, io) => {
      const answer = await io.call({ operation: operations.create, body });
      return { id: getText(getData(answer), 'id') };
    },
    update: async (id, { body }, io) => {
      await io.call({ operation: operations.update, ...at(id), body });
    },
    delete: async (id, io) => {
      await io.call({ operation: operations.delete, ...at(id) });
    },
  };
}

/** `data` of an answer, which must be an object: single records come wrapped so (Resources, Conventions). */
export function getData(answer: Json): JsonObject {
  const data = isObject(answer) ? answer.data : undefined;
  if (isObject(data)) return data;
  throw new CallsheetError('api', 'the platform answered without a `data` object', {
    hint: 'Check that base_url is the address of the Voice Agent Platform.',
  });
}

/** The records of a list that was answered. A client takes no other answer to the call of one. */
export function listIn(answer: Json): readonly JsonObject[] {
  const data = isObject(answer) ? answer.data : undefined;
  return objectsIn(data);
}

/** Returns the record in an answer, under `data` or not: where a wrapper is not shown, either may hold. */
export function recordIn(answer: Json): JsonObject {
  if (!isObject(answer)) return {};
  return isObject(answer.data) ? answer.data : answer;
}

/** A member of an object that must be a text, such as an id. */
export function getText(record: JsonObject, member: string): string {
  const value = findFilled(record[member]);
  if (value !== undefined) return value;
  throw new CallsheetError('api', `the platform answered without \`${member}\``);
}

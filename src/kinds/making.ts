import type { JsonObject } from '../core/value.ts';
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
 * The tests of what can go wrong at each of them are generated from here (`test/kill/makings.ts`).
 */
export function stepsOf(
  kind: Kind,
): readonly { readonly name: string; readonly operations: readonly string[] }[] {
  return kind.making.map(({ name, requests }) => ({
    name,
    operations: [
      ...requests.map(({ operation }) => operation),
      // A facet without a read of its own is set up elsewhere first, so that nothing new has it.
      ...kind.facets.flatMap(({ get, write }) => (get ? [write('', {}).operation] : [])),
    ],
  }));
}

/** The request that a making goes on with; undefined: all of them were answered. */
export function nextRequest(
  kind: Kind,
  record: JsonObject,
  answered: readonly string[],
): MakingRequest | undefined {
  const { requests } = makingOf(kind, record);
  const missing = requests.findIndex(({ operation }) => !answered.includes(operation));
  if (missing < 0) return undefined;
  const from = requests.slice(0, missing + 1).findLastIndex(({ isBound }) => isBound !== true);
  return requests[from];
}

/** Whether all of a resource that is there is known to be there, by its record or by what was answered of its making. */
export function isWhole(kind: Kind, record: JsonObject, answered: readonly string[]): boolean {
  const { requests } = makingOf(kind, record);
  // It is there, so the first one was carried out, whether or not its answer came.
  const isMade = requests.slice(1).every(({ operation }) => answered.includes(operation));
  return isMade || kind.lacking?.(record) === undefined;
}

function makingOf(kind: Kind, record: JsonObject): Making {
  const making = kind.making.find(({ when }) => when === undefined || Boolean(record[when]));
  if (making === undefined) throw new Error(`${kind.name}: no way of making it fits`);
  return making;
}

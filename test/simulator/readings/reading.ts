import type { Json, JsonObject } from '../../../src/core/value.ts';
import type { OperationId } from '../../../src/platform/operations.generated.ts';
import type { Dialect } from '../../../src/simulator/index.ts';
import { IDS, type Reply, type Request, type SEED, type World } from '../world.ts';

/** What a platform is looked at for, and what it shows under each value of one option of the dialect. */
export type Reading<Name extends keyof Dialect> = {
  readonly seed?: typeof SEED;
  readonly look: (world: World) => Promise<unknown>;
  readonly shows: readonly (readonly [Dialect[Name], unknown])[];
};

/** Readings of some of the options. */
export type Readings<Name extends keyof Dialect> = { readonly [one in Name]: Reading<one> };

/** The front desk. */
export const at = { path: { agentId: IDS.desk } };

export const listOf = ({ body }: Reply): readonly JsonObject[] =>
  Array.isArray(body.data) ? body.data.map((one) => Object(one)) : [];

export const record = ({ body }: Reply): JsonObject => Object(body.data);

export const keys = (value: Json | undefined) => Object.keys(Object(value));

/** Status and members of an answer. */
export const answer = async ({ call }: World, id: OperationId, request: Request = {}) => {
  const { status, body } = await call(id, request);
  return [status, keys(body).sort().join()];
};

export const statusOf = async ({ call }: World, id: OperationId, request: Request = {}) =>
  (await call(id, request)).status;

export const history = async ({ call }: World): Promise<readonly JsonObject[]> =>
  listOf(await call('listAgentHistory', at));

export const update = ({ call }: World, body: JsonObject) => call('updateAgent', { ...at, body });

import { CallsheetError } from '../../core/errors.ts';
import { isObject, type JsonObject } from '../../core/value.ts';
import type { Kind } from '../../kinds/kind.ts';
import type { PlatformSession } from '../platform-session.ts';
import type { Found } from './find.ts';

/** Reads a resource whole. Throws `CallsheetError('api')` where it is not there. */
export async function readWhole(
  kind: Kind,
  { id, scope, item }: Found,
  { client }: PlatformSession,
): Promise<JsonObject> {
  if (kind.get === undefined) {
    const record = item ?? (await client.list(kind.list(scope))).find((one) => one.id === id);
    if (record !== undefined) return record;
    throw new CallsheetError('api', `the platform lists no ${kind.name} ${id}`);
  }
  const answer = await client.call(kind.get(id));
  const data = isObject(answer) ? answer.data : undefined;
  if (isObject(data)) return data;
  throw new CallsheetError('api', `${kind.get(id).operation} answered without a \`data\` object`);
}

import { nearest } from '../../config/nearest.ts';
import { type Address, kindOf } from '../../core/address.ts';
import { CallsheetError } from '../../core/errors.ts';
import type { Kind } from '../../kinds/kind.ts';
import { kindTitle } from '../../render/wording.ts';
import type { PlatformSession } from '../platform-session.ts';
import { type Found, listAll, namingFields, onlyOne } from './find.ts';

/** The resource of an address: by the id that the state has for it, or by the name that the stack gives it. */
export async function findAddress(
  kind: Kind,
  address: Address,
  session: PlatformSession,
): Promise<Found> {
  if (kindOf(address) !== kind.name) {
    throw new CallsheetError('usage', `${address} is not an address of ${kindTitle(kind.name)}`, {
      hint: `Those begin with ${kind.name} and a dot.`,
    });
  }
  const { resources } = await session.state();
  const known = resources[address];
  if (known !== undefined) return { id: known.id, label: address, scope: known.scope };
  const { resources: desired } = await session.stack();
  const wanted = desired.find((resource) => resource.address === address);
  if (wanted === undefined) {
    const addresses = [...desired.map((resource) => resource.address), ...Object.keys(resources)];
    const near = nearest(address, addresses);
    throw new CallsheetError('usage', `${address} names no resource of this stack`, {
      hint: near === undefined ? 'callsheet plan shows their addresses.' : `Did you mean ${near}?`,
    });
  }
  const { document } = wanted;
  const scope = Object.fromEntries(
    kind.scope.flatMap((field) => {
      const id = document[field];
      return typeof id === 'string' ? [[field, id]] : [];
    }),
  );
  const listed = await listAll(kind, [scope], session);
  const [field] = namingFields(kind).filter((name) => typeof document[name] === 'string');
  const name = field === undefined ? undefined : document[field];
  const found = listed.filter(({ item }) => field !== undefined && item[field] === name);
  if (found.length === 0) {
    throw new CallsheetError('usage', `${address} is not on the platform`, {
      hint: 'It was never applied from here: callsheet plan shows what apply would do.',
    });
  }
  return { ...onlyOne(kind, String(name), found, listed, session), label: address };
}

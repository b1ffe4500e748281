import { isUuid } from '../../config/formats.ts';
import { nearest } from '../../config/nearest.ts';
import { type Address, isAddress, kindOf } from '../../core/address.ts';
import { CallsheetError } from '../../core/errors.ts';
import type { JsonObject } from '../../core/value.ts';
import { kindNamed } from '../../kinds/index.ts';
import type { Kind, Scope } from '../../kinds/kind.ts';
import { kindTitle } from '../../render/wording.ts';
import type { PlatformSession } from '../platform-session.ts';
import { organizationNames, type ScopeFlags, scopesOf } from './scope.ts';

/** A live resource that was asked for. */
export type Found = {
  readonly id: string;
  /** What people call it: its name where that is known, else what they typed. */
  readonly label: string;
  readonly scope: Scope;
  /** Its item of the list, where one was read. */
  readonly item?: JsonObject;
};

/**
 * Finds the resource that somebody means by an address of the stack, an id or a name. Throws
 * `CallsheetError('usage')` where there is none or more than one, naming those that may be meant.
 */
export async function findResource(
  kind: Kind,
  text: string,
  flags: ScopeFlags,
  session: PlatformSession,
): Promise<Found> {
  if (isAddress(text)) return findAddress(kind, text, session);
  if (kind.get !== undefined && isUuid(text)) return { id: text, label: text, scope: {} };
  const listed = await listAll(kind, await scopesOf(kind, flags, session), session);
  return onlyOne(kind, text, matching(kind, text, listed), listed, session);
}

/** Finds an agent, as `findResource` does. */
export function findAgent(
  text: string,
  flags: ScopeFlags,
  session: PlatformSession,
): Promise<Found> {
  return findResource(kindNamed('agent'), text, flags, session);
}

/** Everything in these lists. */
export async function listAll(
  kind: Kind,
  scopes: readonly Scope[],
  { client }: PlatformSession,
): Promise<readonly Listed[]> {
  const lists = await Promise.all(
    scopes.map(async (scope) =>
      (await client.list(kind.list(scope))).map((item) => ({ item, scope })),
    ),
  );
  return lists.flat();
}

/** An item of a list, and which list it was in. */
export type Listed = { readonly item: JsonObject; readonly scope: Scope };

/** The fields that name a resource of the kind for people: the last of each natural key, the surest first. */
export function namingFields({ naturalKey }: Kind): readonly string[] {
  return [...new Set(naturalKey.flatMap((fields) => fields.slice(-1)))].reverse();
}

function matching(kind: Kind, text: string, listed: readonly Listed[]): readonly Listed[] {
  const byId = listed.filter(({ item }) => item.id === text);
  if (byId.length > 0) return byId;
  const named = (fold: (name: string) => string) =>
    listed.filter(({ item }) =>
      namingFields(kind).some((field) => fold(String(item[field] ?? '')) === fold(text)),
    );
  const exact = named((name) => name);
  return exact.length > 0 ? exact : named((name) => name.toLowerCase());
}

/** Most resources that a message lists. */
const MOST_LISTED = 8;

/** The one that was found. Throws where there is none or more than one. */
function onlyOne(
  kind: Kind,
  text: string,
  found: readonly Listed[],
  listed: readonly Listed[],
  session: PlatformSession,
): Found {
  const [first] = found;
  if (first === undefined) throw noneCalled(kind, text, listed);
  if (found.length > 1) {
    const organizations = organizationNames(session);
    const lines = found.slice(0, MOST_LISTED).map(({ item, scope }) => {
      const [field = ''] = kind.scope;
      const owner = String(item[field] ?? scope[field] ?? '');
      return `  ${String(item.id)}  ${organizations.get(owner) ?? owner}`.trimEnd();
    });
    const more = found.length - lines.length;
    throw new CallsheetError(
      'usage',
      `${found.length} ${kindTitle(kind.name)} are called ${JSON.stringify(text)}`,
      {
        hint: [
          'Give the id of the one that is meant:',
          ...lines,
          ...(more > 0 ? [`  and ${more} more`] : []),
        ].join('\n'),
      },
    );
  }
  return { id: String(first.item.id), label: nameOf(kind, first.item), ...first };
}

function nameOf(kind: Kind, item: JsonObject): string {
  const [name] = namingFields(kind).flatMap((field) => item[field] ?? []);
  return typeof name === 'string' ? name : String(item.id);
}

function noneCalled(kind: Kind, text: string, listed: readonly Listed[]): CallsheetError {
  const names = [...new Set(listed.map(({ item }) => nameOf(kind, item)))];
  const near = similar(text, names);
  const message = `there is no ${kind.name.replaceAll('_', ' ')} ${JSON.stringify(text)} that the key reaches`;
  return new CallsheetError('usage', message, {
    hint:
      near.length > 0
        ? `The nearest names: ${near.join(', ')}.`
        : `callsheet get ${kind.section} lists what there is.`,
  });
}

/** Up to three names that hold the text, or that it may be a slip of. */
function similar(text: string, names: readonly string[]): readonly string[] {
  const holding = names.filter((name) => name.toLowerCase().includes(text.toLowerCase()));
  const near: string[] = [];
  while (near.length < 3) {
    const next = nearest(
      text,
      names.filter((name) => !near.includes(name)),
    );
    if (next === undefined) break;
    near.push(next);
  }
  return (near.length > 0 ? near : holding).slice(0, 3);
}

/** The resource of an address: by the id that the state has for it, or by the name that the stack gives it. */
async function findAddress(kind: Kind, address: Address, session: PlatformSession): Promise<Found> {
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

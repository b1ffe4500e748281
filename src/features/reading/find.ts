import { type Address, getKind, isAddress, nameInWords } from '../../core/address.ts';
import { codeSpan } from '../../core/command-line.ts';
import { CallsheetError, firstLines } from '../../core/errors.ts';
import { didYouMean, nearest } from '../../core/nearest.ts';
import { getOwn, isUuid, type JsonObject, plainId } from '../../core/value.ts';
import { byKind, kindNamed } from '../../kinds/index.ts';
import { isListedWithin, type Kind, type Scope } from '../../kinds/kind.ts';
import { describeApiError, isNotFound } from '../../platform/errors.ts';
import { kindTitle } from '../../render/wording.ts';
import type { PlatformSession } from '../../run/platform-session.ts';
import { priorAddresses } from '../../stack/moves.ts';

/** A live resource that was asked for. */
export type Found = {
  readonly id: string;
  /** Its name where that is known, else the text that was typed. */
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
  // A wrong flag is reported even if the address or id needs no flag.
  if (Object.values(SOURCES).some(({ given }) => given(flags) !== undefined))
    await listScopes(kind, flags, session);
  const address = readAddress(text);
  if (address !== undefined) return findAddress(kind, address, session);
  if (kind.get !== undefined && isUuid(text)) return { id: text, label: text, scope: {} };
  const listed = await listAll(kind, await listScopes(kind, flags, session), session);
  return onlyOne(kind, text, matching(kind, text, listed), listed, session);
}

/**
 * A text as an address; undefined where it has not the form of one. A shell takes the quotes out of
 * `agent.clinic["harbor"]`, and resources are often called by their section: `agents.reception`.
 */
export function readAddress(text: string): Address | undefined {
  const quoted = text.replace(/\[(?!")(.*)\]$/, (_, key: string) => `[${JSON.stringify(key)}]`);
  return isAddress(quoted) ? byKind(quoted) : undefined;
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
    const lines = found.map(({ item, scope }) => {
      const [field = ''] = kind.scope;
      const owner = String(item[field] ?? scope[field] ?? '');
      return `${String(item.id)}  ${organizations.get(owner) ?? owner}`.trimEnd();
    });
    const listed = firstLines(lines, MOST_LISTED).map((line) => `  ${line}`);
    throw new CallsheetError(
      'usage',
      `${found.length} ${kindTitle(kind.name)} are called ${JSON.stringify(text)}`,
      {
        hint: ['Give one of these ids:', ...listed].join('\n'),
      },
    );
  }
  return { id: String(first.item.id), label: getName(kind, first.item), ...first };
}

function getName(kind: Kind, item: JsonObject): string {
  const [name] = namingFields(kind).flatMap((field) => item[field] ?? []);
  return typeof name === 'string' ? name : String(item.id);
}

function noneCalled(kind: Kind, text: string, listed: readonly Listed[]): CallsheetError {
  const names = [...new Set(listed.map(({ item }) => getName(kind, item)))];
  const near = similar(text, names);
  const message = `there is no ${nameInWords(kind.name)} ${JSON.stringify(text)} that the key reaches`;
  return new CallsheetError('usage', message, {
    hint:
      near.length > 0
        ? `The nearest names: ${near.join(', ')}.`
        : `${codeSpan(`callsheet get ${kind.section}`)} lists the existing resources.`,
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
  if (getKind(address) !== kind.name) {
    throw new CallsheetError('usage', `${address} is not an address of ${kindTitle(kind.name)}`, {
      hint: `Those begin with ${kind.name} and a dot.`,
    });
  }
  const { resources } = await session.state();
  const known = resources[address];
  if (known !== undefined) return { id: known.id, label: address, scope: known.scope };
  const { resources: desired, moves } = await session.stack();
  const wanted = desired.find((resource) => resource.address === address);
  if (wanted === undefined) {
    const addresses = [...desired.map((resource) => resource.address), ...Object.keys(resources)];
    const rows = [...new Set(addresses)].filter((one) => one.startsWith(`${address}[`));
    if (rows[0] !== undefined) {
      throw new CallsheetError('usage', `${address} has ${rows.length} rows; choose one`, {
        hint: `For example: '${rows[0]}'`,
      });
    }
    throw new CallsheetError('usage', `${address} is not a resource of this stack`, {
      hint: didYouMean(address, addresses, '`callsheet state list` shows their addresses.'),
    });
  }
  // The state has it under the address that it had before, until the next apply.
  const isConfigured = (one: Address) => desired.some((resource) => resource.address === one);
  const before = priorAddresses(moves.moved)(address).find(
    (one) => !isConfigured(one) && resources[one],
  );
  const moved = before === undefined ? undefined : resources[before];
  if (moved !== undefined) return { id: moved.id, label: address, scope: moved.scope };
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
      hint: 'It was never applied from here: run `callsheet plan` to see what apply would do.',
    });
  }
  return { ...onlyOne(kind, String(name), found, listed, session), label: address };
}

/** Flags that say which lists are meant. */
export type ScopeFlags = {
  /** A name from `organizations` of the stack, or an id. */
  readonly organization?: string;
  /** A name from `knowledge_bases` of the stack, or an id. */
  readonly knowledgeBase?: string;
};

/** How a scope field of a kind is given on the command line, and found in a stack. */
type ScopeSource = {
  readonly flag: string;
  readonly title: string;
  readonly given: (flags: ScopeFlags) => string | undefined;
  readonly findId: (name: string, session: PlatformSession) => Promise<string>;
  /** Those of the stack, where none is given. */
  readonly all: (kind: Kind, session: PlatformSession) => Promise<readonly string[]>;
};

const SOURCES: Readonly<Record<string, ScopeSource>> = {
  organization_id: {
    flag: '--organization',
    title: 'organization',
    given: ({ organization }) => organization,
    findId: async (name, { settings }) => organizationId(name, settings?.organizations ?? {}),
    all: async (_kind, { settings }) => {
      if (settings?.organization !== undefined) return [settings.organization];
      return Object.values(settings?.organizations ?? {});
    },
  },
  knowledge_base_id: {
    flag: '--knowledge-base',
    title: 'knowledge base',
    given: ({ knowledgeBase }) => knowledgeBase,
    findId: blockId,
    all: async (kind, session) => {
      const blocks = await readBlocks(session);
      return [...new Set(blocks.filter(({ of }) => of === kind.name).map(({ id }) => id))];
    },
  },
};

/** The id of an organization that is given by the stack's name for it or by id. Throws for anything else. */
export function organizationId(
  given: string,
  organizations: Readonly<Record<string, string>>,
): string {
  const known = getOwn(organizations, given);
  if (known !== undefined) return known;
  const near = nearest(given, Object.keys(organizations));
  if (near === undefined && isUuid(given)) return plainId(given);
  const names = Object.keys(organizations);
  const what = names.length > 0 ? "among the stack's names" : 'the id of an organization';
  throw new CallsheetError('usage', `--organization ${given} is not ${what}`, {
    hint:
      near === undefined
        ? 'Give its id: `callsheet get organizations` lists names and ids.'
        : `Did you mean ${near}? An id can be given as well.`,
  });
}

/** Names that the stack has for the ids of organizations. */
export function organizationNames({ settings }: PlatformSession): ReadonlyMap<string, string> {
  return new Map(Object.entries(settings?.organizations ?? {}).map(([name, id]) => [id, name]));
}

/**
 * Finds the lists of a kind that are to be read: those that the flags name, those of the stack where the
 * platform lists only within one, or all there is. Throws `CallsheetError('usage')` where none can be determined.
 */
export async function listScopes(
  kind: Kind,
  flags: ScopeFlags,
  session: PlatformSession,
): Promise<readonly Scope[]> {
  for (const [field, { flag, given, title }] of Object.entries(SOURCES)) {
    if (given(flags) === undefined || kind.scope.includes(field)) continue;
    throw new CallsheetError('usage', `${flag} does not apply to ${kindTitle(kind.name)}`, {
      hint: `They do not belong to one ${title}.`,
    });
  }
  const [field] = kind.scope;
  const source = field === undefined ? undefined : SOURCES[field];
  if (field === undefined || source === undefined) return [{}];
  const given = source.given(flags);
  if (given !== undefined) return [{ [field]: await source.findId(given, session) }];
  if (!isListedWithin(kind)) return [{}];
  const ids = session.settings === undefined ? [] : await source.all(kind, session);
  if (ids.length > 0) return ids.map((id) => ({ [field]: id }));
  throw new CallsheetError(
    'usage',
    `${kindTitle(kind.name)} are listed within one ${source.title}, and none is given`,
    { hint: `Name it with ${source.flag}.` },
  );
}

type Block = { readonly of: string; readonly name: string; readonly id: string };

/** Blocks of the stack that hand the id of a knowledge base down to the resources in them, by the address of those. */
async function readBlocks(session: PlatformSession): Promise<readonly Block[]> {
  const { resources } = await session.stack();
  return resources.flatMap(({ address, document }) => {
    const { knowledge_base_id: id } = document;
    const [, name = ''] = address.split('.');
    return typeof id === 'string' ? [{ of: getKind(address), name, id }] : [];
  });
}

async function blockId(given: string, session: PlatformSession): Promise<string> {
  if (session.settings === undefined) return given;
  const blocks = await readBlocks(session);
  return blocks.find(({ name }) => name === given)?.id ?? given;
}

/** Does something with a resource; where the platform does not have it, says so as the person called it. */
export async function onPlatform<T>(
  noun: string,
  { id, label }: Found,
  work: () => Promise<T>,
): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!isNotFound(error)) throw error;
    const named = label === id ? id : `${label} (${id})`;
    const message = `there is no ${noun} ${named} that the key reaches: ${describeApiError(error)}`;
    const { hint } = error;
    throw new CallsheetError('api', message, {
      ...(hint === undefined ? {} : { hint }),
      cause: error,
    });
  }
}

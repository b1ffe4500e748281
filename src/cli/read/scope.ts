import { isUuid } from '../../config/formats.ts';
import { nearest } from '../../config/nearest.ts';
import { kindOf } from '../../core/address.ts';
import { CallsheetError } from '../../core/errors.ts';
import type { Kind, Scope } from '../../kinds/kind.ts';
import { kindTitle } from '../../render/wording.ts';
import type { PlatformSession } from '../platform-session.ts';

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
  readonly idOf: (name: string, session: PlatformSession) => Promise<string>;
  /** Those of the stack, where none is given. */
  readonly all: (kind: Kind, session: PlatformSession) => Promise<readonly string[]>;
};

const SOURCES: Readonly<Record<string, ScopeSource>> = {
  organization_id: {
    flag: '--organization',
    title: 'organization',
    given: ({ organization }) => organization,
    idOf: async (name, { settings }) => organizationId(name, settings?.organizations ?? {}),
    all: async (_kind, { settings }) => {
      if (settings?.organization !== undefined) return [settings.organization];
      return Object.values(settings?.organizations ?? {});
    },
  },
  knowledge_base_id: {
    flag: '--knowledge-base',
    title: 'knowledge base',
    given: ({ knowledgeBase }) => knowledgeBase,
    idOf: async (name, session) => blockId(name, 'knowledge_base_id', session),
    all: async (kind, session) => {
      const blocks = await blocksOf('knowledge_base_id', session);
      return [...new Set(blocks.filter(({ of }) => of === kind.name).map(({ id }) => id))];
    },
  },
};

/** The id of an organization that is given by the stack's name for it or by id. Throws for anything else. */
export function organizationId(
  given: string,
  organizations: Readonly<Record<string, string>>,
): string {
  const known = Object.hasOwn(organizations, given) ? organizations[given] : undefined;
  if (known !== undefined) return known;
  const near = nearest(given, Object.keys(organizations));
  if (near === undefined && isUuid(given)) return given;
  const names = Object.keys(organizations);
  const what = names.length > 0 ? "among the stack's names" : 'the id of an organization';
  throw new CallsheetError('usage', `--organization ${given} is not ${what}`, {
    hint:
      near === undefined
        ? 'Give its id: callsheet billing lists organizations by name and id.'
        : `Did you mean ${near}? An id can be given as well.`,
  });
}

/** Names that the stack has for the ids of organizations. */
export function organizationNames({ settings }: PlatformSession): ReadonlyMap<string, string> {
  return new Map(Object.entries(settings?.organizations ?? {}).map(([name, id]) => [id, name]));
}

/**
 * The lists of a kind that are to be read: those that the flags name, those of the stack where the
 * platform lists only within one, or all there is. Throws `CallsheetError('usage')` where none can be told.
 */
export async function scopesOf(
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
  if (given !== undefined) return [{ [field]: await source.idOf(given, session) }];
  if (!isListedWithin(kind)) return [{}];
  const ids = session.settings === undefined ? [] : await source.all(kind, session);
  if (ids.length > 0) return ids.map((id) => ({ [field]: id }));
  throw new CallsheetError(
    'usage',
    `${kindTitle(kind.name)} are listed within one ${source.title}, and none is named`,
    { hint: `Name it with ${source.flag}.` },
  );
}

/** Whether the list's call lacks something as long as nothing says within what. */
function isListedWithin(kind: Kind): boolean {
  const { path = {}, query = {} } = kind.list({});
  return [...Object.values(path), ...Object.values(query)].includes('');
}

type Block = { readonly of: string; readonly name: string; readonly id: string };

/** Blocks of the stack that hand an id down to the resources in them, by the address of those. */
async function blocksOf(field: string, session: PlatformSession): Promise<readonly Block[]> {
  const { resources } = await session.stack();
  return resources.flatMap(({ address, document }) => {
    const id = document[field];
    const [, name = ''] = address.split('.');
    return typeof id === 'string' ? [{ of: kindOf(address), name, id }] : [];
  });
}

async function blockId(given: string, field: string, session: PlatformSession): Promise<string> {
  if (session.settings === undefined) return given;
  const blocks = await blocksOf(field, session);
  return blocks.find(({ name }) => name === given)?.id ?? given;
}

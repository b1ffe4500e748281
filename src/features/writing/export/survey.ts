import { type Address, formatAddress } from '../../../core/address.ts';
import type { Export } from '../../../core/documents.generated.ts';
import { compareTexts, countEach, type JsonObject } from '../../../core/value.ts';
import { kinds } from '../../../kinds/index.ts';
import type { Kind, Scope } from '../../../kinds/kind.ts';
import { organizationTitles } from '../../../live/entitlements.ts';
import { distinct, type Nameless, nameAll, toSlug } from '../../../live/names.ts';
import {
  namedId,
  nameOrganizations,
  type Organization,
  organizationFor,
} from '../../../live/organizations.ts';
import { getRecordKey, getScope } from '../../../plan/natural-key.ts';
import type { ListedResource, Reader } from '../../../plan/reader.ts';
import type { Client } from '../../../platform/client.ts';
import { ApiError, describeApiError } from '../../../platform/errors.ts';
import type { LongText } from '../edit/write.ts';

export type Scopes = {
  /** Those that were asked for; undefined for all that the credentials see. */
  readonly only: readonly Organization[] | undefined;
  /** The display names of organizations, by id, as far as they are known. */
  readonly titles: ReadonlyMap<string, string>;
  /** The platform lists no knowledge bases, so they are named. */
  readonly knowledgeBases: readonly Organization[];
};

/** A live resource with everything that it is called. */
export type Entry = {
  readonly kind: Kind;
  readonly id: string;
  readonly scope: Scope;
  /** Its item of the list, where that may be all that can be read of it. */
  readonly record: JsonObject | undefined;
  readonly organization: string | undefined;
  readonly address: Address;
  /** Its name in its folder. */
  readonly file: string;
  /** True if others of its kind have its natural key. */
  readonly isTwin: boolean;
};

export type Survey = {
  readonly organizations: readonly Organization[];
  readonly entries: readonly Entry[];
  readonly unlisted: Export.Document['unlisted'];
};

type Listed = ListedResource & { readonly kind: Kind };

/** Lists everything and gives it names. Whole resources are read later, one by one. */
export async function survey(scopes: Scopes, open: () => Reader): Promise<Survey> {
  const unlisted: { kind: string; reason: string }[] = [];
  const list = async (kind: Kind, within: readonly Scope[]): Promise<readonly Listed[]> => {
    const lists = await Promise.all(
      within.map(async (scope) => {
        try {
          // A reader of its own, so that no list is kept longer than it takes to look at it.
          const items = await open().list(kind, scope, false, namingFields(kind));
          if (items === undefined)
            unlisted.push({ kind: kind.name, reason: 'there is no list of them' });
          return await owned(
            (items ?? []).map((item) => lean(kind, item)),
            open,
          );
        } catch (error) {
          const reason = refusalIn(error);
          if (reason === undefined || isStreamed(kind)) throw error;
          unlisted.push({ kind: kind.name, reason });
          return [];
        }
      }),
    );
    return lists.flat();
  };
  const sweeping = kinds.filter(isStreamed);
  const given = scopes.only?.map(({ id }) => ({ organization_id: id }));
  const first = (await Promise.all(sweeping.map((kind) => list(kind, given ?? [{}])))).flat();
  const owners = first.flatMap(({ scope }) => scope.organization_id ?? []);
  const organizations =
    scopes.only ?? nameOrganizations([...owners, ...scopes.titles.keys()], scopes.titles);
  const rest = kinds.filter((kind) => !sweeping.includes(kind));
  const others = await Promise.all(
    rest.map((kind) => list(kind, listScopes(kind, organizations, scopes))),
  );
  const all = [...first, ...others.flat()];
  const entries = kinds.flatMap((kind) =>
    named(
      kind,
      withoutOlder(
        kind,
        all.filter((one) => one.kind === kind),
      ),
      organizations,
      scopes,
    ),
  );
  return { organizations, entries, unlisted: distinctKinds(unlisted) };
}

/** Why the platform refuses one thing, while it may give others; undefined where the error is another one. */
export function refusalIn(error: unknown): string | undefined {
  const cause = error instanceof Error && error.cause instanceof ApiError ? error.cause : error;
  if (!(cause instanceof ApiError) || cause.status === 401) return undefined;
  return [403, 404, 405, 502].includes(cause.status) ? describeApiError(cause) : undefined;
}

function listScopes(
  { scope: [field] }: Kind,
  organizations: readonly Organization[],
  { knowledgeBases }: Scopes,
): readonly Scope[] {
  if (field === undefined) return [{}];
  const ids = field === 'organization_id' ? organizations : knowledgeBases;
  return ids.map(({ id }) => ({ [field]: id }));
}

/** Fields that names are made of; undefined where the list is all that is read of a kind. */
function namingFields(kind: Kind): readonly string[] | undefined {
  return isStreamed(kind) ? ['name', 'created_at', ...kind.scope] : undefined;
}

/** The list with whose each is: where its items do not say so, each is read (List items carry a subset of the fields). */
async function owned(listed: readonly Listed[], open: () => Reader): Promise<readonly Listed[]> {
  const isOwned = ({ kind, scope }: Listed) => kind.scope.every((field) => scope[field]);
  if (listed.every(isOwned)) return listed;
  const reader = open();
  const resolved = await Promise.all(
    listed.map(async (one) => {
      if (isOwned(one)) return one;
      try {
        const live = await reader.read(one.kind, one, new Set());
        return (
          live &&
          lean(one.kind, { ...one, record: { ...one.record, ...getScope(one.kind, live.record) } })
        );
      } catch (error) {
        // A refused read is refused again when the whole resource is read, and is reported then.
        if (refusalIn(error) === undefined) throw error;
        return one;
      }
    }),
  );
  // A resource that was deleted meanwhile is not exported.
  return resolved.filter((one) => one !== undefined);
}

/** Keeps only the parts of names for a kind that is read one by one: fleets are large. */
function lean(kind: Kind, { id, scope, record }: ListedResource): Listed {
  if (!isStreamed(kind)) return { kind, id, scope, record };
  const own = kind.scope.flatMap((field): [string, string][] => {
    const value = record[field];
    return typeof value === 'string' ? [[field, value]] : [];
  });
  return { kind, id, scope: { ...scope, ...Object.fromEntries(own) }, record };
}

/** Keeps only the newest of versions of each other, as a plan does. */
function withoutOlder(kind: Kind, listed: readonly Listed[]): readonly Listed[] {
  if (kind.tie === 'error') return listed;
  const newest = new Map<string, Listed>();
  for (const one of listed) {
    const key = getKey(one) ?? one.id;
    const other = newest.get(key);
    if (other === undefined || isNewer(one, other)) newest.set(key, one);
  }
  return [...newest.values()];
}

function isNewer({ record: one, id }: Listed, { record: other, id: otherId }: Listed): boolean {
  const order = compareTexts(String(one.created_at ?? ''), String(other.created_at ?? ''));
  return order > 0 || (order === 0 && id < otherId);
}

function getKey({ kind, record, scope }: Listed): string | undefined {
  return getRecordKey(kind, record, scope);
}

/** Gives the resources of a kind their files, and addresses that are their own in the whole stack. */
function named(
  kind: Kind,
  listed: readonly Listed[],
  organizations: readonly Organization[],
  { knowledgeBases }: Scopes,
): readonly Entry[] {
  const counts = countEach(listed.map((one) => getKey(one) ?? ''));
  const owners = new Map([...organizations, ...knowledgeBases].map(({ id, name }) => [id, name]));
  const findOwner = ({ scope }: Listed) =>
    Object.values(scope).flatMap((id) => owners.get(id) ?? [])[0];
  const groups = [...Map.groupBy(listed, findOwner).values()];
  const things = groups.map((group) => group.map((one) => describeNameless(kind, one)));
  const files = new Map(things.flatMap((group) => [...nameAll(group, formatNoun(kind))]));
  const ordered = listed.toSorted((a, b) => compareTexts(a.id, b.id));
  const isPrefixed = kind.nested === undefined && organizations.length > 1;
  const own = distinct(
    ordered.map((one) => {
      const owner = findOwner(one);
      const file = files.get(one.id) ?? one.id;
      // Some say themselves whose they are.
      const hasOwnerName = owner === undefined || file === owner || file.startsWith(`${owner}_`);
      return [one.id, isPrefixed && !hasOwnerName ? `${owner}_${file}` : file];
    }),
  );
  return ordered.map((one): Entry => {
    const owner = findOwner(one);
    const file = files.get(one.id) ?? one.id;
    const names = kind.nested === undefined ? [own.get(one.id) ?? file] : [owner ?? 'other', file];
    const key = getKey(one);
    return {
      kind,
      id: one.id,
      scope: one.scope,
      record: isStreamed(kind) ? undefined : one.record,
      organization: one.scope.organization_id,
      address: formatAddress(kind.name, names),
      file,
      isTwin: kind.tie === 'error' && (key === undefined || (counts.get(key) ?? 0) > 1),
    };
  });
}

/** `source` of `knowledge_source`. */
export function formatNoun({ name }: Kind): string {
  return name.split('_').at(-1) ?? name;
}

/** Returns the text that a resource is named after: its name, or the page that it stands for. */
export function describeNameless(
  kind: Kind,
  { id, record }: Pick<ListedResource, 'id' | 'record'>,
): Nameless {
  const fields = [...new Set(kind.naturalKey.flatMap((names) => names.slice(-1)))];
  const [display = ''] = fields.flatMap((field) => {
    const value = record[field];
    return typeof value === 'string' && value !== '' ? [value] : [];
  });
  return { id, display: toPageName(display), createdAt: String(record.created_at ?? '') };
}

/** `faq` of `https://harbor.example.test/faq`; anything that is no address stays as it is. */
function toPageName(display: string): string {
  if (!/^https?:\/\//.test(display) || !URL.canParse(display)) return display;
  const { hostname, pathname, search } = new URL(display);
  const page = toSlug(`${pathname} ${search}`.replaceAll(/%[0-9a-f]{2}/gi, ' '));
  return page === '' ? hostname : page;
}

function distinctKinds(unlisted: Survey['unlisted']): Survey['unlisted'] {
  return [...new Map(unlisted.map((one) => [`${one.kind} ${one.reason}`, one])).values()];
}

/**
 * The files of an exported stack; with one organization its folder is left out:
 *
 * | file                                    | holds                                             |
 * |-----------------------------------------|---------------------------------------------------|
 * | `callsheet.yaml`                        | settings                                          |
 * | `bases.yaml`                            | what resources have in common                     |
 * | `retry_policies.yaml`                   | resources of the account, a file for each kind    |
 * | `harbor/sms_templates.yaml`             | resources of an organization, a file for each kind |
 * | `harbor/agents/front_desk.yaml`         | one agent                                         |
 * | `harbor/prompts/front_desk.md`          | its system prompt                                 |
 * | `harbor/prompts/front_desk.transfer_rules.md` | another long text of it                     |
 * | `bases/common.transfer_rules.md`        | a long text of a base                             |
 */
type Layout = {
  readonly getFile: (entry: Entry) => string;
  readonly getTextFile: (entry: Entry, text: LongText) => string | undefined;
  /** The same for a text of a base, whose name stands in the place of an address. */
  readonly baseTextFile: (kind: Kind, text: LongText) => string | undefined;
};

/** True if a kind has as many resources as the account is large: they are read and written one by one, a file each. */
export function isStreamed({ listsAll }: Kind): boolean {
  return listsAll === true;
}

/** Characters that an editor shows on one line, more or less. */
const LONGEST_LINE = 160;
/** The texts that a resource is about: their files are called like the resource alone. */
const MAIN_TEXTS = new Set(['system_prompt', 'body_html', 'body']);

export function getLayout(organizations: readonly Organization[]): Layout {
  const names = new Map(organizations.map(({ id, name }) => [id, name]));
  const getFolder = ({ organization }: Entry) => {
    const name = names.get(organization ?? '');
    return name === undefined || organizations.length < 2 ? '' : `${name}/`;
  };
  return {
    getFile: (entry) => {
      const { kind, file } = entry;
      const folder = getFolder(entry);
      return isStreamed(kind)
        ? `${folder}${kind.section}/${file}.yaml`
        : `${folder}${kind.section}.yaml`;
    },
    getTextFile: (entry, text) => {
      const { kind, file } = entry;
      return ownTextFile(kind, file, text, getFolder(entry));
    },
    baseTextFile: (kind, text) =>
      isLong(kind, text) ? textFile('bases', text.address, text) : undefined,
  };
}

/** Returns the file of a resource's text; undefined for one that stays in the YAML. `folder` ends with a slash. */
export function ownTextFile(
  kind: Kind,
  file: string,
  text: LongText,
  folder = '',
): string | undefined {
  if (!isLong(kind, text)) return undefined;
  return textFile(`${folder}${isStreamed(kind) ? 'prompts' : kind.section}`, file, text);
}

/**
 * True if a text is easier to read, and to review, in a file of its own: prose of several lines, or whole instructions.
 * The file ends with a line feed, which a name or a subject must not have.
 */
function isLong({ schema }: Kind, { path, text }: LongText): boolean {
  const prose = schema.properties?.[path]?.['x-prose'];
  if (prose === undefined) return false;
  return text.trim().includes('\n') || (prose === 'instructions' && text.length > LONGEST_LINE);
}

function textFile(folder: string, file: string, { path }: LongText): string {
  const name = MAIN_TEXTS.has(path) ? file : `${file}.${path}`;
  return `${folder}/${name}.${path.endsWith('_html') ? 'html' : 'md'}`;
}

/** The way from a file of the stack back to its folder. */
export function wayBack(path: string): string {
  return '../'.repeat(path.split('/').length - 1);
}

export type ScopeFlags = {
  readonly organization?: readonly string[];
  readonly knowledgeBase?: readonly string[];
};

/** Returns what is to be exported, by the flags, and the display names of organizations. */
export async function scopesFor(
  { organization, knowledgeBase = [] }: ScopeFlags,
  known: Readonly<Record<string, string>>,
  client: Pick<Client, 'call'>,
  now: Date,
): Promise<Scopes> {
  const knowledgeBases = knowledgeBase.map((text) => namedId('--knowledge-base', text));
  const titles = new Map([
    ...(await organizationTitles(client, now)),
    ...Object.entries(known).map(([name, id]) => [id, name] as const),
  ]);
  const only = organization?.map((text) => organizationFor(text, titles));
  return { only, titles, knowledgeBases };
}

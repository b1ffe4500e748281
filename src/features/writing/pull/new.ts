import { type Address, formatAddress } from '../../../core/address.ts';
import type { PullDocument } from '../../../core/documents.ts';
import { formatPath } from '../../../core/path.ts';
import { countEach } from '../../../core/value.ts';
import { kinds } from '../../../kinds/index.ts';
import type { Kind, Scope } from '../../../kinds/kind.ts';
import { nameAll } from '../../../live/names.ts';
import { nameSecrets, openSecrets, withNames } from '../../../live/secrets.ts';
import { getRecordKey, listScopes } from '../../../plan/natural-key.ts';
import {
  type ListedResource,
  type LiveResource,
  type Reader,
  requireRead,
} from '../../../plan/reader.ts';
import type { Stack } from '../../../stack/index.ts';
import type { State } from '../../../state/model.ts';
import type { WriteOptions } from '../edit/write.ts';
import { type Remark, sayOne, writeFile } from '../export/resource.ts';
import { describeNameless, formatNoun, ownTextFile, wayBack } from '../export/survey.ts';

/**
 * Proposes files for live resources that a stack does not have. What they say, and how it is written, is the
 * export's; here they are found, and get addresses, files and variables that the stack does not use.
 *
 *     lists of the platform → live resources → addresses → one file each, and its texts
 */

/** A live resource that no stack has yet. */
export type Foreign = {
  readonly kind: Kind;
  readonly live: LiveResource;
  /** The block that it stands in, of kinds that stand in one: `clinic` of `knowledge_source.clinic.faq`. */
  readonly block?: string;
};

/**
 * An address for each, as an export names it. `taken` are the addresses that there are: none is given twice, not
 * even in other letters.
 */
export function nameResources(
  foreign: readonly Foreign[],
  taken: Iterable<Address>,
): ReadonlyMap<Foreign, Address> {
  const known = [...taken].map((address) => address.toLowerCase().replace(/\[.*$/s, ''));
  const named = new Map<Foreign, Address>();
  const groups = Map.groupBy(foreign, ({ kind, block }) => getPrefix(kind, block));
  for (const [prefix, group] of groups) {
    const [first] = group;
    if (first === undefined) continue;
    const names = nameAll(
      group.map(({ kind, live }) => describeNameless(kind, live)),
      formatNoun(first.kind),
      known.flatMap((address) =>
        address.startsWith(prefix) ? [address.slice(prefix.length)] : [],
      ),
    );
    for (const one of group)
      named.set(one, buildAddress(one, names.get(one.live.id) ?? one.live.id));
  }
  return named;
}

function getPrefix({ name }: Kind, block: string | undefined): string {
  return `${name}.${block === undefined ? '' : `${block}.`}`.toLowerCase();
}

function buildAddress({ kind, block }: Foreign, name: string): Address {
  return formatAddress(kind.name, block === undefined ? [name] : [block, name]);
}

/** A secret for which the file says `$secret`. */
type NeededSecret = NonNullable<PullDocument['secrets']>[number];

export type Proposed = {
  readonly address: Address;
  readonly id: string;
  /** Its own file; undefined where the configuration cannot say it, and then a remark says why. */
  readonly file: string | undefined;
  /** Its file and those of its texts, by path in the stack folder. */
  readonly texts: ReadonlyMap<string, string>;
  readonly secrets: readonly NeededSecret[];
  readonly remarks: readonly Remark[];
};

type ProposeOptions = {
  /** Returns the address of a live resource; undefined where it is unmanaged. */
  readonly addressOf: (kind: string, id: string) => Address | undefined;
  /** Names of organizations → ids. */
  readonly organizations: Readonly<Record<string, string>>;
  /** Id of the stack's own organization. */
  readonly organization: string | undefined;
  /** True if another live resource is known by the same name, so that only its id tells it. */
  readonly isAmbiguous: (one: Foreign) => boolean;
  /** The schema that the first line of a file names to editors, as a path from the stack folder; undefined for none. */
  readonly schema: string | undefined;
  /** True if a path exists already. */
  readonly isTaken: (file: string) => boolean;
  /** True if the stack reads another value from an environment variable. */
  readonly isVariableTaken: (name: string) => boolean;
};

/** A file for each resource, and files for its long texts. No path is given twice. */
export function proposeFiles(
  named: ReadonlyMap<Foreign, Address>,
  options: ProposeOptions,
): readonly Proposed[] {
  const free = freePaths(options.isTaken);
  const { standIn } = openSecrets();
  const all = [...named].map(([one, address]) => sayForeign(one, address, options, standIn, free));
  const names = nameSecrets(
    all.flatMap(({ one }) => one?.secrets ?? []),
    options.isVariableTaken,
  );
  return all.map(({ address, id, file, one, remarks, write }): Proposed => {
    if (one === undefined)
      return { address, id, file: undefined, texts: new Map(), secrets: [], remarks };
    const document = withNames(one.writable.document, names);
    const { text, files } = writeFile([{ ...one.writable, document }], write);
    return {
      address,
      id,
      file,
      texts: new Map([[file, text], ...files]),
      secrets: one.secrets.map(({ path, secret: { source } }) => ({
        address,
        path: formatPath(path),
        source: `env:${names.get(source) ?? source}`,
      })),
      remarks,
    };
  });
}

/** Returns the stack's version of a resource, but for the variables of its secrets, and how it is written. */
function sayForeign(
  one: Foreign,
  address: Address,
  options: ProposeOptions,
  standIn: ReturnType<typeof openSecrets>['standIn'],
  free: (path: string) => string,
) {
  const { kind, live } = one;
  const { organizations, organization, schema } = options;
  const name = address.split('.').slice(1).join('-');
  const file = free(`${kind.section}/${name}.yaml`);
  const paths = new Map<string, string>();
  const [owner = ''] =
    Object.entries(organizations).find(([, id]) => id === live.scope.organization_id) ?? [];
  const context = {
    kind,
    address,
    findAddress: options.addressOf,
    isTwin: options.isAmbiguous(one),
    own: name,
    organization: owner,
    standIn,
  };
  const write: WriteOptions = {
    kinds,
    organizations,
    organization,
    ...(schema === undefined ? {} : { schema: `${wayBack(file)}${schema}` }),
    fileFor: (text) => {
      const wanted = ownTextFile(kind, name, text);
      if (wanted === undefined) return undefined;
      // A resource is put into words again when its variables have names.
      const path = paths.get(text.path) ?? free(wanted);
      paths.set(text.path, path);
      return path;
    },
  };
  return { address, id: live.id, file, write, ...sayOne(live, context, write) };
}

/** Paths that nothing stands at yet, each given once, also where upper and lower case are the same. */
function freePaths(isTaken: (file: string) => boolean): (path: string) => string {
  const given = new Set<string>();
  return (wanted) => {
    const [, path = wanted, ending = ''] = /^(.*?)(\.[a-z]+)$/s.exec(wanted) ?? [];
    let free = wanted;
    for (let count = 2; isTaken(free) || given.has(free.toLowerCase()); count += 1) {
      free = `${path}_${count}${ending}`;
    }
    given.add(free.toLowerCase());
    return free;
  };
}

/** A stack, what its state knows, and the platform. */
type Home = { readonly stack: Stack; readonly state: State; readonly reader: Reader };

/** The live resources in the places of the stack that no address of it stands for. */
type ForeignFound = {
  readonly foreign: readonly Foreign[];
  /** True if another live resource of the same kind and place is known by the same name. */
  readonly isAmbiguous: (one: Foreign) => boolean;
};

/** Looks through the lists that the stack has to do with. `known` are the ids of what it manages, by kind. */
export async function findForeign(
  session: Home,
  isManaged: (kind: string, id: string) => boolean,
): Promise<ForeignFound> {
  const toKey = (kind: Kind, scope: Scope, item: ListedResource) =>
    `${kind.name} ${JSON.stringify(scope)} ${getRecordKey(kind, item.record, scope) ?? item.id}`;
  const ambiguous = new Set<string>();
  const lists = await Promise.all(
    kinds.flatMap((kind) =>
      listPlaces(kind, session).map(async (scope) => ({
        kind,
        scope,
        items: (await session.reader.list(kind, scope)) ?? [],
      })),
    ),
  );
  const keys = countEach(
    lists.flatMap(({ kind, scope, items }) => items.map((item) => toKey(kind, scope, item))),
  );
  const found = lists.flatMap(({ kind, scope, items }) =>
    items
      .filter(({ id }) => !isManaged(kind.name, id))
      .map(async (item): Promise<readonly Foreign[]> => {
        if ((keys.get(toKey(kind, scope, item)) ?? 0) > 1) ambiguous.add(`${kind.name} ${item.id}`);
        const facets = new Set(kind.facets.map(({ field }) => field));
        const live = await session.reader.read(kind, { ...item, scope }, facets);
        const block = kind.nested === undefined ? undefined : findBlock(kind, scope, session);
        if (live === undefined || live.extent === 'nothing') return [];
        requireRead(live);
        return [{ kind, live, ...(block === undefined ? {} : { block }) }];
      }),
  );
  return {
    foreign: (await Promise.all(found)).flat(),
    isAmbiguous: ({ kind, live }) => ambiguous.has(`${kind.name} ${live.id}`),
  };
}

/**
 * Lists the scopes in which resources of a kind may be: those of the stack's own, or the organizations that it uses.
 */
function listPlaces(kind: Kind, { stack, state }: Home): readonly Scope[] {
  if (kind.scope.length === 0) return [{}];
  const own = listScopes(kind, stack.resources, state);
  if (kind.scope.some((field) => field !== 'organization_id')) return own;
  const used = stack.resources.flatMap(({ document }) =>
    typeof document.organization_id === 'string' ? [document.organization_id] : [],
  );
  const all = used.length > 0 ? used : Object.values(stack.organizations);
  return [...new Set(all)].map((id) => ({ organization_id: id }));
}

/** The name of the block whose resources are there: `clinic` of `knowledge_source.clinic.faq`. */
function findBlock(kind: Kind, scope: Scope, { stack }: Home): string | undefined {
  const neighbour = stack.resources.find(
    (one) =>
      one.kind === kind.name && kind.scope.every((field) => one.document[field] === scope[field]),
  );
  return neighbour?.address.split('.')[1];
}

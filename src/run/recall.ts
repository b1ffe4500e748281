import type { Address } from '../core/address.ts';
import type { DesiredResource } from '../core/desired.ts';
import { parseTime } from '../core/moment.ts';
import { findText, inTurns } from '../core/value.ts';
import type { World } from '../diff/leaves.ts';
import { kindNamed, kinds } from '../kinds/index.ts';
import type { Kind, Scope } from '../kinds/kind.ts';
import { findAuthor } from '../plan/drift.ts';
import { CLOCK_SKEW_MS } from '../plan/identify.ts';
import {
  getNaturalKey,
  getRecordKey,
  getScope,
  itemsNamed,
  listKnown,
  listScopes,
} from '../plan/natural-key.ts';
import {
  type HistoryEntry,
  type ListedResource,
  listFields,
  type Reader,
  readWith,
} from '../plan/reader.ts';
import { livePin } from '../plan/refresh.ts';
import { createdIn, nameInState, rememberResource } from '../plan/state-entry.ts';
import { priorAddresses } from '../stack/moves.ts';
import { type Deletions, forgetValue, isConcealed, type ResourceState } from '../state/model.ts';
import { askGit, isInRepository } from './actor.ts';
import type { LoadedStack } from './stack.ts';

/**
 * Commits that are read at most to learn what was configured once, and resources that are loaded for it: of a large fleet
 * as many take minutes.
 */
const MOST_COMMITS = 500;
const MOST_LOADED = 50_000;

/** History entries that are read of a resource to find one that a run may have left. */
const MOST_ENTRIES = 20;

/** Resources whose history is read at once. */
const MOST_AT_ONCE = 16;

/** A resource that no state knows and that the files had once. */
export type Recalled = {
  readonly entry: ResourceState;
  /** The newest commit that configures it. */
  readonly commit: string;
};

/** The knowledge of Git, where no state has any. */
export type Recollection = {
  readonly recalled: ReadonlyMap<Address, Recalled>;
  /** Resources that commits took out and whose names live resources have that were made since: somebody made them again. */
  readonly gone: Deletions;
};

/**
 * Recalls, where there is no state, the live resources that the files had once and have no more: a state that was lost may
 * have known that they wait to be deleted, or to be renamed. A commit alone is no proof that Callsheet managed one of that
 * name. So it must have been created before the commit that took it out, and have been created or changed by this account
 * while commits had it. Without a Git history nothing is recalled.
 */
export async function recallFormer(
  loaded: Pick<LoadedStack, 'stack' | 'loadAt'>,
  platform: {
    readonly reader: Pick<Reader, 'list' | 'read' | 'history'>;
    readonly account: string;
    readonly world: Omit<World, 'findId'>;
    readonly now: Date;
  },
): Promise<Recollection> {
  if (!isInRepository(loaded.stack.dir)) return NOTHING_RECALLED;
  const unnamed = await listUnnamed(loaded.stack, platform);
  const former = unnamed.size === 0 ? [] : await listFormer(unnamed, loaded, platform.now);
  const { resources, moves } = loaded.stack;
  const listPriors = priorAddresses(moves.moved);
  const successors = new Map(
    resources.flatMap((one) => [one.address, ...listPriors(one.address)].map((at) => [at, one])),
  );
  const found: (Awaited<ReturnType<typeof findLive>> | undefined)[] = [];
  await inTurns(former.entries(), MOST_AT_ONCE, async ([index, one]) => {
    const successor = successors.get(one.desired.address);
    // It may have its new name already.
    if (successor !== undefined && (await listNamed(successor, platform)).length > 0) return;
    found[index] = await findLive(one, platform);
  });
  const recalled = new Map<Address, Recalled>();
  const gone: Record<Address, Deletions[string]> = {};
  for (const [index, { desired, commit }] of former.entries()) {
    const { entry, deleted } = found[index] ?? {};
    if (entry !== undefined) recalled.set(desired.address, { entry, commit });
    if (deleted !== undefined) gone[desired.address] = deleted;
  }
  return { recalled, gone };
}

/** Without a history nothing is recalled. */
export const NOTHING_RECALLED: Recollection = { recalled: new Map(), gone: {} };

/** A resource as a commit configures it whose name no resource of the checkout has. */
type Former = {
  readonly desired: DesiredResource;
  readonly commit: string;
  /** The time of the oldest commit that is known to have it, and of the one that took it out, in milliseconds since 1970. */
  readonly from: number;
  readonly to: number;
  /** The commit that took it out; undefined where it is not committed. */
  readonly until: string | undefined;
};

/** Names of live resources that no resource of the checkout has, where the stack has resources or could have them. */
async function listUnnamed(
  { resources, organization }: LoadedStack['stack'],
  { reader }: { readonly reader: Pick<Reader, 'list'> },
): Promise<ReadonlySet<string>> {
  const configured = new Set(resources.map(findName));
  const own: Scope = organization === undefined ? {} : { organization_id: organization };
  const lists = await Promise.all(
    kinds.map(async (kind) => {
      const scopes = listScopes(kind, resources, undefined);
      const isOwn = kind.scope.every((field) => Object.hasOwn(own, field));
      const places = scopes.length > 0 || !isOwn ? scopes : [own];
      const items = await Promise.all(places.map((scope) => listLive(kind, scope, { reader })));
      return items.flat().flatMap(({ record, scope }) => {
        const name = nameIn(kind, scope, getRecordKey(kind, record, scope));
        return name === undefined || configured.has(name) ? [] : [name];
      });
    }),
  );
  return new Set(lists.flat());
}

/** Looks for live resources in the commits, from the newest on, until it has seen where each begins to be configured. */
async function listFormer(
  unnamed: ReadonlySet<string>,
  { stack, loadAt }: Pick<LoadedStack, 'stack' | 'loadAt'>,
  now: Date,
): Promise<readonly Former[]> {
  const most = Math.ceil(MOST_LOADED / Math.max(stack.resources.length, 1));
  const commits = await listCommits(stack.dir, Math.min(most, MOST_COMMITS));
  const former = new Map<string, Former>();
  const indexes = new Map(commits.map(({ id }, index) => [id, index]));
  try {
    for await (const { commit, stack: then } of loadAt(commits.map(({ id }) => id))) {
      const index = indexes.get(commit) ?? 0;
      const from = commits[index]?.at ?? 0;
      const { at: to = now.getTime(), id: until } = commits[index - 1] ?? {};
      const seen = new Set<string>();
      for (const desired of then.resources) {
        const name = findName(desired);
        if (name === undefined || !unnamed.has(name)) continue;
        former.set(name, { desired, commit, to, until, ...former.get(name), from });
        seen.add(name);
      }
      if (former.size === unnamed.size && seen.size === 0) break;
    }
  } catch {
    // Git cannot read it: a shallow clone, or one without its files.
  }
  // An address has one entry in a state: its newest name.
  return [
    ...new Map([...former.values()].toReversed().map((one) => [one.desired.address, one])).values(),
  ];
}

/** Names a resource as the platform tells it from others. */
function findName({ kind, document }: DesiredResource): string | undefined {
  const known = kindNamed(kind);
  return nameIn(known, getScope(known, document), getNaturalKey(known, document));
}

function nameIn(kind: Kind, scope: Scope, key: string | undefined): string | undefined {
  return key && JSON.stringify([kind.name, kind.scope.map((field) => scope[field]), key]);
}

/** The commits of the checkout that touch the folder of the stack, the newest first, with their times. */
async function listCommits(
  dir: string,
  most: number,
): Promise<readonly { readonly id: string; readonly at: number }[]> {
  const listed = await askGit(
    ...([dir, 'log', `--max-count=${most}`, '--format=%H %ct', '--', '.'] as const),
  ).catch(() => '');
  return listed.split('\n').flatMap((line) => {
    const [id = '', seconds] = line.split(' ');
    return id === '' ? [] : [{ id, at: Number(seconds) * 1000 }];
  });
}

/**
 * Finds the live resource that a former one stands for: its entry of the state, or the former one as deleted where what
 * has its name was made after the commit that took it out. Undefined where nothing is known to be it.
 */
async function findLive(
  { desired, from, to, until }: Former,
  { reader, account, world }: Parameters<typeof recallFormer>[1],
): Promise<{ readonly entry?: ResourceState; readonly deleted?: Deletions[string] } | undefined> {
  const kind = kindNamed(desired.kind);
  const [item, ...others] = await listNamed(desired, { reader });
  if (item === undefined || others.length > 0) return undefined;
  const created = createdAt(item);
  if (created === undefined) return undefined;
  if (created > to + CLOCK_SKEW_MS) {
    if (until === undefined) return undefined;
    const { kind: name, document } = desired;
    const at = { at: new Date(to).toISOString(), kind: name, scope: getScope(kind, document) };
    return {
      deleted: { run: null, commit: until, ...at, name: nameInState(desired) },
    };
  }
  const isSince = (at: number) => at >= from - CLOCK_SKEW_MS;
  const isOwn = ({ actor, at }: HistoryEntry) =>
    actor === findAuthor(account) && at !== null && isSince(parseTime(at));
  const entries =
    kind.history === undefined ? [] : await reader.history(kind, item.id, MOST_ENTRIES);
  const written = entries.find(isOwn);
  if (written === undefined && !isSince(created)) return undefined;
  const live = await readWith(reader, kind, item, listFields(kind, desired.document, undefined));
  if (live === undefined) return undefined;
  const pin = livePin(kind, live);
  const at = {
    ...{ id: live.id, scope: live.scope, document: live.document, ...createdIn(live) },
    pin: pin && written ? { ...pin, history_id: written.id, updated_at: written.at } : pin,
  };
  const unread: World = { ...world, findId: () => undefined };
  const { leaves, ...entry } = rememberResource(kind, desired, at, undefined, new Set(), unread);
  // The state that is made next has a salt of its own.
  const kept = Object.entries(leaves).map(([path, leaf]) => [
    path,
    isConcealed(leaf) ? forgetValue(leaf) : leaf,
  ]);
  return { entry: { ...entry, leaves: Object.fromEntries(kept) } };
}

/** Live resources that have the name of a configured one. */
async function listNamed(
  { kind: name, document }: DesiredResource,
  { reader }: { readonly reader: Pick<Reader, 'list'> },
): Promise<readonly ListedResource[]> {
  const kind = kindNamed(name);
  const scope = getScope(kind, document);
  const items = await listLive(kind, scope, { reader });
  return itemsNamed(items, kind, scope, getNaturalKey(kind, document) ?? '');
}

async function listLive(
  kind: Kind,
  scope: Scope,
  { reader }: { readonly reader: Pick<Reader, 'list'> },
): Promise<readonly ListedResource[]> {
  // Planning a resource of this kind asks for the list again, and says why there is none.
  return (await listKnown(reader, kind, scope).catch(() => undefined)) ?? [];
}

function createdAt({ record }: ListedResource): number | undefined {
  const text = findText(record.created_at);
  return text === undefined ? undefined : parseTime(text);
}

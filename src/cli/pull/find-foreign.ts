import { kinds } from '../../kinds/index.ts';
import type { Kind, Scope } from '../../kinds/kind.ts';
import { recordKeyOf, scopesOf } from '../../plan/natural-key.ts';
import type { ListedResource } from '../../plan/reader.ts';
import type { Foreign } from '../../pull/new/index.ts';
import type { Session } from '../session.ts';

/** What is live where the stack is at home, and no address of it stands for. */
type ForeignFound = {
  readonly foreign: readonly Foreign[];
  /** Whether another live resource of the same kind and place is known by the same name. */
  readonly isAmbiguous: (one: Foreign) => boolean;
};

/** Looks through the lists that the stack has to do with. `known` are the ids of what it manages, by kind. */
export async function findForeign(
  session: Session,
  isManaged: (kind: string, id: string) => boolean,
): Promise<ForeignFound> {
  const keys = new Map<string, number>();
  const keyOf = (kind: Kind, scope: Scope, item: ListedResource) =>
    `${kind.name} ${JSON.stringify(scope)} ${recordKeyOf(kind, item.record, scope) ?? item.id}`;
  const ambiguous = new Set<string>();
  const lists = await Promise.all(
    kinds.flatMap((kind) =>
      placesOf(kind, session).map(async (scope) => ({
        kind,
        scope,
        items: (await session.reader.list(kind, scope)) ?? [],
      })),
    ),
  );
  for (const { kind, scope, items } of lists) {
    for (const item of items) {
      const key = keyOf(kind, scope, item);
      keys.set(key, (keys.get(key) ?? 0) + 1);
    }
  }
  const found = lists.flatMap(({ kind, scope, items }) =>
    items
      .filter(({ id }) => !isManaged(kind.name, id))
      .map(async (item): Promise<readonly Foreign[]> => {
        if ((keys.get(keyOf(kind, scope, item)) ?? 0) > 1) ambiguous.add(`${kind.name} ${item.id}`);
        const facets = new Set(kind.facets.map(({ field }) => field));
        const live = await session.reader.read(kind, { ...item, scope }, facets);
        const block = kind.nested === undefined ? undefined : blockOf(kind, scope, session);
        if (live === undefined || live.extent === 'nothing') return [];
        return [{ kind, live, ...(block === undefined ? {} : { block }) }];
      }),
  );
  return {
    foreign: (await Promise.all(found)).flat(),
    isAmbiguous: ({ kind, live }) => ambiguous.has(`${kind.name} ${live.id}`),
  };
}

/** Where resources of a kind may be: where those of the stack are, or in the organizations that it is about. */
function placesOf(kind: Kind, { stack, state }: Session): readonly Scope[] {
  if (kind.scope.length === 0) return [{}];
  const own = scopesOf(kind, stack.resources, state);
  if (kind.scope.some((field) => field !== 'organization_id')) return own;
  const used = stack.resources.flatMap(({ document }) =>
    typeof document.organization_id === 'string' ? [document.organization_id] : [],
  );
  const all = used.length > 0 ? used : Object.values(stack.organizations);
  return [...new Set(all)].map((id) => ({ organization_id: id }));
}

/** The name of the block whose resources are there: `clinic` of `knowledge_source.clinic.faq`. */
function blockOf(kind: Kind, scope: Scope, { stack }: Session): string | undefined {
  const neighbour = stack.resources.find(
    (one) =>
      one.kind === kind.name && kind.scope.every((field) => one.document[field] === scope[field]),
  );
  return neighbour?.address.split('.')[1];
}

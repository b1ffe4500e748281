import type { Address } from '../../core/address.ts';
import type { DesiredResource } from '../../core/desired.ts';

/** What refers to what in a stack, ready to be drawn. */
export type Graph = {
  readonly nodes: readonly GraphNode[];
  /** Indexes of nodes: `from` refers to `to`, so that `to` comes first. */
  readonly edges: readonly { readonly from: number; readonly to: number }[];
};

export type GraphNode = {
  readonly address: Address;
  /** What people call it; null for several rows of one fleet, and where it has none. */
  readonly name: string | null;
  /** The name of its organization, its id where it has none, null for what belongs to the account. */
  readonly owner: string | null;
  /** How many resources it stands for. */
  readonly rows: number;
};

export type GraphInput = {
  readonly resources: readonly Pick<DesiredResource, 'address' | 'document' | 'references'>[];
  /** Names of organizations by id. */
  readonly organizations: { readonly [id: string]: string };
  /** Whether a resource is drawn; what it refers to is drawn as well. */
  readonly isChosen: (address: Address) => boolean;
  /** Whether each row of a fleet is a node of its own. */
  readonly eachRow: boolean;
};

/** The graph of a stack, in the order of addresses, so that equal stacks give equal graphs. */
export function graphOf(input: GraphInput): Graph {
  const resources = withReferences(input).toSorted((a, b) => (a.address < b.address ? -1 : 1));
  const groups = Map.groupBy(resources, (resource) => groupOf(resource, input));
  const all = [...groups.values()];
  const places = new Map(all.flatMap((group, at) => group.map(({ address }) => [address, at])));
  const edges = all.flatMap(([first], from) => {
    const targets = new Set((first?.references ?? []).flatMap((one) => places.get(one) ?? []));
    return [...targets].sort((a, b) => a - b).map((to) => ({ from, to }));
  });
  return { nodes: all.flatMap((group) => nodeOf(group, input)), edges };
}

/** What was chosen, and what that refers to. */
function withReferences({ resources, isChosen }: GraphInput): GraphInput['resources'] {
  const known = new Map(resources.map((resource) => [resource.address, resource]));
  const found = new Set(resources.filter(({ address }) => isChosen(address)));
  // A set that is walked through gives what is added meanwhile, too.
  for (const { references } of found) {
    for (const address of references) {
      const resource = known.get(address);
      if (resource !== undefined) found.add(resource);
    }
  }
  return [...found];
}

type Resource = GraphInput['resources'][number];

/** Rows of a fleet that refer to the same and belong together are one: ten thousand of them say no more. */
function groupOf(resource: Resource, input: GraphInput): string {
  const { address, references } = resource;
  const fleet = fleetOf(address);
  if (input.eachRow || fleet === address) return address;
  return JSON.stringify([fleet, ownerOf(resource, input), [...references].sort()]);
}

function fleetOf(address: Address): Address {
  return address.replace(/\["(?:[^"\\]|\\.)*"\]$/, '');
}

function ownerOf({ document }: Resource, { organizations }: GraphInput): string | null {
  const { organization_id: id } = document;
  return typeof id === 'string' ? (organizations[id] ?? id) : null;
}

function nodeOf(group: readonly Resource[], input: GraphInput): readonly GraphNode[] {
  const [first] = group;
  if (first === undefined) return [];
  const { name } = first.document;
  const isOne = group.length === 1;
  return [
    {
      address: isOne ? first.address : fleetOf(first.address),
      name: isOne && typeof name === 'string' ? name : null,
      owner: ownerOf(first, input),
      rows: group.length,
    },
  ];
}

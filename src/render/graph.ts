import type { Address } from '../core/address.ts';
import type { DesiredResource } from '../core/desired.ts';
import { cutText } from './terminal.ts';
import { sanitiseLine } from './untrusted.ts';
import { formatNumber } from './wording.ts';

/** The references between the resources of a stack, ready to be drawn. */
type Graph = {
  readonly nodes: readonly GraphNode[];
  /** Indexes of nodes: `from` refers to `to`, so that `to` comes first. */
  readonly edges: readonly { readonly from: number; readonly to: number }[];
};

type GraphNode = {
  readonly address: Address;
  /** The display name; null for several rows of one fleet, and for a resource without a name. */
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
  /** True if a resource is drawn; those that it refers to are drawn as well. */
  readonly isChosen: (address: Address) => boolean;
  /** True if each row of a fleet is a node of its own. */
  readonly eachRow: boolean;
};

/** The graph of a stack, in the order of addresses, so that equal stacks give equal graphs. */
export function buildGraph(input: GraphInput): Graph {
  const resources = withReferences(input).toSorted((a, b) => (a.address < b.address ? -1 : 1));
  const groups = Map.groupBy(resources, (resource) => getGroup(resource, input));
  const all = [...groups.values()];
  const places = new Map(all.flatMap((group, at) => group.map(({ address }) => [address, at])));
  const edges = all.flatMap(([first], from) => {
    const targets = new Set((first?.references ?? []).flatMap((one) => places.get(one) ?? []));
    return [...targets].sort((a, b) => a - b).map((to) => ({ from, to }));
  });
  return { nodes: all.flatMap((group) => buildNodes(group, input)), edges };
}

/** Returns the chosen resources and all that they refer to. */
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
function getGroup(resource: Resource, input: GraphInput): string {
  const { address, references } = resource;
  const fleet = getFleet(address);
  if (input.eachRow || fleet === address) return address;
  return JSON.stringify([fleet, findOwner(resource, input), [...references].sort()]);
}

function getFleet(address: Address): Address {
  return address.replace(/\["(?:[^"\\]|\\.)*"\]$/, '');
}

function findOwner({ document }: Resource, { organizations }: GraphInput): string | null {
  const { organization_id: id } = document;
  return typeof id === 'string' ? (organizations[id] ?? id) : null;
}

function buildNodes(group: readonly Resource[], input: GraphInput): readonly GraphNode[] {
  const [first] = group;
  if (first === undefined) return [];
  const { name } = first.document;
  const isOne = group.length === 1;
  return [
    {
      address: isOne ? first.address : getFleet(first.address),
      name: isOne && typeof name === 'string' ? name : null,
      owner: findOwner(first, input),
      rows: group.length,
    },
  ];
}

/** A longer name would make a node that is all name. */
const MOST_NAME = 60;

/** The lines of a node's label: its address, and what people call it or how many it stands for. */
function formatLabel({ address, name, rows }: GraphNode): readonly string[] {
  const label = rows > 1 ? `${formatNumber(rows)} rows` : name;
  return [address, ...(label === null || label === address ? [] : [cutText(label, MOST_NAME)])].map(
    sanitiseLine,
  );
}

/**
 * The graph as a Mermaid flow chart, as GitHub and GitLab draw it in a block of that name: what belongs to the account
 * first, then a frame for each organization.
 */
export function renderMermaid(graph: Graph): string {
  const owners = [...Map.groupBy(graph.nodes.entries(), ([, { owner }]) => owner)].toSorted(
    ([a], [b]) => ((a ?? '') < (b ?? '') ? -1 : 1),
  );
  const lines = owners.flatMap(([owner, nodes], at) => {
    const indent = owner === null ? '  ' : '    ';
    const drawn = nodes.map(
      ([index, node]) =>
        `${indent}n${index}["${formatLabel(node).map(mermaidLabel).join('<br/>')}"]`,
    );
    if (owner === null) return drawn;
    return [`  subgraph o${at}["${mermaidLabel(sanitiseLine(owner))}"]`, ...drawn, '  end'];
  });
  const edges = graph.edges.map(({ from, to }) => `  n${from} --> n${to}`);
  return `${['flowchart LR', ...lines, ...edges].join('\n')}\n`;
}

/**
 * Only what means nothing to Mermaid stands as it is: it looks for directives (`%%{…}%%`), comments, styles and
 * Markdown before it reads quotes, in labels too. Everything else is a code of its own.
 */
function mermaidLabel(text: string): string {
  return text.replace(/[^\p{L}\p{N}\p{M} ._/,@[\]()-]/gu, (one) => `#${one.codePointAt(0)};`);
}

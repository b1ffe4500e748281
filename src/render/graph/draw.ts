import { sanitiseLine } from '../untrusted.ts';
import { formatNumber } from '../wording.ts';
import type { Graph, GraphNode } from './graph.ts';

/** A longer name would make a node that is all name. */
const MOST_NAME = 60;

/** The lines of a node's label: its address, and what people call it or how many it stands for. */
export function labelOf({ address, name, rows }: GraphNode): readonly string[] {
  const told = rows > 1 ? `${formatNumber(rows)} rows` : name;
  return [address, ...(told === null || told === address ? [] : [cut(told)])].map(sanitiseLine);
}

function cut(text: string): string {
  const characters = [...text];
  return characters.length > MOST_NAME ? `${characters.slice(0, MOST_NAME - 1).join('')}…` : text;
}

/** Nodes with their indexes, by who owns them: what belongs to the account first, then by name. */
export function ownersOf({ nodes }: Graph): readonly {
  readonly owner: string | null;
  readonly nodes: readonly (readonly [number, GraphNode])[];
}[] {
  return [...Map.groupBy(nodes.entries(), ([, { owner }]) => owner)]
    .map(([owner, own]) => ({ owner, nodes: own }))
    .toSorted((a, b) => ((a.owner ?? '') < (b.owner ?? '') ? -1 : 1));
}

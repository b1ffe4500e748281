import { isObject, type Json } from '../../../core/value.ts';
import type { Entry, Plan } from './plan.ts';

/** Which changes refer to which. */
export type Graph = {
  /** What an entry refers to, by its address. */
  readonly needs: ReadonlyMap<string, readonly Entry[]>;
  /** What refers to it. */
  readonly neededBy: ReadonlyMap<string, readonly Entry[]>;
};

/**
 * Reads the references between the changes of a plan: a `$ref` to what does not exist yet, the id of what does. Of
 * what goes, what is live counts; of everything else what is wanted.
 */
export function buildGraph(plan: Plan): Graph {
  const byAddress = new Map(plan.entries.map((entry) => [entry.address, entry]));
  const byId = new Map(
    plan.entries.flatMap((entry) => (entry.id === null ? [] : [[entry.id, entry]])),
  );
  const needs = new Map<string, readonly Entry[]>();
  const neededBy = new Map<string, Entry[]>();
  for (const entry of plan.entries) {
    const packed = plan.packedOf(entry);
    if (!isObject(packed)) continue;
    const side = packed.after ?? packed.before ?? null;
    const found = new Set<Entry>();
    visit(side, (value) => {
      const ref = isObject(value) && typeof value.$ref === 'string' ? value.$ref : undefined;
      const other = ref === undefined ? byId.get(value as string) : byAddress.get(ref);
      if (other !== undefined && other !== entry) found.add(other);
    });
    if (found.size > 0) needs.set(entry.address, [...found]);
    for (const { address } of found) {
      const known = neededBy.get(address) ?? [];
      known.push(entry);
      neededBy.set(address, known);
    }
  }
  return { needs, neededBy };
}

/** Texts and objects of a value. */
function visit(value: Json, see: (value: Json) => void): void {
  if (typeof value === 'string') see(value);
  else if (Array.isArray(value)) for (const item of value) visit(item, see);
  else if (isObject(value)) {
    see(value);
    for (const member of Object.values(value)) visit(member, see);
  }
}

/** An entry in its place, or a word on how many more there are in a column. */
export type Node = { readonly entry: Entry; readonly column: number; readonly row: number };
export type Drawing = {
  readonly nodes: readonly Node[];
  readonly edges: readonly { readonly from: Node; readonly to: Node }[];
  /** Entries of a column that are not drawn, by column. */
  readonly rest: ReadonlyMap<number, number>;
  readonly columns: number;
  readonly rows: number;
};

/** Nodes of a column; more are counted. */
const MOST_ROWS = 10;
/** With so few connected changes all of them are drawn. */
const MOST_WHOLE = 40;

/** All connected changes where they are few, and otherwise what lies around one of them. */
export function layOutGraph(graph: Graph, focus: Entry | undefined): Drawing {
  const connected = [...new Set([...graph.needs.values(), ...graph.neededBy.values()].flat())];
  if (connected.length <= MOST_WHOLE) return draw(splitLayers(connected, graph), graph, MOST_WHOLE);
  return focus === undefined ? draw([], graph, 0) : draw(around(focus, graph), graph, MOST_ROWS);
}

/** What waits for nothing stands first; everything else one column behind the last that it waits for. */
function splitLayers(entries: readonly Entry[], { needs }: Graph): readonly (readonly Entry[])[] {
  const depths = new Map<string, number>();
  const depthOf = (entry: Entry): number => {
    const known = depths.get(entry.address);
    if (known !== undefined) return known;
    depths.set(entry.address, 0);
    const below = (needs.get(entry.address) ?? []).map(depthOf);
    const depth = below.length === 0 ? 0 : Math.max(...below) + 1;
    depths.set(entry.address, depth);
    return depth;
  };
  const layers = Map.groupBy(entries, depthOf);
  return [...layers].sort(([a], [b]) => a - b).map(([, layer]) => layer);
}

/** Two steps to either side of an entry. */
function around(focus: Entry, { needs, neededBy }: Graph): readonly (readonly Entry[])[] {
  const seen = new Set([focus]);
  const step = (entries: readonly Entry[], next: Graph['needs']): readonly Entry[] => {
    const found = entries.flatMap(({ address }) => next.get(address) ?? []);
    const fresh = [...new Set(found)].filter((entry) => !seen.has(entry));
    for (const entry of fresh) seen.add(entry);
    return fresh;
  };
  const before = step([focus], needs);
  const after = step([focus], neededBy);
  // Siblings through a hub, such as a policy that a whole fleet shares, say nothing of this change.
  const [first, last] = [step(before, needs), step(after, neededBy)];
  return [first, before, [focus], after, last].filter((layer) => layer.length > 0);
}

function draw(layers: readonly (readonly Entry[])[], { needs }: Graph, most: number): Drawing {
  const rest = new Map<number, number>();
  const placed = new Map<string, Node>();
  for (const [column, layer] of layers.entries()) {
    const sorted = layer
      .map((entry) => ({ entry, at: findMiddle(needs.get(entry.address) ?? [], placed) }))
      .sort((a, b) => a.at - b.at || (a.entry.address < b.entry.address ? -1 : 1));
    const shown = sorted.length > most ? sorted.slice(0, most) : sorted;
    if (sorted.length > shown.length) rest.set(column, sorted.length - shown.length);
    for (const [row, { entry }] of shown.entries())
      placed.set(entry.address, { entry, column, row });
  }
  const nodes = [...placed.values()];
  const edges = nodes.flatMap((to) =>
    (needs.get(to.entry.address) ?? []).flatMap(({ address }) => {
      const from = placed.get(address);
      return from === undefined ? [] : [{ from, to }];
    }),
  );
  const rows = Math.max(0, ...nodes.map(({ row, column }) => row + (rest.has(column) ? 2 : 1)));
  return { nodes, edges, rest, columns: layers.length, rows };
}

/** Where what an entry waits for stands on average, so that lines cross little. */
function findMiddle(needs: readonly Entry[], placed: ReadonlyMap<string, Node>): number {
  const rows = needs.flatMap(({ address }) => placed.get(address)?.row ?? []);
  return rows.length === 0 ? 0 : rows.reduce((sum, row) => sum + row, 0) / rows.length;
}

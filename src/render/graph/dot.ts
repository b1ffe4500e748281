import { sanitiseLine } from '../untrusted.ts';
import { labelOf, ownersOf } from './draw.ts';
import type { Graph } from './graph.ts';

/** The graph in the language of Graphviz. */
export function renderDot(graph: Graph): string {
  const lines = ownersOf(graph).flatMap(({ owner, nodes }, at) => {
    const indent = owner === null ? '  ' : '    ';
    const drawn = nodes.map(
      ([index, node]) =>
        `${indent}n${index} [label="${labelOf(node).map(escapeLabel).join('\\n')}"];`,
    );
    if (owner === null) return drawn;
    return [
      `  subgraph cluster_${at} {`,
      `    label="${escapeLabel(sanitiseLine(owner))}";`,
      ...drawn,
      '  }',
    ];
  });
  const edges = graph.edges.map(({ from, to }) => `  n${from} -> n${to};`);
  return `${['digraph callsheet {', ...HEAD, ...lines, ...edges, '}'].join('\n')}\n`;
}

const HEAD = [
  '  rankdir=LR;',
  '  node [shape=box, style=rounded, fontname="Helvetica"];',
  '  graph [fontname="Helvetica", style="rounded", color="gray60"];',
];

/** Graphviz reads backslashes, quotes and HTML entities in a quoted text. */
function escapeLabel(text: string): string {
  return text.replace(/[\\"]/g, '\\$&').replaceAll('&', '&amp;');
}

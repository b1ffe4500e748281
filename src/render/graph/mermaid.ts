import { sanitiseLine } from '../untrusted.ts';
import { labelOf, ownersOf } from './draw.ts';
import type { Graph } from './graph.ts';

/** The graph as a Mermaid flow chart, as GitHub and GitLab draw it in a block of that name. */
export function renderMermaid(graph: Graph): string {
  const lines = ownersOf(graph).flatMap(({ owner, nodes }, at) => {
    const indent = owner === null ? '  ' : '    ';
    const drawn = nodes.map(
      ([index, node]) => `${indent}n${index}["${labelOf(node).map(escapeLabel).join('<br/>')}"]`,
    );
    if (owner === null) return drawn;
    return [`  subgraph o${at}["${escapeLabel(sanitiseLine(owner))}"]`, ...drawn, '  end'];
  });
  const edges = graph.edges.map(({ from, to }) => `  n${from} --> n${to}`);
  return `${['flowchart LR', ...lines, ...edges].join('\n')}\n`;
}

/**
 * Only what means nothing to Mermaid stands as it is: it looks for directives (`%%{…}%%`), comments, styles and
 * Markdown before it reads quotes, in labels too. Everything else is a code of its own.
 */
function escapeLabel(text: string): string {
  return text.replace(/[^\p{L}\p{N}\p{M} ._/,@[\]()-]/gu, (one) => `#${one.codePointAt(0)};`);
}

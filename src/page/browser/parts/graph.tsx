import { sanitiseLine } from '../../../render/untrusted.ts';
import { formatNumber } from '../../../render/wording.ts';
import { type Drawing, type Graph, layOutGraph, type Node } from '../model/graph.ts';
import type { Entry } from '../model/plan.ts';
import { ScrollRegion } from './list.tsx';
import { ActionSign, ChangeLink, SIGNS } from './notes.tsx';

const NODE = { width: 236, height: 46 } as const;
const GAP = { x: 84, y: 14 } as const;
const MARGIN = 24;
/** Characters of a label that fit into a node. */
const LABEL = 25;

type GraphProps = {
  readonly graph: Graph;
  readonly focus: Entry | undefined;
  readonly onOpen: (entry: Entry) => void;
  readonly onFocus: (entry: Entry) => void;
};

/** What waits for what: from what comes first at the left to what comes last at the right. */
export function GraphView({ graph, focus, onOpen, onFocus }: GraphProps) {
  const drawing = layOutGraph(graph, focus);
  const isPart = focus !== undefined && drawing.nodes.some(({ entry }) => entry === focus);
  return (
    <div class="page">
      <div class="graph-head">
        <h2>What waits for what</h2>
        {focus === undefined ? null : (
          <button type="button" onClick={() => onOpen(focus)}>
            Open {sanitiseLine(focus.address)}
          </button>
        )}
      </div>
      {drawing.edges.length === 0 ? (
        <p class="hint">
          {graph.needs.size === 0
            ? 'No change of this plan refers to another.'
            : 'This change refers to no other, and none refers to it. Choose another in the list.'}
        </p>
      ) : (
        <>
          <p class="hint">
            An arrow leads from what comes first to what refers to it.{' '}
            {isPart ? 'The change that is chosen has a bold frame; ' : ''}choose another to look
            around it.
          </p>
          <Picture drawing={drawing} focus={focus} onFocus={onFocus} />
        </>
      )}
      {focus === undefined ? null : <Connected graph={graph} entry={focus} onOpen={onOpen} />}
    </div>
  );
}

function getPosition({ column, row }: Pick<Node, 'column' | 'row'>) {
  return {
    x: MARGIN + column * (NODE.width + GAP.x),
    y: MARGIN + row * (NODE.height + GAP.y),
  };
}

type PictureProps = {
  readonly drawing: Drawing;
  readonly focus: Entry | undefined;
  readonly onFocus: (entry: Entry) => void;
};

function Picture({ drawing, focus, onFocus }: PictureProps) {
  const { nodes, edges, rest, columns, rows } = drawing;
  const width = 2 * MARGIN + columns * NODE.width + (columns - 1) * GAP.x;
  const height = 2 * MARGIN + rows * (NODE.height + GAP.y) - GAP.y;
  return (
    <ScrollRegion class="graph" label="Graph of the changes">
      <svg width={width} height={height} viewBox={`0 0 ${width} ${height}`}>
        <title>Graph of the changes</title>
        <defs>
          <marker
            id="arrow"
            viewBox="0 0 8 8"
            refX="7"
            refY="4"
            markerUnits="userSpaceOnUse"
            markerWidth="9"
            markerHeight="9"
            orient="auto"
          >
            <path d="M0 0 8 4 0 8z" />
          </marker>
        </defs>
        {edges.map(({ from, to }) => {
          const [a, b] = [getPosition(from), getPosition(to)];
          const [x, y] = [a.x + NODE.width, a.y + NODE.height / 2];
          const [end, at] = [b.x - 2, b.y + NODE.height / 2];
          const bend = Math.max(30, (end - x) / 2);
          const isNear = from.entry === focus || to.entry === focus;
          return (
            <path
              key={`${from.entry.index} ${to.entry.index}`}
              class={isNear ? 'edge near' : 'edge'}
              d={`M${x} ${y}C${x + bend} ${y} ${end - bend} ${at} ${end} ${at}`}
              marker-end="url(#arrow)"
            />
          );
        })}
        {nodes.map((node) => (
          <NodeBox
            key={node.entry.index}
            node={node}
            isFocus={node.entry === focus}
            onFocus={onFocus}
          />
        ))}
        {[...rest].map(([column, count]) => {
          const last = nodes.filter((node) => node.column === column).length;
          const { x, y } = getPosition({ column, row: last });
          return (
            <text key={column} class="rest" x={x + 8} y={y + 22}>
              and {formatNumber(count)} more
            </text>
          );
        })}
      </svg>
    </ScrollRegion>
  );
}

function NodeBox({
  node,
  isFocus,
  onFocus,
}: {
  readonly node: Node;
  readonly isFocus: boolean;
  readonly onFocus: (entry: Entry) => void;
}) {
  const { entry } = node;
  const { x, y } = getPosition(node);
  const label = sanitiseLine(entry.address);
  return (
    <ChangeLink
      entry={entry}
      onOpen={onFocus}
      class={`node ${entry.action}${isFocus ? ' focus' : ''}`}
      aria-current={isFocus ? 'true' : undefined}
    >
      <rect x={x} y={y} width={NODE.width} height={NODE.height} rx="8">
        <title>{label}</title>
      </rect>
      <text x={x + 12} y={y + 20}>
        <tspan class="mark">{SIGNS[entry.action]}</tspan> {cut(label)}
      </text>
      <text class="sub" x={x + 12} y={y + 36}>
        {cut(sanitiseLine(entry.name), 34)}
      </text>
    </ChangeLink>
  );
}

/** A label whose end is kept, too: rows of a fleet differ there. */
function cut(text: string, most = LABEL): string {
  if (text.length <= most) return text;
  const half = Math.floor((most - 1) / 2);
  return `${text.slice(0, most - 1 - half)}…${text.slice(-half)}`;
}

/** Changes that are named; the others are counted. */
const NAMED = 12;

type ConnectedProps = {
  readonly graph: Graph;
  readonly entry: Entry;
  readonly onOpen: (entry: Entry) => void;
};

/** The same as a list, for one change. */
export function Connected({ graph, entry, onOpen }: ConnectedProps) {
  const needs = graph.needs.get(entry.address) ?? [];
  const neededBy = graph.neededBy.get(entry.address) ?? [];
  if (needs.length + neededBy.length === 0) return null;
  return (
    <section class="section" aria-labelledby="connected-title">
      <h3 id="connected-title">Connected changes</h3>
      <div class="links">
        <Links title="Refers to" entries={needs} onOpen={onOpen} />
        <Links title="Referred to by" entries={neededBy} onOpen={onOpen} />
      </div>
    </section>
  );
}

function Links({
  title,
  entries,
  onOpen,
}: {
  readonly title: string;
  readonly entries: readonly Entry[];
  readonly onOpen: (entry: Entry) => void;
}) {
  if (entries.length === 0) return null;
  const rest = entries.length - NAMED;
  return (
    <div>
      <h4>{title}</h4>
      <ul>
        {entries.slice(0, rest > 1 ? NAMED : entries.length).map((entry) => (
          <li key={entry.index}>
            <ActionSign action={entry.action} />
            <ChangeLink entry={entry} onOpen={onOpen}>
              {sanitiseLine(entry.address)}
            </ChangeLink>
          </li>
        ))}
        {rest > 1 ? <li>and {formatNumber(rest)} more</li> : null}
      </ul>
    </div>
  );
}

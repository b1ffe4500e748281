import { type Axis, logAxis, type Point, pathOf } from './axis.ts';
import type { Side } from './benchmark.ts';
import { type Entry, type Figures, isMeasured } from './figures.ts';

const WIDTH = 800;
const PANEL = { width: 290, height: 210, left: 74, top: 92, gapX: 100, gapY: 76 };

type Panel = {
  readonly title: string;
  readonly case: string;
  readonly unit: string;
  readonly of: (figures: Figures, side: Side) => number;
};

const seconds = (figures: Figures, side: Side) => figures[side].median / 1000;

const PANELS: readonly Panel[] = [
  { title: 'Cold plan, nothing to change', case: 'cold plan', unit: 's', of: seconds },
  { title: 'Fast plan, nothing to change', case: 'fast plan', unit: 's', of: seconds },
  { title: 'Apply, up to 1,000 updates, verified', case: 'apply', unit: 's', of: seconds },
  {
    title: 'Peak memory of a cold plan',
    case: 'cold plan',
    unit: 'MB',
    of: ({ memory }, side) => memory[side],
  },
];

/** Colours for light and for dark; dashes tell latencies apart for those who see none. */
const STYLE = `
  svg { background: #fff; }
  text { font: 12px system-ui, -apple-system, "Segoe UI", sans-serif; fill: #57606a; }
  .title { font-weight: 600; fill: #1f2328; }
  .grid { stroke: #d8dee4; stroke-width: 1; }
  .line { fill: none; stroke-width: 2; stroke-linejoin: round; }
  .callsheet { stroke: #0969da; } .dot.callsheet { fill: #0969da; }
  .floor { stroke: #9a6700; } .dot.floor { fill: #9a6700; }
  .dot { stroke: none; }
  .slow { stroke-dasharray: 5 4; }
  @media (prefers-color-scheme: dark) {
    svg { background: #0d1117; }
    text { fill: #9198a1; }
    .title { fill: #f0f6fc; }
    .grid { stroke: #2a313c; }
    .callsheet { stroke: #4493f8; } .dot.callsheet { fill: #4493f8; }
    .floor { stroke: #d29922; } .dot.floor { fill: #d29922; }
  }
`;

/** How time and memory grow with a fleet, as SVG: a panel for each that has figures, both axes logarithmic. */
export function curvesOf(entries: readonly Entry[]): string {
  const figures = entries.filter(isMeasured);
  const panels = PANELS.filter(({ case: name }) => figures.some((one) => one.name === name));
  const rows = Math.ceil(panels.length / 2);
  const height = PANEL.top + rows * (PANEL.height + PANEL.gapY) - 20;
  const latencies = [...new Set(figures.map(({ latency }) => latency))];
  const drawn = panels.map((panel, index) => {
    const x = PANEL.left + (index % 2) * (PANEL.width + PANEL.gapX);
    const y = PANEL.top + Math.floor(index / 2) * (PANEL.height + PANEL.gapY);
    const ofCase = figures.filter(({ name }) => name === panel.case);
    return `<g transform="translate(${x} ${y})">\n${draw(panel, ofCase, latencies)}\n</g>`;
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" role="img" aria-label="How time and memory of Callsheet and of the bare loop grow with a fleet">
<style>${STYLE}</style>
${legend(latencies)}
${drawn.join('\n')}
</svg>
`;
}

function legend(latencies: readonly number[]): string {
  const sides = [
    { side: 'callsheet', name: 'Callsheet' },
    { side: 'floor', name: 'the same requests in a bare loop' },
  ];
  const entries = sides.flatMap(({ side, name }) =>
    latencies.map((latency, at) => ({ style: styleOf(side, at), text: `${name}, ${latency} ms` })),
  );
  return entries
    .map(({ style, text }, index) => {
      const x = PANEL.left + (index % 2) * (PANEL.width + PANEL.gapX);
      const y = 18 + Math.floor(index / 2) * 20;
      return `<path class="${style}" d="M${x} ${y}h30"/><text x="${x + 38}" y="${y + 4}">${text}</text>`;
    })
    .join('\n');
}

function styleOf(side: string, nth: number): string {
  return `line ${side}${nth === 0 ? '' : ' slow'}`;
}

function draw(panel: Panel, figures: readonly Figures[], latencies: readonly number[]): string {
  const sides = ['callsheet', 'floor'] as const;
  const x = logAxis(
    figures.map(({ size }) => size),
    PANEL.width,
    false,
  );
  const values = figures.flatMap((one) => sides.map((side) => panel.of(one, side)));
  const y = logAxis(values, PANEL.height, true);
  const lines = sides.toReversed().flatMap((side) =>
    latencies.map((latency, at) => {
      const points = figures
        .filter((one) => one.latency === latency)
        .toSorted((a, b) => a.size - b.size)
        .map((one): Point => [x.place(one.size), y.place(panel.of(one, side))]);
      const dots = points.map(
        ([cx, cy]) => `<circle class="dot ${side}" cx="${cx}" cy="${cy}" r="3"/>`,
      );
      return `<path class="${styleOf(side, at)}" d="${pathOf(points)}"/>${dots.join('')}`;
    }),
  );
  const title = `<text class="title" y="-12">${panel.title}</text>`;
  return [title, ...gridOf(x, y, panel.unit), ...lines].join('\n');
}

function gridOf(x: Axis, y: Axis, unit: string): readonly string[] {
  const { width, height } = PANEL;
  return [
    ...x.ticks.map(
      ({ at, text }) =>
        `<path class="grid" d="M${at} 0v${height}"/><text x="${at}" y="${height + 18}" text-anchor="middle">${text}</text>`,
    ),
    ...y.ticks.map(
      ({ at, text }) =>
        `<path class="grid" d="M0 ${at}h${width}"/><text x="-8" y="${at + 4}" text-anchor="end">${text} ${unit}</text>`,
    ),
    `<text x="${width}" y="${height + 34}" text-anchor="end">agents</text>`,
  ];
}

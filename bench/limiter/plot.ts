import { type Course, shareOf } from '../../test/platform/rush.ts';

/** One limit, and how requests went against it. */
export type Panel = {
  readonly name: string;
  readonly course: Course;
  readonly perSecond: number;
  readonly seconds: number;
};

const [WIDTH, HEIGHT] = [860, 250];
const BOX = { left: 58, right: 820, top: 44, rates: 150, refusals: 166, bottom: 206 };
/** Points of a line. */
const POINTS = 150;
/** The top of the axes: multiples of the limit, and the share that is refused. */
const MOST_OF_LIMIT = 1.5;
const MOST_REFUSED = 0.1;

/** Colours go by what the reader's page is: light or dark. */
const STYLE = `
  svg { --ink: #1f2328; --faint: #d1d9e0; --back: #ffffff; --good: #0969da; --limit: #57606a; --bad: #cf222e; }
  @media (prefers-color-scheme: dark) {
    svg { --ink: #e6edf3; --faint: #3d444d; --back: #0d1117; --good: #58a6ff; --limit: #9198a1; --bad: #ff7b72; }
  }
  text { font: 13px system-ui, sans-serif; fill: var(--ink); }
  .title { font-weight: 600; }
  .back { fill: var(--back); }
  .axis { stroke: var(--faint); }
  .good { fill: none; stroke: var(--good); stroke-width: 2; }
  .limit { stroke: var(--limit); stroke-width: 1.5; stroke-dasharray: 6 4; }
  .bad { fill: var(--bad); }
  .end { text-anchor: end; }
  .middle { text-anchor: middle; }
`;

/** The panels below each other, as an SVG document. */
export function limiterPlot(panels: readonly Panel[]): string {
  const height = 40 + panels.length * HEIGHT;
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" role="img" aria-labelledby="title">
<title id="title">Requests let in and refused over time, under limits that the client was not told</title>
<style>${STYLE}</style>
<rect class="back" width="${WIDTH}" height="${height}"/>
${legend()}
${panels.map((panel, at) => drawPanel(panel, 36 + at * HEIGHT)).join('\n')}
</svg>
`;
}

function legend(): string {
  return `<g transform="translate(${BOX.left} 24)">
<line class="good" x1="0" x2="26" y1="-4" y2="-4"/><text x="32">let in, requests a second</text>
<line class="limit" x1="230" x2="256" y1="-4" y2="-4"/><text x="262">the limit, which nobody told</text>
<rect class="bad" x="470" y="-12" width="12" height="12"/><text x="488">share refused (429)</text>
</g>`;
}

function drawPanel({ name, course, perSecond, seconds }: Panel, y: number): string {
  const step = seconds / POINTS;
  const shares = Array.from({ length: POINTS }, (_, at) =>
    shareOf(course, at * step, (at + 1) * step),
  );
  const x = (second: number) => BOX.left + (second / seconds) * (BOX.right - BOX.left);
  const rateY = (rate: number) => {
    const part = Math.min(1, rate / (perSecond * MOST_OF_LIMIT));
    return BOX.rates - part * (BOX.rates - BOX.top);
  };
  const line = shares
    .map((share, at) => `${x((at + 0.5) * step).toFixed(1)},${rateY(share.perSecond).toFixed(1)}`)
    .join(' ');
  const bars = shares.flatMap(({ refused }, at) => {
    const part = Math.min(1, refused / MOST_REFUSED) * (BOX.bottom - BOX.refusals);
    const left = x(at * step).toFixed(1);
    return refused === 0
      ? []
      : `<rect class="bad" x="${left}" y="${(BOX.bottom - part).toFixed(1)}" width="4" height="${part.toFixed(1)}"/>`;
  });
  const minutes = Array.from({ length: Math.floor(seconds / 60) + 1 }, (_, at) => at * 60);
  return `<g transform="translate(0 ${y})">
<text class="title" x="${BOX.left}" y="32">${name}</text>
${[0, perSecond].map((rate) => `<text class="end" x="${BOX.left - 8}" y="${rateY(rate) + 4}">${rate}</text>`).join('')}
<text class="end" x="${BOX.left - 8}" y="${BOX.refusals + 10}">10 %</text>
<text class="end" x="${BOX.left - 8}" y="${BOX.bottom + 4}">0 %</text>
<line class="axis" x1="${BOX.left}" x2="${BOX.right}" y1="${BOX.rates}" y2="${BOX.rates}"/>
<line class="axis" x1="${BOX.left}" x2="${BOX.right}" y1="${BOX.bottom}" y2="${BOX.bottom}"/>
<line class="limit" x1="${BOX.left}" x2="${BOX.right}" y1="${rateY(perSecond)}" y2="${rateY(perSecond)}"/>
<polyline class="good" points="${line}"/>
${bars.join('')}
${minutes.map((second) => `<text class="middle" x="${x(second)}" y="${BOX.bottom + 20}">${second / 60}${second === seconds ? ' min' : ''}</text>`).join('')}
</g>`;
}

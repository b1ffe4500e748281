import type { RolloutMark, RolloutMeasure, ShownRollout } from '../core/documents.ts';
import {
  effectText,
  formatShift,
  getFigures,
  getLimit,
  VERDICTS,
  verdictWord,
} from '../render/rollout.ts';
import { html, type Markup } from '../render/untrusted.ts';
import { formatCount, formatNumber, formatTime } from '../render/wording.ts';

/**
 * The course of one measure as a chart: its effect, the interval around it, zero, the margin, steps and verdicts.
 * Along the time everything is placed in percent, so that it fits any width without a script and no text is scaled.
 */

/** What calls said at a moment. */
type Moment = Pick<RolloutMark, 'at' | 'step' | 'calls' | 'verdict'> & {
  readonly time: number;
  readonly effect: number | null;
  readonly low: number | null;
  readonly high: number | null;
};

/** From the top: numbers of agents, the plot, verdicts, the time. In pixels. */
const PLOT = { top: 20, height: 160 } as const;
const LANE = { top: PLOT.top + PLOT.height + 4, height: 20 } as const;
const TICKS = LANE.top + LANE.height + 15;
const HEIGHT = TICKS + 6;
/** Width of the effects' axis. */
const AXIS = 60;

/** Patterns that segments of all charts are filled with. */
export const SHAPES = html`<svg class="unseen" aria-hidden="true"><defs>
<pattern id="hatch" width="7" height="7" patternUnits="userSpaceOnUse" patternTransform="rotate(45)"><rect width="7" height="7" class="hatch-ground" /><line x1="0" x2="0" y1="0" y2="7" class="hatch-line" /></pattern>
<pattern id="stripes" width="9" height="9" patternUnits="userSpaceOnUse" patternTransform="rotate(45)"><rect width="9" height="9" class="stripe-ground" /><line x1="0" x2="0" y1="0" y2="9" class="stripe-line" /></pattern>
</defs></svg>`;

export function renderCourse(measure: RolloutMeasure, rollout: ShownRollout): Markup {
  const moments = listMoments(measure, rollout);
  const span = getSpan(moments, rollout);
  const scale = getScale(measure, moments);
  const { unit } = getFigures(measure);
  return html`<div class="plot"><svg class="axis" width="${AXIS}" height="${HEIGHT}" aria-hidden="true">${axisLabels(scale, unit)}</svg><svg class="course" height="${HEIGHT}" role="img" aria-label="${formatSummary(measure, moments, rollout)}">
${grounds(scale)}${timeTicks(span)}${stepMarks(rollout, span)}
<svg y="${PLOT.top}" width="100%" height="${PLOT.height}" viewBox="0 0 1000 ${PLOT.height}" preserveAspectRatio="none">${lines(moments, span, scale)}</svg>
${lastMark(measure, moments, span, scale)}${verdictLane(moments, span, rollout)}${hits(moments, span, measure, rollout)}
</svg></div>
${courseTable(moments, measure, rollout)}`;
}

function listMoments(
  { name, ...latest }: RolloutMeasure,
  rollout: ShownRollout,
): readonly Moment[] {
  const { course, look } = rollout;
  const earlier = course.flatMap(({ measures, ...mark }) =>
    measures.filter((one) => one.name === name).map((one) => ({ ...mark, ...one })),
  );
  return [...earlier, ...(look === null ? [] : [{ ...look, ...latest }])]
    .map(({ at, step, calls, verdict, effect, low, high }) => {
      return { at, step, calls, verdict, effect, low, high, time: Date.parse(at) };
    })
    .filter(({ time }) => !Number.isNaN(time));
}

/** What the chart says, for those who do not see it. */
function formatSummary(
  measure: RolloutMeasure,
  moments: readonly Moment[],
  rollout: ShownRollout,
): string {
  const first = moments[0];
  const last = moments.at(-1);
  if (first === undefined || last === undefined) return `${measure.name}: nothing was looked at`;
  const { effect, interval, unit } = getFigures(measure);
  const figure = effect === null ? 'no figures' : `${effect} ${unit}`;
  const bounds = interval === null ? '' : ` (${interval})`;
  return `Effect on ${measure.name} from ${formatTime(first.at)} to ${formatTime(last.at)}, looked at ${formatCount(moments.length, 'time')}. At last ${figure}${bounds}: ${verdictWord(measure.verdict, last, rollout)}.`;
}

/** First and last moment of the charts, in milliseconds. */
type Span = { readonly start: number; readonly end: number };

const HOUR = 3_600_000;

/** Of the width: what a mark needs, and what a mark and its word need. There is room for a mark behind the last look. */
const MARK_ROOM = 0.04;
const WORD_ROOM = 0.24;
/** Of a narrow chart. */
const NARROW_WORD_ROOM = 0.45;

function getSpan(moments: readonly { readonly time: number }[], { steps }: ShownRollout): Span {
  const times = [
    ...steps.map(({ at }) => Date.parse(at ?? '')),
    ...moments.map(({ time }) => time),
  ].filter((time) => !Number.isNaN(time));
  const start = times.length === 0 ? 0 : Math.min(...times);
  const last = Math.max(...times, start + HOUR);
  return { start, end: last + (last - start) * MARK_ROOM };
}

/** A share of the width. */
function toX(time: number, { start, end }: Span): number {
  return Math.min(1, Math.max(0, (time - start) / (end - start)));
}

function percent(share: number): string {
  return `${Number((share * 100).toFixed(2))}%`;
}

type Scale = {
  readonly low: number;
  readonly high: number;
  /** The margin as an effect. */
  readonly limit: number;
};

/** Room around the outermost value, of the whole. */
const ROOM = 0.08;

/**
 * Effects that are shown: zero, the margin and somewhat beyond, the last interval, and the course but for its wildest
 * tenth, which comes from the first calls and would make all others flat.
 */
function getScale(measure: RolloutMeasure, moments: readonly Moment[]): Scale {
  const limit = getLimit(measure);
  const effects = moments.flatMap(({ effect }) => (effect === null ? [] : [effect])).sort(byValue);
  const cut = moments.length < 20 ? 0 : Math.floor(effects.length / 20);
  const last = moments.findLast(({ effect }) => effect !== null);
  const shown = [
    0,
    limit * 1.7,
    limit * -0.7,
    ...effects.slice(cut, effects.length - cut),
    ...[last?.low, last?.high].filter((value) => typeof value === 'number'),
  ];
  const [low, high] = [Math.min(...shown), Math.max(...shown)];
  const room = (high - low || 1) * ROOM;
  return { low: low - room, high: high + room, limit };
}

function byValue(a: number, b: number): number {
  return a - b;
}

/** Pixels from the top of the plot. */
function toY(value: number, { low, high }: Scale): number {
  return Number((((high - value) / (high - low)) * PLOT.height).toFixed(1));
}

/** Round values, about four of them. */
function valueTicks({ low, high }: Scale): readonly number[] {
  const rough = (high - low) / 4;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = power * ([1, 2, 5].find((one) => one * power >= rough) ?? 10);
  const first = Math.ceil(low / step);
  return Array.from(
    { length: Math.floor(high / step) - first + 1 },
    (_, at) => (first + at) * step,
  );
}

function axisLabels(scale: Scale, unit: string): readonly Markup[] {
  const ticks = valueTicks(scale);
  const step = Math.abs((ticks[1] ?? 1) - (ticks[0] ?? 0));
  const digits = step >= 1 ? 0 : Math.ceil(-Math.log10(step));
  const label = (y: number, text: string) =>
    html`<text x="${AXIS - 8}" y="${y}" text-anchor="end">${text}</text>`;
  return [
    label(11, unit === '%' ? 'percent' : unit),
    ...ticks.map((value) => label(PLOT.top + toY(value, scale) + 4, formatShift(value, digits))),
  ];
}

/** Ground of what is worse than tolerated, lines of round effects, zero and the margin. */
function grounds(scale: Scale): Markup {
  const { limit } = scale;
  const line = (value: number, name: string) => {
    const y = PLOT.top + toY(value, scale);
    return html`<line class="${name}" x1="0" x2="100%" y1="${y}" y2="${y}" />`;
  };
  const at = toY(limit, scale);
  const [top, height] = limit > 0 ? [0, at] : [at, PLOT.height - at];
  return html`<rect class="beyond" y="${PLOT.top + top}" width="100%" height="${height}" />${valueTicks(
    scale,
  )
    .filter((value) => value !== 0)
    .map((value) => line(value, 'grid'))}${line(0, 'zero')}${line(limit, 'margin')}`;
}

/** Hours between two ticks: the first of these that gives few. */
const TICK_HOURS = [1, 2, 3, 6, 12, 24, 48, 96, 168, 336, 672] as const;
const MOST_TICKS = 7;

function timeTicks(span: Span): readonly Markup[] {
  const hours = (span.end - span.start) / HOUR;
  const each = TICK_HOURS.find((one) => hours / one <= MOST_TICKS) ?? Math.ceil(hours / MOST_TICKS);
  const step = each * HOUR;
  const first = Math.ceil(span.start / step);
  const count = Math.floor(span.end / step) - first + 1;
  const isDay = (at: number) => ((first + at) * step) % (24 * HOUR) === 0;
  const days = Array.from({ length: Math.max(0, count) }, (_, at) => at).filter(isDay);
  const even = (days[0] ?? 0) % 2;
  return Array.from({ length: Math.max(0, count) }, (_, at) => {
    const time = (first + at) * step;
    const share = toX(time, span);
    const anchor = share < 0.04 ? 'start' : share > 0.96 ? 'end' : 'middle';
    const x = percent(share);
    return html`<line class="grid" x1="${x}" x2="${x}" y1="${PLOT.top}" y2="${LANE.top + LANE.height}" /><text class="${at % 2 === even ? 'tick' : 'tick wide'}" x="${x}" y="${TICKS}" text-anchor="${anchor}">${tickText(time, each)}</text>`;
  });
}

const MONTHS = 'Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec'.split(' ');

/** `26 Nov`, or `14:00` within a day. */
function tickText(time: number, hours: number): string {
  const date = new Date(time);
  const day = `${date.getUTCDate()} ${MONTHS[date.getUTCMonth()]}`;
  return hours >= 24 || date.getUTCHours() === 0 ? day : date.toISOString().slice(11, 16);
}

/** Of the width: a number of agents needs so much up to the next one. */
const LEAST_GAP = 0.05;

function stepMarks({ steps }: ShownRollout, span: Span): readonly Markup[] {
  const applied = steps.flatMap(({ at, agents, number }) => {
    const time = Date.parse(at ?? '');
    return at === null || Number.isNaN(time)
      ? []
      : [{ at, agents, number, share: toX(time, span) }];
  });
  return applied.map(({ at, agents, number, share }, index) => {
    const next = applied[index + 1]?.share ?? 2;
    const text = index === 0 ? formatCount(agents, 'agent') : formatNumber(agents);
    const isLast = share > 0.9;
    const label =
      next - share < LEAST_GAP
        ? null
        : html`<text class="agents" x="${percent(share)}" y="12" ${isLast ? END : START}>${text}</text>`;
    const title = `Step ${number}, ${formatCount(agents, 'agent')}: ${formatTime(at)}`;
    return html`<g><title>${title}</title><line class="step" x1="${percent(share)}" x2="${percent(share)}" y1="4" y2="${PLOT.top + PLOT.height}" />${label}</g>`;
  });
}

const START = html`dx="4"`;
const END = html`dx="-4" text-anchor="end"`;

/** The interval as a band and the effect as a line, each with a gap where there was none. */
function lines(moments: readonly Moment[], span: Span, scale: Scale): readonly Markup[] {
  const point = (time: number, value: number) =>
    `${Number((toX(time, span) * 1000).toFixed(1))},${toY(value, scale)}`;
  const bands = splitRuns(moments, getBounds).map((run) => {
    const upper = run.map(({ time, high }) => point(time, high));
    const lower = run.map(({ time, low }) => point(time, low)).reverse();
    return html`<polygon class="band" points="${[...upper, ...lower].join(' ')}" />`;
  });
  const effects = splitRuns(moments, ({ time, effect }) =>
    effect === null ? null : { time, effect },
  );
  return [
    ...bands,
    ...effects.map((run) => {
      const points = run.map(({ time, effect }) => point(time, effect));
      return html`<polyline class="effect" points="${points.join(' ')}" />`;
    }),
  ];
}

function getBounds({ time, low, high }: Moment) {
  return low === null || high === null ? null : { time, low, high };
}

/** What moments have, in runs that nothing interrupts. */
function splitRuns<T>(
  moments: readonly Moment[],
  partOf: (moment: Moment) => T | null,
): readonly (readonly T[])[] {
  const runs: T[][] = [[]];
  for (const moment of moments) {
    const part = partOf(moment);
    if (part === null) runs.push([]);
    else runs.at(-1)?.push(part);
  }
  return runs.filter((run) => run.length > 1);
}

/** The last effect: a point whose shape says the verdict, and its interval as a line. */
function lastMark(
  { verdict }: RolloutMeasure,
  moments: readonly Moment[],
  span: Span,
  scale: Scale,
): Markup | null {
  const last = moments.findLast(({ effect }) => effect !== null);
  if (last === undefined || last.effect === null) return null;
  const x = percent(toX(last.time, span));
  const y = (value: number) => PLOT.top + toY(value, scale);
  const bounds = getBounds(last);
  const shape =
    verdict === 'worse'
      ? html`<svg x="${x}" y="${y(last.effect)}" overflow="visible"><path d="M0 -7L7 0L0 7L-7 0z" /></svg>`
      : html`<circle cx="${x}" cy="${y(last.effect)}" r="5.5" />`;
  return html`<g class="last ${verdict}">${
    bounds === null
      ? null
      : html`<line x1="${x}" x2="${x}" y1="${y(bounds.high)}" y2="${y(bounds.low)}" />`
  }${shape}</g>`;
}

/** Verdicts along the time, each with its mark, and its word where there is room. */
function verdictLane(
  moments: readonly Moment[],
  span: Span,
  rollout: ShownRollout,
): readonly Markup[] {
  const segments: { verdict: Moment['verdict']; word: string; from: number; at: string }[] = [];
  for (const moment of moments) {
    const { verdict, time, at } = moment;
    const word = verdictWord(verdict, moment, rollout);
    if (segments.at(-1)?.word !== word) segments.push({ verdict, word, from: time, at });
  }
  return segments.map(({ verdict, word, from, at }, index) => {
    const start = toX(from, span);
    const end = toX(segments[index + 1]?.from ?? span.end, span);
    const width = Math.max(end - start, 0.004);
    const { mark } = VERDICTS[verdict];
    const { top, height } = LANE;
    const label = (text: string, when: string) =>
      html`<text class="${when}" x="6" y="14">${text}</text>`;
    const labels =
      width < MARK_ROOM * 0.9
        ? null
        : width < WORD_ROOM
          ? label(mark, '')
          : width < NARROW_WORD_ROOM
            ? [label(`${mark} ${word}`, 'wide'), label(mark, 'narrow')]
            : label(`${mark} ${word}`, '');
    return html`<svg class="verdict ${verdict}" x="${percent(start)}" y="${top}" width="${percent(width)}" height="${height}"><title>${`${word} from ${formatTime(at)}`}</title><rect width="100%" height="100%" />${labels}</svg>`;
  });
}

/** So many moments answer to a pointer. */
const MOST_HITS = 60;

/** What is told of a moment under a pointer. */
function hits(
  moments: readonly Moment[],
  span: Span,
  measure: RolloutMeasure,
  rollout: ShownRollout,
): readonly Markup[] {
  const shown = chosen(moments, MOST_HITS);
  return shown.map((moment, index) => {
    const { time } = moment;
    const from = toX(((shown[index - 1]?.time ?? time) + time) / 2, span);
    const to = toX(((shown[index + 1]?.time ?? time) + time) / 2, span);
    const effect = effectText(getFigures({ ...measure, ...moment }));
    const figure = effect === null ? '' : `${effect}, `;
    const title = `${formatTime(moment.at)}: ${figure}${verdictWord(moment.verdict, moment, rollout)}, ${formatCount(moment.calls, 'call')}`;
    return html`<rect class="hit" x="${percent(from)}" y="${PLOT.top}" width="${percent(to - from)}" height="${PLOT.height}"><title>${title}</title></rect>`;
  });
}

/** Some of the moments: the first, the last, those at which a step or a verdict changed, and others between them. */
function chosen(moments: readonly Moment[], most: number): readonly Moment[] {
  if (moments.length <= most) return moments;
  const each = Math.ceil(moments.length / most);
  return moments.filter(({ verdict, step }, at) => {
    const before = moments[at - 1];
    const isTurn = before === undefined || before.verdict !== verdict || before.step !== step;
    return isTurn || at % each === 0 || at === moments.length - 1;
  });
}

const MOST_ROWS = 24;

function courseTable(
  moments: readonly Moment[],
  measure: RolloutMeasure,
  rollout: ShownRollout,
): Markup {
  const shown = chosen(moments, MOST_ROWS);
  const rows = shown.toReversed().map((moment) => {
    const effect = effectText(getFigures({ ...measure, ...moment }));
    return html`<tr><th scope="row"><time datetime="${moment.at}">${formatTime(moment.at)}</time></th><td class="figure">${moment.step}</td><td class="figure">${formatNumber(moment.calls)}</td><td class="figure">${effect ?? '–'}</td><td>${VERDICTS[moment.verdict].mark} ${verdictWord(moment.verdict, moment, rollout)}</td></tr>`;
  });
  const all = formatCount(moments.length, 'look');
  const title = shown.length === moments.length ? all : `${formatNumber(shown.length)} of ${all}`;
  const { unit } = getFigures(measure);
  return html`<details><summary>Figures of ${title}</summary><div class="scroll" tabindex="0" role="group" aria-label="${`Figures of ${measure.name}`}"><table class="looks"><thead><tr><th scope="col">Time</th><th scope="col" class="figure">Step</th><th scope="col" class="figure">Calls</th><th scope="col" class="figure">Effect in ${unit}</th><th scope="col">Verdict</th></tr></thead><tbody>${rows}</tbody></table></div></details>`;
}

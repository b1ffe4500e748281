import type {
  RolloutLook,
  RolloutMeasure,
  RolloutStep,
  RolloutsDocument,
  ShownRollout,
} from '../core/documents.ts';
import { firstLines } from '../core/errors.ts';
import { isUnderWay } from '../core/rollout.ts';
import type { JsonObject } from '../core/value.ts';
import {
  escapeMessage,
  escapeText,
  fence,
  formatMarker,
  GITHUB_LIMIT,
  inlineCode,
  type PageOptions,
} from './markdown-text.ts';
import { type Field, formatDecimal, layOut, tableWidth } from './read/table.ts';
import {
  cutText,
  type Fact,
  factLines,
  type Line,
  type Look,
  moreLines,
  paint,
  type RenderOptions,
  spaced,
  span,
  type Tone,
  wrap,
} from './terminal.ts';
import { sanitiseLine } from './untrusted.ts';
import { formatAge, formatCount, formatFirst, formatNumber, formatTime } from './wording.ts';

/**
 * Rollouts for people: whether each goes on, what calls say of it and what comes next, in a terminal and as a comment
 * on a pull request.
 */

type RolloutVerdict = RolloutLook['verdict'];

/** How a verdict looks, wherever it is shown. */
const VERDICTS: { readonly [verdict in RolloutVerdict]: Look } = {
  better: { mark: '✓', word: 'better', tone: 'added' },
  no_worse: { mark: '✓', word: 'no worse', tone: 'added' },
  worse: { mark: '✗', word: 'worse', tone: 'error' },
  not_enough_calls: { mark: '◦', word: 'too few calls', tone: 'plain' },
  no_figures: { mark: '–', word: 'no figures', tone: 'warning' },
};

const STATUSES: {
  readonly [status in ShownRollout['status']]: { readonly words: string; readonly tone: Tone };
} = {
  applying: { words: 'applying step', tone: 'strong' },
  judging: { words: 'waiting at step', tone: 'strong' },
  held: { words: 'held at step', tone: 'warning' },
  rolling_back: { words: 'rolling back at step', tone: 'warning' },
  done: { words: 'done', tone: 'strong' },
  rolled_back: { words: 'rolled back at step', tone: 'error' },
};

/** A verdict on the calls of a moment, in words. Enough calls may still be too few days. */
export function verdictWord(
  verdict: RolloutVerdict,
  { at, step, calls }: Pick<RolloutLook, 'at' | 'step' | 'calls'>,
  { judge, steps }: ShownRollout,
): string {
  const applied = Date.parse(steps.find(({ number }) => number === step)?.at ?? '');
  const days = (Date.parse(at) - applied) / 86_400_000;
  const isEarly = calls >= judge.min_calls && days < judge.min_days;
  return verdict === 'not_enough_calls' && isEarly ? 'too early' : VERDICTS[verdict].word;
}

/** `careful for staging: waiting at step 1 of 4 (3 of 40 agents)`; not sanitised. */
function rolloutTitle(
  rollout: ShownRollout,
  { environment }: Pick<RolloutsDocument, 'environment'>,
): string {
  const { status, step, steps, agents, overdue } = rollout;
  const { words } = STATUSES[status];
  const name = environment === null ? rollout.name : `${rollout.name} for ${environment}`;
  if (status === 'done')
    return `${name}: ${words}, ${formatCount(steps.length, 'step')} (${formatCount(agents, 'agent')})`;
  // A step that is held before it is applied adds nobody.
  const isReached = (one: RolloutStep) => one.status === 'applied' || one.status === 'undone';
  const applied = steps.findLast(isReached)?.agents ?? 0;
  // A run that failed in part may have reached any agent of its step.
  const begun = steps.findLast(({ runs }) => runs.length > 0)?.agents ?? 0;
  const reached = [applied, ...(begun > applied ? [begun] : [])].map(formatNumber).join(' to ');
  const late = overdue ? ', overdue' : '';
  return `${name}: ${words} ${step} of ${steps.length}${late} (${reached} of ${formatCount(agents, 'agent')})`;
}

/** The step that a rollout is at. */
function stepAt({ step, steps }: ShownRollout): RolloutStep | undefined {
  return steps.find(({ number }) => number === step);
}

/** Why there is no verdict yet; undefined where there is one, or where it is said elsewhere. */
function noVerdictWhy(rollout: ShownRollout): string | undefined {
  const { look, why } = rollout;
  if (look === null || !isUnderWay(rollout) || rollout.status === 'rolling_back') return undefined;
  if (look.verdict !== 'not_enough_calls' && look.verdict !== 'no_figures') return undefined;
  const missing = look.why ?? distinct(look.measures.map((measure) => measure.why)).join(' ');
  return missing === '' || missing === why ? undefined : missing;
}

function distinct(texts: readonly (string | null)[]): readonly string[] {
  return [...new Set(texts.filter((text) => text !== null))];
}

/** Whether there is any figure to show; that there is none is said as what is missing. */
function hasFigures({ measures }: RolloutLook): boolean {
  return measures.some(({ verdict }) => verdict !== 'no_figures');
}

/** `138 of 3 agents, compared with 37 others` */
function callsText(look: RolloutLook, { step }: Pick<ShownRollout, 'step'>): string {
  const { calls, agents, others } = look;
  const compared =
    others === 0
      ? 'with no others to compare with'
      : `compared with ${formatCount(others, 'other')}`;
  const at = look.step === step ? '' : `, at step ${look.step}`;
  return `${formatNumber(calls)} of ${formatCount(agents, 'agent')}${at}, ${compared}`;
}

/** `at least 200 calls and 3 days after a step; compared with 8 weeks before` */
function needsText({ judge }: ShownRollout): string {
  const { min_calls: calls, min_days: days, baseline_weeks: weeks } = judge;
  return `at least ${formatCount(calls, 'call')} and ${formatCount(days, 'day')} after a step; compared with ${formatCount(weeks, 'week')} before`;
}

/** What would stop the rollout without a verdict. */
function guardRailsText({ guard_rails: { errors, silence } }: ShownRollout): string {
  return [
    `an agent without a call where ${formatNumber(silence)} were expected holds, half of a step rolls back`,
    ...(errors === null
      ? []
      : [
          `days with errors in more than ${errors} % of an agent's calls hold, 30 % of all roll back`,
        ]),
  ].join('; ');
}

/** `silence (holds): agent.reception got no call since 2026-11-26T11:05:00Z; 34 were expected` */
function brokenText({ rail, does, message }: RolloutLook['broken'][number]): string {
  return `${rail}${does === 'hold' ? ' (holds)' : ''}: ${message}`;
}

/** Agents that count for less, since they moved unlike all others. */
function oddText(look: RolloutLook | null): string | null {
  return look === null || look.odd.length === 0
    ? null
    : `${formatFirst(look.odd, 3)} ${look.odd.length === 1 ? 'counts' : 'count'} for less`;
}

/** Why it is held or was rolled back, line by line; none where a broken guard rail says it. */
function whyLines({ why, look }: ShownRollout): readonly string[] {
  if (why === null || look?.broken.some(({ message }) => message === why)) return [];
  return why.split('\n').filter((line) => line.trim() !== '');
}

/** A measure as it is written: null where there is no figure. */
type MeasureFigures = {
  /** `−7.6` */
  readonly effect: string | null;
  /** `−10.1 to −5.0` */
  readonly interval: string | null;
  /** `−5 points`: from where on the effect is worse than tolerated. */
  readonly margin: string;
  /** `71.2 → 64.0 %`: agents with the change, before and now. */
  readonly changed: string | null;
  /** The same of the rest of the fleet. */
  readonly others: string | null;
};

export function getFigures(measure: RolloutMeasure): MeasureFigures {
  const { effect, low, high, before, after, others_before, others_after } = measure;
  const [unit, own] = getUnits(measure.name);
  const figure = (value: number | null) => (value === null ? '–' : formatDecimal(value, 1));
  const moved = (from: number | null, to: number | null) =>
    from === null && to === null ? null : `${figure(from)} → ${figure(to)} ${own}`.trim();
  return {
    effect: effect === null ? null : formatShift(effect, 1),
    interval:
      low === null || high === null ? null : `${formatShift(low, 1)} to ${formatShift(high, 1)}`,
    margin: `${formatShift(getLimit(measure), 2).replace(/\.?0+$/, '')} ${unit}`,
    changed: moved(before, after),
    others: moved(others_before, others_after),
  };
}

/** The margin as an effect: how far it may be on the bad side. */
function getLimit({ better, margin }: Pick<RolloutMeasure, 'better' | 'margin'>): number {
  return better === 'higher' ? -margin : margin;
}

/** `+0.4`, `−7.6`, `0.0` */
function formatShift(value: number, digits: number): string {
  const figure = formatDecimal(Math.abs(value), digits);
  if (Number(figure.replaceAll(',', '')) === 0) return figure;
  return value < 0 ? `−${figure}` : `+${figure}`;
}

/** `−7.6 (−10.1 to −5.0)`; null where there is no figure. */
function effectText({ effect, interval }: MeasureFigures): string | null {
  return effect === null || interval === null ? effect : `${effect} (${interval})`;
}

/** The unit of effects, and that of values. */
function getUnits(name: RolloutMeasure['name']): readonly [string, string] {
  return name === 'duration' ? ['%', 's'] : ['points', '%'];
}

/** Of broken guard rails and of what is left so many are named, unless everything is asked for. */
const MOST = 3;

/** Rollouts in a terminal. Those that ended take two lines each beside one that is under way. */
export function renderRolloutsText(document: RolloutsDocument, options: RenderOptions): string {
  const rollouts = inOrder(document.rollouts);
  if (rollouts.length === 0) return 'No rollout is recorded.\n';
  const lines = rollouts.map((rollout) =>
    !isUnderWay(rollout) && rollouts.length > 1 && !options.verbose
      ? shortLines(rollout, document, options)
      : rolloutLines(rollout, document, options),
  );
  return paint(spaced(lines), options.color);
}

/** Those under way first. */
function inOrder(rollouts: readonly ShownRollout[]): readonly ShownRollout[] {
  return rollouts.toSorted((a, b) => Number(isUnderWay(b)) - Number(isUnderWay(a)));
}

function titleLine(rollout: ShownRollout, document: RolloutsDocument): Line {
  return [span(rolloutTitle(rollout, document), 'strong')];
}

function shortLines(
  rollout: ShownRollout,
  document: RolloutsDocument,
  { width }: RenderOptions,
): readonly Line[] {
  const ended = rollout.ended_at && momentText(rollout.ended_at, new Date(document.now));
  return [
    ...wrap(titleLine(rollout, document), width, 2),
    ...factLines([...whyFacts(rollout), ['ended', ended]], width, 2),
  ];
}

function rolloutLines(
  rollout: ShownRollout,
  document: RolloutsDocument,
  options: RenderOptions,
): readonly Line[] {
  const now = new Date(document.now);
  const { look, ended_at: ended, next, commands, left } = rollout;
  const { width, verbose } = options;
  const broken = look?.broken ?? [];
  const age = look === null || !isUnderWay(rollout) ? undefined : formatAge(look.at, now);
  const above: readonly Fact[] = [
    ...whyFacts(rollout),
    ...repeated('broken', broken.map(brokenText), options),
    ...(verbose ? identityFacts(rollout) : startFacts(rollout, now)),
    ['ended', ended && momentText(ended, now)],
    [
      'calls',
      look === null
        ? 'not looked at yet'
        : `${callsText(look, rollout)}${age === undefined ? '' : `, ${age}`}`,
    ],
  ];
  const below: readonly Fact[] = [
    ['odd', oddText(look)],
    ['no verdict', noVerdictWhy(rollout) ?? null],
    ...repeated('not undone', left, options),
    ['next', next === '' ? null : next],
  ];
  const table = look === null ? [] : measureLines(look, rollout, options);
  const after = factLines(below, width, 2);
  const facts =
    table.length === 0
      ? factLines([...above, ...below], width, 2)
      : [...factLines(above, width, 2), [], ...table, ...(after.length > 0 ? [[]] : []), ...after];
  return [
    ...wrap(titleLine(rollout, document), width, 2),
    ...facts,
    ...moreLines(countHidden(broken, options), options, 'more broken guard rails'),
    ...moreLines(countHidden(left, options), options, 'more not undone'),
    // Each is typed as it is, so that none is broken.
    ...commands.map((command): Line => [span(`  ${command}`)]),
  ];
}

function countHidden(items: readonly unknown[], { verbose }: RenderOptions): number {
  return verbose ? 0 : Math.max(0, items.length - MOST);
}

/** One fact for each of several texts, named once. */
function repeated(
  name: string,
  texts: readonly string[],
  { verbose }: RenderOptions,
): readonly Fact[] {
  const shown = verbose ? texts : texts.slice(0, MOST);
  return shown.map((text, at) => [at === 0 ? name : '', text]);
}

function whyFacts(rollout: ShownRollout): readonly Fact[] {
  return whyLines(rollout).map((line, at) => [at === 0 ? 'why' : '', line]);
}

/** Since when: of the step that it is at, and of the whole where that is another moment. */
function startFacts(rollout: ShownRollout, now: Date): readonly Fact[] {
  const { step, started_at: started } = rollout;
  const origin = formatOrigin(rollout);
  const whole = `${formatTime(started)}${origin}`;
  const at = stepAt(rollout)?.at ?? null;
  if (at === null || !isUnderWay(rollout)) return [['started', whole]];
  const since = momentText(at, now);
  if (step === 1) return [['step 1', origin === '' ? since : `${since}, started${origin}`]];
  return [
    ['started', whole],
    [`step ${step}`, since],
  ];
}

/** `2026-11-26T09:59:00Z (7 h 45 min ago)` */
function momentText(at: string, now: Date): string {
  const age = formatAge(at, now);
  return age === undefined ? formatTime(at) : `${formatTime(at)} (${age})`;
}

/** ` by kim at 1f3a9c2` */
function formatOrigin({ user, commit }: ShownRollout): string {
  const by = user === null ? '' : ` by ${user}`;
  return commit === null ? by : `${by} at ${commit.replace(/^([0-9a-f]{7})[0-9a-f]+/, '$1')}`;
}

function identityFacts(rollout: ShownRollout): readonly Fact[] {
  const { id, plan_digest: digest, steps } = rollout;
  return [
    ['started', `${formatTime(rollout.started_at)}${formatOrigin(rollout)}`],
    ['id', id],
    ['plan', digest],
    ['verdicts', needsText(rollout)],
    ['guard rails', guardRailsText(rollout)],
    ...steps.map((step): Fact => [`step ${step.number}`, stepText(step)]),
  ];
}

const STEP_WORDS: { readonly [status in RolloutStep['status']]: string } = {
  applied: 'applied',
  applying: 'being applied',
  pending: 'not yet applied',
  undone: 'rolled back',
};

/** `4 agents, applied 2026-11-27T10:00:00Z, run 2026…; adds agent.a` */
function stepText(step: RolloutStep): string {
  const { agents, adds, runs } = step;
  return [
    `${formatCount(agents, 'agent')}, ${stepStatus(step)}`,
    ...(runs.length === 0 ? [] : [`${runs.length === 1 ? 'run' : 'runs'} ${runs.join(', ')}`]),
    ...(adds.length === 0 ? [] : [`adds ${adds.join(', ')}`]),
  ].join('; ');
}

/** `applied 2026-11-27T10:00:00Z` */
function stepStatus({ status, at }: RolloutStep): string {
  return at === null || status === 'pending'
    ? STEP_WORDS[status]
    : status === 'undone'
      ? `${STEP_WORDS.applied} ${formatTime(at)}, then ${STEP_WORDS.undone}`
      : `${STEP_WORDS[status]} ${formatTime(at)}`;
}

const MEASURE_FIELDS: readonly Field[] = [
  { path: 'name', title: 'measure' },
  {
    path: 'verdict',
    title: 'verdict',
    tone: (said) => Object.values(VERDICTS).find(({ word }) => word === said)?.tone ?? 'plain',
  },
  { path: 'effect', title: 'effect (interval)' },
  { path: 'margin', title: 'margin', drop: 1 },
  { path: 'changed', title: 'with the change', drop: 2 },
  { path: 'others', title: 'others', drop: 3 },
];

/** One line a measure: what is said of it, and the figures that there is room for. */
function measureLines(
  look: RolloutLook,
  rollout: ShownRollout,
  options: RenderOptions,
): readonly Line[] {
  const { width, verbose } = options;
  const { measures } = look;
  if (!hasFigures(look)) return [];
  const records = measures.map((measure) => ({
    ...measureRecord(measure),
    verdict: verdictWord(measure.verdict, look, rollout),
  }));
  const { heading, row } = layOut(MEASURE_FIELDS, records, tableWidth(options), 2);
  const whys = measures.flatMap(({ name, why }) => (why === null ? [] : [[name, why] as const]));
  return [
    ...heading,
    ...records.flatMap((record) => row(record)),
    ...(verbose ? factLines(whys, width, 2) : []),
  ];
}

function measureRecord(measure: RolloutMeasure): JsonObject {
  const figures = getFigures(measure);
  const { margin, changed, others } = figures;
  return { name: measure.name, effect: effectText(figures), margin, changed, others };
}

/** Steps and texts of a rollout that a comment names, and agents of a step. */
const MOST_NAMED = 20;
const MOST_AGENTS = 8;
/** Characters of a text in a comment: it was written by anybody. */
const MOST_TEXT = 600;

/**
 * Rollouts as one comment on a pull request, never longer than `limit` characters. Times are absolute: a comment is
 * read long after it was written.
 */
export function renderRolloutsMarkdown(
  document: RolloutsDocument,
  options: PageOptions = {},
): string {
  const limit = options.limit ?? GITHUB_LIMIT;
  const { environment } = document;
  const marker = formatMarker('rollouts', environment === null ? {} : { environment }, options);
  const rollouts = inOrder(document.rollouts);
  const tail = `\nAs of ${escapeText(formatTime(document.now))}; times in UTC.\n`;
  const pieces = rollouts.map((rollout) => `\n${rolloutMarkdown(rollout, document)}\n`);
  const where = environment === null ? '' : ` for ${escapeText(environment)}`;
  const head =
    rollouts.length === 0 ? `${marker}\n\n### No rollout is recorded${where}.\n` : `${marker}\n`;
  let text = head;
  let missing = 0;
  for (const piece of pieces) {
    if (text.length + piece.length + tail.length + NOTICE_ROOM > limit) missing += 1;
    else text += piece;
  }
  const notice = `\n_${formatCount(missing, 'rollout')} not shown: they do not fit in a comment. \`callsheet rollout show\` shows them._\n`;
  return `${text}${missing === 0 ? '' : notice}${tail}`.slice(0, limit);
}

/** Characters kept for what is said of rollouts that do not fit. */
const NOTICE_ROOM = 200;

function rolloutMarkdown(rollout: ShownRollout, document: RolloutsDocument): string {
  const { look, started_at: started, ended_at: ended, next, left, commands } = rollout;
  const [why, ...more] = whyLines(rollout);
  const at = stepAt(rollout)?.at ?? null;
  const missing = noVerdictWhy(rollout);
  const odd = oddText(look);
  const times = [
    `Started ${formatTime(started)}${formatOrigin(rollout)}`,
    ...(at === null || !isUnderWay(rollout)
      ? []
      : [`step ${rollout.step} applied ${formatTime(at)}`]),
    ...(ended === null ? [] : [`ended ${formatTime(ended)}`]),
  ];
  const calls =
    look === null ? 'not looked at yet.' : `${callsText(look, rollout)} (${formatTime(look.at)}).`;
  return [
    `### ${plainText(rolloutTitle(rollout, document))}`,
    `${plainText(times.join('; '))}.`,
    ...(why === undefined ? [] : [`**Why:** ${plainText(why)}`]),
    ...itemsMarkdown(more),
    ...listMarkdown('Broken guard rails', (look?.broken ?? []).map(brokenText)),
    `**Calls:** ${plainText(calls)}`,
    ...(look === null || !hasFigures(look) ? [] : [measuresMarkdown(look, rollout)]),
    ...(odd === null ? [] : [`**Odd agents:** ${plainText(odd)}.`]),
    ...(missing === undefined ? [] : [`**No verdict yet:** ${plainText(missing)}`]),
    ...listMarkdown('Not undone', left),
    ...(next === '' ? [] : [`**Next:** ${plainText(next)}`]),
    ...(commands.length === 0 ? [] : [fence(commands, 'sh')]),
    stepsMarkdown(rollout),
  ].join('\n\n');
}

function plainText(text: string): string {
  return escapeMessage(cutText(sanitiseLine(text), MOST_TEXT));
}

function listMarkdown(title: string, texts: readonly string[]): readonly string[] {
  return texts.length === 0 ? [] : [`**${title}:**`, ...itemsMarkdown(texts)];
}

function itemsMarkdown(texts: readonly string[]): readonly string[] {
  if (texts.length === 0) return [];
  const shown = texts.map((text) => plainText(text.trim()));
  return [
    firstLines(shown, MOST_NAMED)
      .map((line) => `- ${line}`)
      .join('\n'),
  ];
}

function measuresMarkdown(look: RolloutLook, rollout: ShownRollout): string {
  const { measures } = look;
  const rows = measures.map((measure) => {
    const figures = getFigures(measure);
    const { margin, changed, others } = figures;
    const { mark } = VERDICTS[measure.verdict];
    const word = verdictWord(measure.verdict, look, rollout);
    const verdict = measure.verdict === 'worse' ? `**${mark} ${word}**` : `${mark} ${word}`;
    const cells = [effectText(figures), margin, changed, others].map((cell) => cell ?? '–');
    return `| ${[measure.name, verdict, ...cells].join(' | ')} |`;
  });
  const heads = `| Measure | Verdict | Effect (interval) | Margin | With the change | Others |`;
  return [heads, '|---|---|---:|---:|---:|---:|', ...rows].join('\n');
}

function stepsMarkdown(rollout: ShownRollout): string {
  const { steps, id, plan_digest: digest } = rollout;
  const rows = steps.map((step) => {
    const { number, agents, adds, runs } = step;
    const names = formatFirst(
      adds.map((name) => inlineCode(cutText(sanitiseLine(name), 80))),
      MOST_AGENTS,
    );
    const ran = formatFirst(
      runs.map((run) => inlineCode(cutText(sanitiseLine(run), 80))),
      3,
    );
    return `| ${number} | ${formatNumber(agents)} | ${escapeText(stepStatus(step))} | ${ran} | ${names} |`;
  });
  return [
    '<details><summary>Steps, and what a verdict needs</summary>',
    '',
    '| Step | Agents | | Run | Adds |',
    '|---:|---:|---|---|---|',
    ...rows.slice(0, MOST_NAMED),
    '',
    ...(rows.length > MOST_NAMED
      ? [
          `- ${formatCount(rows.length - MOST_NAMED, 'more step')}: \`callsheet rollout show --verbose\` lists them`,
        ]
      : []),
    `- Verdicts: ${plainText(needsText(rollout))}`,
    `- Guard rails: ${plainText(guardRailsText(rollout))}`,
    `- Rollout ${inlineCode(cutText(sanitiseLine(id), 80))}, plan ${inlineCode(cutText(sanitiseLine(digest), 80))}`,
    '',
    '</details>',
  ].join('\n');
}

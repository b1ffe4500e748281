import type { Rollouts } from '../../core/documents.generated.ts';
import { firstLines } from '../../core/errors.ts';
import type { JsonObject } from '../../core/value.ts';
import {
  escapeMessage,
  escapeText,
  fence,
  formatMarker,
  GITHUB_LIMIT,
  type PageOptions,
} from '../../render/markdown-text.ts';
import { type Field, formatDecimal, layOut, tableWidth } from '../../render/read/table.ts';
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
} from '../../render/terminal.ts';
import { sanitiseLine } from '../../render/untrusted.ts';
import {
  formatAge,
  formatCount,
  formatFirst,
  formatNumber,
  formatTime,
} from '../../render/wording.ts';
import { isUnderWay } from './record.ts';

/**
 * Rollouts for people: whether each goes on, what calls say of it and what comes next, in a terminal and as a comment
 * on a pull request.
 */

type RolloutVerdict = Rollouts.Look['verdict'];

/** How a verdict looks, wherever it is shown. */
const VERDICTS: { readonly [verdict in RolloutVerdict]: Look } = {
  better: { mark: '✓', word: 'better', tone: 'added' },
  no_worse: { mark: '✓', word: 'no worse', tone: 'added' },
  worse: { mark: '✗', word: 'worse', tone: 'error' },
  not_enough_calls: { mark: '◦', word: 'too few calls', tone: 'plain' },
  no_figures: { mark: '–', word: 'no figures', tone: 'warning' },
};

const STATUSES: {
  readonly [status in Rollouts.Rollout['status']]: { readonly words: string; readonly tone: Tone };
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
  { at, step, calls }: Pick<Rollouts.Look, 'at' | 'step' | 'calls'>,
  { judge, steps }: Rollouts.Rollout,
): string {
  const applied = Date.parse(steps.find(({ number }) => number === step)?.at ?? '');
  const days = (Date.parse(at) - applied) / 86_400_000;
  const isEarly = calls >= judge.min_calls && days < judge.min_days;
  return verdict === 'not_enough_calls' && isEarly ? 'too early' : VERDICTS[verdict].word;
}

/** `careful for staging: waiting at step 1 of 4 (3 of 40 agents)`; not sanitised. */
function rolloutTitle(
  rollout: Rollouts.Rollout,
  { environment }: Pick<Rollouts.Document, 'environment'>,
): string {
  const { status, step, steps, agents, overdue } = rollout;
  const { words } = STATUSES[status];
  const name = environment === null ? rollout.name : `${rollout.name} for ${environment}`;
  if (status === 'done')
    return `${name}: ${words}, ${formatCount(steps.length, 'step')} (${formatCount(agents, 'agent')})`;
  // A step that is held before it is applied adds nobody.
  const isReached = (one: Rollouts.Step) => one.status === 'applied' || one.status === 'undone';
  const applied = steps.findLast(isReached)?.agents ?? 0;
  // A run that failed in part may have reached any agent of its step.
  const begun = steps.findLast(({ runs }) => runs.length > 0)?.agents ?? 0;
  const reached = [applied, ...(begun > applied ? [begun] : [])].map(formatNumber).join(' to ');
  const late = overdue ? ', overdue' : '';
  return `${name}: ${words} ${step} of ${steps.length}${late} (${reached} of ${formatCount(agents, 'agent')})`;
}

/** Why there is no verdict yet; undefined where there is one, or where it is said elsewhere. */
function noVerdictWhy(rollout: Rollouts.Rollout): string | undefined {
  const { look, why } = rollout;
  if (look === null || !isUnderWay(rollout) || rollout.status === 'rolling_back') return undefined;
  if (look.verdict !== 'not_enough_calls' && look.verdict !== 'no_figures') return undefined;
  const missing = look.why ?? distinct(look.measures.map((measure) => measure.why)).join(' ');
  return missing === '' || missing === why ? undefined : missing;
}

function distinct(texts: readonly (string | null)[]): readonly string[] {
  return [...new Set(texts.filter((text) => text !== null))];
}

/** `138 of 3 agents, compared with 37 others` */
function callsText(look: Rollouts.Look, { step }: Pick<Rollouts.Rollout, 'step'>): string {
  const { calls, agents, others } = look;
  const compared =
    others === 0
      ? 'with no others to compare with'
      : `compared with ${formatCount(others, 'other')}`;
  const at = look.step === step ? '' : `, at step ${look.step}`;
  return `${formatNumber(calls)} of ${formatCount(agents, 'agent')}${at}, ${compared}`;
}

/** `at least 200 calls and 3 days after a step; compared with 8 weeks before` */
function needsText({ judge }: Rollouts.Rollout): string {
  const { min_calls: calls, min_days: days, baseline_weeks: weeks } = judge;
  return `at least ${formatCount(calls, 'call')} and ${formatCount(days, 'day')} after a step; compared with ${formatCount(weeks, 'week')} before`;
}

/** Says which guard rails stop the rollout without a verdict. */
function guardRailsText({ guard_rails: { errors, silence } }: Rollouts.Rollout): string {
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
function brokenText({ rail, does, message }: Rollouts.Look['broken'][number]): string {
  return `${rail}${does === 'hold' ? ' (holds)' : ''}: ${message}`;
}

/** Agents that count for less, since they moved unlike all others. */
function oddText(look: Rollouts.Look | null): string | null {
  return look === null || look.odd.length === 0
    ? null
    : `${formatFirst(look.odd, 3)} ${look.odd.length === 1 ? 'counts' : 'count'} for less`;
}

/** Why it is held or was rolled back, line by line; none where a broken guard rail says it. */
function whyLines({ why, look }: Rollouts.Rollout): readonly string[] {
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

export function getFigures(measure: Rollouts.Measure): MeasureFigures {
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
function getLimit({ better, margin }: Pick<Rollouts.Measure, 'better' | 'margin'>): number {
  return better === 'higher' ? -margin : margin;
}

/** `+0.4`, `−7.6`, `0.0` */
function formatShift(value: number, digits: number): string {
  const figure = formatDecimal(Math.abs(value), digits);
  if (Number(figure.replaceAll(',', '')) === 0) return figure;
  return value < 0 ? `−${figure}` : `+${figure}`;
}

/** The unit of effects, and that of values. */
function getUnits(name: Rollouts.Measure['name']): readonly [string, string] {
  return name === 'duration' ? ['%', 's'] : ['points', '%'];
}

/** Agents that a comment names of a step. */
const MOST_AGENTS = 8;

/** Broken guard rails and values that are left: so many are named, unless everything is asked for. */
const MOST = 3;

/** A name, and the texts that stand beside it: as a rule one. */
type Told = readonly [name: string, texts: readonly string[]];

/** Everything that is said of a rollout but its title, figures and commands, in order, for each way of showing it. */
type Facts = {
  /** Above the figures. */
  readonly above: readonly Told[];
  readonly below: readonly Told[];
  /** Ids and settings, which a person can look up. */
  readonly identity: readonly Told[];
};

/** Without `now` times are absolute. */
function listFacts(rollout: Rollouts.Rollout, now: Date | undefined): Facts {
  const { id, plan_digest: digest, steps, look, ended_at: ended, next, left } = rollout;
  const told = (name: string, text: string | null | undefined): readonly Told[] =>
    text === null || text === undefined || text === '' ? [] : [[name, [text]]];
  const calls = look === null ? 'not looked at yet' : callsText(look, rollout);
  const read = look && now && isUnderWay(rollout) ? formatAge(look.at, now) : undefined;
  const lookedAt = look && now === undefined ? formatTime(look.at) : read;
  return {
    above: [
      ['why', whyLines(rollout)],
      ['broken', (look?.broken ?? []).map(brokenText)],
      ...startFacts(rollout, now),
      ...told('ended', ended && momentText(ended, now)),
      ['calls', [lookedAt === undefined || lookedAt === null ? calls : `${calls}, ${lookedAt}`]],
    ],
    below: [
      ...told('odd', oddText(look)),
      ...told('no verdict', noVerdictWhy(rollout)),
      ['not undone', left],
      ...told('next', next),
    ],
    identity: [
      ['id', [id]],
      ['plan', [digest]],
      ['verdicts', [needsText(rollout)]],
      ['guard rails', [guardRailsText(rollout)]],
      ...steps.map(
        (step): Told => [
          `step ${step.number}`,
          [stepText(step, now === undefined ? MOST_AGENTS : Infinity)],
        ],
      ),
    ],
  };
}

/** Since when: of the step that it is at, and of the whole where that is another moment. */
function startFacts(rollout: Rollouts.Rollout, now: Date | undefined): readonly Told[] {
  const { step, steps, started_at: started } = rollout;
  const at = steps.find(({ number }) => number === step)?.at ?? null;
  const origin = formatOrigin(rollout);
  const since = at === null || !isUnderWay(rollout) ? undefined : momentText(at, now);
  if (since !== undefined && step === 1)
    return [['step 1', [origin === '' ? since : `${since}, started${origin}`]]];
  const whole: Told = ['started', [`${formatTime(started)}${origin}`]];
  return since === undefined ? [whole] : [whole, [`step ${step}`, [since]]];
}

/** `2026-11-26T09:59:00Z (7 h 45 min ago)` */
function momentText(at: string, now: Date | undefined): string {
  const age = now && formatAge(at, now);
  return age === undefined ? formatTime(at) : `${formatTime(at)} (${age})`;
}

/** ` by kim at 1f3a9c2` */
function formatOrigin({ user, commit }: Rollouts.Rollout): string {
  const by = user === null ? '' : ` by ${user}`;
  return commit === null ? by : `${by} at ${commit.replace(/^([0-9a-f]{7})[0-9a-f]+/, '$1')}`;
}

const STEP_WORDS: { readonly [status in Rollouts.Step['status']]: string } = {
  applied: 'applied',
  applying: 'being applied',
  pending: 'not yet applied',
  undone: 'rolled back',
};

/** `4 agents, applied 2026-11-27T10:00:00Z; run 2026…; adds agent.a` */
function stepText({ agents, adds, runs, status, at }: Rollouts.Step, most: number): string {
  const applied = at === null || status === 'pending' ? '' : ` ${formatTime(at)}`;
  const words =
    status === 'undone' && applied !== ''
      ? `${STEP_WORDS.applied}${applied}, then ${STEP_WORDS.undone}`
      : `${STEP_WORDS[status]}${applied}`;
  return [
    `${formatCount(agents, 'agent')}, ${words}`,
    ...(runs.length === 0 ? [] : [`${runs.length === 1 ? 'run' : 'runs'} ${runs.join(', ')}`]),
    ...(adds.length === 0 ? [] : [`adds ${formatFirst(adds, most)}`]),
  ].join('; ');
}

/** Those under way first. */
function inOrder(rollouts: readonly Rollouts.Rollout[]): readonly Rollouts.Rollout[] {
  return rollouts.toSorted((a, b) => Number(isUnderWay(b)) - Number(isUnderWay(a)));
}

/** Rollouts in a terminal. Those that ended take two lines each beside one that is under way. */
export function renderRolloutsText(document: Rollouts.Document, options: RenderOptions): string {
  const rollouts = inOrder(document.rollouts);
  if (rollouts.length === 0) return 'No rollout is recorded.\n';
  const lines = rollouts.map((rollout) => {
    const isShort = !isUnderWay(rollout) && rollouts.length > 1 && !options.verbose;
    return [
      ...wrap([span(rolloutTitle(rollout, document), 'strong')], options.width, 2),
      ...(isShort ? shortLines : rolloutLines)(rollout, new Date(document.now), options),
    ];
  });
  return paint(spaced(lines), options.color);
}

function shortLines(rollout: Rollouts.Rollout, now: Date, options: RenderOptions): readonly Line[] {
  const { above } = listFacts(rollout, now);
  return toldLines(
    above.filter(([name]) => name === 'why' || name === 'ended'),
    options,
  );
}

function rolloutLines(
  rollout: Rollouts.Rollout,
  now: Date,
  options: RenderOptions,
): readonly Line[] {
  const { verbose } = options;
  const { above, below, identity } = listFacts(rollout, now);
  const table = measureLines(rollout, options);
  const [calls] = above.slice(-1);
  const first = verbose && calls ? [...above.slice(0, -1), ...identity, calls] : above;
  const after = toldLines(below, options);
  return [
    ...(table.length === 0
      ? toldLines([...first, ...below], options)
      : [...toldLines(first, options), [], ...table, ...(after.length > 0 ? [[]] : []), ...after]),
    ...[...above, ...below].flatMap(([name, texts]) =>
      moreLines(
        isCut(name, options) ? Math.max(0, texts.length - MOST) : 0,
        options,
        `more ${name}`,
      ),
    ),
    // Each is typed as it is, so that none is broken.
    ...rollout.commands.map((command): Line => [span(`  ${command}`)]),
  ];
}

function isCut(name: string, { verbose }: RenderOptions): boolean {
  return !verbose && name !== 'why';
}

function toldLines(told: readonly Told[], options: RenderOptions): readonly Line[] {
  const facts = told.flatMap(([name, texts]): readonly Fact[] => {
    const shown = isCut(name, options) ? texts.slice(0, MOST) : texts;
    return shown.map((text, at) => [at === 0 ? name : '', text]);
  });
  return factLines(facts, options.width, 2);
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

/** A row for each measure; none where there is no figure, which is said as what is missing. */
function measureRecords(rollout: Rollouts.Rollout): readonly JsonObject[] {
  const { look } = rollout;
  if (look === null || look.measures.every(({ verdict }) => verdict === 'no_figures')) return [];
  return look.measures.map((measure) => {
    const { effect, interval, margin, changed, others } = getFigures(measure);
    const both = effect === null || interval === null ? effect : `${effect} (${interval})`;
    const verdict = verdictWord(measure.verdict, look, rollout);
    return { name: measure.name, verdict, effect: both, margin, changed, others };
  });
}

/** One line a measure: what is said of it, and the figures that there is room for. */
function measureLines(rollout: Rollouts.Rollout, options: RenderOptions): readonly Line[] {
  const records = measureRecords(rollout);
  if (records.length === 0) return [];
  const { heading, row } = layOut(MEASURE_FIELDS, records, tableWidth(options), 2);
  const measures = rollout.look?.measures ?? [];
  const whys = measures.flatMap(({ name, why }): Fact[] => (why === null ? [] : [[name, why]]));
  const below = options.verbose ? factLines(whys, options.width, 2) : [];
  return [...heading, ...records.flatMap((record) => row(record)), ...below];
}

/** Texts of one name in a comment, and characters of a text, which was written by anybody. */
const MOST_NAMED = 20;
const MOST_TEXT = 600;
/** Characters kept for what is said of rollouts that do not fit. */
const NOTICE_ROOM = 200;

/**
 * Rollouts as one comment on a pull request, never longer than `limit` characters. Times are absolute: a comment is
 * read long after it was written.
 */
export function renderRolloutsMarkdown(
  document: Rollouts.Document,
  options: PageOptions = {},
): string {
  const limit = options.limit ?? GITHUB_LIMIT;
  const { environment } = document;
  const marker = formatMarker('rollouts', environment === null ? {} : { environment }, options);
  const rollouts = inOrder(document.rollouts);
  const tail = `\nAs of ${escapeText(formatTime(document.now))}; times in UTC.\n`;
  const where = environment === null ? '' : ` for ${escapeText(environment)}`;
  let text =
    rollouts.length === 0 ? `${marker}\n\n### No rollout is recorded${where}.\n` : `${marker}\n`;
  let missing = 0;
  for (const rollout of rollouts) {
    const piece = `\n${rolloutMarkdown(rollout, document)}\n`;
    if (text.length + piece.length + tail.length + NOTICE_ROOM > limit) missing += 1;
    else text += piece;
  }
  const notice = `\n_${formatCount(missing, 'rollout')} not shown: they do not fit in a comment. \`callsheet rollout show\` shows them._\n`;
  return `${text}${missing === 0 ? '' : notice}${tail}`.slice(0, limit);
}

function rolloutMarkdown(rollout: Rollouts.Rollout, document: Rollouts.Document): string {
  const { above, below, identity } = listFacts(rollout, undefined);
  return [
    `### ${plainText(rolloutTitle(rollout, document))}`,
    ...toldMarkdown(above),
    ...measuresMarkdown(rollout),
    ...toldMarkdown(below),
    ...(rollout.commands.length === 0 ? [] : [fence(rollout.commands, 'sh')]),
    '<details><summary>Steps, and what a verdict needs</summary>',
    firstLines(
      identity.map(([name, [text = '']]) => `**${capitalised(name)}:** ${plainText(text)}`),
      MOST_NAMED,
      ': `callsheet rollout show --verbose` lists them',
    )
      .map((line) => `- ${line}`)
      .join('\n'),
    '</details>',
  ].join('\n\n');
}

/** One text beside its name; several as a list below it. */
function toldMarkdown(told: readonly Told[]): readonly string[] {
  return told.flatMap(([name, [first, ...more]]) => {
    if (first === undefined) return [];
    const rest = firstLines(
      more.map((text) => plainText(text.trim())),
      MOST_NAMED,
    ).map((text) => `- ${text}`);
    const line = `**${capitalised(name)}:** ${plainText(first)}`;
    return rest.length === 0 ? [line] : [line, rest.join('\n')];
  });
}

function capitalised(name: string): string {
  return `${name.charAt(0).toUpperCase()}${name.slice(1)}`;
}

function plainText(text: string): string {
  return escapeMessage(cutText(sanitiseLine(text), MOST_TEXT));
}

function measuresMarkdown(rollout: Rollouts.Rollout): readonly string[] {
  const rows = measureRecords(rollout).map((record) => {
    const isWorse = record.verdict === VERDICTS.worse.word;
    const cells = MEASURE_FIELDS.map(({ path }) => String(record[path] ?? '–'));
    return `| ${cells.map((cell, at) => (isWorse && at === 1 ? `**${cell}**` : cell)).join(' | ')} |`;
  });
  if (rows.length === 0) return [];
  const heads = MEASURE_FIELDS.map(({ title }) => title).join(' | ');
  return [[`| ${heads} |`, '|---|---|---:|---:|---:|---:|', ...rows].join('\n')];
}

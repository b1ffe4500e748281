/** The judgement of a rollout, computed from counts alone. */
import type { Address } from '../core/address.ts';
import type { Rollouts } from '../core/documents.generated.ts';
import { formatCount } from '../core/errors.ts';
import type { Judging, Measure } from '../core/rollout.ts';

/** Calls in a span. Of a share, `sum` is how many of them had the property; of a mean, the total over them. */
export type Tally = { readonly calls: number; readonly sum: number };

/** One agent: in the whole weeks before the rollout, and in a span since a step. */
export type AgentCalls = {
  readonly address: Address;
  readonly before: Tally;
  readonly after: Tally;
};

type Span = 'before' | 'after';

/** The agents that got the change with one step, and all agents that do not have it, both since that step. */
export type Cohort = {
  readonly changed: readonly AgentCalls[];
  readonly others: readonly AgentCalls[];
};

/** One measure, with a cohort for each step, the oldest first; null where the platform gives no figures. */
export type Seen = { readonly measure: Measure; readonly cohorts: readonly Cohort[] | null };

/** What a verdict takes. `hours` is the age of the newest step. */
export type Terms = Pick<Judging, 'confidence' | 'minCalls' | 'minHours'> & {
  readonly hours: number;
};

export type Judgement = Pick<Rollouts.Look, 'verdict' | 'why' | 'measures'>;

/** With fewer agents to compare with, their scatter says too little about what is ordinary. */
export const LEAST_OTHERS = 8;

/** Nor do agents whose calls make more than so many times the noise of the busiest agent with the change. */
const COMPARABLE = 50;

/** An agent that got none of so many expected calls holds a promotion back, before the guard rail of silence stops. */
const MISSED = 10;

/** Of the others with as many expected calls, the share that may be silent. Where it is more, figures are missing. */
const SILENT_SHARE = 0.15;

/** The calls of agents with the change may grow or shrink so many times as much as those of the others. */
const VOLUME_FACTOR = 2;

/** Fewer expected calls say nothing about that. */
const VOLUME_CALLS = 30;

/**
 * The others may move by so many margins, or by `CALM` points or percent, while a change is promoted. A time that is
 * further from ordinary, such as an outage, need not hit all agents alike.
 */
const CALM_MARGINS = 3;
const CALM = 10;

/** Which parts of the scatter, beyond what calls have at least, are tried as theirs. */
const SPLITS = [0.05, 0.25, 0.5, 0.75, 1];

/** How much less likely than the best a split is that the scatter contradicts, as a logarithm (95 %, χ² of one). */
const CONTRADICTED = 1.92;

/** A smaller variance between agents (percent, squared) is that of a constant and not of a measurement. */
const NO_SCATTER = 1e-9;

/** See `judge`. */
const MIXTURE = 2;

/** One fault easily makes two errors: a caller who is cut off calls again. */
const LEAST_ERRORS = 3;

/**
 * Judges a step by all its measures: `worse` if any is worse, else `no_figures` or `not_enough_calls` if any is, else
 * `no_worse`, or `better` if all are better. A rollout goes on with `better` and `no_worse` alone.
 *
 * **The effect.** The unit is the agent: D = after − before, of shares in points, of means in percent of before. The
 * effect is the mean of D over agents with the change less the mean over the others in the same span (difference in
 * differences): weekdays, seasons and whatever else hits all alike cancel. Agents weigh by precision, 1/Var(D).
 *
 * **Its variance.** Var(D) = τ² + σ²·(1/calls after + 1/calls before). τ² is what an agent wanders by itself and what
 * its calls have in common: one draw for the whole rollout, which more calls do not shrink and more agents do. It is
 * estimated from the scatter of D among the others (Paule and Mandel 1982). σ² of a share is p(1 − p) at least. How the
 * scatter beyond that is split between agents and calls is known poorly, so of all splits that it does not contradict
 * the one with the widest interval counts; of means, where σ² is unknown, that is all of the scatter. A change that
 * does more to some agents than to others does not widen it: the effect is that on these agents.
 *
 * **Looking every hour.** The interval is a confidence sequence: it covers the effect at all looks together with the
 * confidence given. It is the normal mixture of Robbins (1970; Howard, Ramdas, McAuliffe and Sekhon 2021, Annals of
 * Statistics 49; as mixture SPRT Johari, Koomen, Pekelis and Walsh 2022, Operations Research 70) in information time,
 * 1/Var. That needs Cov(now, later) = Var(later), which holds for estimates that weigh by precision (Scharfstein,
 * Tsiatis and Robins 1997, JASA 92). What is one draw for the whole rollout, τ² and the noise of the weeks before, needs
 * no allowance of its own: it is in Var at every look, so that information ends early. And one sequence goes through
 * all steps, so that steps which add agents do not inflate the error. Measures share it (Bonferroni).
 *
 * **The mixture** is over effects with a variance of `MIXTURE` times the margin's square. With g = that variance / Var,
 * the interval is narrowest where g = ln(1 + g) + 2 ln(1/α), and its half is √(1 + g) standard errors there. A harmless
 * change is promoted about when that half equals the margin, for which g/(1 + g), nine tenths, of the margin's square
 * would be best. Twice the square costs 1 % there (nothing with few agents to compare with), and narrows the early
 * intervals, with which a change that is much worse is found: by a tenth where the standard error equals the margin.
 *
 * **Few agents to compare with.** Var is an estimate itself, from J agents. So the ratio that is mixed is that of
 * Student's t with J − 1 degrees of freedom, which has a closed form (Lai 1976, Annals of Statistics 4; Wang and Ramdas
 * 2025, Sequential Analysis; Pérez-Ortiz, Lardy, de Heide and Grünwald 2024, Annals of Statistics 52). With 8 agents
 * intervals are two fifths wider than with very many; with fewer there is no verdict.
 *
 * **It stands on this**: without the change both groups would have moved alike on average; but for that, agents are
 * independent; D is about normal. Variances are estimated, so the error is kept in the sense of large samples, and
 * `test/torture/rollout-judge.test.ts` measures it.
 *
 * **Doubts about the figures** hold back a promotion and never a stop: nothing goes on because of silence.
 */
export function judge(seen: readonly Seen[], terms: Terms): Judgement {
  const alpha = (1 - terms.confidence / 100) / seen.length;
  const measures = seen.map(({ measure, cohorts }) =>
    cohorts === null ? withoutFigures(measure) : judgeMeasure(measure, cohorts, terms, alpha),
  );
  const [deciding] = VERDICTS.flatMap((verdict) =>
    measures.filter((one) => one.verdict === verdict),
  );
  if (deciding === undefined)
    return { verdict: 'no_figures', why: 'No measure is given.', measures };
  const { verdict, why } = deciding;
  return { verdict, why: verdict === 'worse' ? worseMessage(deciding) : why, measures };
}

/** Of several measures the one with the earliest of these decides. */
const VERDICTS: readonly Rollouts.Measure['verdict'][] = [
  'worse',
  'no_figures',
  'not_enough_calls',
  'no_worse',
  'better',
];

function withoutFigures({ name, better, margin }: Measure): Rollouts.Measure {
  return {
    name,
    better,
    margin,
    before: null,
    after: null,
    others_before: null,
    others_after: null,
    effect: null,
    low: null,
    high: null,
    verdict: 'no_figures',
    why: `The platform gives no figures for ${name}.`,
  };
}

function judgeMeasure(
  measure: Measure,
  cohorts: readonly Cohort[],
  terms: Terms,
  alpha: number,
): Rollouts.Measure {
  const waiting = { ...withoutFigures(measure), verdict: 'not_enough_calls' } as const;
  const missing = missingCalls(cohorts, terms);
  const estimate = estimateEffect(measure, cohorts);
  if (estimate === null) return { ...waiting, why: missing ?? nothingToCompare(cohorts) };
  const { effect, compared, levels } = estimate;
  const half =
    compared < LEAST_OTHERS ? Number.POSITIVE_INFINITY : halfWidth(estimate, measure, alpha);
  const isBounded = Number.isFinite(half);
  const judged = {
    ...waiting,
    ...levels,
    effect,
    low: isBounded ? effect - half : null,
    high: isBounded ? effect + half : null,
  };
  if (missing !== null) return { ...judged, why: missing };
  if (compared < LEAST_OTHERS) return { ...judged, why: fewOthers(compared) };
  const good = measure.better === 'higher' ? effect : -effect;
  // The hours keep a change from going on before it was seen at all times of a day; nobody waits for them to stop one.
  const early = missingHours(terms);
  if (early !== null && good + half >= 0) return { ...judged, why: early };
  if (good - half > -measure.margin) {
    const why = early ?? findDoubt(measure, cohorts, terms, estimate, alpha);
    if (why !== null) return { ...judged, why };
    return { ...judged, verdict: good - half > 0 ? 'better' : 'no_worse', why: null };
  }
  if (good + half < 0) return { ...judged, verdict: 'worse', why: null };
  return { ...judged, why: forecast(measure, estimate, good, alpha) };
}

/** An agent's D, and the variance that its calls alone give it: of means in units of a σ² that is not known. */
type Unit = {
  readonly address: Address;
  readonly before: number;
  readonly after: number;
  readonly moved: number;
  readonly noiseBefore: number;
  readonly noiseAfter: number;
};

/** Var(D) = between + perCall · noise. */
type Spread = { readonly between: number; readonly perCall: number };

/** A variance by where it comes from: agents, calls before, calls after. */
type Parts = { readonly between: number; readonly before: number; readonly after: number };

/** A mean over agents. */
type Mean = Pick<Unit, 'before' | 'after' | 'moved'>;

type CohortEstimate = {
  readonly changed: Mean;
  readonly others: Mean;
  /** Variances of both, by the split with the widest interval. */
  readonly changedVariance: number;
  readonly othersVariance: number;
  /** The variance of their difference by the likeliest split. */
  readonly parts: Parts;
  readonly compared: number;
  readonly alone: readonly Alone[];
};

/** The effect on one agent with the change. */
type Alone = Pick<Estimate, 'effect' | 'variance' | 'compared'> & { readonly address: Address };

type Estimate = {
  readonly effect: number;
  readonly variance: number;
  /** Where the variance comes from, as shares of one. */
  readonly parts: Parts;
  readonly calls: number;
  readonly alone: readonly Alone[];
  /** The fewest agents that a cohort is compared with. */
  readonly compared: number;
  readonly othersMoved: number;
  readonly levels: Pick<Rollouts.Measure, 'before' | 'after' | 'others_before' | 'others_after'>;
};

/**
 * The effect over all cohorts, weighted by precision; null where there is nothing to compare. Cohorts share the agents
 * that they are compared with, so the noise of those does not average out between cohorts: it counts as if it were the
 * same in all of them, which is the most that it can be.
 */
function estimateEffect(measure: Measure, cohorts: readonly Cohort[]): Estimate | null {
  const found = cohorts.flatMap((cohort) => estimateCohort(measure, cohort) ?? []);
  if (found.length === 0) return null;
  const weights = toOne(found.map((one) => 1 / (one.changedVariance + one.othersVariance)));
  const mean = (of: (one: CohortEstimate) => number) => weigh(found, weights, of);
  const parts = {
    between: weigh(found, weights, (one) => one.parts.between, 2),
    before: weigh(found, weights, (one) => one.parts.before, 2),
    after: weigh(found, weights, (one) => one.parts.after, 2),
  };
  const all = parts.between + parts.before + parts.after;
  return {
    effect: mean((one) => one.changed.moved - one.others.moved),
    variance:
      weigh(found, weights, (one) => one.changedVariance, 2) +
      mean((one) => Math.sqrt(one.othersVariance)) ** 2,
    parts: { between: parts.between / all, before: parts.before / all, after: parts.after / all },
    alone: found.flatMap((one) => one.alone),
    calls: sum(cohorts, ({ changed }) => countCalls(changed, 'after')),
    compared: Math.min(...found.map((one) => one.compared)),
    othersMoved: mean((one) => one.others.moved),
    levels: {
      before: mean((one) => one.changed.before),
      after: mean((one) => one.changed.after),
      others_before: mean((one) => one.others.before),
      others_after: mean((one) => one.others.after),
    },
  };
}

function estimateCohort(measure: Measure, cohort: Cohort): CohortEstimate | null {
  const changed = listUnits(measure, cohort.changed);
  const others = listUnits(measure, cohort.others);
  const spreads = listSpreads(others, isMean(measure) ? 0 : 1);
  const [likeliest] = spreads;
  if (likeliest === undefined || changed.length === 0 || others.length === 0) return null;
  const weights = {
    changed: toOne(changed.map((agent) => 1 / computeVariance(agent, likeliest))),
    others: toOne(others.map((agent) => 1 / computeVariance(agent, likeliest))),
  };
  const varianceWith = (spread: Spread) => ({
    changed: weigh(changed, weights.changed, (agent) => computeVariance(agent, spread), 2),
    others: weigh(others, weights.others, (agent) => computeVariance(agent, spread), 2),
    spread,
  });
  const widest = spreads
    .map(varianceWith)
    .reduce((a, b) => (b.changed + b.others > a.changed + a.others ? b : a));
  const both = (of: (agent: Unit) => number) =>
    weigh(changed, weights.changed, of, 2) + weigh(others, weights.others, of, 2);
  const moved = computeMean(others, weights.others);
  const busiest = Math.min(...changed.map(computeNoise));
  const compared = others.filter((agent) => computeNoise(agent) <= COMPARABLE * busiest).length;
  return {
    changed: computeMean(changed, weights.changed),
    others: moved,
    changedVariance: widest.changed,
    othersVariance: widest.others,
    parts: {
      between: both(() => likeliest.between),
      before: both((agent) => likeliest.perCall * agent.noiseBefore),
      after: both((agent) => likeliest.perCall * agent.noiseAfter),
    },
    compared,
    alone: changed.map((agent) => ({
      address: agent.address,
      effect: agent.moved - moved.moved,
      variance: computeVariance(agent, widest.spread) + widest.others,
      compared,
    })),
  };
}

/** Agents with calls in both spans; of means, with something before to compare with. */
function listUnits(measure: Measure, agents: readonly AgentCalls[]): readonly Unit[] {
  const usable = agents.filter(
    (agent) => isHeard(agent) && (!isMean(measure) || agent.before.sum > 0),
  );
  if (isMean(measure)) {
    return usable.map(({ address, before, after }) => ({
      address,
      before: before.sum / before.calls,
      after: after.sum / after.calls,
      moved: 100 * ((after.sum * before.calls) / (after.calls * before.sum) - 1),
      noiseBefore: 1 / before.calls,
      noiseAfter: 1 / after.calls,
    }));
  }
  // By shares of the group: by an agent's own, what it came to would decide how much it weighs.
  const [before, after] = [smoothedShare(usable, 'before'), smoothedShare(usable, 'after')];
  const noiseBefore = 1e4 * before * (1 - before);
  const noiseAfter = Math.max(noiseBefore, 1e4 * after * (1 - after));
  return usable.map((agent) => {
    const [was, is] = [agent.before.sum / agent.before.calls, agent.after.sum / agent.after.calls];
    return {
      address: agent.address,
      before: 100 * was,
      after: 100 * is,
      moved: 100 * (is - was),
      noiseBefore: noiseBefore / agent.before.calls,
      noiseAfter: noiseAfter / agent.after.calls,
    };
  });
}

function isMean({ name }: Pick<Measure, 'name'>): boolean {
  return name === 'duration';
}

/** With one call more of each kind, so that what never happened yet does not count as impossible. */
function smoothedShare(agents: readonly AgentCalls[], span: Span): number {
  return (sum(agents, (agent) => agent[span].sum) + 1) / (countCalls(agents, span) + 2);
}

/**
 * The splits of the scatter that it does not contradict, the likeliest first. `least` is what calls have of their noise
 * at least: all of it where that is known. Empty where there is no scatter.
 */
function listSpreads(agents: readonly Unit[], least: 0 | 1): readonly Spread[] {
  const plain = { between: 0, perCall: 1 };
  if (agents.length < 2) return [plain];
  const { scatter, variance } = measureFit(agents, plain);
  const ratio = scatter / (agents.length - 1);
  if (ratio * variance < NO_SCATTER) return least === 0 ? [] : [plain];
  if (ratio <= least) return [plain];
  const fits = SPLITS.map((split) => {
    const spread = fitBetween(agents, least + split * (ratio - least));
    // Where two are as likely, as with two agents, it must not be left to the last digit which of them counts.
    return { spread, likelihood: Number(computeLikelihood(agents, spread).toFixed(9)) };
  }).sort((a, b) => b.likelihood - a.likelihood);
  const best = fits[0]?.likelihood ?? 0;
  return fits.filter((one) => one.likelihood >= best - CONTRADICTED).map(({ spread }) => spread);
}

/**
 * The variance between agents with which they scatter as much as they should, so that the squares over Var(D) sum to
 * their number less one. The sum falls in τ² and is convex, so Newton's steps from 0 never go too far.
 */
function fitBetween(agents: readonly Unit[], perCall: number): Spread {
  let between = 0;
  for (let step = 0; step < 60; step++) {
    const { scatter, slope } = measureFit(agents, { between, perCall });
    const excess = scatter - (agents.length - 1);
    if (excess < 1e-10 * agents.length) break;
    between += excess / slope;
  }
  return { between, perCall };
}

/** How a spread fits: the squares over Var(D), how they fall in τ², the mean of Var(D), the sum of 1/Var(D). */
function measureFit(agents: readonly Unit[], spread: Spread) {
  let [precision, mean, variance] = [0, 0, 0];
  for (const agent of agents) {
    const one = computeVariance(agent, spread);
    precision += 1 / one;
    mean += agent.moved / one;
    variance += one / agents.length;
  }
  mean /= precision;
  let [scatter, slope] = [0, 0];
  for (const agent of agents) {
    const one = computeVariance(agent, spread);
    const square = (agent.moved - mean) ** 2 / one;
    scatter += square;
    slope += square / one;
  }
  return { scatter, slope, variance, precision };
}

/** The logarithm of the restricted likelihood, which the mean does not enter. */
function computeLikelihood(agents: readonly Unit[], spread: Spread): number {
  const { scatter, precision } = measureFit(agents, spread);
  const logs = sum(agents, (agent) => Math.log(computeVariance(agent, spread)));
  return -(logs + Math.log(precision) + scatter) / 2;
}

function computeVariance(agent: Unit, { between, perCall }: Spread): number {
  return between + perCall * computeNoise(agent);
}

function computeNoise({ noiseBefore, noiseAfter }: Unit): number {
  return noiseBefore + noiseAfter;
}

function computeMean(agents: readonly Unit[], weights: readonly number[]): Mean {
  return {
    before: weigh(agents, weights, (agent) => agent.before),
    after: weigh(agents, weights, (agent) => agent.after),
    moved: weigh(agents, weights, (agent) => agent.moved),
  };
}

/** Half of the interval, see `judge`: where the mixed likelihood ratio of Student's t reaches 1/α. */
function halfWidth(
  { variance, compared }: Pick<Estimate, 'variance' | 'compared'>,
  { margin }: Measure,
  alpha: number,
): number {
  const freedom = compared - 1;
  const spread = 1 + (MIXTURE * margin ** 2) / variance;
  const growth = (Math.sqrt(spread) / alpha) ** (2 / (freedom + 1));
  if (growth >= spread) return Number.POSITIVE_INFINITY;
  return Math.sqrt((variance * freedom * (growth - 1)) / (1 - growth / spread));
}

/** What every verdict still takes. */
function missingCalls(cohorts: readonly Cohort[], { minCalls }: Terms): string | null {
  const calls = sum(cohorts, ({ changed }) => countCalls(changed, 'after'));
  return calls < minCalls ? `${calls} of at least ${minCalls} calls so far.` : null;
}

/** What a verdict takes beside that goes on with the rollout. */
function missingHours({ minHours, hours }: Terms): string | null {
  return hours < minHours
    ? `${Math.floor(hours)} of at least ${minHours} hours have passed since the step.`
    : null;
}

/** Why there is no estimate. */
function nothingToCompare(cohorts: readonly Cohort[]): string {
  const usable = cohorts.filter(({ changed }) => changed.some(isHeard));
  if (usable.length === 0)
    return 'No agent with the change has calls both before the rollout and since its step.';
  const others = Math.max(...usable.map((cohort) => cohort.others.filter(isHeard).length));
  if (others < LEAST_OTHERS) return fewOthers(others);
  return 'The figures of the other agents do not vary at all, so they cannot be measurements.';
}

function fewOthers(count: number): string {
  return `${formatCount(count, 'other agent')} can be compared with; at least ${LEAST_OTHERS} are needed.`;
}

/** Why a promotion waits although the interval allows it; null where nothing speaks against it. */
function findDoubt(
  measure: Measure,
  cohorts: readonly Cohort[],
  { minCalls }: Terms,
  { othersMoved, alone }: Estimate,
  alpha: number,
): string | null {
  const { name, margin, better } = measure;
  const all = cohorts.flatMap(({ changed }) => changed);
  const newest = cohorts.at(-1)?.changed ?? [];
  const share = Math.ceil((minCalls * countCalls(newest, 'before')) / countCalls(all, 'before'));
  const calls = countCalls(newest, 'after');
  if (calls < share)
    return `The agents of the newest step have had ${calls} of at least ${share} calls.`;
  if (!newest.some(isHeard))
    return 'No agent of the newest step had calls before the rollout, so none can be compared.';

  const silences = cohorts.map((cohort) => findSilence(cohort, MISSED));
  if (silences.some(({ isTelling }) => !isTelling))
    return 'Many of the other agents have no calls either, so the figures seem to be incomplete.';
  const [silent] = silences.flatMap((one) => one.silent);
  if (silent !== undefined)
    return `${silent.address} had no call where about ${Math.round(silent.expected)} were expected.`;

  // Of call logs a part is read, and of busy agents a smaller one before than after: their number tells nothing.
  const isSampled = name === 'errors';
  for (const { changed, others } of isSampled ? [] : cohorts) {
    const expected = countCalls(changed, 'before') * volumeMove(others);
    const had = countCalls(changed, 'after');
    if (
      Math.max(expected, had) >= VOLUME_CALLS &&
      Math.max(expected / had, had / expected) > VOLUME_FACTOR
    )
      return `The agents with the change had ${had} calls where about ${Math.round(expected)} were expected, so the figures may be incomplete.`;
  }
  if (Math.abs(othersMoved) > Math.max(CALM_MARGINS * margin, CALM))
    return `The other agents have moved by ${signed(othersMoved)} ${formatUnit(name)} themselves, so this is no ordinary time to compare with.`;

  const bad = alone.find((agent) => {
    const good = better === 'higher' ? agent.effect : -agent.effect;
    const half = halfWidth(agent, measure, alpha / alone.length);
    return good + half < 0 && good - half < -margin;
  });
  return bad === undefined
    ? null
    : `${bad.address} is worse by itself: it moved by ${signed(bad.effect)} ${formatUnit(name)} against the other agents.`;
}

/** What more calls would do, if the effect stays as it is. */
function forecast(measure: Measure, estimate: Estimate, good: number, alpha: number): string {
  const { variance, parts, alone, calls, compared, effect } = estimate;
  const { margin } = measure;
  const widthAt = (one: number) => halfWidth({ variance: one, compared }, measure, alpha);
  const half = widthAt(variance);
  const known = Number.isFinite(half)
    ? `The interval after ${calls} calls (${signed(effect - half)} to ${signed(effect + half)} ${formatUnit(measure.name)}) is too wide for the margin of ${margin}.`
    : `${calls} calls do not give an interval yet.`;

  // Whichever comes first: that it is no worse than the margin allows, or that it is worse.
  const wanted = Math.max(margin + good, -good);
  let [low, high] = [0, variance];
  for (let step = 0; step < 50; step++) {
    const middle = (low + high) / 2;
    if (widthAt(middle) < wanted) low = middle;
    else high = middle;
  }
  const lasting = variance * (1 - parts.after);
  if (low > lasting) {
    const more = calls * ((variance * parts.after) / (low - lasting) - 1);
    return `${known} About ${rounded(more)} more calls are needed.`;
  }
  if (parts.after > 0.5) return `${known} More calls are needed.`;
  return parts.between >= parts.before
    ? `${known} ${formatCount(alone.length, 'agent varies', 'agents vary')} too much for it by themselves, and more calls do not change that. A larger step or a wider margin is needed.`
    : `${known} The weeks before have too few calls for it. A longer baseline, a larger step or a wider margin is needed.`;
}

function worseMessage({ name, effect, low, high, margin }: Rollouts.Measure): string {
  return `${name} moved by ${signed(effect ?? 0)} ${formatUnit(name)} against the other agents (${signed(low ?? 0)} to ${signed(high ?? 0)}); ${margin} are tolerated.`;
}

function formatUnit(name: Rollouts.Measure['name']): string {
  return isMean({ name }) ? 'percent' : 'points';
}

/** With one digit and a sign: a true minus, as elsewhere in texts. */
function signed(value: number): string {
  const text = Math.abs(value).toFixed(1);
  if (text === '0.0') return text;
  return `${value < 0 ? '−' : '+'}${text}`;
}

/** To two digits, upwards. */
function rounded(value: number): number {
  const unit = 10 ** Math.max(0, Math.floor(Math.log10(Math.max(1, value))) - 1);
  return Math.max(1, Math.ceil(value / unit) * unit);
}

/** Whether agents fell silent, and whether that says anything: not where many of the others are silent too. */
export type Silence = {
  readonly isTelling: boolean;
  /** Agents with the change that got no call, and how many were expected. */
  readonly silent: readonly { readonly address: Address; readonly expected: number }[];
};

/**
 * Agents with the change that got no call where at least so many were expected: as many as before, times how the calls
 * of the others moved. Where more than `SILENT_SHARE` of the others with as many expected calls are silent too, or
 * where nobody has calls to compare with, the figures are incomplete, and the answer is to wait. An agent that had
 * calls and then lost them is found in a span that begins after those.
 */
export function findSilence({ changed, others }: Cohort, least: number): Silence {
  const move = volumeMove(others);
  const expectedOf = ({ before }: AgentCalls) => before.calls * move;
  const busy = others.filter((agent) => expectedOf(agent) >= least);
  const quiet = busy.filter(({ after }) => after.calls === 0);
  return {
    isTelling: move > 0 && quiet.length <= SILENT_SHARE * busy.length,
    silent: changed.flatMap((agent) => {
      const expected = expectedOf(agent);
      const isSilent = agent.after.calls === 0 && expected >= least;
      return isSilent ? [{ address: agent.address, expected }] : [];
    }),
  };
}

/** How the calls of agents that have any moved: calls after for each call before. */
function volumeMove(agents: readonly AgentCalls[]): number {
  const heard = agents.filter(isHeard);
  return heard.length === 0 ? 0 : countCalls(heard, 'after') / countCalls(heard, 'before');
}

/** Calls with an error that are more than allowed, of one agent with the change or of all of them together. */
export type Errors = {
  readonly addresses: readonly Address[];
  readonly calls: number;
  readonly errors: number;
  /** Percent: the share that they have at least, and the one that is allowed. */
  readonly least: number;
  readonly allowed: number;
};

/**
 * The agent with the change of which most calls have an error, or else all together, where that are too many; or null.
 * Allowed are so many percent, or the share that the others have now or the agents had before, where that is more:
 * rolling a change back does not help against an outage. One error in two calls stops nothing: the share counts by the
 * lower end of a confidence sequence (Robbins 1970 with the mixture of Krichevsky and Trofimov 1981, exact for
 * independent calls), of which half of the error is for the agents one by one and half for their sum.
 */
export function findErrors(
  { changed, others }: Cohort,
  limit: number,
  confidence: number,
): Errors | null {
  const alpha = (1 - confidence / 100) / 2;
  const around = computePercent(others, 'after');
  const judgeErrors = (agents: readonly AgentCalls[], error: number): Errors | null => {
    const [calls, errors] = [countCalls(agents, 'after'), sum(agents, ({ after }) => after.sum)];
    const allowed = Math.max(limit, around, computePercent(agents, 'before'));
    const least = errors < LEAST_ERRORS ? 0 : 100 * leastShare(errors, calls, error);
    if (least <= allowed) return null;
    return { addresses: agents.map(({ address }) => address), calls, errors, least, allowed };
  };
  const found = changed.flatMap((agent) => judgeErrors([agent], alpha / changed.length) ?? []);
  const [worst] = found.sort((a, b) => b.least - a.least);
  return worst ?? judgeErrors(changed, alpha);
}

function computePercent(agents: readonly AgentCalls[], span: Span): number {
  const calls = countCalls(agents, span);
  return calls === 0 ? 0 : (100 * sum(agents, (agent) => agent[span].sum)) / calls;
}

/** The least share that the mixture over all shares does not exclude. */
function leastShare(found: number, calls: number, alpha: number): number {
  let mixed = 0;
  for (let index = 0; index < found; index++) mixed += Math.log((index + 0.5) / (index + 1));
  for (let index = 0; index < calls - found; index++)
    mixed += Math.log((index + 0.5) / (found + index + 1));
  const missed = calls - found;
  let [low, high] = [0, found / calls];
  for (let step = 0; step < 50; step++) {
    const share = (low + high) / 2;
    const against = mixed - found * Math.log(share) - missed * Math.log1p(-share);
    if (against >= -Math.log(alpha)) low = share;
    else high = share;
  }
  return low;
}

function isHeard({ before, after }: AgentCalls): boolean {
  return before.calls > 0 && after.calls > 0;
}

function countCalls(agents: readonly AgentCalls[], span: Span): number {
  return sum(agents, (agent) => agent[span].calls);
}

function sum<T>(list: readonly T[], of: (one: T) => number): number {
  return list.reduce((sum, one) => sum + of(one), 0);
}

/** Weights that sum to one. */
function toOne(weights: readonly number[]): readonly number[] {
  const total = sum(weights, (one) => one);
  return weights.map((one) => one / total);
}

/** The sum over a list, each member times its weight, or times the square of it as variances are. */
function weigh<T>(
  list: readonly T[],
  weights: readonly number[],
  of: (one: T) => number,
  power: 1 | 2 = 1,
): number {
  return list.reduce((sum, one, index) => sum + (weights[index] ?? 0) ** power * of(one), 0);
}

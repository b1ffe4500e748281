import type {
  RolloutLook,
  RolloutMeasure,
  RolloutStep,
  RolloutsDocument,
  ShownRollout,
} from '../core/documents.ts';
import { isUnderWay } from '../core/rollout.ts';
import {
  brokenText,
  callsText,
  describeMeaning,
  formatOrigin,
  getFigures,
  guardRailsText,
  hasFigures,
  inOrder,
  momentText,
  needsText,
  noVerdictWhy,
  rolloutTitle,
  stepAt,
  stepStatus,
  VERDICTS,
  verdictWord,
  whyLines,
} from '../render/rollout.ts';
import { html, type Markup } from '../render/untrusted.ts';
import { formatCount, formatNumber, formatTime } from '../render/wording.ts';
import { renderCourse, SHAPES } from './course.ts';

/** Rollouts as a page that no script draws: how far each is, what calls say of it, and the course of each measure. */

export function rolloutsTitle(document: RolloutsDocument): string {
  const { rollouts } = document;
  const [only] = rollouts;
  if (only === undefined) return 'No rollout is recorded';
  return rollouts.length === 1
    ? rolloutTitle(only, document)
    : formatCount(rollouts.length, 'rollout');
}

/** What is in the body of the page. */
export function rolloutsBody(document: RolloutsDocument): string {
  const { now, environment } = document;
  const rollouts = inOrder(document.rollouts);
  const contents = html`
<nav class="contents" aria-label="Rollouts"><ul>${rollouts.map(
    (rollout, at) => html`<li><a href="#rollout-${at}">${rolloutTitle(rollout, document)}</a></li>`,
  )}</ul></nav>`;
  return html`${SHAPES}
<header class="top">
<div class="title"><h1>${rolloutsTitle(document)}</h1></div>
<dl class="about">${renderFacts([
    ['Environment', environment],
    ['As of', formatTime(now)],
    ['Times', 'UTC, by the clock of the platform'],
  ])}</dl>
</header>
<main class="rollouts">${rollouts.length > 1 ? contents : null}
${rollouts.map((rollout, at) => rolloutSection(rollout, at, document))}
</main>`.markup;
}

type Fact = readonly [name: string, value: string | Markup | null];

function renderFacts(facts: readonly Fact[]): readonly Markup[] {
  return facts.flatMap(([name, value]) =>
    value === null ? [] : [html`<div><dt>${name}</dt><dd>${value}</dd></div>`],
  );
}

function rolloutSection(rollout: ShownRollout, at: number, document: RolloutsDocument): Markup {
  const isOne = document.rollouts.length === 1;
  // The heading of the only rollout is that of the page.
  const heading = (title: string) => (isOne ? html`<h2>${title}</h2>` : html`<h3>${title}</h3>`);
  const part = (title: string, content: Markup | null) =>
    content === null
      ? null
      : html`
<section class="part">${heading(title)}
${content}
</section>`;
  const { look } = rollout;
  return html`
<article class="rollout" id="rollout-${at}">${
    isOne ? null : html`<h2>${rolloutTitle(rollout, document)}</h2>`
  }
${renderBanners(rollout)}
${part(isUnderWay(rollout) ? 'Where it is' : 'How it ended', nowPart(rollout, new Date(document.now)))}
${part(`Steps: ${formatReach(rollout)}`, stepsPart(rollout))}
${part('What calls say', look === null ? null : figuresPart(look, rollout))}
${part('Course of each measure', coursePart(rollout))}
${part('Guard rails', railsPart(rollout))}
</article>`;
}

const STOPPED: { readonly [status in ShownRollout['status']]: string } = {
  applying: 'Applying',
  judging: 'Waiting',
  held: 'Held',
  rolling_back: 'Rolling back',
  done: 'Done',
  rolled_back: 'Rolled back',
};

/** What a person must not miss: why it does not go on. */
function renderBanners(rollout: ShownRollout): readonly Markup[] {
  const { status, overdue, look } = rollout;
  const [why, ...more] = whyLines(rollout);
  const broken = look?.broken ?? [];
  return [
    ...(why === undefined
      ? []
      : [
          html`<div class="banner ${status === 'held' ? 'warning' : 'error'}"><p><strong>${STOPPED[status]}:</strong> ${why}</p>${renderList(more)}</div>`,
        ]),
    ...(overdue
      ? [
          html`<p class="banner warning"><strong>Overdue:</strong> step ${rollout.step} takes longer than overdue_after allows.</p>`,
        ]
      : []),
    ...(broken.length === 0
      ? []
      : [
          html`<div class="banner error"><strong>${
            broken.length === 1
              ? 'A guard rail is'
              : `${formatNumber(broken.length)} guard rails are`
          } broken:</strong>${renderList(broken.map(brokenText))}</div>`,
        ]),
  ];
}

function renderList(texts: readonly string[]): Markup | null {
  return texts.length === 0 ? null : html`<ul>${texts.map((text) => html`<li>${text}</li>`)}</ul>`;
}

function nowPart(rollout: ShownRollout, now: Date): Markup {
  const { started_at: started, ended_at: ended, look, next, commands, left, id } = rollout;
  const at = stepAt(rollout)?.at ?? null;
  const calls = look === null ? 'not looked at yet' : callsText(look, rollout);
  return html`<dl class="pairs">${renderFacts([
    ['No verdict yet', noVerdictWhy(rollout) ?? null],
    ['Next', next === '' ? null : next],
    [
      'Commands',
      commands.length === 0
        ? null
        : html`<ul>${commands.map((command) => html`<li><code>${command}</code></li>`)}</ul>`,
    ],
    ['Not undone', renderList(left)],
    ['Calls', calls],
    ['Looked at', look === null ? null : momentText(look.at, now)],
    [
      `Step ${rollout.step} applied`,
      at === null || !isUnderWay(rollout) ? null : momentText(at, now),
    ],
    ['Ended', ended === null ? null : momentText(ended, now)],
    ['Started', `${momentText(started, now)}${formatOrigin(rollout)}`],
    ['Rollout', html`<code>${id}</code>`],
    ['Reviewed plan', html`<code>${rollout.plan_digest}</code>`],
  ])}</dl>`;
}

/** `3 of 40 agents have the change` */
function formatReach(rollout: ShownRollout): string {
  const { status, agents } = rollout;
  const reached = status === 'done' ? agents : (stepAt(rollout)?.agents ?? 0);
  const had = status === 'rolled_back' || status === 'rolling_back' ? 'had' : 'have';
  return `${formatNumber(reached)} of ${formatCount(agents, 'agent')} ${had} the change`;
}

/** A segment narrower than this, in percent, has no room for its number. */
const LEAST_SEGMENT = 9;

/** The fleet as a bar, a segment for the agents that each step adds, and the steps as a list. */
function stepsPart({ steps, agents }: ShownRollout): Markup {
  const ends = steps.map((step) => (agents === 0 ? 0 : (step.agents / agents) * 100));
  const segments = steps.map((step, index) => {
    const from = ends[index - 1] ?? 0;
    const to = ends[index] ?? from;
    const label =
      to - from < LEAST_SEGMENT
        ? null
        : html`<text x="${percent(to)}" y="19" dx="-8" text-anchor="end">${formatNumber(step.agents)}</text>`;
    return html`<g class="${step.status}"><title>${`Step ${step.number}: ${formatCount(step.agents, 'agent')}, ${stepStatus(step)}`}</title><rect x="${percent(from)}" y="1" width="${percent(to - from)}" height="26" />${label}</g>`;
  });
  const sizes = steps.map((step) => formatNumber(step.agents)).join(', ');
  return html`<svg class="fleet" height="28" role="img" aria-label="${`Steps of ${sizes} of ${formatCount(agents, 'agent')}`}">${segments}</svg>
<ol class="steps">${steps.map((step) => stepItem(step, agents))}</ol>`;
}

function percent(share: number): string {
  return `${Number(share.toFixed(3))}%`;
}

function stepItem(step: RolloutStep, agents: number): Markup {
  const { number, adds, runs, status } = step;
  return html`<li class="${status}"><span class="swatch"></span><div><p><strong>Step ${number}</strong> ${formatNumber(step.agents)} of ${formatCount(agents, 'agent')}</p>
<p class="said">${stepStatus(step)}${runs.map((run) => html`<br>run <code>${run}</code>`)}</p>${
    adds.length === 0
      ? null
      : html`<details><summary>adds ${formatCount(adds.length, 'agent')}</summary><ul class="addresses">${adds.map(
          (address) => html`<li>${address}</li>`,
        )}</ul></details>`
  }</div></li>`;
}

/** The latest figures. On narrow screens each row is a card, which needs its roles said again. */
function figuresPart(look: RolloutLook, rollout: ShownRollout): Markup {
  const { confidence } = rollout.judge;
  const needs = html`<p class="hint">${sentence(needsText(rollout))}</p>`;
  if (!hasFigures(look)) return html`<p>There are no figures yet.</p>${needs}`;
  const columns = [
    'Measure',
    'Verdict',
    'Effect',
    `${confidence} % interval`,
    'Margin',
    'With the change',
    'Others',
  ];
  const rows = look.measures.map((measure) => {
    const { effect, interval, margin, changed, others, unit } = getFigures(measure);
    const cells = [effect === null ? null : `${effect} ${unit}`, interval, margin, changed, others];
    return html`<tr role="row"><th scope="row" role="rowheader">${measure.name}<span class="said">${describeMeaning(measure)}, ${measure.better} is better</span></th><td role="cell" data-name="Verdict">${verdictBadge(measure, look, rollout)}</td>${cells.map(
      (cell, index) =>
        html`<td role="cell" class="figure" data-name="${columns[index + 2] ?? ''}">${cell ?? '–'}</td>`,
    )}</tr>`;
  });
  return html`<table class="figures" role="table"><thead role="rowgroup"><tr role="row">${columns.map(
    (column, index) =>
      html`<th scope="col" role="columnheader" class="${index > 1 ? 'figure' : ''}">${column}</th>`,
  )}</tr></thead><tbody role="rowgroup">${rows}</tbody></table>
<p class="hint">The effect is how much more the agents with the change moved than the others. Beyond its margin it is worse than tolerated.</p>
${needs}`;
}

function sentence(text: string): string {
  return `${text.slice(0, 1).toUpperCase()}${text.slice(1)}.`;
}

function verdictBadge(
  { verdict }: RolloutMeasure,
  look: RolloutLook,
  rollout: ShownRollout,
): Markup {
  return html`<span class="verdict ${verdict}"><span aria-hidden="true">${VERDICTS[verdict].mark}</span> ${verdictWord(verdict, look, rollout)}</span>`;
}

function coursePart(rollout: ShownRollout): Markup | null {
  const { look } = rollout;
  if (look === null || !hasFigures(look)) return null;
  const charts = look.measures.map(
    (
      measure,
    ) => html`<figure class="measure"><figcaption><strong>${measure.name}</strong> ${verdictBadge(measure, look, rollout)}<span class="said">${formatCaption(measure)}</span></figcaption>
${renderCourse(measure, rollout)}</figure>`,
  );
  const { confidence } = rollout.judge;
  const { course } = rollout;
  const [first] = course;
  const times =
    first === undefined
      ? `once, ${formatTime(look.at)}`
      : `${formatCount(course.length + 1, 'time')}, from ${formatTime(first.at)} to ${formatTime(look.at)}`;
  return html`<p class="said">Looked at ${times}.</p>
<p class="legend"><span><svg width="28" height="12" aria-hidden="true"><line class="effect" x1="0" x2="28" y1="6" y2="6" /></svg> effect</span> <span><svg width="28" height="12" aria-hidden="true"><rect class="band" width="28" height="12" /></svg> ${confidence} % interval</span> <span><svg width="28" height="12" aria-hidden="true"><line class="zero" x1="0" x2="28" y1="6" y2="6" /></svg> no effect</span> <span><svg width="28" height="12" aria-hidden="true"><line class="margin" x1="0" x2="28" y1="6" y2="6" /></svg> margin</span> <span><svg width="28" height="12" aria-hidden="true"><rect class="beyond" width="28" height="12" /></svg> worse than tolerated</span> <span><svg width="12" height="14" aria-hidden="true"><line class="step" x1="6" x2="6" y1="0" y2="14" /></svg> step, with its number of agents</span></p>
<div class="charts">${charts}</div>`;
}

/** `effect −7.6 points (−10.1 to −5.0), margin −5 points` */
function formatCaption(measure: RolloutMeasure): string {
  const { effect, interval, margin, unit } = getFigures(measure);
  const figure = effect === null ? 'no figures' : `effect ${effect} ${unit}`;
  return `${figure}${interval === null ? '' : ` (${interval})`}, margin ${margin}`;
}

function railsPart(rollout: ShownRollout): Markup {
  const broken = rollout.look?.broken ?? [];
  const state = broken.length === 0 ? 'None is broken.' : 'What is broken is at the top.';
  return html`<p>It stops at once for ${guardRailsText(rollout)}. ${state}</p>`;
}

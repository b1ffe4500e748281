import type { Address } from '../core/address.ts';
import type { PlanDocument } from '../core/plan-document.ts';
import { type Line, padText, type RenderOptions, renderLive, span, widestOf } from './terminal.ts';
import { sanitiseLine } from './untrusted.ts';
import { formatCount, formatDuration, formatNumber, kindTitle } from './wording.ts';

/** How far a run is, at one moment. */
export type ProgressView = {
  readonly purpose: PlanDocument['purpose'];
  /** Since it began. */
  readonly seconds: number;
  /** Requests that were sent once more. */
  readonly retries: number;
  /** In the order in which they are carried out. */
  readonly batches: readonly Batch[];
  readonly running: readonly Address[];
};

/** The changes of one kind: kinds that others refer to come first. */
type Batch = {
  readonly kind: string;
  readonly total: number;
  readonly ended: number;
  /** Those of them that failed, or were blocked by a failure. */
  readonly failed: number;
};

const DOING: { readonly [purpose: string]: string } = {
  rollback: 'Rolling back',
  restore: 'Restoring',
};

/** Before this the rate says nothing. */
const LEAST_SECONDS = 2;
const NAMED = 3;
const BAR = 20;

/** A run as a few lines that are drawn anew while it goes on; no line is broken. */
export function renderProgress(view: ProgressView, options: RenderOptions): string {
  return renderLive([headLine(view), ...batchLines(view), ...runningLine(view)], options);
}

function headLine({ purpose, batches, seconds, retries }: ProgressView): Line {
  const [total, ended, failed] = [
    sum(batches, 'total'),
    sum(batches, 'ended'),
    sum(batches, 'failed'),
  ];
  const isMeasured = seconds >= LEAST_SECONDS && ended > 0;
  const rate = ended / seconds;
  // A narrow terminal cuts the end off, so what matters most comes first.
  const told = [
    ...(failed > 0 ? [`${formatNumber(failed)} failed`] : []),
    ...(isMeasured && ended < total
      ? [`about ${formatDuration((total - ended) / rate)} left`]
      : []),
    ...(isMeasured ? [rateText(rate)] : []),
    ...(retries > 0 ? [formatCount(retries, 'retry', 'retries')] : []),
  ];
  return [
    span(
      `${DOING[purpose] ?? 'Applying'}: ${formatNumber(ended)} of ${formatNumber(total)}`,
      'strong',
    ),
    span(told.length === 0 ? '' : `  ${told.join(', ')}`),
  ];
}

/** `41 a second`, `12 a minute`: the unit in which it is a number that one can picture. */
function rateText(rate: number): string {
  return rate >= 1
    ? `${formatNumber(Math.round(rate))} a second`
    : `${Math.round(rate * 60)} a minute`;
}

function sum(batches: readonly Batch[], what: 'total' | 'ended' | 'failed'): number {
  return batches.reduce((all, batch) => all + batch[what], 0);
}

function batchLines({ batches }: ProgressView): readonly Line[] {
  const titles = widestOf(batches.map(({ kind }) => kindTitle(kind)));
  const counts = batches.map(({ ended, total }) => `${formatNumber(ended)}/${formatNumber(total)}`);
  // As wide as they get, so that nothing jumps.
  const widest = widestOf(
    batches.map(({ total }) => `${formatNumber(total)}/${formatNumber(total)}`),
  );
  return batches.map(({ kind, total, ended, failed }, at) => {
    const filled = Math.floor((ended / total) * BAR);
    return [
      span(`  ${padText(sanitiseLine(kindTitle(kind)), titles)}  `),
      span('█'.repeat(filled), failed > 0 ? 'warning' : 'added'),
      span('░'.repeat(BAR - filled), 'dim'),
      span(`  ${(counts[at] ?? '').padStart(widest)}`),
      ...(failed > 0 ? [span(`  ${formatNumber(failed)} failed`, 'error')] : []),
    ];
  });
}

function runningLine({ running }: ProgressView): readonly Line[] {
  if (running.length === 0) return [];
  const names = running.slice(0, NAMED).map(sanitiseLine).join(', ');
  const rest = running.length - NAMED;
  const others = rest > 0 ? ` and ${formatCount(rest, 'other')}` : '';
  return [[span(`  now: ${names}${others}`, 'dim')]];
}

import { open } from 'node:fs/promises';
import type { RunEvent } from '../apply/journal.ts';
import { type Address, formatLabel, getKind } from '../core/address.ts';
import type { Events } from '../core/documents.generated.ts';
import { formatDuration, formatFirst, reasonIn } from '../core/errors.ts';
import type { PlanDocument } from '../core/plan-document.ts';
import {
  type Line,
  measureWidest,
  padText,
  type RenderOptions,
  renderLive,
  span,
} from '../render/terminal.ts';
import { sanitiseLine } from '../render/untrusted.ts';
import { formatCount, formatNumber, kindTitle } from '../render/wording.ts';
import type { CommonFlags, Context } from './context.ts';
import { say } from './events.ts';
import { withNamedFile } from './named-file.ts';
import { drawEvery } from './terminal.ts';

type Progress = {
  readonly onEvent: (event: RunEvent) => void;
  /** The run ended, whichever way: nothing is drawn any more. */
  readonly stop: () => void;
  readonly close: () => Promise<void>;
};

/**
 * Shows how a run goes on: redrawn on a terminal, as plain lines elsewhere. Writes its events to
 * `--events FILE`, one JSON a line, and tells them to the collector, where there is one.
 */
export async function openProgress(
  plan: PlanDocument,
  flags: CommonFlags & { readonly events?: string },
  context: Context,
): Promise<Progress> {
  const events = flags.events === undefined ? undefined : await openEvents(flags.events, context);
  const traced = context.telemetry?.changes();
  const shown =
    context.terminal.live === undefined ? asLines(plan, context) : asDrawing(plan, context);
  return {
    onEvent(event) {
      events?.write(event);
      traced?.(event);
      shown.onEvent(event);
    },
    stop: shown.stop,
    async close() {
      // A run that fails before its first change is closed alone.
      shown.stop();
      await events?.close();
    },
  };
}

/** Opens the file of `--events`. A disk that fails later ends the events with a warning, not the run. */
async function openEvents(path: string, { terminal, now }: Context) {
  const file = await withNamedFile('--events', path, () => open(path, 'a', 0o600));
  let isBroken = false;
  const end = (error: unknown) => {
    if (!isBroken) terminal.err(`Warning: --events ${path} ends here: ${reasonIn(error)}`);
    isBroken = true;
  };
  let writing: Promise<unknown> = Promise.resolve();
  return {
    write(event: RunEvent): void {
      const line = `${JSON.stringify(eventLine(event, now().toISOString()))}\n`;
      writing = writing.then(() => (isBroken ? undefined : file.write(line))).catch(end);
    },
    async close(): Promise<void> {
      await writing;
      await file.close().catch(end);
    },
  };
}

/** An event as `apply --events FILE` writes it down. The first of a run says the format. */
export type EventLine = Events.Document;

/** An event with all that its line says. */
function eventLine(event: RunEvent, at: string): EventLine {
  return event.type === 'run_started'
    ? { format: 'callsheet-events', version: 1, at, ...event }
    : { at, ...event };
}

type Shown = Pick<Progress, 'onEvent' | 'stop'>;

/** A run of at most so many changes has a line for each. */
const MOST_LINES = 10;

/** A long run has a line for each part of so many, and one for each change that did not come out as planned. */
const PARTS = 10;

/** Between two such lines: a run that is over in a moment has none, and its end tells everything. */
const LEAST_MS = 5_000;

/** After such a silence the next change that ends prints a line, so that a slow run does not look stuck. */
const SILENT_MS = 30_000;

function asLines(plan: PlanDocument, { terminal, now }: Context): Shown {
  const total = plan.changes.filter(({ verdict }) => verdict === 'ok').length;
  const isEach = terminal.renderErr.verbose || total <= MOST_LINES;
  let ended = 0;
  let lastReport = { part: 0, at: now().getTime() };
  return {
    onEvent(event) {
      if (event.type !== 'change_ended') return;
      ended += 1;
      if (isEach || event.line.status !== 'done') {
        say(terminal, `[${ended}/${total}] ${endedWords(event)}`);
        return;
      }
      const part = Math.floor((ended * PARTS) / total);
      const at = now().getTime();
      if (at - lastReport.at < (part === lastReport.part ? SILENT_MS : LEAST_MS)) return;
      lastReport = { part, at };
      terminal.err(
        `${DOING[plan.purpose] ?? 'Applying'}: ${formatNumber(ended)} of ${formatNumber(total)}`,
      );
    },
    stop: () => undefined,
  };
}

/** The counts in place, and above them, to stay, what did not come out as planned. */
function asDrawing(plan: PlanDocument, { terminal, traffic }: Context): Shown {
  const tracker = trackProgress(plan);
  const began = Date.now();
  const before = traffic?.retries ?? 0;
  const stop = drawEvery(terminal.live, () => {
    const seconds = (Date.now() - began) / 1000;
    const view = tracker.view(seconds, (traffic?.retries ?? 0) - before);
    return renderProgress(view, terminal.renderErr);
  });
  return {
    onEvent(event) {
      tracker.note(event);
      if (event.type === 'change_ended' && event.line.status === 'failed') {
        const { message } = event.line;
        const why = message === null ? '' : `: ${sanitiseLine(message)}`;
        say(terminal, `${endedWords(event)}${why}`);
      }
    },
    stop,
  };
}

function endedWords({ line }: RunEvent & { readonly type: 'change_ended' }): string {
  const { address, name, action, status } = line;
  return `${action} ${formatLabel(sanitiseLine(address), name)}: ${status.replace('_', ' ')}`;
}

type Tracker = {
  readonly note: (event: RunEvent) => void;
  readonly view: (seconds: number, retries: number) => ProgressView;
};

/** Follows a run by its events. Work per event does not grow with the plan. */
export function trackProgress(plan: PlanDocument): Tracker {
  const batches = new Map<string, { kind: string; total: number; ended: number; failed: number }>();
  const running = new Set<Address>();
  for (const { kind, verdict } of plan.changes) {
    if (verdict !== 'ok') continue;
    const batch = batches.get(kind) ?? { kind, total: 0, ended: 0, failed: 0 };
    batch.total += 1;
    batches.set(kind, batch);
  }
  return {
    note(event) {
      if (event.type === 'change_started') running.add(event.address);
      if (event.type !== 'change_ended') return;
      const { address, status } = event.line;
      running.delete(address);
      const batch = batches.get(getKind(address));
      if (batch === undefined) return;
      batch.ended += 1;
      if (status === 'failed' || status === 'blocked') batch.failed += 1;
    },
    view: (seconds, retries) => ({
      purpose: plan.purpose,
      seconds,
      retries,
      batches: [...batches.values()],
      running: [...running],
    }),
  };
}

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

/** Renders a run as a few lines that are redrawn while it goes on; no line is broken. */
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
  const details = [
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
    span(details.length === 0 ? '' : `  ${details.join(', ')}`),
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
  const titles = measureWidest(batches.map(({ kind }) => kindTitle(kind)));
  const counts = batches.map(({ ended, total }) => `${formatNumber(ended)}/${formatNumber(total)}`);
  // As wide as they get, so that nothing jumps.
  const widest = measureWidest(
    batches.map(({ total }) => `${formatNumber(total)}/${formatNumber(total)}`),
  );
  return batches.map(({ kind, total, ended, failed }, at) => {
    const filled = Math.floor((ended / total) * BAR);
    return [
      span(`  ${padText(sanitiseLine(kindTitle(kind)), titles)}  `),
      span('█'.repeat(filled)),
      span('░'.repeat(BAR - filled)),
      span(`  ${(counts[at] ?? '').padStart(widest)}`),
      ...(failed > 0 ? [span(`  ${formatNumber(failed)} failed`, 'error')] : []),
    ];
  });
}

function runningLine({ running }: ProgressView): readonly Line[] {
  if (running.length === 0) return [];
  return [[span(`  now: ${formatFirst(running.map(sanitiseLine), NAMED)}`)]];
}

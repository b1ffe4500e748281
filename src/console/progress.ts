import { open } from 'node:fs/promises';
import { eventLine, type RunEvent } from '../apply/events.ts';
import { type Address, kindOf } from '../core/address.ts';
import type { PlanDocument } from '../core/plan-document.ts';
import { type ProgressView, renderProgress } from '../render/progress.ts';
import { sanitiseLine } from '../render/untrusted.ts';
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
 * Shows how a run goes on: drawn anew on a terminal, as a line for each change elsewhere. Writes its events to
 * `--events FILE`, one JSON a line, and tells them to the collector, where there is one.
 */
export async function openProgress(
  plan: PlanDocument,
  flags: CommonFlags & { readonly events?: string },
  context: Context,
): Promise<Progress> {
  const { events } = flags;
  const file =
    events === undefined
      ? undefined
      : await withNamedFile('--events', events, () => open(events, 'a', 0o600));
  let writing = Promise.resolve();
  const traced = context.telemetry?.changes();
  const shown =
    context.terminal.live === undefined ? asLines(plan, context) : asDrawing(plan, context);
  return {
    onEvent(event) {
      if (file !== undefined) {
        const line = `${JSON.stringify(eventLine(event, context.now().toISOString()))}\n`;
        writing = writing.then(() => file.write(line)).then(() => undefined);
      }
      traced?.(event);
      shown.onEvent(event);
    },
    stop: shown.stop,
    async close() {
      await writing;
      await file?.close();
    },
  };
}

type Shown = Pick<Progress, 'onEvent' | 'stop'>;

function asLines(plan: PlanDocument, { terminal }: Context): Shown {
  const total = plan.changes.filter(({ verdict }) => verdict === 'ok').length;
  let ended = 0;
  return {
    onEvent(event) {
      if (event.type !== 'change_ended') return;
      ended += 1;
      terminal.err(`[${ended}/${total}] ${endedWords(event)}`);
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
  const { address, action, status } = line;
  return `${action} ${sanitiseLine(address)}: ${status.replace('_', ' ')}`;
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
      const batch = batches.get(kindOf(address));
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

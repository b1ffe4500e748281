import { open } from 'node:fs/promises';
import { eventLine, type RunEvent } from '../apply/events.ts';
import type { PlanDocument } from '../core/plan-document.ts';
import type { CommonFlags, Context } from './context.ts';
import { withNamedFile } from './named-file.ts';

export type Progress = {
  readonly onEvent: (event: RunEvent) => void;
  readonly close: () => Promise<void>;
};

/** Shows a run's progress as steady lines, and writes its events to `--events FILE`, one JSON a line. */
export async function openProgress(
  plan: PlanDocument,
  flags: CommonFlags & { readonly events?: string },
  { terminal, now }: Context,
): Promise<Progress> {
  const { events } = flags;
  const file =
    events === undefined
      ? undefined
      : await withNamedFile('--events', events, () => open(events, 'a', 0o600));
  const total = plan.changes.filter(({ verdict }) => verdict === 'ok').length;
  let writing = Promise.resolve();
  let ended = 0;
  return {
    onEvent(event) {
      if (file !== undefined) {
        const line = `${JSON.stringify(eventLine(event, now().toISOString()))}\n`;
        writing = writing.then(() => file.write(line)).then(() => undefined);
      }
      if (event.type !== 'change_ended') return;
      ended += 1;
      const { address, action, status } = event.line;
      terminal.err(`[${ended}/${total}] ${action} ${address}: ${status.replace('_', ' ')}`);
    },
    async close() {
      await writing;
      await file?.close();
    },
  };
}

import { CallsheetError } from '../../core/errors.ts';
import type { PlanDocument } from '../../core/plan-document.ts';
import type { Context } from '../context.ts';
import { type NoticeTarget, notifyDrift } from '../notify.ts';
import type { Log } from './events.ts';
import type { Findings } from './findings.ts';
import type { Metrics } from './metrics.ts';

/** Posts that drift appeared or ended, and not at every pass that there still is some. */
export type Notices = {
  readonly post: (drift: PlanDocument, findings: Findings) => Promise<void>;
};

type NoticesDeps = {
  readonly address: NoticeTarget | undefined;
  readonly stack: string;
  readonly dir: string;
  readonly context: Context;
  readonly log: Log;
  readonly metrics: Pick<Metrics, 'notified'>;
};

/** Notices of one stack. Nothing was posted yet. */
export function openNotices(deps: NoticesDeps): Notices {
  const { address, stack, dir, context, log, metrics } = deps;
  // What the receiver knows of: what drifted, and to which value.
  let known: ReadonlySet<string> = new Set();

  return {
    async post(drift, findings) {
      const now = new Set([...findings].map(([place, { digest }]) => `${place} ${digest}`));
      const hasNews = [...now].some((one) => !known.has(one)) || (now.size === 0 && known.size > 0);
      if (address === undefined || !hasNews || context.stop.aborted) {
        // What is over is forgotten, so that it is news when it comes back.
        known = new Set([...known].filter((one) => now.has(one)));
        return;
      }
      try {
        await notifyDrift(address, drift, { dir, notifyAlways: true }, context);
      } catch (error) {
        if (!(error instanceof CallsheetError)) throw error;
        // The next pass tries again.
        log({ event: 'notification_failed', stack, message: error.message });
        metrics.notified(stack, false);
        return;
      }
      known = now;
      log({ event: 'notification_sent', stack, is_drifted: now.size > 0 });
      metrics.notified(stack, true);
    },
  };
}

import type { Exposed } from './metrics.ts';
import type { Routes } from './serve.ts';

/** Whether a command goes on, for whoever restarts what hangs. Each adds what there is to know of it. */
export type HealthReport = {
  readonly status: 'ok' | 'failing';
  /** Null where nothing is wrong with the process itself. */
  readonly reason: string | null;
};

/** A command whose loop has not come round for longer than it may be is failing. Milliseconds. */
export function judgeSilence(what: string, silent: number, patience: number): HealthReport {
  if (silent <= patience) return { status: 'ok', reason: null };
  const seconds = (milliseconds: number) => `${Math.round(milliseconds / 1000)} s`;
  return {
    status: 'failing',
    reason: `${what} for ${seconds(silent)}, longer than ${seconds(patience)}`,
  };
}

/** `/healthz` and `/metrics`. */
export function monitorRoutes(deps: {
  readonly report: () => HealthReport;
  readonly expose: Exposed;
}): Routes {
  return {
    '/healthz': {
      GET: () => {
        const report = deps.report();
        return {
          status: report.status === 'ok' ? 200 : 503,
          type: 'application/json; charset=utf-8',
          body: `${JSON.stringify(report, null, 2)}\n`,
        };
      },
    },
    '/metrics': {
      GET: async () => {
        const { type, text: body } = await deps.expose();
        return { status: 200, type, body };
      },
    },
  };
}

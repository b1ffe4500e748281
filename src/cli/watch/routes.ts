import type { Bell } from './bell.ts';
import type { Health } from './health.ts';
import { checkHook } from './hook.ts';
import type { Log } from './log.ts';
import type { Metrics } from './metrics.ts';
import { type Reply, type Routes, text } from './serve.ts';

export type RoutesDeps = {
  readonly health: Pick<Health, 'report'>;
  readonly metrics: Pick<Metrics, 'expose' | 'hookAnswered'>;
  readonly bell: Pick<Bell, 'ring'>;
  /** What webhooks are signed with; undefined: there are none. */
  readonly secret: string | undefined;
  readonly log: Log;
};

/** What is answered over HTTP: `/healthz`, `/metrics` and, where there is a secret, `/hook`. */
export function routesOf({ health, metrics, bell, secret, log }: RoutesDeps): Routes {
  return {
    '/healthz': {
      GET: () => {
        const report = health.report();
        return {
          status: report.status === 'ok' ? 200 : 503,
          type: 'application/json; charset=utf-8',
          body: `${JSON.stringify(report, null, 2)}\n`,
        };
      },
    },
    '/metrics': {
      GET: async () => {
        const { type, text: body } = await metrics.expose();
        return { status: 200, type, body };
      },
    },
    ...(secret === undefined
      ? {}
      : {
          '/hook': {
            POST: async (request): Promise<Reply> => {
              const verdict = await checkHook(request, secret);
              metrics.hookAnswered(verdict.status);
              if (verdict.status !== 202) {
                log({ event: 'hook_refused', status: verdict.status, message: verdict.why });
                return text(verdict.status, `Refused: ${verdict.why}.`);
              }
              const { sender, isPing } = verdict;
              if (isPing) return text(202, 'Webhooks arrive here.');
              const id =
                request.headers['x-github-delivery'] ?? request.headers['x-gitlab-event-uuid'];
              log({ event: 'hook_taken', sender, delivery: typeof id === 'string' ? id : null });
              bell.ring();
              return text(202, 'A pass follows.');
            },
          },
        }),
  };
}

import { monitorRoutes } from '../monitor/health.ts';
import { type Reply, type Routes, text } from '../monitor/serve.ts';
import type { Bell } from './bell.ts';
import type { Log } from './events.ts';
import type { Health } from './health.ts';
import { checkHook } from './hook.ts';
import type { Metrics } from './metrics.ts';

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
    ...monitorRoutes({ report: health.report, expose: metrics.expose }),
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

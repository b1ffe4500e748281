/**
 * `watch/` plans stacks again and again, tells when drift appears and ends, and puts back what is marked to be healed.
 *
 * This file: the command, its clock and its address for webhooks.
 */

import type { Context, PlanFlags } from '../../console/context.ts';
import type { ListenAddress } from '../../console/flags.ts';
import {
  type LogFlags,
  monitorRoutes,
  openLog,
  type Reply,
  type Routes,
  serveRoutes,
  text,
} from '../../console/monitor/serve.ts';
import {
  checkHook,
  hookSecret,
  type NoticeTarget,
  type NotifyFlags,
  noticeAddress,
} from '../../console/notify.ts';
import { EXIT, type ExitCode } from '../../core/errors.ts';
import { isLoopback } from '../../core/origin.ts';
import { realPause } from '../../platform/rate.ts';
import { nameStack } from '../../run/actor.ts';
import { openClient } from '../../run/client.ts';
import { openStack } from '../../run/stack.ts';
import {
  EVENTS,
  type HealFlags,
  type Log,
  type Metrics,
  openMetrics,
  type Watching,
} from './events.ts';
import { openHealer } from './healer.ts';
import {
  createDebounce,
  type Debounce,
  type Health,
  openNotices,
  type Pass,
  watchHealth,
  watchLoop,
  watchStack,
} from './watched.ts';

/** `callsheet watch`: plans again and again, tells what drifted and, with `--heal`, puts back what is marked. */
export async function watch(flags: WatchFlags, context: Context): Promise<ExitCode> {
  const { env, now, stop, version } = context;
  const { interval, listen, heal = false } = flags;
  const stack = await watchedName(flags);
  // Mistakes that would fail every pass are reported before the first one.
  const secret = hookSecret(env, 'CALLSHEET_HOOK_SECRET');
  const address = noticeAddress(flags, context);
  await checkStack(flags, context);
  const log = openLog(EVENTS, flags, context);
  const pause = context.pause ?? realPause;
  const gauges = await Promise.all(context.features.flatMap((one) => one.gauges?.() ?? []));
  const metrics = openMetrics(stack, context, now(), gauges);
  const health = watchHealth({ interval, version, now });
  const debounce = createDebounce(pause, stop);
  const routes = buildRoutes({ health, metrics, debounce, secret, log });
  const served = await serveRoutes(listen, routes);
  const emitStop = () =>
    log({
      event: 'stopping',
      message: 'Stopping after the requests in flight. Interrupt again to exit at once',
    });
  stop.addEventListener('abort', emitStop, { once: true });
  try {
    const hooks = secret !== undefined;
    const seconds = interval / 1000;
    log({
      event: 'started',
      stacks: [stack],
      interval_seconds: seconds,
      listen: served.at,
      heal,
      hooks,
      version,
    });
    if (!isLoopback({ hostname: listen.host })) log({ event: 'exposed', listen: served.at });
    const pass = openPass(address, { stack, flags, context, log, metrics });
    const { random } = pause;
    const deps = { stack, interval, debounce, health, random, now, log, stop };
    const { isCut } = await watchLoop(pass, deps);
    log({ event: 'stopped' });
    return isCut ? EXIT.interrupted : EXIT.done;
  } finally {
    stop.removeEventListener('abort', emitStop);
    await served.close();
  }
}

/** Throws where the stack is broken, or where there are no credentials or secrets for it. Sends nothing. */
async function checkStack(flags: WatchFlags, context: Context): Promise<void> {
  const { stack } = await openStack(flags, context);
  await (await openClient(stack, context)).close();
}

type RoutesDeps = {
  readonly health: Pick<Health, 'report'>;
  readonly metrics: Pick<Metrics, 'expose' | 'hookAnswered'>;
  readonly debounce: Pick<Debounce, 'trigger'>;
  /** The secret that signs webhooks; undefined: there are none. */
  readonly secret: string | undefined;
  readonly log: Log;
};

/** Returns the HTTP routes: `/healthz`, `/metrics` and, where there is a secret, `/hook`. */
export function buildRoutes({ health, metrics, debounce, secret, log }: RoutesDeps): Routes {
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
              debounce.trigger();
              return text(202, 'A pass follows.');
            },
          },
        }),
  };
}

/** Returns the name of the folder's stack in all output. */
export async function watchedName({ dir, env }: Pick<WatchFlags, 'dir' | 'env'>): Promise<string> {
  const stack = await nameStack(dir);
  return env === undefined ? stack : `${stack} (${env})`;
}

/** Passes over a stack, with all that watching it takes. */
function openPass(address: NoticeTarget | undefined, { context, ...watching }: Watching): Pass {
  const { stack, flags, log, metrics } = watching;
  const note = (message: string) => log({ event: 'note', stack, message: message.trimEnd() });
  const { live: _, ...terminal } = context.terminal;
  const quiet: Context = {
    ...context,
    terminal: { ...terminal, out: note, err: note, canAsk: false },
  };
  const counted: Context = {
    ...quiet,
    wire: (transport) => metrics.counting(context.wire?.(transport) ?? transport),
  };
  const counting = { ...watching, context: counted };
  return watchStack({
    ...counting,
    healer: flags.heal === true ? openHealer(counting) : undefined,
    notices: openNotices(address, { ...watching, context: quiet }),
  });
}

export type WatchFlags = PlanFlags &
  LogFlags &
  HealFlags &
  Pick<NotifyFlags, 'notify'> & {
    /** Milliseconds. */
    readonly interval: number;
    readonly listen: ListenAddress;
  };

import { basename, resolve } from 'node:path';
import { realPause } from '../../api/retry.ts';
import type { Context } from '../context.ts';
import { EXIT, type ExitCode } from '../exit.ts';
import { type NotifyFlags, noticeAddress } from '../notify.ts';
import type { PlanFlags } from '../plan-flags.ts';
import { openStack } from '../stack.ts';
import { createBell } from '../watch/bell.ts';
import { openHealer } from '../watch/healer.ts';
import { watchHealth } from '../watch/health.ts';
import { hookSecret } from '../watch/hook.ts';
import { isLoopback, type ListenAddress } from '../watch/listen-address.ts';
import { type Log, openLog } from '../watch/log.ts';
import { watchLoop } from '../watch/loop.ts';
import { type Metrics, openMetrics } from '../watch/metrics.ts';
import { openNotices } from '../watch/notices.ts';
import { routesOf } from '../watch/routes.ts';
import { serveRoutes } from '../watch/serve.ts';
import { type Watched, watchStack } from '../watch/watched.ts';

export type WatchFlags = PlanFlags &
  Pick<NotifyFlags, 'notify'> & {
    /** Milliseconds. */
    readonly interval: number;
    readonly listen: ListenAddress;
    readonly heal?: boolean;
    /** Tries for one address within an hour. */
    readonly healLimit: number;
    /** Text on a terminal and JSON elsewhere, unless given. */
    readonly log?: 'text' | 'json';
  };

/** `callsheet watch`: plans again and again, tells what drifted and, with `--heal`, puts back what is marked. */
export async function watch(flags: WatchFlags, context: Context): Promise<ExitCode> {
  const { env, now, stop, version } = context;
  const { interval, listen, heal = false } = flags;
  // What would be wrong at every pass is said before the first one.
  const secret = hookSecret(env);
  const address = noticeAddress(flags, context);
  await openStack(flags, context, heal ? 'check' : 'try');
  const log = openLog(context.terminal, {
    format: logFormat(flags),
    least: leastLevel(flags),
    now,
  });
  const pause = context.pause ?? realPause;
  const names = [basename(resolve(flags.dir))];
  const metrics = openMetrics(names, version);
  const health = watchHealth({ interval, version, now });
  const bell = createBell(pause, stop);
  const routes = routesOf({ health, metrics, bell, secret, log });
  const served = await serveRoutes(listen, routes);
  const tellStop = () =>
    log({
      event: 'stopping',
      message: 'Stopping: what is under way on the platform is finished. Again to exit at once',
    });
  stop.addEventListener('abort', tellStop, { once: true });
  try {
    const hooks = secret !== undefined;
    const seconds = interval / 1000;
    log({
      event: 'started',
      stacks: names,
      interval_seconds: seconds,
      listen: served.at,
      heal,
      hooks,
      version,
    });
    if (!isLoopback(listen)) log({ event: 'exposed', listen: served.at });
    const stacks = names.map((name) => watchOne(name, { flags, address, context, log, metrics }));
    const random = pause.random;
    const { isCut } = await watchLoop(stacks, { interval, bell, health, random, now, log, stop });
    log({ event: 'stopped' });
    return isCut ? EXIT.interrupted : EXIT.done;
  } finally {
    stop.removeEventListener('abort', tellStop);
    await served.close();
  }
}

type OneDeps = {
  readonly flags: WatchFlags;
  readonly address: ReturnType<typeof noticeAddress>;
  readonly context: Context;
  readonly log: Log;
  readonly metrics: Metrics;
};

/** A stack with all that watching it takes. */
function watchOne(stack: string, { flags, address, context, log, metrics }: OneDeps): Watched {
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
  const { heal, healLimit: limit, dir } = flags;
  return watchStack({
    name: stack,
    flags,
    healer:
      heal === true
        ? openHealer({ stack, flags, limit, context: counted, log, metrics })
        : undefined,
    notices: openNotices({ address, stack, dir, context: quiet, log, metrics }),
    context: counted,
    log,
    metrics,
  });
}

function logFormat({ log }: WatchFlags): 'text' | 'json' {
  return log ?? (process.stdout.isTTY === true ? 'text' : 'json');
}

function leastLevel({ quiet, verbose }: WatchFlags) {
  return quiet === true ? 'warn' : verbose === true ? 'debug' : 'info';
}

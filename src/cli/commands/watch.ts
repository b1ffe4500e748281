import { realPause } from '../../api/retry.ts';
import type { Context } from '../context.ts';
import { EXIT, type ExitCode } from '../exit.ts';
import { isLoopback } from '../monitor/listen-address.ts';
import { openLog } from '../monitor/log.ts';
import { serveRoutes } from '../monitor/serve.ts';
import { noticeAddress } from '../notify.ts';
import { openClient } from '../open-client.ts';
import { openStack } from '../stack.ts';
import { createBell } from '../watch/bell.ts';
import { levelOf } from '../watch/events.ts';
import type { WatchFlags } from '../watch/flags.ts';
import { watchHealth } from '../watch/health.ts';
import { hookSecret } from '../watch/hook.ts';
import { watchLoop } from '../watch/loop.ts';
import { openMetrics } from '../watch/metrics.ts';
import { routesOf } from '../watch/routes.ts';
import { type Chosen, stacksOf, watchOne } from '../watch/stacks.ts';
import { wordsOf } from '../watch/words.ts';

/** `callsheet watch`: plans again and again, tells what drifted and, with `--heal`, puts back what is marked. */
export async function watch(flags: WatchFlags, context: Context): Promise<ExitCode> {
  const { env, now, stop, version } = context;
  const { interval, listen, heal = false } = flags;
  const chosen = await stacksOf(flags);
  // What would be wrong at every pass is said before the first one.
  const secret = hookSecret(env);
  const address = noticeAddress(flags, context);
  await checkStacks(chosen, context);
  const log = openLog(context.terminal, { flags, now, levelOf, wordsOf });
  const pause = context.pause ?? realPause;
  const names = chosen.map(({ name }) => name);
  const metrics = openMetrics(names, context, now());
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
    const stacks = chosen.map((one) => watchOne(one, { address, context, log, metrics }));
    const random = pause.random;
    const { isCut } = await watchLoop(stacks, { interval, bell, health, random, now, log, stop });
    log({ event: 'stopped' });
    return isCut ? EXIT.interrupted : EXIT.done;
  } finally {
    stop.removeEventListener('abort', tellStop);
    await served.close();
  }
}

/** Throws where a stack is broken, or where there are no credentials or secrets for it. Sends nothing. */
async function checkStacks(chosen: readonly Chosen[], context: Context): Promise<void> {
  for (const { flags } of chosen) {
    const { stack } = await openStack(flags, context);
    await (await openClient(stack, context)).close();
  }
}

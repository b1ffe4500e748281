import { basename, resolve } from 'node:path';
import type { Context } from '../context.ts';
import type { NoticeTarget } from '../notify.ts';
import type { WatchFlags } from './flags.ts';
import { openHealer } from './healer.ts';
import type { Log } from './log.ts';
import type { Metrics } from './metrics.ts';
import { openNotices } from './notices.ts';
import { type Watched, watchStack } from './watched.ts';

/** A stack and what it is watched with. */
export type Chosen = { readonly name: string; readonly flags: WatchFlags };

/** The stacks that are watched, one after the other in each pass: the one of the folder. */
export function stacksOf(flags: WatchFlags): readonly Chosen[] {
  const folder = basename(resolve(flags.dir));
  return [{ name: flags.env === undefined ? folder : `${folder} (${flags.env})`, flags }];
}

type OneDeps = {
  readonly address: NoticeTarget | undefined;
  readonly context: Context;
  readonly log: Log;
  readonly metrics: Metrics;
};

/** A stack with all that watching it takes. */
export function watchOne(
  { name: stack, flags }: Chosen,
  { address, context, log, metrics }: OneDeps,
): Watched {
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

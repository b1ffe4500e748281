import type { ListenAddress } from '../monitor/listen-address.ts';
import type { LogFlags } from '../monitor/log.ts';
import type { NotifyFlags } from '../notify.ts';
import type { PlanFlags } from '../plan-flags.ts';

export type WatchFlags = PlanFlags &
  LogFlags &
  Pick<NotifyFlags, 'notify'> & {
    /** Milliseconds. */
    readonly interval: number;
    readonly listen: ListenAddress;
    readonly heal?: boolean;
    /** Tries for one address within an hour. */
    readonly healLimit: number;
  };

import type { NotifyFlags } from '../notify.ts';
import type { PlanFlags } from '../plan-flags.ts';
import type { ListenAddress } from './listen-address.ts';

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

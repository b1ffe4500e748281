import type { CommonFlags, Context } from '../context.ts';
import { EXIT, type ExitCode } from '../exit.ts';
import { withPlatform } from '../platform-session.ts';
import type { WantedCalls } from '../read/calls.ts';
import { findAgent } from '../read/find.ts';
import { onPlatform } from '../read/refusal.ts';
import type { ScopeFlags } from '../read/scope.ts';
import { type CallsFlags, showCall, showCalls } from '../read/show-calls.ts';
import { checkOrder, parseMoment } from '../read/times.ts';

export type LogsFlags = CommonFlags &
  ScopeFlags &
  CallsFlags & {
    /** An id or the beginning of one. */
    readonly call?: string;
    readonly since?: string;
    readonly until?: string;
    readonly limit?: number;
  };

/** Calls that are shown where neither a time nor a number is asked for. */
const DEFAULT_LIMIT = 50;

/** `callsheet logs AGENT`: the calls of an agent, newest first, or one of them. */
export async function logs(wanted: string, flags: LogsFlags, context: Context): Promise<ExitCode> {
  const window = windowOf(flags, context.now());
  const { terminal } = context;
  return withPlatform(flags, context, async (session) => {
    const agent = await findAgent(wanted, flags, session);
    const listed = session.client.each({
      operation: 'listCallLogs',
      path: { agentId: agent.id },
    });
    await onPlatform('agent', agent, () =>
      flags.call === undefined
        ? showCalls(agent, listed, window, flags, terminal)
        : showCall(flags.call, agent, listed, flags, terminal),
    );
    return EXIT.done;
  });
}

function windowOf({ since, until, limit }: LogsFlags, now: Date): WantedCalls {
  const from = since === undefined ? undefined : parseMoment('--since', since, now, 'start');
  const to = until === undefined ? undefined : parseMoment('--until', until, now, 'end');
  if (from !== undefined && to !== undefined) checkOrder(from, to);
  const most = limit ?? (from === undefined ? DEFAULT_LIMIT : undefined);
  return {
    ...(from === undefined ? {} : { since: from.getTime() }),
    ...(to === undefined ? {} : { until: to.getTime() }),
    ...(most === undefined ? {} : { limit: most }),
  };
}

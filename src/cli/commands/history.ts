import { CallsheetError } from '../../core/errors.ts';
import { isList, isObject } from '../../core/value.ts';
import { kindNamed } from '../../kinds/index.ts';
import { HISTORY_FIELDS, renderHistoryText } from '../../render/read/history.ts';
import { maskUnknown } from '../../render/read/masked.ts';
import type { CommonFlags, Context } from '../context.ts';
import { EXIT, type ExitCode } from '../exit.ts';
import { withPlatform } from '../platform-session.ts';
import { findAgent } from '../read/find.ts';
import { onPlatform } from '../read/refusal.ts';
import type { ScopeFlags } from '../read/scope.ts';
import { type ReadFormat, show } from '../read/show.ts';

export type HistoryFlags = CommonFlags &
  ScopeFlags & { readonly limit: number; readonly format: ReadFormat };

/** `callsheet history AGENT`: the versions of an agent, who made them and from where. */
export async function history(
  wanted: string,
  flags: HistoryFlags,
  context: Context,
): Promise<ExitCode> {
  const { terminal } = context;
  return withPlatform(flags, context, async (session) => {
    const agent = await findAgent(wanted, flags, session);
    const call = kindNamed('agent').history?.list(agent.id, flags.limit);
    if (call === undefined) throw new Error('agents have a history');
    const answer = await onPlatform('agent', agent, () => session.client.call(call));
    const data = isObject(answer) ? answer.data : undefined;
    if (!isList(data)) {
      throw new CallsheetError('api', `${call.operation} answered without a \`data\` list`);
    }
    const entries = data
      .filter((entry) => isObject(entry))
      .map(maskUnknown)
      .sort((a, b) => Number(b.id) - Number(a.id));
    show(
      flags.format,
      {
        text: () => renderHistoryText(agent.label, entries, terminal.render),
        json: () => ({
          format: 'callsheet-history',
          version: 1,
          agent_id: agent.id,
          data: entries,
        }),
        csv: () => ({ columns: HISTORY_FIELDS, records: entries }),
      },
      terminal,
    );
    return EXIT.done;
  });
}

import { isObject } from '../../core/value.ts';
import { renderPaymentsText } from '../../render/read/payments.ts';
import type { CommonFlags, Context } from '../context.ts';
import { EXIT, type ExitCode } from '../exit.ts';
import { withPlatform } from '../platform-session.ts';
import { findAgent } from '../read/find.ts';
import { onPlatform } from '../read/refusal.ts';
import type { ScopeFlags } from '../read/scope.ts';
import { show } from '../read/show.ts';

export type PaymentsFlags = CommonFlags &
  ScopeFlags & { readonly refresh?: boolean; readonly format: 'text' | 'json' };

/** `callsheet payments AGENT`: whether an agent may take payments, and what is missing. */
export async function payments(
  wanted: string,
  flags: PaymentsFlags,
  context: Context,
): Promise<ExitCode> {
  const { terminal } = context;
  return withPlatform(flags, context, async (session) => {
    const agent = await findAgent(wanted, flags, session);
    const answer = await onPlatform('agent', agent, () =>
      session.client.call({
        operation: 'getPaymentReadiness',
        path: { agentId: agent.id },
        query: flags.refresh === true ? { refresh: 'true' } : {},
      }),
    );
    const readiness = isObject(answer) ? answer : {};
    show(
      flags.format,
      {
        text: () => renderPaymentsText(agent.label, readiness, terminal.render),
        json: () => ({ format: 'callsheet-payments', version: 1, data: readiness }),
      },
      terminal,
    );
    return EXIT.done;
  });
}

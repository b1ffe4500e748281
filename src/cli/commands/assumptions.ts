import type { Operation } from '../../api/operation.ts';
import { assumptions as ledger, operations } from '../../api/operations.generated.ts';
import { type AssumptionEntry, renderAssumptionsText } from '../../render/assumptions.ts';
import type { CommonFlags, Context } from '../context.ts';
import { EXIT, type ExitCode } from '../exit.ts';

export type AssumptionsFlags = CommonFlags & { readonly format: 'text' | 'json' };

/** `callsheet assumptions`: what is taken for granted where the specification is silent. */
export async function assumptions(
  flags: AssumptionsFlags,
  { terminal }: Context,
): Promise<ExitCode> {
  const calls: readonly Operation[] = Object.values(operations);
  const entries = Object.entries(ledger).map(
    ([id, entry]): AssumptionEntry => ({
      id,
      ...entry,
      operations: calls
        .filter(({ assumption }) => assumption === id)
        .map(({ method, path }) => `${method} ${path}`),
    }),
  );
  terminal.out(
    flags.format === 'json'
      ? JSON.stringify(
          { format: 'callsheet-assumptions', version: 1, assumptions: entries },
          null,
          2,
        )
      : renderAssumptionsText(entries, terminal.render),
  );
  return EXIT.done;
}

import { CallsheetError } from '../../core/errors.ts';
import { renderRunsText, renderRunText } from '../../render/runs.ts';
import { escapeInJson } from '../../render/untrusted.ts';
import type { CommonFlags, Context } from '../context.ts';
import { EXIT, type ExitCode } from '../exit.ts';
import { openStore } from '../session.ts';
import { openStack } from '../stack.ts';

export type RunsFlags = CommonFlags & { readonly format: 'text' | 'json' };

/** `callsheet runs [ID]`: what was applied and rolled back, by whom and from which commit. */
export async function runs(
  id: string | undefined,
  flags: RunsFlags,
  context: Context,
): Promise<ExitCode> {
  const { stack } = await openStack(flags, context, 'skip');
  const store = openStore(stack, context);
  const { terminal } = context;
  try {
    if (id === undefined) {
      const all = await store.runs();
      terminal.out(
        flags.format === 'json'
          ? escapeInJson(
              JSON.stringify({ format: 'callsheet-runs', version: 1, runs: all }, null, 2),
            )
          : renderRunsText(all, terminal.render),
      );
      return EXIT.done;
    }
    const entries = await store.run(id);
    if (entries === undefined) {
      throw new CallsheetError('usage', `run ${id} is not recorded`, {
        hint: 'callsheet runs lists those that are.',
      });
    }
    terminal.out(
      flags.format === 'json'
        ? escapeInJson(
            JSON.stringify({ format: 'callsheet-receipt', version: 1, run: id, entries }, null, 2),
          )
        : renderRunText(entries, terminal.render),
    );
    return EXIT.done;
  } finally {
    await store.close();
  }
}

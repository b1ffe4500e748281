import { loadStack } from '../../config/index.ts';
import { hasErrors } from '../../core/diagnostics.ts';
import { renderDiagnosticsText } from '../../render/diagnostics.ts';
import { formatCount } from '../../render/wording.ts';
import type { CommonFlags, Context } from '../context.ts';
import { EXIT, type ExitCode } from '../exit.ts';
import { parseVars } from '../stack.ts';

export type ValidateFlags = CommonFlags & {
  readonly format: 'text' | 'json';
  /** False: secrets need not be there, as in a pull request from a fork. */
  readonly secrets?: boolean;
};

/** `callsheet validate`: every problem of the stack, without a network. */
export async function validate(flags: ValidateFlags, context: Context): Promise<ExitCode> {
  const { terminal } = context;
  const { stack, diagnostics } = await loadStack({
    dir: flags.dir,
    env: context.env,
    vars: parseVars(flags.var ?? []),
    varFiles: flags.varFile ?? [],
    environment: flags.env,
    secrets: flags.secrets === false ? 'skip' : 'check',
  });
  if (flags.format === 'json') {
    terminal.out(
      JSON.stringify({ format: 'callsheet-diagnostics', version: 1, diagnostics }, null, 2),
    );
  } else if (diagnostics.length > 0) {
    terminal.out(renderDiagnosticsText(diagnostics, terminal.render));
  }
  if (stack === undefined || hasErrors(diagnostics)) return EXIT.error;
  if (flags.format === 'text') {
    terminal.out(`The configuration is valid: ${formatCount(stack.resources.length, 'resource')}.`);
  }
  return EXIT.done;
}

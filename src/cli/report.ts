import { ApiError, describeApiError } from '../api/errors.ts';
import { CallsheetError } from '../core/errors.ts';
import { renderDiagnosticsText } from '../render/diagnostics.ts';
import { renderProse } from '../render/prose.ts';
import { sanitise } from '../render/untrusted.ts';
import { EXIT, type ExitCode, exitOf } from './exit.ts';
import type { Terminal } from './terminal.ts';

/** Shows a failure and gives its exit code. Only a bug in Callsheet is shown with a stack trace. */
export function reportFailure(error: unknown, terminal: Terminal, verbose: boolean): ExitCode {
  const write = (text: string) =>
    terminal.err(terminal.wrapsErr ? renderProse(text, terminal.renderErr) : sanitise(text));
  if (!(error instanceof CallsheetError)) {
    write('Callsheet itself failed; this is a bug. Please report it with the lines below.');
    terminal.err(sanitise(error instanceof Error ? (error.stack ?? error.message) : String(error)));
    return EXIT.error;
  }
  if (error.diagnostics.length > 0) {
    terminal.err(renderDiagnosticsText(error.diagnostics, terminal.renderErr));
  } else {
    write(`Error: ${error instanceof ApiError ? describeApiError(error) : error.message}`);
    if (error.hint !== undefined) write(error.hint);
  }
  if (verbose && error.cause !== undefined) write(`Cause: ${String(error.cause)}`);
  return exitOf(error.code);
}

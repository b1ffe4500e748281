import { CallsheetError, EXIT, type ExitCode, exitOf } from '../core/errors.ts';
import { ApiError, describeApiError } from '../platform/errors.ts';
import { renderDiagnosticsBeside, renderFailureJson } from '../render/diagnostics.ts';
import { renderProse } from '../render/terminal.ts';
import { sanitise } from '../render/untrusted.ts';
import { failureOf } from '../run/document.ts';
import type { Terminal } from './terminal.ts';

/** Why a command ended: a request that fails once somebody interrupted was ended by the interrupt. */
export function endedBy(error: unknown, stop: AbortSignal): unknown {
  const isEnded =
    stop.aborted &&
    error instanceof CallsheetError &&
    (error.code === 'network' || error.code === 'interrupted');
  return isEnded ? new CallsheetError('interrupted', 'interrupted; nothing was written') : error;
}

/** A failure as the document that `--format json` prints. */
export function failureJson(error: unknown): string {
  return renderFailureJson(failureOf(error));
}

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
    terminal.err(renderDiagnosticsBeside(error.diagnostics, terminal.renderErr));
  } else {
    write(`Error: ${error instanceof ApiError ? describeApiError(error) : error.message}`);
    if (error.hint !== undefined) write(error.hint);
  }
  if (verbose && error.cause !== undefined) write(`Cause: ${String(error.cause)}`);
  return exitOf(error.code);
}

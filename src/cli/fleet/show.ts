import { unreachable } from '../../core/errors.ts';
import { renderDiagnosticsText } from '../../render/diagnostics.ts';
import { renderStackTitle } from '../../render/fleet.ts';
import type { FleetStack } from '../../render/fleet-document.ts';
import { renderLedgerText } from '../../render/ledger.ts';
import { renderPlanMarkdown } from '../../render/markdown.ts';
import type { RenderOptions } from '../../render/terminal.ts';
import { renderPlanText } from '../../render/text.ts';
import type { CommonFlags, Context } from '../context.ts';
import { openTerminal } from '../terminal.ts';
import type { StackDocument, StackResult } from './run-stack.ts';

/** The result of one stack as it stands among those of others; empty where there is nothing to see. */
export function stackText(
  { path, document }: StackResult,
  { status }: FleetStack,
  options: RenderOptions,
): string {
  if (document === undefined || (status === 'unchanged' && !options.verbose)) return '';
  const body = bodyOf(document, options);
  return body === '' ? '' : `${renderStackTitle(path, options)}\n${body}`;
}

function bodyOf(document: StackDocument, options: RenderOptions): string {
  switch (document.format) {
    case 'callsheet-diagnostics':
      return document.diagnostics.length === 0
        ? ''
        : renderDiagnosticsText(document.diagnostics, options);
    case 'callsheet-run':
      return document.ledger.length === 0 ? '' : renderLedgerText(document.ledger, options);
    case 'callsheet-plan':
      return renderPlanText(document, options);
    default:
      return unreachable(document);
  }
}

/** The page of a stack's plan; undefined where there is nothing to review. */
export function stackPage({ document }: StackResult, { status }: FleetStack): string | undefined {
  return document?.format === 'callsheet-plan' && status !== 'unchanged'
    ? renderPlanMarkdown(document)
    : undefined;
}

/** What a stack said beside its result. With `--quiet` that is why it failed, which is told all the same. */
export function tellSaid(
  { path, said }: StackResult,
  flags: Pick<CommonFlags, 'quiet' | 'color' | 'verbose'>,
  { terminal, env }: Context,
): void {
  if (said === '') return;
  const { err, renderErr } =
    flags.quiet === true ? openTerminal({ ...flags, quiet: false }, env) : terminal;
  err(`${renderStackTitle(path, renderErr)}\n${said}\n`);
}

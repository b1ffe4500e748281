import type { Diagnostic, Severity } from '../../core/diagnostics.ts';
import { countSeverity } from '../../core/diagnostics.ts';
import { sanitiseLine } from '../untrusted.ts';
import { formatCount } from '../wording.ts';
import { bySeverity, pathOf, type Report } from './report.ts';

/** GitHub makes annotations of this many errors and this many warnings of a step, and drops the others. */
const SHOWN = 10;

/**
 * The diagnostics as workflow commands of GitHub Actions, errors first. Those beyond the first ten of a
 * severity stand only in the log, so they name their place there, and a last notice counts all. Nothing
 * for no problem; ends in a line break otherwise.
 */
export function renderReportGithub(report: Report): string {
  const { diagnostics } = report;
  const seen: Record<Severity, number> = { error: 0, warning: 0 };
  const commands = bySeverity(diagnostics).map((diagnostic) => {
    seen[diagnostic.severity] += 1;
    return annotate(diagnostic, seen[diagnostic.severity] > SHOWN, report);
  });
  if (seen.error > SHOWN || seen.warning > SHOWN) commands.push(countAll(diagnostics));
  return commands.map((line) => `${line}\n`).join('');
}

function annotate(diagnostic: Diagnostic, isOnlyLogged: boolean, report: Report): string {
  const { severity, rule, message, hint, position } = diagnostic;
  const path = position === undefined ? '' : pathOf(position.file, report);
  const place =
    isOnlyLogged && position !== undefined ? `${path}:${position.line}:${position.column}: ` : '';
  const { column = 0, end_column = 0 } = position ?? {};
  const properties: Readonly<Record<string, string | number>> =
    position === undefined
      ? { title: rule }
      : {
          file: path,
          line: position.line,
          endLine: position.line,
          col: column,
          ...(end_column > column ? { endColumn: end_column } : {}),
          title: rule,
        };
  const lines = [`${place}${message}`, ...(hint === undefined ? [] : [hint])];
  return command(severity, properties, lines);
}

function countAll(diagnostics: readonly Diagnostic[]): string {
  const counts = (['error', 'warning'] as const)
    .map((severity) => [severity, countSeverity(diagnostics, severity)] as const)
    .filter(([, count]) => count > 0)
    .map(([severity, count]) => formatCount(count, severity));
  const rest = `GitHub shows ${SHOWN} of each; the log of this step has all of them.`;
  return command('notice', { title: 'callsheet validate' }, [`${counts.join(' and ')}. ${rest}`]);
}

/**
 * One workflow command on one line. Texts are escaped the way the runner undoes it, so that no text can
 * end the command and begin another.
 */
function command(
  name: Severity | 'notice',
  properties: Readonly<Record<string, string | number>>,
  lines: readonly string[],
): string {
  const given = Object.entries(properties)
    .map(([property, value]) => `${property}=${escapeProperty(sanitiseLine(String(value)))}`)
    .join(',');
  // Breaks between lines are the only ones: within a text they are shown as escapes.
  return `::${name} ${given}::${escapeData(lines.map(sanitiseLine).join('\n'))}`;
}

function escapeData(text: string): string {
  return text.replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A');
}

function escapeProperty(text: string): string {
  return escapeData(text).replaceAll(':', '%3A').replaceAll(',', '%2C');
}

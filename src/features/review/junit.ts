import { type Diagnostic, hasErrors, isError, type Severity } from '../../core/diagnostics.ts';
import { bySeverity, type Report, severityCounts, toReportPath } from '../../render/diagnostics.ts';
import { escapeHtml, sanitise, sanitiseLine } from '../../render/untrusted.ts';
import { formatCount } from '../../render/wording.ts';

/** The name under which a CI server groups the files. */
const SUITE = 'callsheet.validate';

/** The name of what belongs to no file. */
const WHOLE = 'the stack as a whole';

/**
 * The diagnostics as JUnit XML, in the part of it that GitLab and Jenkins both read: a test case for each
 * file of the stack, which fails where the file has errors. Warnings are its output. Ends in a line break.
 */
export function renderReportJunit(report: Report): string {
  const cases = listCases(report);
  const failed = cases.filter(([, found]) => hasErrors(found)).length;
  const counts = `tests="${cases.length}" failures="${failed}" errors="0"`;
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuites name="${SUITE}" ${counts}>`,
    `  <testsuite name="${SUITE}" ${counts} skipped="0" time="0">`,
    ...cases.flatMap(([name, found]) => caseLines(name, found, report)),
    '  </testsuite>',
    '</testsuites>',
    '',
  ].join('\n');
}

type Case = readonly [name: string, found: readonly Diagnostic[]];

/** The files with what was found in each; those without a problem, too, so that a repair shows. */
function listCases(report: Report): readonly Case[] {
  const cases = new Map<string, Diagnostic[]>();
  for (const file of report.files) cases.set(toReportPath(file, report), []);
  for (const diagnostic of report.diagnostics) {
    const { position } = diagnostic;
    const name = position === undefined ? WHOLE : toReportPath(position.file, report);
    const found = cases.get(name);
    if (found === undefined) cases.set(name, [diagnostic]);
    else found.push(diagnostic);
  }
  return [...cases].sort(([a], [b]) => (a < b ? -1 : 1));
}

function caseLines(name: string, found: readonly Diagnostic[], report: Report): readonly string[] {
  const attributes = `classname="${SUITE}" name="${escapeAttribute(name)}" time="0"`;
  if (found.length === 0) return [`    <testcase ${attributes}/>`];
  const errors = found.filter(isError);
  const warnings = found.filter(({ severity }) => severity === 'warning');
  return [
    `    <testcase ${attributes}>`,
    ...failureLines(errors, report),
    ...(warnings.length === 0
      ? []
      : [`      <system-out>${escapeText(formatDiagnostics(warnings, report))}</system-out>`]),
    '    </testcase>',
  ];
}

/** One element for all errors of a file: Jenkins keeps only one, and GitLab reads only its content. */
function failureLines(errors: readonly Diagnostic[], report: Report): readonly string[] {
  const [first] = errors;
  if (first === undefined) return [];
  const message = errors.length === 1 ? first.message : formatCount(errors.length, 'error');
  const type = errors.every(({ rule }) => rule === first.rule) ? first.rule : 'validate';
  return [
    `      <failure type="${escapeAttribute(type)}" message="${escapeAttribute(message)}">${escapeText(formatDiagnostics(errors, report))}</failure>`,
  ];
}

function formatDiagnostics(diagnostics: readonly Diagnostic[], report: Report): string {
  return diagnostics.map((diagnostic) => formatParagraph(diagnostic, report)).join('\n\n');
}

function formatParagraph(diagnostic: Diagnostic, report: Report): string {
  const { severity, rule, message, hint, position, frame } = diagnostic;
  const place =
    position === undefined
      ? ''
      : `${toReportPath(position.file, report)}:${position.line}:${position.column}  `;
  return [
    sanitiseLine(`${place}${severity}  ${message}  (${rule})`),
    ...(frame === undefined ? [] : [sanitise(frame)]),
    ...(hint === undefined ? [] : [sanitiseLine(`hint: ${hint}`)]),
  ].join('\n');
}

/** Characters that XML 1.0 cannot hold in any spelling, beyond those that are shown as an escape already. */
const IMPOSSIBLE = /[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu;

function escapeText(text: string): string {
  return escapeHtml(
    text.replace(IMPOSSIBLE, (character) => `\\u{${character.codePointAt(0)?.toString(16)}}`),
  );
}

function escapeAttribute(text: string): string {
  return escapeText(sanitiseLine(text));
}

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
  const path = position === undefined ? '' : toReportPath(position.file, report);
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
  const rest = `GitHub shows ${SHOWN} of each; the log of this step has all of them.`;
  return command('notice', { title: 'callsheet validate' }, [
    `${severityCounts(diagnostics).join(' and ')}. ${rest}`,
  ]);
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

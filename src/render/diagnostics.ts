import type { Diagnostic } from '../core/diagnostics.ts';
import { firstOfRules, type ShownProblem, withoutEchoes } from './many-problems.ts';
import { type Line, paint, type RenderOptions, span, type Tone, wrap } from './terminal.ts';
import { sanitise, sanitiseLine } from './untrusted.ts';
import { cutText } from './width.ts';
import { formatCount } from './wording.ts';

/**
 * Every problem of a stack: by file and in the order of the file, those without a place last. Each with
 * its rule, the lines around it, and what to do; the counts at the end. Of many that are alike only the first
 * are shown. Nothing for no problem.
 */
export function renderDiagnosticsText(
  diagnostics: readonly Diagnostic[],
  options: RenderOptions,
): string {
  if (diagnostics.length === 0) return '';
  return listText(
    diagnostics,
    withoutEchoes([...diagnostics].sort(byPlace)),
    'callsheet validate --format json has those that are left out.',
    options,
  );
}

/**
 * The same beside the results of another command, where it must not drown them: of each rule only the first. Where
 * errors stop the command, warnings are for another time.
 */
export function renderDiagnosticsBeside(
  diagnostics: readonly Diagnostic[],
  options: RenderOptions,
): string {
  if (diagnostics.length === 0) return '';
  if (options.verbose) return renderDiagnosticsText(diagnostics, options);
  const errors = diagnostics.filter(({ severity }) => severity === 'error');
  const told = errors.length > 0 ? errors : diagnostics;
  return listText(
    diagnostics,
    firstOfRules([...told].sort(byPlace)),
    'callsheet validate shows all of them.',
    options,
  );
}

function listText(
  diagnostics: readonly Diagnostic[],
  shown: readonly ShownProblem[],
  whereOthersAre: string,
  options: RenderOptions,
): string {
  const blocks = shown.map(({ problem, after }) => [
    ...problemLines(problem, options),
    ...(after === undefined
      ? []
      : wrap([span(`  ${sanitiseLine(after)}`, 'strong')], options.width, 2)),
  ]);
  return paint(
    [
      ...blocks.flatMap((block) => [...block, []]),
      ...wrap([span(countsOf(diagnostics), 'strong')], options.width, 0),
      ...(shown.length < diagnostics.length
        ? wrap([span(whereOthersAre, 'dim')], options.width, 0)
        : []),
    ],
    options.color,
  );
}

function byPlace({ position: a }: Diagnostic, { position: b }: Diagnostic): number {
  if (a === undefined || b === undefined) return Number(a === undefined) - Number(b === undefined);
  if (a.file !== b.file) return a.file < b.file ? -1 : 1;
  return a.line - b.line || a.column - b.column;
}

function problemLines(diagnostic: Diagnostic, options: RenderOptions): readonly Line[] {
  const { severity, rule, message, hint, position, address, frame } = diagnostic;
  const place =
    position === undefined ? address : `${position.file}:${position.line}:${position.column}`;
  const first = [
    ...(place === undefined ? [] : [span(`${sanitiseLine(place)}  `, 'strong')]),
    span(severity, severity),
    span(`  ${sanitiseLine(message)}`),
    span(`  (${sanitiseLine(rule)})`, 'dim'),
  ];
  return [
    ...wrap(first, options.width, 2),
    ...(frame === undefined ? [] : frameLines(frame, severity, options)),
    ...(hint === undefined
      ? []
      : wrap([span('  hint: ', 'strong'), span(sanitiseLine(hint))], options.width, 8)),
  ];
}

function frameLines(frame: string, severity: Tone, { width }: RenderOptions): readonly Line[] {
  return sanitise(frame)
    .replace(/\n$/, '')
    .split('\n')
    .map((line) => {
      const isMarked = line.startsWith('>') || /^[\s|]*\^+$/.test(line);
      // Tabs stay, so that the caret stays under its place.
      return [span(`  ${cutText(line, width - 2)}`, isMarked ? markTone(line, severity) : 'dim')];
    });
}

function markTone(line: string, severity: Tone): Tone {
  return line.startsWith('>') ? 'plain' : severity;
}

/** `2 errors, 1 warning in 2 files` */
function countsOf(diagnostics: readonly Diagnostic[]): string {
  const counts = (['error', 'warning'] as const)
    .map((severity) => ({
      severity,
      count: diagnostics.filter((diagnostic) => diagnostic.severity === severity).length,
    }))
    .filter(({ count }) => count > 0)
    .map(({ severity, count }) => formatCount(count, severity));
  const files = new Set(diagnostics.flatMap(({ position }) => (position ? [position.file] : [])));
  return `${counts.join(', ')}${files.size > 1 ? ` in ${formatCount(files.size, 'file')}` : ''}`;
}

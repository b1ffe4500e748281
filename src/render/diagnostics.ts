import { countSeverity, type Diagnostic, formatPosition, isError } from '../core/diagnostics.ts';
import type { Error as ErrorDocument } from '../core/documents.generated.ts';
import type { PlanDocument } from '../core/plan-document.ts';
import {
  cutText,
  type Line,
  noteLines,
  paint,
  type RenderOptions,
  span,
  type Tone,
  wholeSpan,
  wrap,
} from './terminal.ts';
import { jsonText, sanitise } from './untrusted.ts';
import { formatCount, formatFirst, formatNumber } from './wording.ts';

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
    '`callsheet validate --format json` lists all of them.',
    options,
  );
}

/**
 * The same beside the results of another command, where it must not drown them: the first problems of each rule, and what
 * lint says counted in a line. Where errors stop the command, warnings are for another time.
 */
export function renderDiagnosticsBeside(
  diagnostics: readonly Diagnostic[],
  options: RenderOptions,
): string {
  if (diagnostics.length === 0) return '';
  if (options.verbose) return renderDiagnosticsText(diagnostics, options);
  const errors = diagnostics.filter(isError);
  const others = diagnostics.filter(({ rule }) => !LINT.test(rule));
  const shown = errors.length > 0 ? errors : others;
  if (shown.length === 0) return warningsLine(diagnostics, options);
  return listText(
    diagnostics,
    firstOfRules([...shown].sort(byPlace)),
    '`callsheet validate` shows all of them.',
    options,
  );
}

/** Rules of style and prompts, the team's own among them: what they find stands in the way of nothing. */
const LINT = /^(?:prompt|lint|rules)\//;

/** `3 warnings in the configuration (prompt/unsupplied-token, …): callsheet validate shows them.` */
function warningsLine(warnings: readonly Diagnostic[], options: RenderOptions): string {
  const rules = [...new Set(warnings.map(({ rule }) => rule))];
  const count = formatCount(warnings.length, 'warning');
  const them = warnings.length === 1 ? 'it' : 'them';
  const text = `${count} in the configuration (${formatFirst(rules, 3)}): \`callsheet validate\` shows ${them}.`;
  return paint(noteLines(text, options.width), options.color);
}

function listText(
  diagnostics: readonly Diagnostic[],
  shown: readonly ShownProblem[],
  whereOthersAre: string,
  options: RenderOptions,
): string {
  const blocks = shown.map(({ problem, after }) => [
    ...problemLines(problem, options),
    ...(after === undefined ? [] : wrap([span(`  ${after}`, 'strong')], options.width, 2)),
  ]);
  return paint(
    [
      ...blocks.flatMap((block) => [...block, []]),
      ...wrap([span(formatCounts(diagnostics), 'strong')], options.width, 0),
      ...(shown.length < diagnostics.length ? wrap([span(whereOthersAre)], options.width, 0) : []),
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
  const place = position === undefined ? address : formatPosition(position);
  const first = [
    ...(place === undefined ? [] : [wholeSpan(place, 'strong'), span('  ')]),
    span(severity, severity),
    span(`  ${message}`),
    span(`  (${rule})`),
  ];
  return [
    ...wrap(first, options.width, 2),
    ...(frame === undefined ? [] : frameLines(frame, severity, options)),
    ...(hint === undefined ? [] : wrap([span('  hint: ', 'strong'), span(hint)], options.width, 8)),
  ];
}

function frameLines(frame: string, severity: Tone, { width }: RenderOptions): readonly Line[] {
  return sanitise(frame)
    .replace(/\n$/, '')
    .split('\n')
    .map((line) => {
      const isMarked = line.startsWith('>') || /^[\s|]*\^+$/.test(line);
      // Tabs stay, so that the caret stays under its place.
      return [
        {
          text: `  ${cutText(line, width - 2)}`,
          tone: isMarked ? markTone(line, severity) : 'plain',
        },
      ];
    });
}

function markTone(line: string, severity: Tone): Tone {
  return line.startsWith('>') ? 'plain' : severity;
}

/** `2 errors`, `1 warning`: those that there are. */
export function severityCounts(diagnostics: readonly Diagnostic[]): readonly string[] {
  return (['error', 'warning'] as const)
    .map((severity) => [countSeverity(diagnostics, severity), severity] as const)
    .filter(([count]) => count > 0)
    .map(([count, severity]) => formatCount(count, severity));
}

/** `2 errors, 1 warning in 2 files` */
function formatCounts(diagnostics: readonly Diagnostic[]): string {
  const counts = severityCounts(diagnostics);
  const files = new Set(diagnostics.flatMap(({ position }) => (position ? [position.file] : [])));
  return `${counts.join(', ')}${files.size > 1 ? ` in ${formatCount(files.size, 'file')}` : ''}`;
}

/** A mistake in a column is made once and found in every row: the first of them tell it. */
const MOST_ALIKE = 3;
/** The most findings of one rule in one file, whatever their words. */
const MOST_OF_RULE = 20;

/** A problem to show, and what is said after it of those that are left out. */
type ShownProblem = { readonly problem: Diagnostic; readonly after: string | undefined };

/** Returns a message without its resource, so that equal problems of several resources compare equal. */
function formatDiagnostic({ message, address }: Diagnostic): string {
  const isSaid = address !== undefined && message.startsWith(address);
  return isSaid ? message.slice(address.length) : message;
}

function ruleInFile({ rule, position }: Diagnostic): string {
  return JSON.stringify([rule, position?.file ?? null]);
}

/** The problems that a person reads: of many that are alike the first ones, with how many more there are. */
function withoutEchoes(problems: readonly Diagnostic[]): readonly ShownProblem[] {
  const alike = Map.groupBy(problems, (problem) =>
    JSON.stringify([ruleInFile(problem), formatDiagnostic(problem)]),
  );
  const after = new Map<Diagnostic, string>();
  const first = new Set<Diagnostic>();
  for (const same of alike.values()) {
    // A single one is shorter than the line that would stand for it.
    const shown = same.length > MOST_ALIKE + 1 ? same.slice(0, MOST_ALIKE) : same;
    for (const problem of shown) first.add(problem);
    const [last, end] = [shown.at(-1), same.at(-1)];
    if (shown.length === same.length || last === undefined) continue;
    const line = end?.position === undefined ? '' : `, the last in line ${end.position.line}`;
    after.set(last, `and ${formatCount(same.length - shown.length, 'other')} alike${line}`);
  }
  const ofRule = Map.groupBy(
    problems.filter((problem) => first.has(problem)),
    ruleInFile,
  );
  for (const [, same] of ofRule) {
    if (same.length <= MOST_OF_RULE + 1) continue;
    for (const problem of same.slice(MOST_OF_RULE)) first.delete(problem);
    const last = same[MOST_OF_RULE - 1] as Diagnostic;
    const said = after.get(last);
    const rest = formatCount(same.length - MOST_OF_RULE, 'other problem');
    const more = `and ${rest} of ${last.rule}${last.position ? ` in ${last.position.file}` : ''}`;
    after.set(last, [said, more].filter(Boolean).join('; '));
  }
  return problems
    .filter((problem) => first.has(problem))
    .map((problem) => ({ problem, after: after.get(problem) }));
}

/** Beside the results of a command: `validate` is where problems are read in full. */
const MOST_BESIDE = { error: 3, warning: 1 } as const;

/** The first problems of each rule, whichever files they are in, with how many more there are. */
function firstOfRules(problems: readonly Diagnostic[]): readonly ShownProblem[] {
  const after = new Map<Diagnostic, string>();
  const hidden = new Set<Diagnostic>();
  const groups = Map.groupBy(problems, ({ rule }) => rule);
  for (const same of groups.values()) {
    const [first] = same;
    const most = first === undefined ? 0 : MOST_BESIDE[first.severity];
    const [last, rest] = [same[most - 1], same.slice(most)];
    // A single one more is as short as the line that would stand for it.
    if (last === undefined || rest.length <= 1) continue;
    for (const problem of rest) hidden.add(problem);
    const files = new Set(rest.flatMap(({ position }) => position?.file ?? []));
    const where = files.size > 1 ? ` in ${formatCount(files.size, 'file')}` : '';
    after.set(last, `and ${formatNumber(rest.length)} more of ${last.rule}${where}`);
  }
  return problems
    .filter((problem) => !hidden.has(problem))
    .map((problem) => ({ problem, after: after.get(problem) }));
}

/** How a command failed, for programs. */
export type Failure = ErrorDocument.Failure;

/** A failure as a document. */
export type FailureDocument = ErrorDocument.Document;

export function failureDocument(error: Failure): FailureDocument {
  return { format: 'callsheet-error', version: 1, error };
}

/** A failure as JSON. Ends in a line break. */
export function renderFailureJson(error: Failure): string {
  return `${jsonText(failureDocument(error))}\n`;
}

/**
 * The outcome of `validate` as reports for other programs show it. Each format is a file of its own in
 * `report/`; all of them say the same diagnostics, with everything that a person wrote made harmless.
 */
export type Report = {
  readonly diagnostics: readonly Diagnostic[];
  /** The YAML files of the stack, relative to its folder. */
  readonly files: readonly string[];
  /**
   * The stack folder as seen from the root of the repository, with forward slashes; empty where they
   * are the same. CI servers know files by their paths from that root.
   */
  readonly folder: string;
  /** The version of Callsheet. */
  readonly version: string;
  /** The freeze that is in force. */
  readonly freeze?: PlanDocument['freeze'];
};

/** The path of a stack's file from the root of the repository. One outside the stack may be absolute. */
export function toReportPath(file: string, { folder }: Report): string {
  if (isAbsolute(file)) return file;
  const steps: string[] = [];
  for (const step of `${folder}/${file}`.split('/')) {
    if (step === '' || step === '.') continue;
    if (step === '..' && steps.length > 0 && steps.at(-1) !== '..') steps.pop();
    else steps.push(step);
  }
  return steps.join('/');
}

export function isAbsolute(path: string): boolean {
  return /^(?:[A-Za-z]:)?[\\/]/.test(path);
}

/** Errors before warnings, otherwise as they come: what is cut off by a limit is what matters least. */
export function bySeverity(diagnostics: readonly Diagnostic[]): readonly Diagnostic[] {
  return diagnostics.toSorted((a, b) => Number(isError(b)) - Number(isError(a)));
}

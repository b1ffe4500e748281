/** A place in a file of the stack. Lines and columns count from 1; columns count characters. */
export type SourcePosition = {
  /** Relative to the stack folder, with forward slashes. */
  readonly file: string;
  readonly line: number;
  readonly column: number;
  /** The column behind the last character of what is meant, where it is known; on the same line. */
  readonly end_column?: number;
};

/** `agents.yaml:3:5` */
export function formatPosition({ file, line, column }: SourcePosition): string {
  return `${file}:${line}:${column}`;
}

export type Severity = 'error' | 'warning';

/** One problem, as data: only `cli/` turns it into text and an exit code. */
export type Diagnostic = {
  readonly severity: Severity;
  /** Stable name of the rule, such as `schema/enum` or `ref/unknown`. */
  readonly rule: string;
  /** What is wrong, to which address and field. One sentence, no trailing stop. */
  readonly message: string;
  /** What to do now. */
  readonly hint?: string;
  readonly address?: string;
  /** Path of the field inside the resource. */
  readonly path?: string;
  readonly position?: SourcePosition;
  /** The lines around the place, with a caret under it. */
  readonly frame?: string;
};

export function hasErrors(diagnostics: readonly Diagnostic[]): boolean {
  return diagnostics.some((diagnostic) => diagnostic.severity === 'error');
}

/** The diagnostics with every warning as an error, for `--strict`. */
export function withoutWarnings(diagnostics: readonly Diagnostic[]): readonly Diagnostic[] {
  return diagnostics.map((diagnostic) => ({ ...diagnostic, severity: 'error' }));
}

/** How many there are of a severity. */
export function countSeverity(diagnostics: readonly Diagnostic[], severity: Severity): number {
  return diagnostics.filter((diagnostic) => diagnostic.severity === severity).length;
}

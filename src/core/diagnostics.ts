import type { Diagnostics } from './documents.generated.ts';

/** A place in a file of the stack. */
export type SourcePosition = NonNullable<Diagnostic['position']>;

/** `agents.yaml:3:5` */
export function formatPosition({ file, line, column }: SourcePosition): string {
  return `${file}:${line}:${column}`;
}

export type Severity = Diagnostic['severity'];

/** One problem, as data: only `cli/` turns it into text and an exit code. */
export type Diagnostic = Diagnostics.Diagnostic;

/** A problem that says nothing of it is an error. */
export function isError({ severity = 'error' }: { readonly severity?: Severity }): boolean {
  return severity === 'error';
}

export function hasErrors(diagnostics: readonly Diagnostic[]): boolean {
  return diagnostics.some(isError);
}

/** The diagnostics with every warning as an error, for `--strict`. */
export function withoutWarnings(diagnostics: readonly Diagnostic[]): readonly Diagnostic[] {
  return diagnostics.map((diagnostic) => ({ ...diagnostic, severity: 'error' }));
}

/** How many there are of a severity. */
export function countSeverity(diagnostics: readonly Diagnostic[], severity: Severity): number {
  return diagnostics.filter((diagnostic) => diagnostic.severity === severity).length;
}

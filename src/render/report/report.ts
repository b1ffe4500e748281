import type { Diagnostic } from '../../core/diagnostics.ts';

/**
 * The outcome of `validate` as reports for other programs show it. Each format is a file of its own in
 * this folder; all of them say the same diagnostics, with everything that a person wrote made harmless.
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
};

/** The path of a stack's file from the root of the repository. One outside the stack may be absolute. */
export function pathOf(file: string, { folder }: Report): string {
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
  return diagnostics.toSorted(
    (a, b) => Number(a.severity !== 'error') - Number(b.severity !== 'error'),
  );
}

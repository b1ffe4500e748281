import { STACK_FILE } from '../../config/discover.ts';
import type { Diagnostic } from '../../core/diagnostics.ts';
import { type ReportFormat, renderReport } from '../../render/report/index.ts';
import type { Context } from '../context.ts';
import { folderInRepository } from '../repository.ts';
import type { StackResult } from './run-stack.ts';

/** What `validate` found in all stacks as one report for another program, with places as seen from the tree. */
export function reportTree(
  format: Exclude<ReportFormat, 'text' | 'json'>,
  results: readonly StackResult[],
  dir: string,
  { terminal, version }: Context,
): string {
  const report = {
    diagnostics: results.flatMap(diagnosticsOf),
    files: results.map(({ path }) => inTree(path, STACK_FILE)),
    folder: folderInRepository(dir, process.cwd()),
    version,
  };
  return renderReport(format, report, terminal.render);
}

function diagnosticsOf({ path, document, error }: StackResult): readonly Diagnostic[] {
  const found = document?.format === 'callsheet-diagnostics' ? document.diagnostics : [];
  const all = error === undefined ? found : [...found, ...problemsIn(error)];
  return all.map((one) => {
    const at = one.position ?? { file: STACK_FILE, line: 1, column: 1 };
    return { ...one, position: { ...at, file: inTree(path, at.file) } };
  });
}

function problemsIn(error: NonNullable<StackResult['error']>): readonly Diagnostic[] {
  if (error.diagnostics.length > 0) return error.diagnostics;
  const { message, hint } = error;
  return [{ severity: 'error', rule: 'fleet/stack', message, ...(hint === null ? {} : { hint }) }];
}

function inTree(path: string, file: string): string {
  return path === '.' ? file : `${path}/${file}`;
}

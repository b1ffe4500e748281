import { countSeverity, type Diagnostic } from '../../core/diagnostics.ts';
import { escapeInJson } from '../untrusted.ts';
import type { Report } from './report.ts';

/** What `validate` prints for programs: `schemas/diagnostics.schema.json`. */
export type DiagnosticsDocument = {
  readonly format: 'callsheet-diagnostics';
  readonly version: 1;
  readonly counts: { readonly errors: number; readonly warnings: number };
  readonly diagnostics: readonly Diagnostic[];
};

/**
 * The diagnostics as JSON, as `schemas/diagnostics.schema.json` describes them. Files are relative to the
 * stack folder. Ends in a line break.
 */
export function renderReportJson({ diagnostics }: Report): string {
  const document: DiagnosticsDocument = {
    format: 'callsheet-diagnostics',
    version: 1,
    counts: {
      errors: countSeverity(diagnostics, 'error'),
      warnings: countSeverity(diagnostics, 'warning'),
    },
    diagnostics,
  };
  return `${escapeInJson(JSON.stringify(document, null, 2))}\n`;
}

import { countSeverity } from '../../core/diagnostics.ts';
import { escapeInJson } from '../untrusted.ts';
import type { Report } from './report.ts';

/**
 * The diagnostics as JSON, as `schemas/diagnostics.schema.json` describes them. Files are relative to the
 * stack folder. Ends in a line break.
 */
export function renderReportJson({ diagnostics }: Report): string {
  const document = {
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

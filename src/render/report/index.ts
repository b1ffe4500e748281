import { countSeverity, type Diagnostic } from '../../core/diagnostics.ts';
import type { Diagnostics } from '../../core/documents.generated.ts';
import { unreachable } from '../../core/errors.ts';
import { type Report, renderDiagnosticsText } from '../diagnostics.ts';
import type { RenderOptions } from '../terminal.ts';
import { jsonText } from '../untrusted.ts';
import { renderReportGithub, renderReportJunit } from './junit.ts';
import { renderReportSarif } from './sarif.ts';

export type { Report } from '../diagnostics.ts';

/** How `validate` shows its outcome. */
export type ReportFormat = 'text' | 'json' | 'sarif' | 'junit' | 'github';

/** A report in a format; empty where the format says nothing when there is no problem. */
export function renderReport(format: ReportFormat, report: Report, options: RenderOptions): string {
  switch (format) {
    case 'text':
      return renderDiagnosticsText(report.diagnostics, options);
    case 'json':
      return renderReportJson(report);
    case 'sarif':
      return renderReportSarif(report);
    case 'junit':
      return renderReportJunit(report);
    case 'github':
      return renderReportGithub(report);
    default:
      return unreachable(format);
  }
}

/** The document that `validate` prints for programs. */
export type DiagnosticsDocument = Diagnostics.Document;

/** The diagnostics as a document. Files are relative to the stack folder. */
export function diagnosticsDocument(
  diagnostics: readonly Diagnostic[],
  freeze?: DiagnosticsDocument['freeze'],
): DiagnosticsDocument {
  return {
    format: 'callsheet-diagnostics',
    version: 1,
    counts: {
      errors: countSeverity(diagnostics, 'error'),
      warnings: countSeverity(diagnostics, 'warning'),
    },
    diagnostics,
    ...(freeze === undefined ? {} : { freeze }),
  };
}

/** The same as JSON. Ends in a line break. */
function renderReportJson({ diagnostics, freeze }: Report): string {
  return `${jsonText(diagnosticsDocument(diagnostics, freeze))}\n`;
}

import { unreachable } from '../../core/errors.ts';
import { renderDiagnosticsText } from '../diagnostics.ts';
import type { RenderOptions } from '../terminal.ts';
import { renderReportGithub } from './github.ts';
import { renderReportJson } from './json.ts';
import { renderReportJunit } from './junit.ts';
import type { Report } from './report.ts';
import { renderReportSarif } from './sarif.ts';

export type { Report } from './report.ts';

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

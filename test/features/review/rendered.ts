import { renderReportGithub, renderReportJunit } from '../../../src/features/review/junit.ts';
import { renderReportSarif } from '../../../src/features/review/sarif.ts';
import type { Report } from '../../../src/render/diagnostics.ts';
import { renderReportJson } from '../../../src/render/report.ts';

const FORMATS = {
  json: renderReportJson,
  sarif: renderReportSarif,
  junit: renderReportJunit,
  github: renderReportGithub,
} as const;

/** A report as `validate` prints it. */
export function rendered(format: keyof typeof FORMATS, report: Report): string {
  return FORMATS[format](report);
}

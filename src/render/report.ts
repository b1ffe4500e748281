import { countSeverity, type Diagnostic } from '../core/diagnostics.ts';
import type { Diagnostics } from '../core/documents.generated.ts';
import type { Report } from './diagnostics.ts';
import { jsonText } from './untrusted.ts';

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
export function renderReportJson({ diagnostics, freeze }: Report): string {
  return `${jsonText(diagnosticsDocument(diagnostics, freeze))}\n`;
}

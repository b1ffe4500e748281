import type { JsonObject } from '../core/value.ts';
import { type CsvColumn, csvLine, jsonFrame, renderCsv } from '../render/read/table.ts';
import type { RenderOptions } from '../render/terminal.ts';
import { jsonText } from '../render/untrusted.ts';
import type { CommonFlags } from './context.ts';
import type { Terminal } from './terminal.ts';

/**
 * Every document that Callsheet prints, posts or writes for programs, and the file below `schemas/` that describes
 * it. What a document is called stands in its `format`, beside its `version`.
 */
export const DOCUMENTS = {
  'callsheet-assumptions': 'assumptions',
  'callsheet-batch': 'batch',
  'callsheet-billing': 'read',
  'callsheet-call': 'read',
  'callsheet-calls': 'read',
  'callsheet-diagnostics': 'diagnostics',
  'callsheet-drift-notification': 'notification',
  'callsheet-error': 'error',
  'callsheet-events': 'events',
  'callsheet-export': 'export',
  'callsheet-features': 'read',
  'callsheet-field': 'field',
  'callsheet-fleet': 'fleet',
  'callsheet-history': 'read',
  'callsheet-import': 'import',
  'callsheet-lock': 'state-commands',
  'callsheet-log': 'log',
  'callsheet-metrics': 'read',
  'callsheet-models': 'read',
  'callsheet-organizations': 'read',
  'callsheet-payments': 'read',
  'callsheet-plan': 'plan',
  'callsheet-pruning': 'runs',
  'callsheet-pull': 'pull',
  'callsheet-receipt': 'runs',
  'callsheet-record': 'read',
  'callsheet-records': 'read',
  'callsheet-restoration': 'restoration',
  'callsheet-rollouts': 'rollouts',
  'callsheet-run': 'run',
  'callsheet-runs': 'runs',
  'callsheet-session': 'read',
  'callsheet-snapshot': 'snapshot',
  'callsheet-snapshot-resource': 'snapshot-commands',
  'callsheet-snapshot-summary': 'snapshot-commands',
  'callsheet-snapshots': 'snapshot-commands',
  'callsheet-state': 'state',
  'callsheet-state-edit': 'state-commands',
  'callsheet-state-list': 'state-commands',
  'callsheet-state-migration': 'state-commands',
  'callsheet-state-repair': 'state-commands',
  'callsheet-state-resource': 'state-commands',
  'callsheet-stt-providers': 'read',
  'callsheet-value': 'value',
  'callsheet-version': 'version',
} as const;

export type DocumentFormat = keyof typeof DOCUMENTS;

export type ReadFormat = 'text' | 'json' | 'csv';

/** Flags of commands that show a result to people and programs, and of those whose result is a table, too. */
export type ShowFlags = CommonFlags & { readonly format: Exclude<ReadFormat, 'csv'> };
export type ReadFlags = CommonFlags & { readonly format: ReadFormat };

type Shown = { readonly terminal: Terminal };

/** A document of the first version of its format. */
export function stampDocument<F extends DocumentFormat, D extends object>(format: F, content: D) {
  return { format, version: 1, ...content } as const;
}

/** Prints a result in the format that was asked for: as a document, as a text or, where it is a table, as CSV. */
export function show(
  { format }: { readonly format: ReadFormat },
  document: object,
  renderText: (options: RenderOptions) => string,
  { terminal: { out, render } }: Shown,
  table?: { readonly columns: readonly CsvColumn[]; readonly records: readonly JsonObject[] },
): void {
  if (format === 'json') out(jsonText(document));
  else if (format === 'csv' && table !== undefined) out(renderCsv(table.columns, table.records));
  else out(renderText(render));
}

/** Prints a JSON document whose `data` is a list, item by item, so that it need not fit into memory. */
export async function streamJson(
  head: JsonObject,
  items: Iterable<JsonObject> | AsyncIterable<JsonObject>,
  { terminal: { out } }: Shown,
): Promise<void> {
  const frame = jsonFrame(head);
  out(frame.open);
  let last: JsonObject | undefined;
  for await (const item of items) {
    if (last !== undefined) out(frame.item(last, false));
    last = item;
  }
  if (last !== undefined) out(frame.item(last, true));
  out(frame.close);
}

/** Prints CSV record by record. */
export async function streamCsv(
  columns: readonly CsvColumn[],
  records: Iterable<JsonObject> | AsyncIterable<JsonObject>,
  { terminal: { out } }: Shown,
): Promise<void> {
  out(renderCsv(columns, []));
  for await (const record of records) out(csvLine(columns, record));
}

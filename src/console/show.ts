import type { JsonObject } from '../core/value.ts';
import { type CsvColumn, csvLine, jsonFrame, renderCsv } from '../render/read/table.ts';
import type { RenderOptions } from '../render/terminal.ts';
import { jsonText } from '../render/untrusted.ts';
import type { DocumentFormat } from './documents.ts';
import type { Terminal } from './terminal.ts';

export type ReadFormat = 'text' | 'json' | 'csv';

type Shown = { readonly terminal: Terminal };

/** A document of the first version of its format. */
export function documentOf<F extends DocumentFormat, D extends object>(format: F, content: D) {
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

import type { JsonObject } from '../../core/value.ts';
import { type CsvColumn, csvHeader, csvLine, renderCsv } from '../../render/read/csv.ts';
import { jsonFrame, jsonText } from '../../render/read/json.ts';
import type { Terminal } from '../terminal.ts';

export type ReadFormat = 'text' | 'json' | 'csv';

/** A result in every format that it has. */
type Result = {
  readonly text: () => string;
  readonly json: () => JsonObject;
  readonly csv: () => {
    readonly columns: readonly CsvColumn[];
    readonly records: readonly JsonObject[];
  };
};

/** Prints a result in the format that was asked for. */
export function show<F extends ReadFormat>(
  format: F,
  result: Pick<Result, F>,
  terminal: Terminal,
): void;
export function show(format: ReadFormat, result: Partial<Result>, { out }: Terminal): void {
  if (format === 'json' && result.json) out(jsonText(result.json()));
  if (format === 'text' && result.text) out(result.text());
  if (format === 'csv' && result.csv) {
    const { columns, records } = result.csv();
    out(renderCsv(columns, records));
  }
}

/** Prints a JSON document whose `data` is a list, item by item, so that it need not fit into memory. */
export async function streamJson(
  head: JsonObject,
  items: Iterable<JsonObject> | AsyncIterable<JsonObject>,
  { out }: Terminal,
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
  { out }: Terminal,
): Promise<void> {
  out(csvHeader(columns));
  for await (const record of records) out(csvLine(columns, record));
}

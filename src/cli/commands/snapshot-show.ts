import { stat } from 'node:fs/promises';
import { nearest } from '../../config/nearest.ts';
import { CallsheetError } from '../../core/errors.ts';
import { mask } from '../../core/redact.ts';
import { kindNamed } from '../../kinds/index.ts';
import { renderRecordText } from '../../render/read/records.ts';
import { renderSnapshotText } from '../../render/snapshot.ts';
import { escapeInJson } from '../../render/untrusted.ts';
import { readSealing } from '../../snapshot/container.ts';
import type { End, ResourceRecord } from '../../snapshot/format.ts';
import { openSnapshot, type SnapshotFile } from '../../snapshot/read-file.ts';
import { documentOf } from '../../snapshot/read-resource.ts';
import { createTally, labelOf } from '../../snapshot/summary.ts';
import type { CommonFlags, Context } from '../context.ts';
import { EXIT, type ExitCode } from '../exit.ts';
import { type KeyFlags, keysFrom } from '../snapshot/keys.ts';

export type ShowFlags = CommonFlags & KeyFlags & { readonly format: 'text' | 'json' };

/** `callsheet snapshot show FILE [RESOURCE]`: what a snapshot holds, or one resource of it. */
export async function show(
  file: string,
  wanted: string | undefined,
  flags: ShowFlags,
  context: Context,
): Promise<ExitCode> {
  const snapshot = await openSnapshot(file, keysFrom(flags, context));
  if (wanted === undefined) await showAll(snapshot, flags, context);
  else await showOne(snapshot, wanted, flags, context);
  return EXIT.done;
}

/** Every record goes by, so that a damaged file is noticed here. */
async function showAll(
  { file, header, records }: SnapshotFile,
  { format }: ShowFlags,
  { terminal }: Context,
): Promise<void> {
  const tally = createTally();
  let end: End | undefined;
  for await (const record of tally.over(records())) if (record.type === 'end') end = record;
  if (end === undefined) throw new Error('a snapshot ends with its end');
  const { size } = await stat(file);
  const encryption = (await readSealing(file)) ?? 'none';
  const summary = tally.document({ file, size, encryption }, header, end);
  terminal.out(
    format === 'json'
      ? escapeInJson(JSON.stringify(summary, null, 2))
      : renderSnapshotText(summary, terminal.render),
  );
}

async function showOne(
  snapshot: SnapshotFile,
  wanted: string,
  { format }: ShowFlags,
  { terminal }: Context,
): Promise<void> {
  const found = await findIn(snapshot, wanted);
  const { schema } = kindNamed(found.kind);
  const document = mask(schema, { ...found.record, ...documentOf(found) });
  const { kind, id, address, history, withheld } = found;
  if (format === 'json') {
    const head = { format: 'callsheet-snapshot-resource', version: 1, kind, id, address };
    terminal.out(
      escapeInJson(JSON.stringify({ ...head, history, withheld, data: document }, null, 2)),
    );
    return;
  }
  terminal.out(renderRecordText(document, Object.keys(schema.properties ?? {}), terminal.render));
  if (withheld.length === 0) return;
  terminal.err(`Left out, as the snapshot is not encrypted: ${withheld.join(', ')}`);
}

/** By its address, its id or its name. Throws `CallsheetError('usage')` where there is none or more than one. */
async function findIn(snapshot: SnapshotFile, wanted: string): Promise<ResourceRecord> {
  const found: ResourceRecord[] = [];
  const labels: string[] = [];
  for await (const record of snapshot.records()) {
    if (record.type !== 'resource') continue;
    const names = [record.address, record.id, record.record.name];
    if (names.includes(wanted)) found.push(record);
    labels.push(...names.filter((name) => typeof name === 'string'));
  }
  const exact = found.filter(({ address, id }) => address === wanted || id === wanted);
  const [first, ...others] = exact.length > 0 ? exact : found;
  if (first === undefined) {
    const near = nearest(wanted, labels);
    throw new CallsheetError('usage', `${snapshot.file} holds no resource ${wanted}`, {
      hint: near === undefined ? 'Give its address, its id or its name.' : `Did you mean ${near}?`,
    });
  }
  if (others.length === 0) return first;
  const lines = [first, ...others].map((one) => `  ${labelOf(one)}  ${one.id}`);
  throw new CallsheetError('usage', `${snapshot.file} holds ${lines.length} resources ${wanted}`, {
    hint: ['Give the id of the one that is meant:', ...lines].join('\n'),
  });
}

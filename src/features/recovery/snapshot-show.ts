import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { CommonFlags, Context } from '../../console/context.ts';
import { say } from '../../console/events.ts';
import { renderReview } from '../../console/plan.ts';
import { type ShowFlags, show as showDocument, stampDocument } from '../../console/show.ts';
import { type KeyFlags, keysFrom } from '../../console/snapshot-keys.ts';
import { CallsheetError, EXIT, type ExitCode, explainSystemError } from '../../core/errors.ts';
import { didYouMean } from '../../core/nearest.ts';
import { mask } from '../../core/redact.ts';
import { kindNamed } from '../../kinds/index.ts';
import { hasChanges } from '../../plan/document.ts';
import { renderRecordText } from '../../render/read/records.ts';
import { openCallouts } from '../../run/context.ts';
import { findSettings } from '../../run/platform-session.ts';
import { openStack } from '../../run/stack.ts';
import { type Keys, readSealing } from '../../snapshot/container.ts';
import { openSnapshot, readHeader, type SnapshotFile } from '../../snapshot/file.ts';
import {
  buildDocument,
  createTally,
  type End,
  formatLabel,
  type ResourceRecord,
  type Sealing,
} from '../../snapshot/format.ts';
import type { Stack } from '../../stack/index.ts';
import { compareSnapshots } from './compare.ts';
import { collectHeld } from './held.ts';
import { type ListedSnapshot, renderSnapshotsText, renderSnapshotText } from './snapshot.ts';
import { listAsked } from './supplies.ts';

type SnapshotFlags = ShowFlags & KeyFlags;

/** `callsheet snapshot show FILE [RESOURCE]`: what a snapshot holds, or one resource of it. */
export async function show(
  file: string,
  wanted: string | undefined,
  flags: SnapshotFlags,
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
  flags: SnapshotFlags,
  context: Context,
): Promise<void> {
  const tally = createTally();
  const { note, held } = collectHeld(records);
  let end: End | undefined;
  for await (const record of tally.over(records())) {
    note(record);
    if (record.type === 'end') end = record;
  }
  if (end === undefined) throw new Error('a snapshot ends with its end');
  const { size } = await stat(file);
  const encryption = (await readSealing(file)) ?? 'none';
  const about = tally.document({ file, size, encryption }, header, end);
  const stack = await findStack(flags, context);
  const summary = { ...about, restore: await listAsked(held, stack) };
  showDocument(flags, summary, (to) => renderSnapshotText(summary, to), context);
}

/** The stack of the folder; a broken one is in nobody's way. */
async function findStack(flags: CommonFlags, context: Context): Promise<Stack | undefined> {
  try {
    const settings = findSettings(flags, context);
    return settings && (await openStack(flags, context, 'skip')).stack;
  } catch (error) {
    if (!(error instanceof CallsheetError)) throw error;
    say(
      context.terminal,
      'Warning: the configuration cannot be read (`callsheet validate`; it may need a --var-file), so secrets are listed by names of their own, not by those that the stack gives them.',
    );
    return undefined;
  }
}

async function showOne(
  snapshot: SnapshotFile,
  wanted: string,
  flags: SnapshotFlags,
  context: Context,
): Promise<void> {
  const found = await findIn(snapshot, wanted);
  const { schema } = kindNamed(found.kind);
  const document = mask(schema, { ...found.record, ...buildDocument(found) });
  const { kind, id, address, history, withheld } = found;
  const head = { kind, id, address, history, withheld };
  showDocument(
    flags,
    stampDocument('callsheet-snapshot-resource', { ...head, data: document }),
    (to) => renderRecordText(document, Object.keys(schema.properties ?? {}), to),
    context,
  );
  if (withheld.length > 0 && flags.format === 'text')
    context.terminal.err(`Left out, because the snapshot is not encrypted: ${withheld.join(', ')}`);
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
    throw new CallsheetError('usage', `${snapshot.file} holds no resource ${wanted}`, {
      hint: didYouMean(wanted, labels, 'Give its address, its id or its name.'),
    });
  }
  if (others.length === 0) return first;
  const lines = [first, ...others].map((one) => `  ${formatLabel(one)}  ${one.id}`);
  throw new CallsheetError('usage', `${snapshot.file} holds ${lines.length} resources ${wanted}`, {
    hint: ['Give one of these ids:', ...lines].join('\n'),
  });
}

type DiffFlags = CommonFlags &
  KeyFlags & { readonly format: string; readonly detailedExitcode?: boolean };

/** `callsheet snapshot diff A B`: what changed from one snapshot to another, as a plan shows it. */
export async function diff(
  earlier: string,
  later: string,
  flags: DiffFlags,
  context: Context,
): Promise<ExitCode> {
  const keys = keysFrom(flags, context);
  const [before, after] = [await openSnapshot(earlier, keys), await openSnapshot(later, keys)];
  const [old, now] = [before.header.platform, after.header.platform];
  if (old.account_id !== now.account_id) {
    throw new CallsheetError(
      'usage',
      `the snapshots are of different accounts: ${old.account_id} and ${now.account_id}`,
      { hint: 'Two accounts share no ids, so Callsheet cannot compare them.' },
    );
  }
  const document = await compareSnapshots(
    before,
    after,
    context.now(),
    await openCallouts(context.features),
  );
  context.terminal.out(await renderReview(document, flags.format, context));
  const isDifferent = hasChanges(document) || document.notes.length > 0;
  return isDifferent && flags.detailedExitcode === true ? EXIT.changes : EXIT.done;
}

/** `callsheet snapshot list [DIR]`: the snapshots of a folder. Reads their headers alone. */
export async function list(
  dir: string | undefined,
  flags: SnapshotFlags,
  context: Context,
): Promise<ExitCode> {
  const { terminal } = context;
  const folder = dir ?? '.';
  // A listing asks for no passphrase, as it would ask file by file.
  const keys = keysFrom(flags, { ...context, terminal: { ...terminal, canAsk: false } });
  const names = await readdir(folder, { withFileTypes: true }).catch((error: unknown) => {
    throw explainSystemError(error, `${folder} cannot be read`);
  });
  const files = names.filter((one) => one.isFile() && !one.name.endsWith('.part'));
  const found: ListedSnapshot[] = [];
  for (const { name } of files) {
    const one = await look(folder, name, keys);
    if (one !== undefined) found.push(one);
  }
  found.sort(
    (a, b) => (b.made_at ?? '').localeCompare(a.made_at ?? '') || (a.file < b.file ? -1 : 1),
  );
  const document = stampDocument('callsheet-snapshots', { snapshots: found });
  showDocument(flags, document, (to) => renderSnapshotsText(found, folder, to), context);
  return EXIT.done;
}

/** Reads a file's own description; undefined for one that is no snapshot. */
async function look(folder: string, name: string, keys: Keys): Promise<ListedSnapshot | undefined> {
  const path = join(folder, name);
  const encryption = await readSealing(path).catch(() => undefined);
  if (encryption === undefined) return undefined;
  const { size } = await stat(path);
  const about = { file: name, size, encryption };
  try {
    const header = await readHeader(path, keys);
    const { made_at, base, platform } = header;
    return { ...about, made_at, ...platform, base: base?.file ?? null, problem: null };
  } catch (error) {
    if (!(error instanceof CallsheetError)) throw error;
    // Other files are compressed, or encrypted with age, too.
    if (!name.endsWith('.snapshot') && encryption !== 'passphrase') return undefined;
    const isSealed = encryption !== 'none' && (await keyFor(encryption, keys)) === undefined;
    const problem = isSealed ? SEALED[encryption] : error.message;
    const nothing = { made_at: null, account_id: null, base_url: null, base: null };
    return { ...about, ...nothing, problem };
  }
}

const SEALED: { readonly [type in Exclude<Sealing, 'none'>]: string } = {
  passphrase: 'encrypted with a passphrase, which was not given',
  age: 'encrypted for keys of age; none was given',
};

async function keyFor(sealing: Exclude<Sealing, 'none'>, keys: Keys): Promise<string | undefined> {
  return sealing === 'passphrase' ? keys.passphrase() : (await keys.identities())[0];
}

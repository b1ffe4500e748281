import { mask } from '../../core/redact.ts';
import type { JsonObject } from '../../core/value.ts';
import type { Kind } from '../../kinds/kind.ts';
import { renderRecordsText, renderRecordText } from '../../render/read/records.ts';
import type { CommonFlags, Context } from '../context.ts';
import { EXIT, type ExitCode } from '../exit.ts';
import { type PlatformSession, withPlatform } from '../platform-session.ts';
import { csvColumns, listFields } from '../read/columns.ts';
import { findResource, type Listed, listAll } from '../read/find.ts';
import { kindCalled } from '../read/kind-called.ts';
import { onPlatform } from '../read/refusal.ts';
import { organizationNames, type ScopeFlags, scopesOf } from '../read/scope.ts';
import { type ReadFormat, show, streamCsv, streamJson } from '../read/show.ts';
import { readWhole } from '../read/whole.ts';

export type GetFlags = CommonFlags & ScopeFlags & { readonly format: ReadFormat };

/** `callsheet get KIND [ID|ADDRESS|NAME]`: what the platform has of a kind, or one of it whole. */
export async function get(
  kindGiven: string,
  wanted: string | undefined,
  flags: GetFlags,
  context: Context,
): Promise<ExitCode> {
  const kind = kindCalled(kindGiven);
  return withPlatform(flags, context, async (session) => {
    if (wanted === undefined) await showList(kind, flags, session, context);
    else await showOne(kind, wanted, flags, session, context);
    return EXIT.done;
  });
}

async function showList(
  kind: Kind,
  { format, ...flags }: GetFlags,
  session: PlatformSession,
  { terminal }: Context,
): Promise<void> {
  const listed = await listAll(kind, await scopesOf(kind, flags, session), session);
  // One at a time: a fleet as a single text would take as much memory again.
  const records = maskedRecords(kind, listed);
  if (format === 'json') {
    const head = { format: 'callsheet-records', version: 1, kind: kind.name };
    return streamJson(head, records, terminal);
  }
  if (format === 'csv') return streamCsv(csvColumns(kind), records, terminal);
  const list = {
    kind: kind.name,
    fields: listFields(kind),
    records: [...records],
    groupedBy: kind.scope[0],
    names: organizationNames(session),
  };
  terminal.out(renderRecordsText(list, terminal.render));
}

function* maskedRecords(kind: Kind, listed: readonly Listed[]): Generator<JsonObject> {
  for (const { item, scope } of listed) yield mask(kind.schema, { ...scope, ...item });
}

async function showOne(
  kind: Kind,
  wanted: string,
  flags: GetFlags,
  session: PlatformSession,
  { terminal }: Context,
): Promise<void> {
  const found = await findResource(kind, wanted, flags, session);
  const noun = kind.name.replaceAll('_', ' ');
  const whole = await onPlatform(noun, found, () => readWhole(kind, found, session));
  const record: JsonObject = mask(kind.schema, whole);
  show(
    flags.format,
    {
      text: () => renderRecordText(record, membersOf(kind), terminal.render),
      json: () => ({ format: 'callsheet-record', version: 1, kind: kind.name, data: record }),
      csv: () => ({ columns: csvColumns(kind), records: [record] }),
    },
    terminal,
  );
}

/** The members of a record in the order of its schema. */
function membersOf({ schema }: Kind): readonly string[] {
  return Object.keys(schema.properties ?? {});
}

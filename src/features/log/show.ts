import type { CommonFlags, Context } from '../../console/context.ts';
import { stampDocument, streamJson } from '../../console/show.ts';
import { type Address, getKind, matchesAddress } from '../../core/address.ts';
import { parseMoment } from '../../core/calendar.ts';
import type { Log } from '../../core/documents.generated.ts';
import {
  CallsheetError,
  EXIT,
  type ExitCode,
  errorMessage,
  formatFirst,
} from '../../core/errors.ts';
import { didYouMean } from '../../core/nearest.ts';
import { formatPath, parsePath } from '../../core/path.ts';
import { kindNamed, kinds } from '../../kinds/index.ts';
import { createReader, readNewest } from '../../live/reader.ts';
import { paint, sentence, span, wrap } from '../../render/terminal.ts';
import { formatCount } from '../../render/wording.ts';
import { withPlatform } from '../../run/platform-session.ts';
import {
  listReceipts,
  listTexts,
  type Receipts,
  type RecordedChange,
  restoreStates,
  withReceipts,
} from '../../run/receipts.ts';
import { loadOptions, openSettings } from '../../run/stack.ts';
import { explainField } from '../../stack/editor/explain-field.ts';
import { loadStack } from '../../stack/index.ts';
import { platformPath } from '../../stack/schema.ts';
import type { State } from '../../state/model.ts';
import { type LogQuery, type LogSources, type Met, type ResourceHistory, readLog } from './read.ts';
import { MARKDOWN_HEAD, renderChange, renderRow } from './render.ts';

type AskFlags = CommonFlags & { readonly since?: string };

type LogFlags = AskFlags & {
  readonly format: 'text' | 'json' | 'markdown';
};

/** `callsheet log [ADDRESS[.FIELD]]`: what became of a stack, a resource or a field, newest first. */
export async function log(
  wanted: string | undefined,
  flags: LogFlags,
  context: Context,
): Promise<ExitCode> {
  const settings = openSettings(flags, context);
  await withReceipts(settings, restoreStates(settings.dir), context, (receipts) =>
    showLog(wanted, flags, receipts, context),
  );
  return EXIT.done;
}

/** Shows the changes that were asked for as they are read. Throws `CallsheetError('usage')` for what never was. */
async function showLog(
  wanted: string | undefined,
  flags: LogFlags,
  receipts: Receipts,
  context: Context,
): Promise<void> {
  const { query, head, changes, met } = await openLog(wanted, flags, receipts, context);
  const first = await changes.next();
  if (first.done === true) refuseNoField(query);
  await print(again(first, changes), head, query, flags, context);
  if (met.unreadable.length > 0)
    context.emit({
      type: 'notice',
      text: `Receipts that cannot be read are left out: ${formatFirst(met.unreadable, MOST_NAMED)}.`,
    });
}

/** The changes of an address as one document. Throws `CallsheetError('usage')` for an address that never was. */
export async function readLogDocument(
  address: Address,
  flags: AskFlags,
  receipts: Receipts,
  context: Context,
): Promise<Log.Document> {
  const { head, changes } = await openLog(address, flags, receipts, context);
  const data: RecordedChange[] = [];
  for await (const change of changes) data.push(change);
  return { ...head, data };
}

async function openLog(
  wanted: string | undefined,
  flags: AskFlags,
  receipts: Receipts,
  context: Context,
) {
  const { since } = flags;
  const asked = wanted === undefined ? {} : parseWanted(wanted);
  const from =
    since === undefined ? undefined : parseMoment('--since', since, context.now(), 'start');
  const query = { ...asked, since: from?.getTime() };
  const ids = await findIds(query.address, receipts);
  const { histories, missing } = await askHistories(query.address, flags, receipts, context);
  const met: Met = { addresses: new Set(), unreadable: [], isAny: false };
  // Without an answer of the platform, the files most likely have the texts that were written last.
  const texts = histories.length > 0 ? [] : await readTexts(flags, context);
  const sources = { journals: receipts.journals, ids, histories, texts };
  const head = stampDocument('callsheet-log', {
    address: query.address ?? null,
    field: query.field === undefined ? null : formatPath(query.field),
    since: from?.toISOString() ?? null,
    history: { asked: histories.map(({ address }) => address), missing: missing ?? null },
  });
  return { query, head, changes: readLog(query, sources, met), met };
}

/** Names in a message. */
const MOST_NAMED = 5;

async function* again<T>(
  first: IteratorResult<T, unknown>,
  rest: AsyncGenerator<T>,
): AsyncGenerator<T> {
  if (first.done === true) return;
  yield first.value;
  yield* rest;
}

async function print(
  changes: AsyncGenerator<RecordedChange>,
  head: Omit<Log.Document, 'data'>,
  query: LogQuery,
  { format }: LogFlags,
  context: Context,
): Promise<void> {
  const { terminal } = context;
  const { out, render } = terminal;
  if (format === 'json') return streamJson(head, changes, context);
  const isField = query.field !== undefined;
  let count = 0;
  for await (const change of changes) {
    if (format === 'markdown')
      out(`${count === 0 ? MARKDOWN_HEAD : ''}${renderRow(change, isField)}`);
    else out(renderChange(change, isField, render));
    count += 1;
  }
  const { missing } = head.history;
  const total = count === 0 ? 'No change is recorded.' : `${formatCount(count, 'change')}.`;
  const summary = missing === null ? total : `${total} ${missing}`;
  if (format === 'markdown') out(`\n${summary}\n`);
  else
    out(
      count === 0
        ? sentence(summary, render)
        : paint([[], ...wrap([span(summary)], render.width, 0)], render.color),
    );
}

/** The beginning of a text that names resources: the kind, as many names as it has, and the key of a row. */
const NAMED = /^[a-z_]+(?:\.[A-Za-z_][A-Za-z0-9_-]*)?/;
const ROW = /^\[(?:"(?:[^"\\]|\\.)*"|[^\]"]*)\]/;

/** `agent.clinic["harbor"].greeting_message` as address and field. A shell takes the quotes out of the key. */
function parseWanted(given: string): Pick<LogQuery, 'address' | 'field'> {
  const first = given.split(/[.[*]/)[0] ?? '';
  const kind = kinds.find(
    ({ name, section, nested }) => name === first || (section === first && nested === undefined),
  );
  if (kind === undefined)
    throw new CallsheetError('usage', `${given} begins with no kind of resource`, {
      hint: didYouMean(
        first,
        kinds.map(({ name }) => name),
        `An address is KIND.NAME, such as agent.reception; kinds are ${kinds.map(({ name }) => name).join(', ')}.`,
      ),
    });
  const text = `${kind.name}${given.slice(first.length)}`;
  if (text.endsWith('*')) return { address: text };
  const block = NAMED.exec(text)?.[0] ?? kind.name;
  const inner =
    kind.nested === undefined
      ? ''
      : (/^\.[A-Za-z_][A-Za-z0-9_-]*/.exec(text.slice(block.length))?.[0] ?? '');
  const named = `${block}${inner}`;
  const row = ROW.exec(text.slice(named.length))?.[0] ?? '';
  const key = row === '' || row.startsWith('["') ? row : `[${JSON.stringify(row.slice(1, -1))}]`;
  const rest = text.slice(named.length + row.length);
  const path = rest.startsWith('.') ? parsePath(rest.slice(1)) : undefined;
  if (rest !== '' && path === undefined)
    throw new CallsheetError('usage', `${given} is no address with a field behind it`, {
      hint: 'Write ADDRESS.FIELD, such as agent.reception.greeting_message.',
    });
  const address = `${named}${key}`;
  return path === undefined ? { address } : { address, field: platformPath(kind, path) };
}

/** A field that nothing changed in, and that there is not, is a slip. */
function refuseNoField({ address, field }: LogQuery): void {
  if (address === undefined || field === undefined || field[0] === 'unchecked') return;
  const found = explainField(formatPath([getKind(address), ...field]), kinds);
  if ('message' in found) throw new CallsheetError('usage', found.message, { hint: found.hint });
}

/**
 * The identifiers that an address has in the state or, of what was removed or renamed, had in the newest receipt that
 * names it: by those it is followed under its other addresses. Throws `CallsheetError('usage')` where none names it.
 */
async function findIds(
  address: Address | undefined,
  { journals, resources }: Receipts,
): Promise<readonly string[]> {
  if (address === undefined) return [];
  const known = new Set(Object.keys(resources));
  const own = chosen(address, resources).map(([, { id }]) => id);
  if (own.length > 0) return own;
  for await (const { entries = [] } of journals()) {
    for (const { line, movedFrom, ids } of listReceipts(entries)) {
      const names = [line.address, ...(movedFrom === undefined ? [] : [movedFrom])];
      if (names.some((name) => matchesAddress(address, name))) return ids;
      for (const name of names) known.add(name);
    }
  }
  throw new CallsheetError('usage', `no run of this stack ever had ${address}`, {
    hint: didYouMean(address, known, '`callsheet log` shows the changes of the whole stack.'),
  });
}

function chosen(address: Address, resources: State['resources']) {
  return Object.entries(resources).filter(([one]) => matchesAddress(address, one));
}

/** Resources whose history and present texts are asked for: two requests each. */
const MOST_ASKED = 20;
/** Entries of each: the most that a list gives (Limits). */
const MOST_ENTRIES = 100;

/** The histories of the resources that are asked for, and why some are missing. */
async function askHistories(
  address: Address | undefined,
  flags: CommonFlags,
  { resources }: Receipts,
  context: Context,
): Promise<{ readonly histories: LogSources['histories']; readonly missing?: string }> {
  if (address === undefined)
    return {
      histories: [],
      missing: `Edits that no run overwrote are listed for an address: ${ASK}`,
    };
  const asked = chosen(address, resources).filter(
    ([, { kind }]) => kindNamed(kind).history !== undefined,
  );
  if (asked.length === 0) return { histories: [] };
  if (asked.length > MOST_ASKED)
    return {
      histories: [],
      missing: `Edits that no run overwrote are listed for ${MOST_ASKED} resources at most, not for ${asked.length}: ${ASK}`,
    };
  try {
    const histories = await withPlatform(flags, context, ({ client }) => {
      const reader = createReader(client);
      return Promise.all(
        asked.map(async ([at, { kind: name, id, scope }]): Promise<ResourceHistory> => {
          const kind = kindNamed(name);
          const [entries, live] = await Promise.all([
            readNewest({ kind, id }, { reader }, MOST_ENTRIES),
            reader.read(kind, { id, scope }, new Set()),
          ]);
          const texts = live === undefined ? [] : listTexts(kind, live.document);
          return { address: at, kind: name, id, entries, texts };
        }),
      );
    });
    return { histories };
  } catch (error) {
    // Receipts tell what runs did, with the platform or without it.
    if (!(error instanceof CallsheetError) || context.stop.aborted) throw error;
    return {
      histories: [],
      missing: `Edits that no run overwrote are missing, as the platform's history could not be read: ${errorMessage(error)}.`,
    };
  }
}

/** The texts that the files have now; none where they are not sound, which hides no receipt. */
async function readTexts(flags: CommonFlags, context: Context): Promise<readonly string[]> {
  const { stack } = await loadStack({ ...loadOptions(flags, context), secrets: 'skip' });
  return (stack?.resources ?? []).flatMap(({ kind, document }) =>
    listTexts(kindNamed(kind), document),
  );
}

const ASK = '`callsheet log ADDRESS`.';

import { createHash } from 'node:crypto';
import { basename } from 'node:path';
import { TextDecoder } from 'node:util';
import { isAddress } from '../core/address.ts';
import { checkLevels, DOCUMENT_LEVELS, Excess } from '../core/bounds.ts';
import { isList, isObject, type Json, type JsonObject } from '../core/value.ts';
import { kinds } from '../kinds/index.ts';
import type { Bytes } from './container.ts';
import {
  type ContentRecord,
  damaged,
  type End,
  type Header,
  type Line,
  noSnapshot,
  type SameRecord,
  tooNew,
  VERSION,
} from './format.ts';

/** Text is handed on in pieces of about this size. */
const PIECE = 64 * 1024;
/** Longer than any record: an agent's prompt and settings are a small part of it. */
const LONGEST_LINE = 64 * 1024 * 1024;

/** A record between header and end. */
export type Body = ContentRecord | SameRecord;

/** Counts what goes by, for the end. */
function createTally() {
  const hash = createHash('sha256');
  const records: Record<string, number> = {};
  const resources: Record<string, number> = {};
  let withheld = 0;
  return {
    line: (text: string) => hash.update(text).update('\n'),
    record(one: Body) {
      records[one.type] = (records[one.type] ?? 0) + 1;
      const kind = kindIn(one);
      if (kind !== undefined) resources[kind] = (resources[kind] ?? 0) + 1;
      if (one.type === 'resource') withheld += one.withheld.length;
    },
    end: (): End => ({
      type: 'end',
      records,
      resources,
      withheld,
      sha256: `sha256:${hash.copy().digest('hex')}`,
    }),
  };
}

function kindIn(one: Body): string | undefined {
  if (one.type === 'resource') return one.kind;
  if (one.type !== 'same') return undefined;
  const [type, kind] = one.key.split(' ');
  return type === 'resource' ? kind : undefined;
}

/** The lines of a snapshot as bytes. `onEnd` gets the last one. */
export async function* writeLines(
  header: Header,
  body: AsyncIterable<Body>,
  onEnd: (end: End) => void,
): AsyncGenerator<Buffer> {
  const tally = createTally();
  let piece = '';
  const add = (line: Line) => {
    const text = JSON.stringify(line);
    tally.line(text);
    piece += `${text}\n`;
  };
  add(header);
  for await (const record of body) {
    tally.record(record);
    add(record);
    if (piece.length < PIECE) continue;
    yield Buffer.from(piece);
    piece = '';
  }
  const end = tally.end();
  onEnd(end);
  yield Buffer.from(`${piece}${JSON.stringify(end)}\n`);
}

/**
 * The header of a snapshot, every record, and the end, once all of it came as it was written. Throws
 * `CallsheetError('usage')` for what is cut off, changed, newer or something else.
 */
export async function* readLines(file: string, bytes: Bytes): AsyncGenerator<Line> {
  const tally = createTally();
  let header: Header | undefined;
  let end: End | undefined;
  for await (const text of textLines(file, bytes)) {
    if (end !== undefined) throw damaged(file, 'something follows its end');
    const line = parseLine(file, text, header !== undefined);
    if (header === undefined) {
      header = headerIn(file, line);
      tally.line(text);
      yield header;
      continue;
    }
    if (line.type === 'end') {
      const recordedEnd = line as unknown as End;
      if (recordedEnd.sha256 !== tally.end().sha256) {
        throw damaged(file, 'its contents were changed after they were written');
      }
      end = recordedEnd;
      continue;
    }
    // Its digest is checked at the end.
    const record = line as unknown as Body;
    tally.line(text);
    tally.record(record);
    yield record;
  }
  if (header === undefined) throw noSnapshot(file);
  if (end === undefined) throw damaged(file, 'its end is missing, so it was cut off');
  yield end;
}

const TYPES = new Set<unknown>([
  'resource',
  'organization',
  'answer',
  'list',
  'media',
  'gap',
  'same',
  'end',
]);

function parseLine(file: string, text: string, isBegun: boolean) {
  let value: Json;
  try {
    value = JSON.parse(text);
    checkLevels(value, DOCUMENT_LEVELS);
  } catch (cause) {
    const why = cause instanceof Excess ? `has ${cause.what}` : 'is not JSON';
    throw isBegun ? damaged(file, `a record in it ${why}`, cause) : noSnapshot(file);
  }
  if (!isObject(value)) throw isBegun ? damaged(file, 'a record in it is none') : noSnapshot(file);
  if (isBegun && !TYPES.has(value.type)) throw damaged(file, 'it holds a record of no known type');
  if (isBegun) checkShape(file, value);
  return value;
}

function checkShape(file: string, line: JsonObject): void {
  const member = misshapenMember(line);
  if (member === null) return;
  const id = typeof line.id === 'string' ? ` of ${line.id}` : '';
  throw damaged(file, `a record of type ${line.type}${id} has no ${member} that can be read`);
}

function headerIn(file: string, line: ReturnType<typeof parseLine>): Header {
  const { type, format, version, platform } = line;
  const isOurs = type === 'header' && format === 'callsheet-snapshot';
  if (!isOurs || typeof version !== 'number') throw noSnapshot(file);
  if (version > VERSION) throw tooNew(file, version, VERSION);
  if (!isObject(platform)) throw damaged(file, 'its header does not name its platform');
  checkShape(file, line);
  return line as unknown as Header;
}

async function* textLines(file: string, bytes: Bytes): AsyncGenerator<string> {
  const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
  let rest = '';
  for await (const piece of bytes) {
    const text = decode(file, decoder, piece);
    let from = 0;
    for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', from)) {
      yield rest + text.slice(from, at);
      rest = '';
      from = at + 1;
    }
    rest += text.slice(from);
    if (rest.length > LONGEST_LINE) throw damaged(file, 'a line of it never ends');
  }
  if (rest !== '') throw damaged(file, 'its last line is cut off');
}

function decode(file: string, decoder: TextDecoder, piece: Uint8Array): string {
  try {
    return decoder.decode(piece, { stream: true });
  } catch (cause) {
    throw damaged(file, 'it holds bytes that are no text', cause);
  }
}

type Check = (value: Json | undefined) => boolean;

const text: Check = (value) => typeof value === 'string';
const count: Check = (value) => Number.isInteger(value) && Number(value) >= 0;
const map: Check = (value) => isObject(value);
const orNull =
  (check: Check): Check =>
  (value) =>
    value === null || check(value);
const texts: Check = (value) => isList(value) && value.every(text);
const scope: Check = (value) => isObject(value) && Object.values<Json>(value).every(text);
const kind: Check = (value) => kinds.some(({ name }) => name === value);
const address: Check = (value) => typeof value === 'string' && isAddress(value);
/** Only `leaves` is relied on. */
const resourceState: Check = (value) => isObject(value) && isObject(value.leaves);
/** A base is looked for beside the file and nowhere else. */
const base: Check = (value) =>
  isObject(value) &&
  [value.file, value.id, value.sha256].every(text) &&
  basename(String(value.file)) === value.file;
const platform: Check = (value) =>
  isObject(value) && text(value.base_url) && text(value.account_id);

/**
 * Members of each type of line that readers rely on. The digest proves that a file is as it was written; these checks
 * refuse one that was written by hand, or by a Callsheet that knows more kinds. They ask for no more than is needed, so
 * that no backup is refused for a detail.
 */
const SHAPES: { readonly [type: string]: { readonly [member: string]: Check } } = {
  header: {
    id: text,
    made_at: text,
    made_by: text,
    platform,
    stack: orNull(map),
    base: orNull(base),
  },
  resource: {
    kind,
    id: text,
    scope,
    record: map,
    facets: map,
    certain: (value) => value === undefined || value === true,
    history: orNull(map),
    withheld: texts,
    address: orNull(address),
    state: orNull(resourceState),
  },
  organization: { id: text, name: orNull(text), reseller_id: orNull(text) },
  answer: { operation: text, organization_id: orNull(text), reseller_id: orNull(text) },
  list: { kind, scope },
  media: {
    sha256: text,
    name: text,
    mime: text,
    size: count,
    part: count,
    parts: count,
    data: text,
  },
  gap: { of: text, why: text },
  same: { key: text, digest: text },
  end: { records: map, resources: map, sha256: text },
};

/** The member of a line that is not what its type of line has; null where all are. */
function misshapenMember(line: JsonObject): string | null {
  const shape = SHAPES[String(line.type)] ?? {};
  const found = Object.entries(shape).find(([member, isSound]) => !isSound(line[member]));
  return found?.[0] ?? null;
}

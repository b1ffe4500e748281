import { gunzipSync, gzipSync } from 'node:zlib';
import { foreignState, NewerDocument } from '../state/failures.ts';
import { isRecord } from '../state/shape.ts';
import { parseTicket, type Ticket } from '../state/ticket.ts';

/**
 * The one document that a store keeps which can put a document in the place of another, and nothing else.
 * Since it is replaced as a whole, each change is one step. Large texts may lie elsewhere (`at`): they are
 * there before the document names them.
 */
export type Document = {
  readonly format: 'callsheet-remote-state';
  readonly version: 1;
  /** Counts the writes, heartbeats among them; servers that keep versions tell them apart by it. */
  readonly serial: number;
  readonly lineage: string;
  readonly ticket: Ticket | null;
  readonly state: Part | null;
  readonly open: readonly Journal[];
  /** Newest last. */
  readonly finished: readonly Journal[];
  readonly aside: readonly { readonly name: string; readonly parts: readonly Part[] }[];
};

export type Journal = { readonly run: string; readonly parts: readonly Part[] };

export type Part = { readonly text: string } | { readonly gz: string } | { readonly at: string };

const VERSION = 1;

export const EMPTY: Document = {
  format: 'callsheet-remote-state',
  version: VERSION,
  serial: 0,
  lineage: '',
  ticket: null,
  state: null,
  open: [],
  finished: [],
  aside: [],
};

/**
 * The document in a text. What is no JSON any more is taken for the text of a damaged state, so that a repair can
 * set it aside. Throws `CallsheetError('state')` for another program's document and for a newer one.
 */
export function parseDocument(text: string, location: string): Document {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return { ...EMPTY, state: { text } };
  }
  if (!isRecord(value) || value.format !== EMPTY.format)
    throw foreignState(location, 'there is some other document');
  const { version } = value;
  if (typeof version === 'number' && version > VERSION)
    throw new NewerDocument(location, version, VERSION);
  return isDocument(value) ? value : { ...EMPTY, state: { text } };
}

function isDocument(value: { readonly [name: string]: unknown }): value is Document {
  const { version, serial, lineage, ticket, state, open, finished, aside } = value;
  return (
    version === VERSION &&
    typeof serial === 'number' &&
    typeof lineage === 'string' &&
    (ticket === null || parseTicket(JSON.stringify(ticket)) !== undefined) &&
    (state === null || isPart(state)) &&
    [open, finished].every((journals) => isListOf(journals, (one) => isNamed(one, 'run'))) &&
    isListOf(aside, (one) => isNamed(one, 'name'))
  );
}

function isNamed(value: unknown, name: string): boolean {
  return isRecord(value) && typeof value[name] === 'string' && isListOf(value.parts, isPart);
}

function isPart(value: unknown): value is Part {
  return isRecord(value) && [value.text, value.gz, value.at].some((one) => typeof one === 'string');
}

function isListOf(value: unknown, is: (one: unknown) => boolean): boolean {
  return Array.isArray(value) && value.every(is);
}

/** Characters of a text that is put together from pieces. */
const MOST_TOGETHER = 64 * 1024 * 1024;

/** The same text in few pieces, none of which is too large for a string or for one answer. */
export function inFew(pieces: readonly string[]): readonly string[] {
  const few: string[] = [];
  let text = '';
  for (const piece of pieces) {
    if (text !== '' && text.length + piece.length > MOST_TOGETHER) {
      few.push(text);
      text = '';
    }
    text += piece;
  }
  return [...few, text];
}

export function zip(text: string): Part {
  return { gz: gzipSync(text).toString('base64') };
}

/** A text that stands in the document itself; undefined where it lies elsewhere. */
export function inlineText(part: Part): string | undefined {
  if ('text' in part) return part.text;
  return 'gz' in part ? gunzipSync(Buffer.from(part.gz, 'base64')).toString('utf8') : undefined;
}

/** Where the texts lie that a document names. */
export function placesIn({ state, open, finished, aside }: Document): ReadonlySet<string> {
  const parts = [state, ...[...open, ...finished, ...aside].flatMap((one) => one.parts)];
  return new Set(parts.flatMap((part) => (part !== null && 'at' in part ? part.at : [])));
}

import { createHash, randomUUID } from 'node:crypto';
import { CallsheetError } from '../core/errors.ts';
import type { Json, Blob as StackFile } from '../core/value.ts';
import type { Call } from '../kinds/kind.ts';
import type { Operation } from './operation.ts';

/** The path of a call, with its parameters filled in. */
export function pathOf(operation: Operation, { path = {} }: Pick<Call, 'path'>): string {
  return operation.path.replace(/\{(\w+)\}/g, (_, name: string) => {
    const value = path[name];
    if (value === undefined || value === '') throw new Error(`${operation.path} needs ${name}`);
    // Dots survive encoding, and the URL parser would climb up a level for them.
    if (/^\.\.?$/.test(value)) {
      throw new CallsheetError('api', `${JSON.stringify(value)} is no ${name}`);
    }
    return encodeURIComponent(value);
  });
}

/** The query of a call with its question mark; empty where there is none. */
export function queryOf({ query }: Pick<Call, 'query'>): string {
  if (query === undefined) return '';
  const text = new URLSearchParams(Object.entries(query).flatMap(pairsOf)).toString();
  return text === '' ? '' : `?${text}`;
}

function pairsOf([name, value]: readonly [string, string | readonly string[]]): readonly [
  string,
  string,
][] {
  if (typeof value === 'string') return [[name, value]];
  return name.endsWith('[]')
    ? value.map((one): [string, string] => [name, one])
    : [[name, value.join(',')]];
}

/** What a call sends, and the headers that describe it. */
type Content = {
  readonly body?: string | AsyncIterable<Uint8Array>;
  readonly headers: { readonly [name: string]: string };
};

/** The body of a call. Throws where a file of it changed. */
export async function contentOf(wanted: Call, openFile: OpenFile): Promise<Content> {
  if (wanted.form !== undefined) return encodeForm(wanted.form, openFile);
  if (wanted.body === undefined) return { headers: {} };
  return {
    body: JSON.stringify(wanted.body),
    headers: { 'content-type': 'application/json' },
  };
}

/** What a call's body says, for whoever writes it down: a file is only named. */
export function statedBody({ body, form }: Call): Json | undefined {
  if (form === undefined) return body;
  const files = Object.entries(form.files).map(([name, { path, size, mime }]) => [
    name,
    `(${path}, ${mime}, ${size} bytes)`,
  ]);
  return { ...form.fields, ...Object.fromEntries(files) };
}

type Part = { readonly length: number; readonly bytes: () => AsyncIterable<Uint8Array> };

/** A form as `multipart/form-data` (RFC 7578), whose files are read while it is sent. Throws where one of them changed. */
async function encodeForm(
  { fields, files }: NonNullable<Call['form']>,
  openFile: OpenFile,
): Promise<Content> {
  const boundary = `callsheet-${randomUUID()}`;
  const parts: Part[] = Object.entries(fields).map(([name, value]) =>
    text(`--${boundary}\r\n${disposition(name)}\r\n\r\n${value}\r\n`),
  );
  for (const [name, file] of Object.entries(files)) {
    const content = await openUnchanged(file, openFile);
    const title = disposition(name, file.path.split('/').at(-1));
    parts.push(
      text(`--${boundary}\r\n${title}\r\nContent-Type: ${file.mime}\r\n\r\n`),
      { length: content.size, bytes: () => readUnchanged(file, content) },
      text('\r\n'),
    );
  }
  parts.push(text(`--${boundary}--\r\n`));
  const length = parts.reduce((sum, part) => sum + part.length, 0);
  return {
    body: concatenate(parts),
    headers: {
      'content-type': `multipart/form-data; boundary=${boundary}`,
      'content-length': String(length),
    },
  };
}

async function* concatenate(parts: readonly Part[]): AsyncGenerator<Uint8Array, void, undefined> {
  for (const { bytes } of parts) yield* bytes();
}

function text(content: string): Part {
  const bytes = new TextEncoder().encode(content);
  return {
    length: bytes.length,
    bytes: async function* () {
      yield bytes;
    },
  };
}

function disposition(name: string, file?: string): string {
  const named = `Content-Disposition: form-data; name="${escaped(name)}"`;
  return file === undefined ? named : `${named}; filename="${escaped(file)}"`;
}

/** What would end a quoted name, as browsers write it. */
function escaped(name: string): string {
  return name.replaceAll('\n', '%0A').replaceAll('\r', '%0D').replaceAll('"', '%22');
}

/** Opens a file of the stack, without reading it yet. */
export type OpenFile = (file: StackFile) => Promise<FileContent>;

/** A file's content, such as `fs.openAsBlob` gives it. */
export type FileContent = {
  /** Bytes. */
  readonly size: number;
  readonly stream: () => AsyncIterable<Uint8Array>;
};

/**
 * Opens a file whose size was announced. Throws `CallsheetError('stale')` where it is gone or has another
 * one by now.
 */
export async function openUnchanged(file: StackFile, openFile: OpenFile): Promise<FileContent> {
  const content = await openFile(file).catch((cause: unknown) => {
    throw changed(file, 'it can no longer be opened', cause);
  });
  if (content.size === file.size) return content;
  throw changed(file, `${file.size} bytes before, ${content.size} now`);
}

/**
 * A file's bytes, read as they are sent. They are hashed on the way, and the last of them are held back
 * until the hash is known: of a file that changed, nobody receives the whole. Throws
 * `CallsheetError('stale')` then.
 */
export async function* readUnchanged(
  file: StackFile,
  content: FileContent,
): AsyncGenerator<Uint8Array, void, undefined> {
  const hash = createHash('sha256');
  let held: Uint8Array | undefined;
  try {
    for await (const chunk of content.stream()) {
      hash.update(chunk);
      if (held !== undefined) yield held;
      held = chunk;
    }
  } catch (cause) {
    throw changed(file, 'it can no longer be read', cause);
  }
  if (hash.digest('hex') !== file.sha256) throw changed(file, 'its content is another one');
  if (held !== undefined) yield held;
}

function changed(file: StackFile, how: string, cause?: unknown): CallsheetError {
  return new CallsheetError('stale', `${file.path} changed while it was used: ${how}`, {
    hint: 'The upload did not complete. Plan again, review, and apply the new plan.',
    ...(cause === undefined ? {} : { cause }),
  });
}

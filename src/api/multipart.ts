import { randomUUID } from 'node:crypto';
import type { Call } from '../kinds/kind.ts';
import { type OpenFile, openUnchanged, readUnchanged } from './files.ts';

/** A form as it goes over the wire: its files are read while it is sent. */
export type Multipart = {
  /** With the boundary. */
  readonly type: string;
  /** Bytes. */
  readonly length: number;
  readonly body: AsyncIterable<Uint8Array>;
};

type Part = { readonly length: number; readonly bytes: () => AsyncIterable<Uint8Array> };

/** Encodes a form as `multipart/form-data` (RFC 7578). Throws where a file of it changed. */
export async function encodeForm(
  { fields, files }: NonNullable<Call['form']>,
  openFile: OpenFile,
): Promise<Multipart> {
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
  return {
    type: `multipart/form-data; boundary=${boundary}`,
    length: parts.reduce((sum, { length }) => sum + length, 0),
    body: concatenate(parts),
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

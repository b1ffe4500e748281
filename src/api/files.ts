import { createHash } from 'node:crypto';
import { CallsheetError } from '../core/errors.ts';
import type { Blob as StackFile } from '../core/value.ts';

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
    throw changed(file, 'it cannot be opened any more', cause);
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
    throw changed(file, 'it cannot be read any more', cause);
  }
  if (hash.digest('hex') !== file.sha256) throw changed(file, 'its content is another one');
  if (held !== undefined) yield held;
}

function changed(file: StackFile, how: string, cause?: unknown): CallsheetError {
  return new CallsheetError('stale', `${file.path} changed while it was used: ${how}`, {
    hint: 'It was not sent whole. Plan again, review, and apply the new plan.',
    ...(cause === undefined ? {} : { cause }),
  });
}

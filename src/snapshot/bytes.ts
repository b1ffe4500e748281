import { pipeline, Readable, type Transform } from 'node:stream';

/** Bytes as they come. */
export type Bytes = AsyncIterable<Uint8Array>;

/** What comes out of a stream that bytes are sent through. */
export async function* through(source: Bytes, transform: Transform): AsyncGenerator<Buffer> {
  // What fails on the way fails the iteration too.
  yield* pipeline(Readable.from(source), transform, () => {});
}

/** Cuts bytes into pieces of one size; the last one is what is left, and may be empty. Each knows whether it is it. */
export async function* inChunks(
  source: Bytes,
  size: number,
): AsyncGenerator<{ readonly chunk: Buffer; readonly isLast: boolean }> {
  let kept: Buffer[] = [];
  let length = 0;
  for await (const piece of source) {
    kept.push(Buffer.from(piece.buffer, piece.byteOffset, piece.byteLength));
    length += piece.byteLength;
    if (length <= size) continue;
    const all = Buffer.concat(kept);
    let at = 0;
    // A full piece is only given once something follows it: otherwise it is the last.
    for (; length - at > size; at += size)
      yield { chunk: all.subarray(at, at + size), isLast: false };
    kept = [all.subarray(at)];
    length -= at;
  }
  yield { chunk: Buffer.concat(kept), isLast: true };
}

/** The first bytes, and everything from the beginning: to look at what something is before it is read. */
export async function peek(
  source: Bytes,
  least: number,
): Promise<{ readonly head: Buffer; readonly all: Bytes }> {
  const iterator = source[Symbol.asyncIterator]();
  const seen: Uint8Array[] = [];
  let length = 0;
  let ended = false;
  while (length < least && !ended) {
    const { done, value } = await iterator.next();
    ended = done === true;
    if (done === true) break;
    seen.push(value);
    length += value.byteLength;
  }
  async function* again(): AsyncGenerator<Uint8Array> {
    try {
      yield* seen;
      for (;;) {
        const { done, value } = await iterator.next();
        if (done === true) return;
        yield value;
      }
    } finally {
      await iterator.return?.();
    }
  }
  return { head: Buffer.concat(seen), all: again() };
}

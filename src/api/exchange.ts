import { Readable } from 'node:stream';
import type { Dispatcher } from 'undici';
import { whenAborted } from './break-off.ts';
import type { WireRequest } from './transport.ts';

/** An answer as it came. */
export type RawAnswer = {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
};

/** Where a request goes. */
export type Target = { readonly origin: string; readonly path: string };

/** Of other statuses another answer follows. */
const FIRST_FINAL_STATUS = 200;
const BYTE_ORDER_MARK = Buffer.from([0xef, 0xbb, 0xbf]);

/**
 * Sends a request and takes its whole answer. The dispatcher hands over the pieces of the body as they come:
 * every answer is read to its end anyway, and a stream in between costs as much again as all the rest.
 */
export function exchange(
  dispatcher: Dispatcher,
  { origin, path }: Target,
  { method, headers, body, signal }: WireRequest,
): Promise<RawAnswer> {
  return new Promise((resolve, reject) => {
    const pieces: Buffer[] = [];
    let status = 0;
    let received: RawAnswer['headers'] = {};
    let forget = () => {};
    dispatcher.dispatch(
      {
        origin,
        path,
        method,
        headers,
        body: body === undefined || typeof body === 'string' ? (body ?? null) : Readable.from(body),
      },
      {
        onRequestStart(controller) {
          // Sent once more over another connection, it starts again.
          forget();
          if (signal === undefined) return;
          const breakOff = () => controller.abort(reasonOf(signal));
          if (signal.aborted) breakOff();
          else forget = whenAborted(signal, breakOff);
        },
        onResponseStart(_, code, given) {
          if (code < FIRST_FINAL_STATUS) return;
          status = code;
          received = given;
        },
        onResponseData(_, piece) {
          pieces.push(piece);
        },
        onResponseEnd() {
          forget();
          resolve({ status, headers: received, text: textOf(pieces) });
        },
        onResponseError(_, error) {
          forget();
          reject(error);
        },
      },
    );
  });
}

function reasonOf({ reason }: AbortSignal): Error {
  return reason instanceof Error ? reason : new Error('broken off');
}

function textOf(pieces: readonly Buffer[]): string {
  const [first, ...others] = pieces;
  if (first === undefined) return '';
  const all = others.length === 0 ? first : Buffer.concat(pieces);
  const isMarked = all.subarray(0, BYTE_ORDER_MARK.length).equals(BYTE_ORDER_MARK);
  return all.toString('utf8', isMarked ? BYTE_ORDER_MARK.length : 0);
}

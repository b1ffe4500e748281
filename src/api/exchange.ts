import { Readable } from 'node:stream';
import type { Dispatcher } from 'undici';
import { beyondLimit, MOST_BYTES_UNDER_WAY, MOST_PIECES, megabytes } from './bounds.ts';
import { whenAborted } from './break-off.ts';
import { TooSlow } from './network-error.ts';
import type { WireRequest } from './transport.ts';

/** An answer as it came. */
export type RawAnswer = {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly bytes: Buffer;
};

/** Where a request goes. */
export type Target = { readonly origin: string; readonly path: string };

/** Of other statuses another answer follows. */
const FIRST_FINAL_STATUS = 200;
const BYTE_ORDER_MARK = Buffer.from([0xef, 0xbb, 0xbf]);

/** What an answer may take. */
export type Allowance = {
  /** Milliseconds from its first byte to its last, as long as it is read. */
  readonly time: number;
  /** Bytes of its body. */
  readonly bytes: number;
  /** Shared with the other answers that come in at the same time. */
  readonly intake: Intake;
};

/**
 * Sends a request and takes its whole answer. The dispatcher hands over the pieces of the body as they come:
 * every answer is read to its end anyway, and a stream in between costs as much again as all the rest.
 */
export function exchange(
  dispatcher: Dispatcher,
  { origin, path }: Target,
  wire: WireRequest,
  { time, bytes: most, intake }: Allowance,
): Promise<RawAnswer> {
  const { method, headers, body, signal } = wire;
  return new Promise((resolve, reject) => {
    let pieces: Buffer[] = [];
    let size = 0;
    let status = 0;
    let received: RawAnswer['headers'] = {};
    let forget = () => {};
    let timer: NodeJS.Timeout | undefined;
    let reading: Reading | undefined;
    const end = () => {
      forget();
      clearTimeout(timer);
      if (reading !== undefined) intake.end(reading);
      reading = undefined;
    };
    const begin = (controller: Dispatcher.DispatchController): Reading => {
      const watch = () => {
        timer = setTimeout(() => controller.abort(new TooSlow(time, size)), time);
      };
      watch();
      return intake.begin({
        pause() {
          clearTimeout(timer);
          controller.pause();
        },
        resume() {
          watch();
          controller.resume();
        },
      });
    };
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
          end();
          pieces = [];
          size = 0;
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
        onResponseData(controller, piece) {
          size += piece.length;
          if (size > most || pieces.length >= MOST_PIECES) {
            pieces = [];
            controller.abort(tooLarge(wire, size, most));
            return;
          }
          pieces.push(piece);
          reading ??= begin(controller);
          intake.take(reading, piece.length);
        },
        onResponseEnd() {
          end();
          resolve({ status, headers: received, bytes: joined(pieces) });
        },
        onResponseError(_, error) {
          end();
          reject(error);
        },
      },
    );
  });
}

function tooLarge(line: WireRequest, size: number, most: number): Error {
  const limit = `at most ${megabytes(most)} in one answer`;
  return size > most
    ? beyondLimit(line, `more than ${megabytes(most)}`, limit)
    : beyondLimit(line, `its body in more than ${MOST_PIECES} pieces`, limit);
}

/** How the reading of one answer is held up. */
type Hold = { readonly pause: () => void; readonly resume: () => void };
type Reading = Hold & { bytes: number; isPaused: boolean };

/**
 * Takes in answers that come at the same time. When they come to too much together, only the one that came first is
 * read on until it is whole: each of them may be large, and all of them at once must not be.
 */
export type Intake = {
  readonly begin: (hold: Hold) => Reading;
  readonly take: (reading: Reading, bytes: number) => void;
  readonly end: (reading: Reading) => void;
};

export function createIntake(most = MOST_BYTES_UNDER_WAY): Intake {
  const readings = new Set<Reading>();
  let held = 0;
  const isFirst = (reading: Reading) => readings.values().next().value === reading;
  const readOn = () => {
    for (const reading of [...readings]) {
      if (!reading.isPaused || (held > most && !isFirst(reading))) continue;
      reading.isPaused = false;
      reading.resume();
    }
  };
  return {
    begin(hold) {
      const reading = { ...hold, bytes: 0, isPaused: false };
      readings.add(reading);
      return reading;
    },
    take(reading, bytes) {
      reading.bytes += bytes;
      held += bytes;
      if (held <= most || isFirst(reading)) return;
      reading.isPaused = true;
      reading.pause();
    },
    end(reading) {
      if (!readings.delete(reading)) return;
      held -= reading.bytes;
      // One parser cannot go on while another one is at work, as it is where an answer ends.
      setImmediate(readOn);
    },
  };
}

function reasonOf({ reason }: AbortSignal): Error {
  return reason instanceof Error ? reason : new Error('broken off');
}

function joined(pieces: readonly Buffer[]): Buffer {
  const [first] = pieces;
  return first !== undefined && pieces.length === 1 ? first : Buffer.concat(pieces);
}

/** The text of a body, without a mark of its byte order. */
export function textOf(bytes: Buffer): string {
  const isMarked = bytes.subarray(0, BYTE_ORDER_MARK.length).equals(BYTE_ORDER_MARK);
  return bytes.toString('utf8', isMarked ? BYTE_ORDER_MARK.length : 0);
}

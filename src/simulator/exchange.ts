import { setTimeout as wait } from 'node:timers/promises';
import type { Answer } from './answer.ts';
import type { Ending } from './delivery.ts';
import { failure } from './failures.ts';
import type { Fault } from './faults.ts';
import type { Performed } from './perform.ts';
import type { Platform } from './platform.ts';

/** What a request came to after everything that befell it. */
type Exchange = Performed & {
  readonly ending: Ending;
  /** How long silence lasts, where nothing else ends it. */
  readonly hangMs: number;
};

/** What lies at presigned addresses. */
const PRESIGNED = ['upload', 'recording'];

/** Milliseconds that a request hangs that nobody gives up on. */
const HANG_MS = 60_000;

/** Does the work of a request, unless the rate limit or a fault keeps it from being done. */
export async function exchange(
  platform: Platform,
  target: Request,
  work: () => Promise<Performed>,
): Promise<Exchange> {
  const { operation } = target;
  // Presigned addresses belong to an object store, which has limits of its own.
  if (PRESIGNED.includes(operation)) return undergo(platform, target, work);
  const entry = platform.limiter.enter();
  if (entry.refused === undefined) return undergo(platform, target, work).finally(entry.leave);
  if (platform.latencyMs > 0) await wait(platform.latencyMs);
  const answer = { ...failure(platform.dialect, operation, 429), headers: entry.refused };
  return { answer, ending: 'whole', hangMs: HANG_MS };
}

type Request = { readonly operation: string; readonly method: string; readonly path: string };

/** Does the work of a request that was let in, unless a fault strikes it. */
async function undergo(
  platform: Platform,
  target: Request,
  work: () => Promise<Performed>,
): Promise<Exchange> {
  const fault = platform.faults.strike(target);
  const delay = platform.latencyMs + (fault?.delayMs ?? 0);
  if (delay > 0) await wait(delay);
  if (fault === undefined) return { ...(await work()), ending: 'whole', hangMs: HANG_MS };
  if (fault.kill === 'before') platform.kill();
  const instead = substitute(platform, target.operation, fault);
  const performed = isDone(fault, instead) ? await work() : { answer: NOTHING };
  if (fault.kill === 'after') platform.kill();
  return {
    ...performed,
    answer: instead ?? performed.answer,
    ending: endingOf(fault),
    hangMs: fault.hangMs ?? HANG_MS,
  };
}

/** Stands for the answer of an operation that was not done. */
const NOTHING: Answer = { status: 0 };

function isDone(fault: Fault, instead: Answer | undefined): boolean {
  if ([fault.reset, fault.hang, fault.kill].includes('before')) return false;
  return instead === undefined || fault.done === true;
}

function substitute(
  { dialect }: Platform,
  operation: string,
  { status, body, text, headers = {} }: Fault,
): Answer | undefined {
  const type = headers['content-type'] ?? 'text/html';
  if (text !== undefined) return { status: status ?? 200, text, type, headers };
  if (body !== undefined) return { status: status ?? 200, body, headers };
  return status === undefined ? undefined : { ...failure(dialect, operation, status), headers };
}

function endingOf({ reset, hang, truncate, kill }: Fault): Ending {
  if (hang !== undefined) return 'never';
  if (reset === 'head') return 'head';
  if (reset !== undefined || kill !== undefined) return 'none';
  return truncate === true ? 'half' : 'whole';
}

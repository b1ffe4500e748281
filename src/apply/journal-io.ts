import { ApiError, describeApiError } from '../api/errors.ts';
import type { Address } from '../core/address.ts';
import { ConflictError } from '../core/errors.ts';
import type { PlannedOperation } from '../core/plan-document.ts';
import { isObject, type Json } from '../core/value.ts';
import type { Io } from '../kinds/kind.ts';
import type { RunDeps } from './deps.ts';
import type { RunEvent } from './events.ts';

export type JournalContext = {
  readonly address: Address;
  readonly id: string | null;
  readonly step: PlannedOperation['step'];
  readonly fields: readonly string[];
};

/**
 * Gives every request of a run its number and writes it down: the intent before it leaves, the outcome after.
 * `onTry` is told of every time that one is sent.
 */
export function createJournalIo(
  deps: RunDeps,
  onEvent: (event: RunEvent) => void,
): (context: JournalContext, onTry: () => void) => Io {
  let last = 0;

  async function journalled<T>(
    context: JournalContext,
    operation: string,
    send: () => Promise<T>,
    idOf: (answer: T) => string | null,
  ): Promise<T> {
    last += 1;
    const seq = last;
    const at = () => deps.now().toISOString();
    await deps.lease.append({ type: 'intent', seq, at: at(), operation, ...context });
    onEvent({ type: 'request_sent', address: context.address, operation, seq });
    const outcome = { type: 'outcome', seq } as const;
    let answer: T;
    try {
      answer = await send();
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      await deps.lease.append({ ...outcome, at: at(), ok: false, id: null, error: message });
      throw error;
    }
    await deps.lease.append({ ...outcome, at: at(), ok: true, id: idOf(answer), error: null });
    return answer;
  }

  return (context, onTry) => ({
    call: async (call) => {
      try {
        return await journalled(context, call.operation, () => deps.client.call(call, onTry), idIn);
      } catch (error) {
        throw asConflict(error) ?? error;
      }
    },
    upload: (url, file) =>
      journalled(
        context,
        'upload',
        () => deps.client.upload(url, file),
        () => null,
      ),
  });
}

/** What kinds can understand of a 409, as they know nothing of the wire. */
function asConflict(error: unknown): ConflictError | undefined {
  if (!(error instanceof ApiError) || error.status !== 409) return undefined;
  const options = error.hint === undefined ? { cause: error } : { cause: error, hint: error.hint };
  return new ConflictError(describeApiError(error), error.body, options);
}

/** The id that an answer gives to something new. */
function idIn(answer: Json): string | null {
  const data = isObject(answer) && isObject(answer.data) ? answer.data : {};
  const id = data.id ?? data.sourceId;
  return typeof id === 'string' ? id : null;
}

import { ApiError, describeApiError } from '../api/errors.ts';
import type { Address } from '../core/address.ts';
import { ConflictError } from '../core/errors.ts';
import type { PlannedOperation } from '../core/plan-document.ts';
import { isObject, type Json } from '../core/value.ts';
import type { Io } from '../kinds/kind.ts';
import type { IntentRecorded, OutcomeRecorded } from '../state/journal.ts';
import type { RunDeps } from './deps.ts';
import type { RunEvent } from './events.ts';

type JournalContext = {
  readonly address: Address;
  readonly id: string | null;
  readonly step: PlannedOperation['step'];
  readonly fields: readonly string[];
};

/** Who is told of the requests of one change. */
type Watch = {
  /** Every time that one is sent. */
  readonly onTry: () => void;
  /** What is written down of them. */
  readonly onEntry: (entry: IntentRecorded | OutcomeRecorded) => void;
};

/** Gives every request of a run its number and writes it down: the intent before it leaves, the outcome after. */
export function createJournalIo(
  deps: RunDeps,
  onEvent: (event: RunEvent) => void,
): (context: JournalContext, watch: Watch) => Io {
  let last = 0;

  async function journalled<T>(
    context: JournalContext,
    { onEntry }: Watch,
    operation: string,
    send: () => Promise<T>,
    idOf: (answer: T) => string | null,
  ): Promise<T> {
    last += 1;
    const seq = last;
    const at = () => deps.now().toISOString();
    const append = async (entry: IntentRecorded | OutcomeRecorded) => {
      onEntry(entry);
      await deps.lease.append(entry);
    };
    await append({ type: 'intent', seq, at: at(), operation, ...context });
    onEvent({ type: 'request_sent', address: context.address, operation, seq });
    const outcome = { type: 'outcome', seq } as const;
    let answer: T;
    try {
      answer = await send();
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      await append({ ...outcome, at: at(), ok: false, id: null, error: message });
      throw error;
    }
    await append({ ...outcome, at: at(), ok: true, id: idOf(answer), error: null });
    return answer;
  }

  return (context, watch) => ({
    call: async (call) => {
      const send = () => deps.client.call(call, watch.onTry);
      try {
        return await journalled(context, watch, call.operation, send, idIn);
      } catch (error) {
        throw asConflict(error) ?? error;
      }
    },
    upload: (url, file) =>
      journalled(
        context,
        watch,
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

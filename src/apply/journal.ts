import type { Address } from '../core/address.ts';
import type { Events } from '../core/documents.generated.ts';
import { CallsheetError, ConflictError, errorMessage } from '../core/errors.ts';
import { overlaps, toPath } from '../core/path.ts';
import { type Change, isKept, type Pin, type PlannedOperation } from '../core/plan-document.ts';
import { isObject, type Json } from '../core/value.ts';
import { isSent } from '../diff/compare.ts';
import type { Io } from '../kinds/kind.ts';
import type { LiveResource } from '../plan/reader.ts';
import { fastRefreshPin, isWhollyRemembered } from '../plan/refresh.ts';
import { secretsGone } from '../plan/secrets.ts';
import { createdIn, keepUnfinished, keptSince, rememberResource } from '../plan/state-entry.ts';
import { ApiError, describeApiError, isRefusal } from '../platform/errors.ts';
import type { IntentRecorded, OutcomeRecorded } from '../state/journal.ts';
import type { ResourceState } from '../state/model.ts';
import type { Progress, RunDeps, SkippedLeaf, Work } from './work.ts';

/** A run emits these while it works. It prints nothing itself. */
export type RunEvent = WithoutHeader<Events.Document>;

type WithoutHeader<Line> = Line extends unknown ? Omit<Line, 'format' | 'version' | 'at'> : never;

export type RunStatus = Events.RunEnded['status'];

type JournalContext = {
  readonly address: Address;
  readonly id: string | null;
  readonly step: PlannedOperation['step'];
  readonly fields: readonly string[];
};

/** Callbacks for the requests of one change. */
type Watch = {
  /** Every time that one leaves. */
  readonly onTry: () => void;
  /** Receives each journal entry. */
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
    getId: (answer: T) => string | null,
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
      // A try before may have been carried out, and what another run does is not this run's to write down.
      if (isLockLost(error)) throw error;
      const refused = isRefusal(error) ? { refused: true as const } : {};
      const failed = { ok: false, id: null, error: errorMessage(error), ...refused };
      await append({ ...outcome, at: at(), ...failed });
      throw error;
    }
    await append({ ...outcome, at: at(), ok: true, id: getId(answer), error: null });
    return answer;
  }

  return (context, watch) => {
    const writer = deps.client.writing(() => deps.lease.confirm(context.address));
    return {
      call: async (call) => {
        const send = () => writer.call(call, watch.onTry);
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
          () => writer.upload(url, file, watch.onTry),
          () => null,
        ),
    };
  };
}

/** Tells whether another run has the state by now, or may have it. */
function isLockLost(error: unknown): boolean {
  return error instanceof CallsheetError && error.code === 'locked';
}

/** Turns a 409 into an error that kinds understand, as they know nothing of the wire. */
function asConflict(error: unknown): ConflictError | undefined {
  if (!(error instanceof ApiError) || error.status !== 409) return undefined;
  const { hint } = error;
  return new ConflictError(describeApiError(error), error.body, { hint, cause: error });
}

/** The id that an answer gives to something new. */
export function idIn(answer: Json): string | null {
  const data = isObject(answer) && isObject(answer.data) ? answer.data : {};
  const id = data.id ?? data.sourceId;
  return typeof id === 'string' ? id : null;
}

/**
 * Writes down what the state remembers of the resource from now on. `after` is the pin of what is live now; `isProven`:
 * it is in every leaf as the configuration has it. `stored`: see `rememberResource`.
 */
export async function record(
  work: Work,
  { live, written, history, left, askedAt }: Progress,
  after: Pin | null,
  {
    isProven,
    found,
    stored,
  }: {
    readonly isProven: boolean;
    readonly found: LiveResource | undefined;
    readonly stored: ReadonlyMap<string, string>;
  },
): Promise<ResourceState | null> {
  const { change, kind, desired, recorded, world, deps } = work;
  const pin = after && { ...after, history_id: history?.after ?? null };
  const restored = restoredBy(work, [found, live]);
  const isSure = isProven && desired !== undefined && isWhollyRemembered(kind, desired);
  const resource =
    restored !== undefined
      ? restored && live
        ? {
            ...withoutLeft(restored, recorded, left),
            ...keptSince(recorded),
            ...keepUnfinished(kind, recorded, live),
            ...createdIn(live),
            id: live.id,
            pin,
            restored_by: deps.run,
            restored_paths: putBack(change, left),
          }
        : null
      : desired && live
        ? {
            ...withoutLeft(
              rememberResource(
                kind,
                desired,
                {
                  ...live,
                  ...createdIn(live),
                  pin: isSure ? fastRefreshPin(kind, live, pin) : pin,
                },
                known(recorded, live.id),
                written,
                world,
                stored,
              ),
              known(recorded, live.id),
              left,
            ),
            ...(askedAt === undefined ? {} : { asked_at: askedAt }),
            ...(change.fields.some(isKept) ? beginOfEdits(recorded) : {}),
          }
        : adopted(work);
  // A change without requests is written with the state: if the run dies before, there is nothing to recover of it.
  if (change.operations.length > 0)
    deps.lease.note({ type: 'resource', address: change.address, resource });
  return resource;
}

/**
 * The state that a rollback goes back to, but for the making, which it does not undo. A secret whose object is gone, before the rollback writes or after, is
 * unsettled: what the rollback writes has no secrets.
 */
export function restoredBy(
  { kind, change, deps }: Pick<Work, 'kind' | 'change' | 'deps'>,
  seen: readonly (LiveResource | undefined)[],
): ResourceState | null | undefined {
  const restored = deps.restored?.get(change.address);
  if (!restored) return restored;
  const gone = seen.flatMap((live) =>
    live === undefined ? [] : secretsGone(kind.schema, restored.leaves, live.document),
  );
  const unsettled = gone.map((text) => [text, { unsettled: true }] as const);
  const { unfinished: _, ...entry } = restored;
  return { ...entry, leaves: { ...entry.leaves, ...Object.fromEntries(unsettled) } };
}

/** Returns the place from which kept edits count: after the last one known to be as the state has it. */
function beginOfEdits(recorded: ResourceState | undefined): Pick<ResourceState, 'kept_since'> {
  const { kept_since: since, pin } = recorded ?? {};
  const place = since ?? pin;
  if (!place) return {};
  return { kept_since: { updated_at: place.updated_at, history_id: place.history_id } };
}

/** The fields that a rollback wrote. */
function putBack({ fields }: Change, left: readonly SkippedLeaf[]): readonly string[] {
  return fields.flatMap((field) => (isSent(field) && !isAmong(left, field.path) ? field.path : []));
}

/** Keeps the state's former record of leaves that were left out: they were neither written nor put back. */
function withoutLeft(
  resource: ResourceState,
  before: ResourceState | undefined,
  left: readonly SkippedLeaf[],
): ResourceState {
  if (left.length === 0) return resource;
  const isLeft = ([text]: readonly [string, unknown]) => isAmong(left, text);
  const entries = Object.entries(resource.leaves).filter((one) => !isLeft(one));
  const kept = Object.entries(before?.leaves ?? {}).filter(isLeft);
  return { ...resource, leaves: Object.fromEntries([...entries, ...kept]) };
}

function isAmong(left: readonly SkippedLeaf[], text: string): boolean {
  const path = toPath(text);
  return left.some((one) => overlaps(path, one.path));
}

/** Returns the state's record of a resource, unless it is of one with another id. */
function known(recorded: ResourceState | undefined, id: string): ResourceState | undefined {
  return recorded?.id === id ? recorded : undefined;
}

/** Gives what the plan found of a resource that is only taken over. It is not read again: a later edit is drift. */
function adopted({ change, deps }: Work): ResourceState | null {
  return change.action === 'adopt' ? (deps.agreed?.get(change.address) ?? null) : null;
}

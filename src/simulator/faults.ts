import type { OperationId } from '../api/operations.generated.ts';
import type { Json } from '../core/value.ts';

/** Something that goes wrong on purpose. A fault that is spent is forgotten. */
export type Fault = {
  /** What it befalls; `upload` is the PUT to a presigned address, `*` is everything. */
  readonly operation: OperationId | 'upload' | '*';
  /** How often; once unless it says otherwise. */
  readonly times?: number;
  /** How many requests pass unharmed before it strikes. */
  readonly skip?: number;
  /** Only requests whose path contains this, such as an agent's id. */
  readonly path?: string;
  /** Answered instead of what the operation would answer; nothing is done. */
  readonly status?: number;
  readonly body?: Json;
  readonly headers?: { readonly [name: string]: string };
  /** Milliseconds before anything else happens. */
  readonly delayMs?: number;
  /** The connection breaks before the operation is done, or after it is done and before its answer. */
  readonly reset?: 'before' | 'after';
};

/** The faults that are set. */
export type Faults = {
  readonly add: (...faults: readonly Fault[]) => void;
  readonly clear: () => void;
  /** How many have not been spent. */
  readonly pending: () => number;
  /** The fault that strikes a request, if one does; it is counted as used. */
  readonly strike: (operation: string, path: string) => Fault | undefined;
};

export function createFaults(): Faults {
  let armed: { readonly fault: Fault; skip: number; times: number }[] = [];
  return {
    add: (...faults) => {
      for (const fault of faults)
        armed.push({ fault, skip: fault.skip ?? 0, times: fault.times ?? 1 });
    },
    clear: () => {
      armed = [];
    },
    pending: () => armed.length,
    strike: (operation, path) => {
      const matching = armed.filter(
        ({ fault }) =>
          (fault.operation === '*' || fault.operation === operation) &&
          (fault.path === undefined || path.includes(fault.path)),
      );
      for (const one of matching) {
        if (one.skip > 0) {
          one.skip -= 1;
          continue;
        }
        one.times -= 1;
        armed = armed.filter(({ times }) => times > 0);
        return one.fault;
      }
      return undefined;
    },
  };
}

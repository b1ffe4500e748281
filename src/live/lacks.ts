import { type Endpoints, endpointOf, refusalOf } from '../api/endpoints.ts';
import { ApiError } from '../api/errors.ts';
import type { Lack } from '../plan/reader.ts';

/** Which operations cannot be used: those that the stack refuses, and those that turned out to be absent. */
export type Lacks = {
  readonly of: (operation: string) => Lack | undefined;
  /** Whether an error may mean that the platform does not have the operation. */
  readonly mayBeLack: (operation: string, error: unknown) => boolean;
  /** Remembers that it does not, where the error may mean so; says whether it did. */
  readonly learn: (operation: string, error: unknown) => boolean;
};

/** Only what no more than an assumption puts somewhere can be absent; the rest the specification promises. */
export function openLacks(endpoints: Endpoints): Lacks {
  const absent = new Set<string>();
  const mayBeLack = (operation: string, error: unknown) => {
    const isAssumed =
      !endpointOf(operation).documented && endpoints.overrides[operation] === undefined;
    const isMissing = error instanceof ApiError && (error.status === 404 || error.status === 405);
    return isAssumed && isMissing;
  };
  return {
    of: (operation) =>
      refusalOf(operation, endpoints) ?? (absent.has(operation) ? 'absent' : undefined),
    mayBeLack,
    learn(operation, error) {
      const isLack = mayBeLack(operation, error);
      if (isLack) absent.add(operation);
      return isLack;
    },
  };
}

import { checkEndpoints, type WrittenEndpoint } from '../core/endpoints.ts';
import { CallsheetError } from '../core/errors.ts';
import type { Operation } from './operation.ts';
import { operations } from './operations.generated.ts';

/** Where an operation lies on a platform that has it elsewhere (`platform.endpoints`). */
export type EndpointOverride = {
  readonly method?: Operation['method'];
  /** Begins with a slash and has the parameters of the path that it replaces. */
  readonly path?: string;
};

/** What a stack says of the platform's operations. */
export type Endpoints = {
  readonly overrides: { readonly [operation: string]: EndpointOverride };
  /** Whether calls that the specification does not show may be made (`platform.assume`). */
  readonly assume: boolean;
};

/** Everything where the contract has it, assumptions allowed. */
export const DEFAULT_ENDPOINTS: Endpoints = { overrides: {}, assume: true };

const operationsByName: { readonly [name: string]: Operation | undefined } = operations;

/** What a stack says under `platform`, checked. Throws `CallsheetError('config')` with all that is wrong. */
export function readEndpoints(platform: {
  readonly endpoints: { readonly [operation: string]: WrittenEndpoint };
  readonly assume: boolean;
}): Endpoints {
  const problems = checkEndpoints(platform.endpoints, operations);
  if (problems.length > 0) {
    const told = problems.map(({ message }) => message).join('; ');
    throw new CallsheetError('config', `platform.endpoints cannot be used: ${told}`);
  }
  return { overrides: platform.endpoints as Endpoints['overrides'], assume: platform.assume };
}

/** The operation of that name, where the stack says that it lies. Kinds name only those that exist, so an unknown one is a bug. */
export function endpointOf(name: string, { overrides }: Endpoints = DEFAULT_ENDPOINTS): Operation {
  const operation = operationsByName[name];
  if (operation === undefined) throw new Error(`unknown operation: ${name}`);
  return { ...operation, ...overrides[name] };
}

/** Whether an operation may be called: it is documented, its place was named, or assuming is allowed. */
export function isUsable(name: string, endpoints: Endpoints): boolean {
  return endpoints.assume || endpointOf(name).documented || endpoints.overrides[name] !== undefined;
}

/** The assumption that an operation rests on; undefined where the specification or the stack says what it is. */
export function assumptionOf(name: string, { overrides }: Endpoints): string | undefined {
  return overrides[name] === undefined ? endpointOf(name).assumption : undefined;
}

/** The operation of that name, for a call. Throws `CallsheetError('refused')` where it may not be called. */
export function usableEndpoint(name: string, endpoints: Endpoints): Operation {
  const operation = endpointOf(name, endpoints);
  if (isUsable(name, endpoints)) return operation;
  throw new CallsheetError(
    'refused',
    `${name} is not called: the specification does not show it (assumption ${operation.assumption}), and platform.assume is false`,
    {
      hint: `Say where the platform has it under platform.endpoints.${name}, or set platform.assume to true.`,
    },
  );
}

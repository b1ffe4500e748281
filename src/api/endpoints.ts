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

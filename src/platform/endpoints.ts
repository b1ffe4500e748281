import { checkEndpoints, type WrittenEndpoint } from '../core/endpoints.ts';
import { CallsheetError } from '../core/errors.ts';
import { bareAddress, baseUrlFault, isConfidential } from '../core/origin.ts';
import type { MovedEndpoint } from '../core/plan-document.ts';
import type { Operation } from './operation.ts';
import { operations } from './operations.generated.ts';

/** The place of an operation on a platform that has it elsewhere (`platform.endpoints`). */
export type EndpointOverride = {
  readonly method?: Operation['method'];
  /** Begins with a slash and has the parameters of the path that it replaces. */
  readonly path?: string;
};

/** The stack's settings for the platform's operations. */
export type Endpoints = {
  readonly overrides: { readonly [operation: string]: EndpointOverride };
  /** True if calls that the specification does not show may be made (`platform.assume`). */
  readonly assume: boolean;
};

/** Everything where the contract has it, assumptions allowed. */
export const DEFAULT_ENDPOINTS: Endpoints = { overrides: {}, assume: true };

const operationsByName: { readonly [name: string]: Operation | undefined } = operations;

/** Checks and returns the stack's `platform` settings. Throws `CallsheetError('config')` with all that is wrong. */
export function readEndpoints(platform: {
  readonly endpoints: { readonly [operation: string]: WrittenEndpoint };
  readonly assume: boolean;
}): Endpoints {
  const problems = checkEndpoints(platform.endpoints, operations);
  if (problems.length > 0) {
    const reasons = problems.map(({ message }) => message).join('; ');
    throw new CallsheetError('config', `platform.endpoints cannot be used: ${reasons}`);
  }
  return { overrides: platform.endpoints as Endpoints['overrides'], assume: platform.assume };
}

/** The operation of that name, where the stack says that it lies. Kinds name only those that exist, so an unknown one is a bug. */
export function getEndpoint(name: string, { overrides }: Endpoints = DEFAULT_ENDPOINTS): Operation {
  const operation = operationsByName[name];
  if (operation === undefined) throw new Error(`unknown operation: ${name}`);
  return { ...operation, ...overrides[name] };
}

/**
 * Returns why an operation may not be called where nothing may be assumed: its place, or the form of its request, is
 * not specified. Undefined: it may be called.
 */
export function findRefusal(name: string, endpoints: Endpoints): 'refused' | 'unshown' | undefined {
  if (endpoints.assume) return undefined;
  const { documented, assumedBody } = getEndpoint(name);
  if (!documented && endpoints.overrides[name] === undefined) return 'refused';
  return assumedBody === undefined ? undefined : 'unshown';
}

/** The assumption that an operation rests on; undefined where the specification or the stack says what it is. */
export function findAssumption(name: string, { overrides }: Endpoints): string | undefined {
  const { assumption, assumedBody } = getEndpoint(name);
  // A stack says where an operation is, and not what its request looks like.
  return overrides[name] === undefined ? assumption : assumedBody;
}

/** Lists the endpoints that a stack moved, for its plans to say. */
export function movedEndpoints(endpoints: Endpoints): readonly MovedEndpoint[] {
  return Object.keys(endpoints.overrides)
    .sort()
    .flatMap((operation) => {
      const { method, path } = getEndpoint(operation, endpoints);
      const { method: was, path: from } = getEndpoint(operation);
      const instead_of = { method: was, path: from };
      return method === was && path === from ? [] : [{ operation, method, path, instead_of }];
    });
}

/** The operation of that name, for a call. Throws `CallsheetError('refused')` where it may not be called. */
export function usableEndpoint(name: string, endpoints: Endpoints): Operation {
  const operation = getEndpoint(name, endpoints);
  const refusal = findRefusal(name, endpoints);
  if (refusal === undefined) return operation;
  const isUnshown = refusal === 'unshown';
  const [what, assumption] = isUnshown
    ? ['the body of its request', operation.assumedBody]
    : ['it', operation.assumption];
  throw new CallsheetError(
    'refused',
    `${name} is not called: the specification does not show ${what} (assumption ${assumption}), and platform.assume is false`,
    {
      hint: isUnshown
        ? 'Set platform.assume to true, or make the change in the dashboard.'
        : `Set the path of the platform for it under platform.endpoints.${name}, or set platform.assume to true.`,
    },
  );
}

/**
 * The base address in its normal form, without a trailing slash: plans are bound to it, and tokens are
 * minted for it. Throws where it is missing, malformed, or would send credentials in clear over a network.
 */
export function checkBaseUrl(text: string | undefined): string {
  if (text === undefined || text.trim() === '') {
    throw new CallsheetError('config', 'the base address of the platform is not set', {
      hint: 'Set platform.base_url in callsheet.yaml, or CALLSHEET_BASE_URL.',
    });
  }
  const fault = baseUrlFault(text);
  if (fault !== undefined) throw new CallsheetError('config', fault.message, { hint: fault.hint });
  const url = new URL(text);
  return bareAddress(url).replace(/\/+$/, '');
}

/** Throws where a presigned address cannot be used, without repeating what it is signed with. */
export function checkUploadUrl(text: string): void {
  const url = URL.parse(text);
  if (url !== null && /^https?:$/.test(url.protocol) && isConfidential(url)) return;
  const what = url === null ? 'is not an address' : `leads to ${url.protocol}//${url.host}`;
  throw new CallsheetError('api', `the address that the platform gave for an upload ${what}`, {
    hint: 'Files are only sent over https. Nothing was sent.',
  });
}

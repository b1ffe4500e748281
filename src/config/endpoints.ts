import { operations } from '../api/operations.generated.ts';
import { checkEndpoints, type EndpointProblem, type WrittenEndpoint } from '../core/endpoints.ts';
import { STACK_FILE } from './discover.ts';
import { nearest } from './nearest.ts';
import type { Report } from './problems.ts';
import { METHODS } from './settings-schema.ts';
import { memberOf, type Written } from './written.ts';

/**
 * Reports overrides of operations that there are not, and paths that could not be called. The rest of
 * their form is in the schema of the settings.
 */
export function reportEndpoints(
  endpoints: { readonly [operation: string]: WrittenEndpoint },
  written: Written | undefined,
  report: Report,
): void {
  for (const problem of checkEndpoints(endpoints, operations)) {
    if (isInSchema(problem, endpoints)) continue;
    const { operation, member, message, candidates } = problem;
    const override = memberOf(written, operation);
    const field = member === undefined ? undefined : memberOf(override?.value, member);
    const close = nearest(operation, candidates);
    report.add({
      rule: member === undefined ? 'platform/operation' : `platform/${member}`,
      message: `${STACK_FILE}: platform.endpoints: ${message}`,
      hint:
        member !== undefined
          ? undefined
          : close === undefined
            ? 'callsheet assumptions lists the operations that a platform may have elsewhere'
            : `Did you mean ${close}?`,
      path: ['platform', 'endpoints', operation, ...(member === undefined ? [] : [member])].join(
        '.',
      ),
      place: field?.value.place ?? override?.keyPlace,
    });
  }
}

/** The schema says which methods there are and that a path begins with a slash. */
function isInSchema(
  { operation, member }: EndpointProblem,
  endpoints: { readonly [operation: string]: WrittenEndpoint },
): boolean {
  const { method = '', path = '' } = endpoints[operation] ?? {};
  if (member === 'method') return !METHODS.includes(method);
  return member === 'path' && !path.startsWith('/');
}

import {
  DEFAULT_ENDPOINTS,
  type Endpoints,
  endpointOf,
  readEndpoints,
  refusalOf,
} from '../../api/endpoints.ts';
import type { Operation } from '../../api/operation.ts';
import { assumptions as ledger, operations } from '../../api/operations.generated.ts';
import { assumedFields } from '../../kinds/assumed-fields.ts';
import {
  type AssumedCall,
  type AssumptionEntry,
  renderAssumptionsText,
  type Standing,
} from '../../render/assumptions.ts';
import type { CommonFlags, Context } from '../context.ts';
import { EXIT, type ExitCode } from '../exit.ts';
import { findSettings } from '../platform-session.ts';

export type AssumptionsFlags = CommonFlags & { readonly format: 'text' | 'json' };

/**
 * `callsheet assumptions`: what is taken for granted where the specification is silent and, inside a
 * stack, what the stack says about it.
 */
export async function assumptions(flags: AssumptionsFlags, context: Context): Promise<ExitCode> {
  const settings = findSettings(flags, context);
  const endpoints = settings === undefined ? DEFAULT_ENDPOINTS : readEndpoints(settings.platform);
  const fields = assumedFields();
  const entries = Object.entries(ledger).map(
    ([id, entry]): AssumptionEntry => ({
      id,
      ...entry,
      operations: callsOf(id, endpoints),
      fields: fields.get(id) ?? [],
    }),
  );
  const { terminal } = context;
  terminal.out(
    flags.format === 'json'
      ? JSON.stringify(
          { format: 'callsheet-assumptions', version: 1, assumptions: entries },
          null,
          2,
        )
      : renderAssumptionsText(entries, terminal.render),
  );
  return EXIT.done;
}

/** The calls that rest on an assumption, with their details or altogether. */
function callsOf(id: string, endpoints: Endpoints): readonly AssumedCall[] {
  return Object.entries<Operation>(operations)
    .filter(([, { assumption, assumes = [] }]) => assumption === id || assumes.includes(id))
    .map(([operation]) => {
      const { method, path } = endpointOf(operation, endpoints);
      return { operation, method, path, standing: standingOf(operation, endpoints) };
    });
}

function standingOf(operation: string, endpoints: Endpoints): Standing {
  if (refusalOf(operation, endpoints) !== undefined) return 'refused';
  if (endpoints.overrides[operation] !== undefined) return 'overridden';
  return endpointOf(operation).documented ? 'shown' : 'assumed';
}

import type { CommonFlags, Context } from '../../console/context.ts';
import { documentOf, show } from '../../console/show.ts';
import { EXIT, type ExitCode } from '../../core/errors.ts';
import { dereference, type FieldSchema } from '../../core/schema.ts';
import { kinds } from '../../kinds/index.ts';
import {
  DEFAULT_ENDPOINTS,
  type Endpoints,
  endpointOf,
  readEndpoints,
  refusalOf,
} from '../../platform/endpoints.ts';
import type { Operation } from '../../platform/operation.ts';
import { assumptions as ledger, operations } from '../../platform/operations.generated.ts';
import {
  type AssumedCall,
  type AssumptionEntry,
  renderAssumptionsText,
  type Standing,
} from '../../render/assumptions.ts';
import { findSettings } from '../../run/platform-session.ts';

export type AssumptionsFlags = CommonFlags & { readonly format: 'text' | 'json' };

/**
 * `callsheet explain assumptions`: what is taken for granted where the specification is silent and, inside a
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
  const document = documentOf('callsheet-assumptions', { assumptions: entries });
  show(flags, document, (to) => renderAssumptionsText(entries, to), context);
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

/** The fields whose writing rests on an assumption, such as `agent.extensions.mcp_servers`, by its id. */
function assumedFields(): ReadonlyMap<string, readonly string[]> {
  const found = new Map<string, string[]>();
  for (const { name, schema: root } of kinds) {
    const visit = (field: FieldSchema, path: string): void => {
      const schema = dereference(root, field);
      const id = schema['x-assumption'];
      if (id !== undefined) found.set(id, [...(found.get(id) ?? []), path]);
      for (const [key, member] of Object.entries(schema.properties ?? {})) {
        visit(member, `${path}.${key}`);
      }
      if (schema.items !== undefined) visit(schema.items, `${path}[]`);
    };
    visit(root, name);
  }
  return found;
}

import type { Context } from '../../console/context.ts';
import { type ShowFlags, show, stampDocument } from '../../console/show.ts';
import { CallsheetError, EXIT, type ExitCode } from '../../core/errors.ts';
import { didYouMean } from '../../core/nearest.ts';
import { dereference, type FieldSchema } from '../../core/schema.ts';
import { listLeaves } from '../../diff/leaves.ts';
import { kindNamed, kinds } from '../../kinds/index.ts';
import { assumptionsBehind } from '../../plan/steps.ts';
import {
  DEFAULT_ENDPOINTS,
  type Endpoints,
  findAssumption,
  findRefusal,
  getEndpoint,
  readEndpoints,
} from '../../platform/endpoints.ts';
import type { Operation } from '../../platform/operation.ts';
import { assumptions as ledger, operations } from '../../platform/operations.generated.ts';
import {
  type AssumedCall,
  type AssumptionEntry,
  renderAssumptionList,
  renderAssumptionsText,
  type Standing,
} from '../../render/assumptions.ts';
import { findSettings } from '../../run/platform-session.ts';
import { openStack } from '../../run/stack.ts';

/**
 * `callsheet explain assumptions`: what is taken for granted where the specification is silent. Inside a stack those
 * that it relies on, a line each. `names` chooses by id or its beginning, and shows these as a whole.
 */
export async function assumptions(
  names: readonly string[],
  flags: ShowFlags,
  context: Context,
): Promise<ExitCode> {
  const settings = findSettings(flags, context);
  const endpoints = settings === undefined ? DEFAULT_ENDPOINTS : readEndpoints(settings.platform);
  const chosen = chosenIds(names);
  const relied =
    settings === undefined || names.length > 0 || flags.verbose === true
      ? undefined
      : await reliedOn(flags, context, endpoints);
  const fields = assumedFields();
  const entries = Object.entries(ledger).flatMap(([id, entry]): AssumptionEntry[] =>
    chosen.has(id)
      ? [
          {
            id,
            ...entry,
            operations: listCalls(id, endpoints),
            fields: fields.get(id) ?? [],
            ...(relied === undefined ? {} : { relied_on: relied.has(id) }),
          },
        ]
      : [],
  );
  const document = stampDocument('callsheet-assumptions', { assumptions: entries });
  const isWhole = names.length > 0 || flags.verbose === true;
  const render = isWhole ? renderAssumptionsText : renderAssumptionList;
  show(flags, document, (to) => render(entries, to), context);
  return EXIT.done;
}

/** The ids that names stand for, or all. Throws where a name stands for none. */
function chosenIds(names: readonly string[]): ReadonlySet<string> {
  const ids = Object.keys(ledger);
  if (names.length === 0) return new Set(ids);
  return new Set(
    names.flatMap((name) => {
      const meant = ids.filter((id) => id === name || id.startsWith(`${name}.`));
      if (meant.length > 0) return meant;
      throw new CallsheetError('usage', `no assumption is called ${name}`, {
        hint: didYouMean(name, ids, '`callsheet explain assumptions` lists them.'),
      });
    }),
  );
}

/** Finds the assumptions that the kinds and fields of the stack's resources rest on. */
async function reliedOn(
  flags: ShowFlags,
  context: Context,
  endpoints: Endpoints,
): Promise<ReadonlySet<string>> {
  const { stack } = await openStack(flags, context, 'skip');
  return assumptionsBehind(
    stack.resources.map(({ kind, document }) => ({
      kind,
      paths: listLeaves(kindNamed(kind).schema, document).leaves.keys(),
    })),
    (operation) => findAssumption(operation, endpoints),
  );
}

/** The calls that rest on an assumption, with their details or altogether. */
function listCalls(id: string, endpoints: Endpoints): readonly AssumedCall[] {
  return Object.entries<Operation>(operations)
    .filter(([, { assumption, assumes = [] }]) => assumption === id || assumes.includes(id))
    .map(([operation]) => {
      const { method, path } = getEndpoint(operation, endpoints);
      return { operation, method, path, standing: getStanding(operation, endpoints) };
    });
}

function getStanding(operation: string, endpoints: Endpoints): Standing {
  if (findRefusal(operation, endpoints) !== undefined) return 'refused';
  if (endpoints.overrides[operation] !== undefined) return 'overridden';
  return getEndpoint(operation).documented ? 'shown' : 'assumed';
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

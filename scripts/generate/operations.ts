import { answerShapeOf } from './content.ts';
import type { Document } from './document.ts';
import { followReference } from './reference.ts';
import { isSchema, type Schema } from './schema.ts';

const METHODS = ['get', 'post', 'put', 'patch', 'delete'];

/** One operation of the document, with what its path gives it. */
export type Found = {
  readonly id: string;
  readonly method: string;
  readonly path: string;
  readonly operation: Schema;
  /** Its parameters and those of its path, references followed. */
  readonly parameters: readonly Schema[];
};

/** Every operation, in the order of the document. */
export function findOperations(document: Document): readonly Found[] {
  const found: Found[] = [];
  for (const [path, item] of Object.entries(document.paths))
    for (const method of METHODS) {
      const operation = item[method];
      if (!isSchema(operation)) continue;
      found.push({
        id: text(operation, 'operationId', `${method} ${path}`),
        method: method.toUpperCase(),
        path,
        operation,
        parameters: [...list(item.parameters), ...list(operation.parameters)].map((one) =>
          followReference(document, one),
        ),
      });
    }
  return found;
}

/** `src/platform/operations.generated.ts`. */
export function renderOperations(document: Document): string {
  const assumptions = document['x-assumptions'];
  const rows = findOperations(document).map(({ id, method, path, operation }) => {
    const { 'x-assumption': assumption, 'x-assumed-body': assumedBody } = operation;
    if (assumption !== undefined && assumptions[String(assumption)] === undefined)
      throw new Error(`${id} rests on ${String(assumption)}, which x-assumptions does not have`);
    const documented = operation['x-documented'];
    if (typeof documented !== 'boolean') throw new Error(`${id} has no x-documented`);
    if (!documented && assumption === undefined)
      throw new Error(`${id} is not documented and names no assumption`);
    const fields = {
      method,
      path,
      documented,
      ...(assumption === undefined ? {} : { assumption }),
      ...(assumedBody === undefined ? {} : { assumedBody }),
      ...(operation['x-assumes'] === undefined ? {} : { assumes: operation['x-assumes'] }),
      scoped: text(operation, 'x-scoped', id),
      paginated: operation['x-paginated'] === true,
      repeatable: operation['x-repeatable'] === true,
      auth: authOf(operation),
      ...answerShapeOf(document, method, operation),
    };
    const members = Object.entries(fields).map(([key, value]) => `    ${key}: ${literal(value)},`);
    return `  ${id}: {\n${members.join('\n')}\n  },`;
  });
  const notes = Object.entries(assumptions).map(([id, { documented, assumed, why }]) => {
    const members = Object.entries({ documented, assumed, why }).map(
      ([key, value]) => `    ${key}: ${literal(value)},`,
    );
    return `  ${literal(id)}: {\n${members.join('\n')}\n  },`;
  });
  return [
    '// Generated from schemas/platform.openapi.yaml by `npm run generate`.',
    "import type { Assumption, Operation } from './operation.ts';",
    '',
    '/** Every call that Callsheet knows, by its name in the OpenAPI file. */',
    `export const operations = {\n${rows.join('\n')}\n} as const satisfies Record<string, Operation>;`,
    '',
    'export type OperationId = keyof typeof operations;',
    '',
    '/** Assumptions that Callsheet makes where the specification is silent, by id. */',
    `export const assumptions = {\n${notes.join('\n')}\n} as const satisfies Record<string, Assumption>;`,
    '',
    'export type AssumptionId = keyof typeof assumptions;',
    '',
  ].join('\n');
}

/** `security` of an operation: none given means the document's own, the bearer token. */
function authOf({ security }: Schema): 'none' | 'bearer' | 'pbx_key' {
  if (!Array.isArray(security)) return 'bearer';
  return security.length === 0 ? 'none' : 'pbx_key';
}

function list(value: unknown): readonly Schema[] {
  return Array.isArray(value) ? value.filter(isSchema) : [];
}

function text(schema: Schema, key: string, where: string): string {
  const value = schema[key];
  if (typeof value !== 'string') throw new Error(`${where} has no ${key}`);
  return value;
}

function literal(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(literal).join(', ')}]`;
  return typeof value === 'string'
    ? `'${value.trim().replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`
    : String(value);
}

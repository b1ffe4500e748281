import { type OperationId, operations } from '../platform/operations.generated.ts';
import document from './contract.generated.json' with { type: 'json' };

/** A parameter of the path or the query. */
export type Parameter = {
  readonly name: string;
  readonly in: 'path' | 'query';
  readonly required: boolean;
  /** Of a list, whether each member is a parameter of its own; otherwise commas part them. */
  readonly exploded: boolean;
  readonly schema: {
    readonly type: string;
    readonly format?: string;
    readonly enum?: readonly unknown[];
    readonly minimum?: number;
    readonly maximum?: number;
    readonly minLength?: number;
    readonly default?: string | number | boolean;
  };
  /** Whether a malformed value gives 400; a malformed id gives 404 otherwise. */
  readonly checked: boolean;
};

/** The shape that an operation's 400 has. */
export type InvalidShape = 'schema' | 'issues' | 'details' | 'coded' | 'flat';

/** What the contract says of an operation beside the operation table. */
type Rules = {
  readonly parameters: readonly Parameter[];
  /** JSON pointer to the schema of its body, and the media type it comes in. */
  readonly body: { readonly media: string; readonly pointer: string } | undefined;
  readonly invalid: InvalidShape;
  readonly unauthorized: string | undefined;
  /** Status → JSON pointer to the schema of the body; undefined where it has none. */
  readonly answers: ReadonlyMap<string, string | undefined>;
};

/** The bundled OpenAPI document. */
export const contract: Node = document;

type Node = { readonly [key: string]: unknown };

function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The rules of an operation. */
export function rulesOf(id: OperationId): Rules {
  const known = RULES.get(id);
  if (known !== undefined) return known;
  const rules = readRules(id);
  RULES.set(id, rules);
  return rules;
}

const RULES = new Map<OperationId, Rules>();

function readRules(id: OperationId): Rules {
  const { path, method } = operations[id];
  const item = at(['paths', path]);
  const place = ['paths', path, method.toLowerCase()];
  const operation = at(place);
  const body = follow(operation.requestBody, [...place, 'requestBody']);
  return {
    parameters: [...list(item.parameters), ...list(operation.parameters)].map(readParameter),
    body: body === undefined ? undefined : schemaPlace(body),
    invalid: readInvalid(operation['x-invalid']),
    unauthorized: textOrNone(operation['x-unauthorized']),
    answers: new Map(
      Object.entries(at([...place, 'responses'])).map(([status, response]) => {
        const followed = follow(response, [...place, 'responses', status]);
        return [status, followed === undefined ? undefined : schemaPlace(followed)?.pointer];
      }),
    ),
  };
}

type Placed = { readonly node: Node; readonly place: readonly string[] };

function follow(value: unknown, place: readonly string[]): Placed | undefined {
  if (!isNode(value)) return undefined;
  if (typeof value.$ref !== 'string') return { node: value, place };
  const target = value.$ref.replace('#/', '').split('/');
  return { node: at(target), place: target };
}

function schemaPlace({ node, place }: Placed): Rules['body'] {
  const media = isNode(node.content) ? Object.keys(node.content)[0] : undefined;
  return media === undefined
    ? undefined
    : { media, pointer: pointer([...place, 'content', media, 'schema']) };
}

function pointer(place: readonly string[]): string {
  const tokens = place.map((key) =>
    encodeURIComponent(key.replaceAll('~', '~0').replaceAll('/', '~1')),
  );
  return `#/${tokens.join('/')}`;
}

function at(place: readonly string[]): Node {
  let node: unknown = contract;
  for (const key of place) node = isNode(node) ? node[key] : undefined;
  if (!isNode(node)) throw new Error(`the contract has nothing at ${place.join(' ')}`);
  return node;
}

function list(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

function readParameter(value: unknown): Parameter {
  const node = follow(value, [])?.node;
  if (node === undefined || !isNode(node.schema)) throw new Error('a parameter has no schema');
  return {
    name: String(node.name),
    in: node.in === 'path' ? 'path' : 'query',
    required: node.required === true,
    exploded: node.explode !== false,
    // The document is ours and generated: its parameters have the keywords named above.
    schema: node.schema as Parameter['schema'],
    checked: node.in === 'query' || node['x-malformed'] === 'invalid',
  };
}

const SHAPES: readonly InvalidShape[] = ['schema', 'issues', 'details', 'coded', 'flat'];

function readInvalid(value: unknown): InvalidShape {
  return SHAPES.find((shape) => shape === value) ?? 'coded';
}

function textOrNone(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import { type Document, readSources } from '../../scripts/generate/document.ts';
import { findOperations } from '../../scripts/generate/operations.ts';
import { isSchema, type Schema } from '../../scripts/generate/schema.ts';

/**
 * The OpenAPI document as a stranger would read it: straight from the YAML, with a validator of its own.
 * Nothing here comes from the simulator.
 */
export type Contract = {
  readonly document: Document;
  readonly operations: readonly ContractOperation[];
  /** What is wrong with a body by a schema of the document; undefined where nothing is. */
  readonly faultOf: (schema: Schema, body: unknown) => string | undefined;
};

export type ContractOperation = {
  readonly id: string;
  readonly method: string;
  readonly path: string;
  readonly parameters: readonly Schema[];
  /** Media type and schema of the body; undefined where it takes none. */
  readonly body: { readonly media: string; readonly schema: Schema } | undefined;
  /** The header that it is called with; none for the token itself. */
  readonly auth: 'authorization' | 'x-pbx-api-key' | undefined;
  /** Status → what the document says of its body. */
  readonly answers: ReadonlyMap<string, Answer>;
};

/** An empty schema list: no body. `anything`: the document does not say. */
export type Answer = { readonly schemas: readonly Schema[]; readonly anything: boolean };

export function readContract(): Contract {
  const { document } = readSources(new URL('../../schemas/', import.meta.url));
  return {
    document,
    operations: findOperations(document).map(({ id, method, path, operation, parameters }) => ({
      id,
      method,
      path,
      parameters,
      body: contentOf(document, operation.requestBody),
      auth: authOf(operation.security),
      answers: new Map(
        Object.entries(isSchema(operation.responses) ? operation.responses : {}).map(
          ([status, response]) => [status, readAnswer(document, response)],
        ),
      ),
    })),
    faultOf: createValidator(document),
  };
}

/** No `security` means the document's own, the bearer token. */
function authOf(security: unknown): ContractOperation['auth'] {
  if (!Array.isArray(security)) return 'authorization';
  return security.length === 0 ? undefined : 'x-pbx-api-key';
}

function readAnswer(document: Document, response: unknown): Answer {
  const content = contentOf(document, response);
  return {
    schemas: content === undefined ? [] : [content.schema],
    anything: content?.media === '*/*',
  };
}

function contentOf(document: Document, holder: unknown): ContractOperation['body'] {
  const { content } = dereference(document, isSchema(holder) ? holder : {});
  const [entry] = Object.entries(isSchema(content) ? content : {});
  if (entry === undefined) return undefined;
  const [media, { schema }] = [entry[0], isSchema(entry[1]) ? entry[1] : {}];
  return { media, schema: isSchema(schema) ? schema : {} };
}

/** The target of a local reference; anything else as it is. */
export function dereference(document: Document, schema: Schema): Schema {
  if (typeof schema.$ref !== 'string') return schema;
  let at: unknown = document;
  for (const key of schema.$ref.split('/').slice(1)) at = isSchema(at) ? at[key] : undefined;
  if (!isSchema(at)) throw new Error(`nothing at ${schema.$ref}`);
  return dereference(document, at);
}

const BASE = 'urn:fuzz:platform';

function createValidator(document: Document): Contract['faultOf'] {
  const ajv = new Ajv2020({ strict: false });
  formats.default(ajv);
  const zones = new Set(Intl.supportedValuesOf('timeZone'));
  ajv.addFormat('iana-timezone', (zone: string) => zones.has(zone));
  ajv.addSchema(document, BASE);
  const compiled = new Map<Schema, ValidateFunction>();
  return (schema, body) => {
    const validate = compiled.get(schema) ?? ajv.compile(absolute(schema));
    compiled.set(schema, validate);
    return validate(body) ? undefined : ajv.errorsText(validate.errors, { dataVar: 'body' });
  };
}

/** A copy whose local references lead into the document. */
function absolute(schema: Schema): Schema {
  const text = JSON.stringify(schema).replaceAll('"$ref":"#', `"$ref":"${BASE}#`);
  return JSON.parse(text) as Schema;
}

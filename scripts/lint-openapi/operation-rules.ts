import { isSchema } from '../generate/schema.ts';
import type { Finding, Rule } from './problem.ts';
import { componentName, type Operation, operationsOf } from './responses.ts';

/** A rule that looks at one operation at a time. */
function each(rule: string, check: (operation: Operation) => readonly string[]): Rule {
  return ({ document }) =>
    operationsOf(document).flatMap((operation) =>
      check(operation).map((message): Finding => ({ rule, path: operation.place.path, message })),
    );
}

/** The schema of the 400 that each `x-invalid` stands for. */
const INVALID_SCHEMAS: { readonly [shape: string]: string } = {
  schema: 'SchemaError',
  issues: 'IssuesError',
  details: 'DetailsError',
  coded: 'CodedError',
  flat: 'FlatError',
};

export const OPERATION_RULES: readonly Rule[] = [
  each(
    'documented',
    ({ operation: { 'x-documented': documented, 'x-assumption': assumption } }) => {
      if (typeof documented !== 'boolean') return ['needs x-documented: true or false'];
      return documented || assumption !== undefined
        ? []
        : ['is not documented, so it needs an x-assumption'];
    },
  ),

  each('scoped', ({ operation }) =>
    ['open', 'narrowed', 'closed'].includes(String(operation['x-scoped']))
      ? []
      : ['needs x-scoped: open, narrowed or closed'],
  ),

  each('statuses', ({ operation, parameters, responses }) => {
    const refuses =
      operation.requestBody !== undefined ||
      parameters.some(
        (one) => one['x-malformed'] === 'invalid' || (one.in === 'query' && isChecked(one)),
      );
    const closed = operation['x-scoped'] === 'closed' && operation.security === undefined;
    const wanted = [
      '401',
      '429',
      '500',
      '503',
      ...(refuses ? ['400'] : []),
      ...(closed ? ['403'] : []),
    ];
    const statuses = responses.map(({ status }) => status);
    return wanted
      .filter((status) => !statuses.includes(status))
      .map((status) => `needs a response ${status}`);
  }),

  each('invalid', ({ operation, responses }) => {
    const shape = operation['x-invalid'];
    const response = responses.find(({ status }) => status === '400');
    if (response === undefined)
      return shape === undefined ? [] : ['has x-invalid and no response 400'];
    const wanted = INVALID_SCHEMAS[String(shape)];
    const has = componentName(response.schema?.node ?? {});
    if (wanted === undefined)
      return [`needs x-invalid: ${Object.keys(INVALID_SCHEMAS).join(', ')}`];
    return has === wanted
      ? []
      : [`x-invalid: ${String(shape)} means ${wanted}; its 400 has ${has}`];
  }),

  each('unauthorized', ({ operation, responses }) => {
    const code = operation['x-unauthorized'];
    const examples = responses.find(({ status }) => status === '401')?.examples ?? [];
    return examples
      .filter(isSchema)
      .filter(({ error }) => code !== undefined && error !== code)
      .map(({ error }) => `x-unauthorized is ${String(code)}; its 401 shows ${String(error)}`);
  }),

  each('paginated', ({ operation, parameters, responses }) => {
    const names = parameters.map(({ name }) => name);
    const answer = responses.find(({ status }) => status === '200')?.schema?.node ?? {};
    const { properties } = answer;
    const inPages = isSchema(properties) && properties.pagination !== undefined;
    const paged = operation['x-paginated'] === true;
    return [
      ...(paged === inPages ? [] : ['x-paginated and `pagination` of the answer go together']),
      ...(paged === (names.includes('page') && names.includes('limit'))
        ? []
        : ['x-paginated and the parameters page and limit go together']),
    ];
  }),
];

/** Returns true if a query parameter can be malformed: it is required, has limits, or is neither text nor a list. */
function isChecked({ required, schema }: { readonly [key: string]: unknown }): boolean {
  if (required === true) return true;
  if (!isSchema(schema)) return false;
  const { description: _, type, items: __, ...limits } = schema;
  return (type !== 'string' && type !== 'array') || Object.keys(limits).length > 0;
}

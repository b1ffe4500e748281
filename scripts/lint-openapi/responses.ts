import type { Document } from '../generate/document.ts';
import { type Found, findOperations } from '../generate/operations.ts';
import { isSchema, type Schema } from '../generate/schema.ts';
import { follow, memberOf, type Place } from './walk.ts';

/** An operation with the answers that it may give. */
export type Operation = Found & {
  readonly place: Place;
  readonly responses: readonly Response[];
};

export type Response = {
  readonly status: string;
  /** The path at which the operation names the response. */
  readonly path: readonly string[];
  /** The response itself, its reference followed. */
  readonly place: Place;
  /** The schema of its body; none where it has no body. */
  readonly schema: Place | undefined;
  /** Its examples' values. */
  readonly examples: readonly unknown[];
};

export function operationsOf(document: Document): readonly Operation[] {
  return findOperations(document).map((found) => {
    const place = {
      node: found.operation,
      path: ['paths', found.path, found.method.toLowerCase()],
    };
    const { node = {}, path = [] } = memberOf(place, 'responses') ?? {};
    const responses = Object.entries(node).flatMap(([status, response]) =>
      isSchema(response)
        ? [readResponse(document, status, { node: response, path: [...path, status] })]
        : [],
    );
    return { ...found, place, responses };
  });
}

function readResponse(document: Document, status: string, named: Place): Response {
  const place = follow(document, named);
  const content = memberOf(place, 'content');
  const [media = ''] = Object.keys(content?.node ?? {});
  const examples = memberOf(place, 'content', media, 'examples')?.node ?? {};
  return {
    status,
    path: named.path,
    place,
    schema: memberOf(place, 'content', media, 'schema'),
    examples: Object.values(examples).map((example) =>
      isSchema(example) ? example.value : undefined,
    ),
  };
}

/** The last key of a reference: the name of the component. */
export function componentName({ $ref }: Schema): string | undefined {
  return typeof $ref === 'string' ? $ref.split('/').at(-1) : undefined;
}

import { extendPath } from './path.ts';
import { type FieldSchema, itemSchema, memberSchema } from './schema.ts';

/**
 * What taking a document apart asks of a schema, looked up once: documents come by the thousand, and of every value
 * the same is asked again. All nodes have the same members in the same order, which engines read several times
 * as fast as schemas, of which hardly two are alike.
 */
export type FieldNode = {
  readonly root: FieldSchema;
  readonly schema: FieldSchema;
  /** Whether the schema names it: what it says of the field holds, whatever the name sounds like. */
  readonly isNamed: boolean;
  /** An element of a list. */
  readonly isElement: boolean;
  /** A member of a list's element. */
  readonly isOfElement: boolean;
  /** Nothing at all is said of it. */
  readonly isFree: boolean;
  /** Owned by the platform. */
  readonly isReadOnly: boolean;
  /** Belongs to the platform, or never leaves the configuration. */
  readonly isLeftOut: boolean;
  readonly identity: string | undefined;
  readonly isWhole: boolean;
  /** Returned in clear, masked all the same: `x-sensitive`. */
  readonly sensitive: boolean;
  /** Masked with everything below it: `x-sensitive` or `x-secret`. */
  readonly hidden: boolean;
  readonly secretsInside: boolean;
  readonly writeOnly: boolean;
  /** Named members that were met so far, with their segment as paths have it. */
  readonly named: Map<string, { readonly node: FieldNode; readonly text: string }>;
  /** Members that the schema does not name, and elements of a list. */
  others: FieldNode | undefined;
  items: FieldNode | undefined;
};

const roots = new WeakMap<FieldSchema, FieldNode>();

/** The node of a whole document. */
export function rootNode(root: FieldSchema): FieldNode {
  let node = roots.get(root);
  if (node === undefined) {
    node = nodeOf(root, root, { isNamed: true });
    roots.set(root, node);
  }
  return node;
}

function nodeOf(
  root: FieldSchema,
  schema: FieldSchema,
  { isNamed = false, isElement = false, isOfElement = false },
): FieldNode {
  const sensitive = schema['x-sensitive'] === true;
  return {
    root,
    schema,
    isNamed,
    isElement,
    isOfElement,
    isFree: !isNamed && Object.keys(schema).length === 0,
    isReadOnly: schema.readOnly === true,
    isLeftOut: schema.readOnly === true || schema['x-local'] === true,
    identity: schema['x-identity'],
    isWhole: schema['x-whole'] === true,
    sensitive,
    hidden: sensitive || schema['x-secret'] === true,
    secretsInside: schema['x-secrets-inside'] === true,
    writeOnly: schema.writeOnly === true,
    named: new Map(),
    others: undefined,
    items: undefined,
  };
}

/** A member's node, and the text of its path. */
export function memberNode(
  above: FieldNode,
  key: string,
  textAbove: string,
): { readonly node: FieldNode; readonly text: string } {
  let known = above.named.get(key);
  if (known === undefined) {
    const { root, schema } = above;
    if (schema.properties === undefined || !Object.hasOwn(schema.properties, key)) {
      // Names that people choose are not kept: there may be any number.
      above.others ??= nodeOf(root, memberSchema(root, schema, key), {
        isOfElement: above.isElement,
      });
      return { node: above.others, text: extendPath(textAbove, key) };
    }
    known = {
      node: nodeOf(root, memberSchema(root, schema, key), { isNamed: true }),
      text: extendPath('', key),
    };
    above.named.set(key, known);
  }
  return textAbove === '' ? known : { node: known.node, text: `${textAbove}.${known.text}` };
}

/** The node of a list's elements. */
export function elementNode(list: FieldNode): FieldNode {
  const { root, schema } = list;
  list.items ??= nodeOf(root, itemSchema(root, schema), {
    isNamed: schema.items !== undefined,
    isElement: true,
  });
  return list.items;
}

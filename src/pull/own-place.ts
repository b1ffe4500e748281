import type { Edit } from '../config/edit/index.ts';
import { step } from '../config/explain.ts';
import { contentOf } from '../config/explain-text.ts';
import type { ResolvedResource } from '../config/resource.ts';
import { resourceSchema } from '../config/schema.ts';
import type { Place } from '../config/source.ts';
import type { Variables } from '../config/variables.ts';
import type { Tree } from '../config/write-tree.ts';
import type { Written } from '../config/written.ts';
import { identityText, isIdentity, type Path } from '../core/path.ts';
import { type FieldSchema, itemSchema, memberSchema } from '../core/schema.ts';

/** An edit of the file in which a resource itself stands. */
type OwnEdit = { readonly place: Place; readonly edit: Edit };

/**
 * Writes a value on the resource itself, where it wins over its bases. Undefined for a row: all rows share
 * what is written there.
 */
export function writeOwn(
  { address, kind, layers, row }: ResolvedResource,
  path: Path,
  tree: Tree,
  variables: Variables,
): OwnEdit | undefined {
  const own = layers.find(({ label }) => label === address)?.body;
  if (own === undefined || row !== undefined) return undefined;
  const root = resourceSchema(kind);
  let node: Written = own;
  let schema: FieldSchema = root;
  for (const [index, segment] of path.entries()) {
    const content = contentOf(node);
    const inner =
      content.type === 'scalar' ? undefined : step(content, segment, schema, { variables });
    if (inner === undefined) {
      const { place } = content;
      const [first, ...rest] = path.slice(index);
      const made = wrap(rest, tree, nextSchema(root, schema, segment), root);
      const to = { start: place.start, end: place.end };
      if (content.type === 'list') {
        const element = elementOf(segment, schema, made);
        return { place, edit: { type: 'add', to, tree: element } };
      }
      return { place, edit: { type: 'add', to, key: first ?? '', tree: made } };
    }
    node = inner;
    schema = nextSchema(root, schema, segment);
  }
  const { place } = node;
  return { place, edit: { type: 'set', at: { start: place.start, end: place.end }, tree } };
}

function nextSchema(root: FieldSchema, schema: FieldSchema, segment: string): FieldSchema {
  return isIdentity(segment) ? itemSchema(root, schema) : memberSchema(root, schema, segment);
}

/** A value below the maps and elements that lead to it. */
function wrap(path: Path, tree: Tree, schema: FieldSchema, root: FieldSchema): Tree {
  const [segment, ...rest] = path;
  if (segment === undefined) return tree;
  const inner = wrap(rest, tree, nextSchema(root, schema, segment), root);
  if (!isIdentity(segment)) return { type: 'map', members: [[segment, inner]] };
  return { type: 'list', items: [elementOf(segment, schema, inner)] };
}

/** An element with the name that it is known by, so that it is laid over the one of a base. */
function elementOf(segment: string, list: FieldSchema, tree: Tree): Tree {
  const identity = list['x-identity'] ?? 'name';
  const others = tree.type === 'map' ? tree.members.filter(([key]) => key !== identity) : [];
  const name: Tree = { type: 'text', text: identityText(segment) };
  return { type: 'map', members: [[identity, name], ...others] };
}

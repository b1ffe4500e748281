import type { Address } from '../core/address.ts';
import type { SourcePosition } from '../core/diagnostics.ts';
import { ownOf } from '../core/own.ts';
import { identityOrdinal, identityText, isIdentity, type Path } from '../core/path.ts';
import { dereference, type FieldSchema, itemSchema, memberSchema } from '../core/schema.ts';
import type { Value } from '../core/value.ts';
import { contentOf, isForm, textOf } from './explain-text.ts';
import { fillRow } from './fill-row.ts';
import { type Filling, fillingsOf, type Looking } from './fillings.ts';
import { interpolate, type Scope } from './interpolate.ts';
import { OWN_MEMBERS } from './own-members.ts';
import { below, type Field, rootField } from './resolved.ts';
import type { ResolvedResource } from './resource.ts';
import { configName, resourceSchema } from './schema.ts';
import { positionOf } from './source.ts';
import { followPath } from './trace.ts';
import type { Variables } from './variables.ts';
import { memberOf, type Written } from './written.ts';

/** Where a value of a resource came from. */
export type Origin = {
  readonly address: Address;
  /** Under the platform's names; empty for the resource as a whole. */
  readonly path: Path;
  /** Undefined where the resource does not have it. */
  readonly value: Value | undefined;
  /** Who says something of it, the lowest first: the last one with a value wins. */
  readonly layers: readonly LayerSaid[];
  /** What expressions and files in what was said stand for. */
  readonly filled: readonly Filling[];
};

/** What one layer says of a value. */
type LayerSaid = {
  /** `base common`, `agent.clinic`, `environment staging`. */
  readonly by: string;
  /** As it is written, or what it is where that is long; masked where it is sensitive. */
  readonly text: string;
  readonly position: SourcePosition;
  /** `removed`: it takes away what lies beneath. `empty`: its cell holds nothing, so it gives way. */
  readonly says: 'value' | 'removed' | 'empty';
};

/** Follows a value of a resource back to everything that had a part in it. */
export function originOf(
  resource: ResolvedResource,
  path: Path,
  {
    variables,
    root: settings,
  }: { readonly variables: Variables; readonly root: Written | undefined },
): Origin {
  const { kind, address, layers, row, spot } = resource;
  const scope: Scope = { variables, row };
  const written = configPath(resource, path);
  const root = resourceSchema(kind);
  const looking: Looking = { root, scope };
  const said = layers.flatMap(({ label, body }): Said[] => {
    const found = find(body, written, looking);
    if (found === undefined) return [];
    const left = row === undefined ? found : find(fillRow(body, row), written, looking);
    const { node, field } = found;
    const says = saysOf(node, left?.node);
    return [{ by: label, node, field, says, position: positionOf(node.place) }];
  });
  const last = said.findLast(({ says }) => says !== 'empty');
  const winner = last?.says === 'value' ? last : undefined;
  const [field = ''] = path;
  if (said.length === 0 && path.length === 1) said.push(...inherited(resource, field, settings));
  return {
    address,
    path,
    // Without errors no value has holes.
    value: (followPath(spot, written)?.value ??
      (path.length === 1 ? ownOf(resource.document, field) : undefined)) as Value | undefined,
    layers: said.map(({ by, node, field: own, says, position }) => ({
      by,
      says,
      position,
      text: textOf(node, own),
    })),
    filled: winner === undefined ? [] : fillingsOf(winner.node, winner.field, looking),
  };
}

/** What a layer has, and the field that was asked about. */
type Found = { readonly node: Written; readonly field: Field };

type Said = Omit<LayerSaid, 'text'> & Found;

/** The organization of the stack stands for that of a resource that names none. */
function inherited(
  { kind }: ResolvedResource,
  field: string,
  settings: Written | undefined,
): Said[] {
  const schema = ownOf(kind.schema.properties, field);
  if (schema?.['x-config'] !== 'organization') return [];
  const node = memberOf(settings, 'organization')?.value;
  if (node === undefined) return [];
  const own = below(rootField(kind.schema), schema, field);
  const position = positionOf(node.place);
  return [{ by: 'the stack', node, field: own, says: 'value', position }];
}

/** The path as the configuration names it. */
export function configPath({ kind }: Pick<ResolvedResource, 'kind'>, [first, ...rest]: Path): Path {
  if (first === undefined) return [];
  const schema = ownOf(kind.schema.properties, first);
  if (schema === undefined)
    return OWN_MEMBERS.includes(first) ? [first, ...rest] : ['unchecked', first, ...rest];
  return [configName(first, schema) ?? first, ...rest];
}

/** What a layer has at a path, or at the last step above it where that is one value. */
function find(body: Written, path: Path, { root, scope }: Looking): Found | undefined {
  let node: Written | undefined = body;
  let field = rootField(dereference(root, root));
  for (const segment of path) {
    const content = node && contentOf(node);
    // What stands for the whole of it stands for the field as well, which may be a secret.
    if (content !== undefined && content.type !== 'scalar' && !isForm(content)) {
      node = step(content, segment, field.schema, scope);
      if (node === undefined) return undefined;
    }
    const schema: FieldSchema = isIdentity(segment)
      ? itemSchema(root, field.schema)
      : memberSchema(root, field.schema, segment);
    field = below(field, schema, segment);
  }
  return node && { node, field };
}

/** The member or the element of a written map or list that a segment of a path names. */
export function step(
  node: Written,
  segment: string,
  schema: FieldSchema,
  scope: Scope,
): Written | undefined {
  if (node.type !== 'list') return memberOf(node, segment)?.value;
  const key = schema['x-identity'];
  const name = identityText(segment);
  const named = node.items.filter((item) => {
    const identity = key === undefined ? item : memberOf(item, key)?.value;
    return identity?.type === 'scalar' && interpolate(identity.text, scope).text === name;
  });
  const byName = named[identityOrdinal(segment) - 1];
  const removed = node.items.find((item) => {
    const given = memberOf(item, '$remove')?.value;
    return given?.type === 'scalar' && interpolate(given.text, scope).text === name;
  });
  return byName ?? removed ?? node.items[Number(name)];
}

function saysOf(node: Written, left: Written | undefined): LayerSaid['says'] {
  if (memberOf(node, '$remove') !== undefined) return 'removed';
  return left === undefined ? 'empty' : 'value';
}

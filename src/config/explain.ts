import type { Address } from '../core/address.ts';
import type { SourcePosition } from '../core/diagnostics.ts';
import { isSensitive, MASK } from '../core/mask.ts';
import { ownOf } from '../core/own.ts';
import { isIdentity, type Path } from '../core/path.ts';
import { type FieldSchema, itemSchema, memberSchema } from '../core/schema.ts';
import type { Value } from '../core/value.ts';
import { fillRow } from './fill-row.ts';
import { type Filling, fillingsOf } from './fillings.ts';
import { interpolate, type Scope } from './interpolate.ts';
import type { ResolvedResource } from './resource.ts';
import { configName, resourceSchema } from './schema.ts';
import { positionOf } from './source.ts';
import { followPath, identityText } from './trace.ts';
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
export type LayerSaid = {
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
  { variables, root }: { readonly variables: Variables; readonly root: Written | undefined },
): Origin {
  const { kind, address, layers, row, spot } = resource;
  const scope: Scope = { variables, row };
  const written = configPath(resource, path);
  const schema = resourceSchema(kind);
  const hidden = isHidden(schema, written);
  const said = layers.flatMap(({ label, body }): Said[] => {
    const node = find(body, written, schema, scope);
    if (node === undefined) return [];
    const left = row === undefined ? node : find(fillRow(body, row), written, schema, scope);
    const by = label;
    return [{ by, node, says: saysOf(node, left), position: positionOf(node.place) }];
  });
  const last = said.findLast(({ says }) => says !== 'empty');
  const winner = last?.says === 'value' ? last : undefined;
  const [field = ''] = path;
  if (said.length === 0 && path.length === 1) said.push(...inherited(resource, field, root));
  return {
    address,
    path,
    // Without errors no value has holes.
    value: (followPath(spot, written)?.value ??
      (path.length === 1 ? ownOf(resource.document, field) : undefined)) as Value | undefined,
    layers: said.map(({ by, node, says, position }) => ({
      by,
      says,
      position,
      text: hidden && !isForm(node) ? MASK : textOf(node),
    })),
    filled: winner === undefined || hidden ? [] : fillingsOf(winner.node, scope),
  };
}

type Said = Omit<LayerSaid, 'text'> & { readonly node: Written };

/** The organization of the stack stands for that of a resource that names none. */
function inherited(
  { kind }: ResolvedResource,
  field: string,
  settings: Written | undefined,
): Said[] {
  const isOrganization = ownOf(kind.schema.properties, field)?.['x-config'] === 'organization';
  const node = isOrganization ? memberOf(settings, 'organization')?.value : undefined;
  return node === undefined
    ? []
    : [{ by: 'the stack', node, says: 'value', position: positionOf(node.place) }];
}

/** The path as the configuration names it. */
function configPath({ kind }: ResolvedResource, [first, ...rest]: Path): Path {
  if (first === undefined) return [];
  const schema = ownOf(kind.schema.properties, first);
  return [(schema && configName(first, schema)) ?? first, ...rest];
}

/** What a layer has at a path, or at the last step above it where that is one value. */
function find(body: Written, path: Path, schema: FieldSchema, scope: Scope): Written | undefined {
  let node: Written = body;
  let at = schema;
  for (const segment of path) {
    if (node.type === 'scalar' || isForm(node)) return node;
    const next = step(node, segment, at, scope);
    if (next === undefined) return undefined;
    at = isIdentity(segment) ? itemSchema(schema, at) : memberSchema(schema, at, segment);
    node = next;
  }
  return node;
}

function step(
  node: Written,
  segment: string,
  schema: FieldSchema,
  scope: Scope,
): Written | undefined {
  if (node.type !== 'list') return memberOf(node, segment)?.value;
  const key = schema['x-identity'];
  const name = identityText(segment);
  const byName = node.items.find((item) => {
    const identity = key === undefined ? item : memberOf(item, key)?.value;
    return identity?.type === 'scalar' && interpolate(identity.text, scope).text === name;
  });
  const removed = node.items.find((item) => {
    const given = memberOf(item, '$remove')?.value;
    return given?.type === 'scalar' && given.text === name;
  });
  return byName ?? removed ?? node.items[Number(name)];
}

function saysOf(node: Written, left: Written | undefined): LayerSaid['says'] {
  if (memberOf(node, '$remove') !== undefined) return 'removed';
  return left === undefined ? 'empty' : 'value';
}

function isForm(node: Written): boolean {
  return node.type === 'map' && [...node.members.keys()].some((key) => key.startsWith('$'));
}

function isHidden(root: FieldSchema, path: Path): boolean {
  let schema = root;
  return path.some((segment) => {
    schema = isIdentity(segment) ? itemSchema(root, schema) : memberSchema(root, schema, segment);
    return isSensitive(schema);
  });
}

const LONGEST = 200;

/** What is written, on one line; what something is where it is a whole map or list. */
function textOf(node: Written): string {
  if (node.type === 'list') return `a list of ${node.items.length}`;
  if (node.type === 'map' && !isForm(node))
    return `a map of ${[...node.members.keys()].join(', ')}`;
  const { source, start, end } = node.place;
  const text = node.type === 'scalar' ? node.text : source.text.slice(start, end);
  const line = text.replace(/\s+/g, ' ').trim();
  return line.length > LONGEST ? `${line.slice(0, LONGEST)}…` : line;
}

import { type Address, withKey } from '../core/address.ts';
import type { FieldSchema } from '../core/schema.ts';
import type { Json } from '../core/value.ts';
import type { Kind } from '../kinds/kind.ts';
import { type Bases, fieldsOf, type Layer } from './bases.ts';
import { textsIn } from './field-texts.ts';
import { fillRow, usesRow } from './fill-row.ts';
import { type Folder, isUnreadable } from './folder.ts';
import { readLoop } from './for-each.ts';
import { expressionsIn, wholeExpression } from './interpolate.ts';
import { layOver } from './lay-over.ts';
import { unpack } from './packed.ts';
import type { Patches } from './patches.ts';
import type { Problem, Report } from './problems.ts';
import { type Loop, reportRows } from './read-rows.ts';
import {
  type Context,
  type Foundation,
  type Foundations,
  rootField,
  type Surroundings,
} from './resolved.ts';
import type { WrittenResource } from './resources.ts';
import { eachPath, type Row } from './rows.ts';
import { resourceSchema } from './schema.ts';
import type { Place } from './source.ts';
import { describe, type Member, memberOf, type Written, type WrittenMap } from './written.ts';

/** A resource that was found, before its layers are laid over each other. */
export type ComposedResource = Omit<WrittenResource, 'body'> & {
  /** Where what makes it this one is written: the row, or the resource itself. */
  readonly ownPlace: Place;
  /** The lowest of its layers, where others have the same. */
  readonly foundation: Foundation | undefined;
  /**
   * Lays its layers over each other. What that gives is large and seldom needed once it was resolved, so it is
   * made again for those who ask where something stands.
   */
  readonly make: (report: Report) => Made;
};

/** A resource with everything laid over each other that it is made of. */
export type Made = {
  readonly body: WrittenMap;
  /** What it is made of, the lowest first, before its row was put in. */
  readonly layers: readonly Layer[];
  /** The row that `${each.…}` reads from. */
  readonly row: Row | undefined;
};

/** What one written resource comes to; with rows, its own address is none. */
type Composition = {
  readonly hasRows: boolean;
  readonly resources: readonly ComposedResource[];
};

type Composing = {
  readonly bases: Bases;
  readonly foundations: Foundations;
  readonly patches: Patches;
  readonly surroundings: Surroundings;
};

/**
 * Makes the resources of one that was written: one, or one a row.
 *
 * ```
 * bases, in the order of `base:`  <  the resource  <  the environment's patches, the widest first
 * ```
 *
 * Each layer gets its row before it is laid over the others, so that an empty cell gives way to a base.
 */
export function compose(written: WrittenResource, composing: Composing): Composition {
  const { kind, address } = written;
  const { bases, patches, surroundings } = composing;
  const above = patches.over(address);
  const own = [unpack(written.body), ...above.map((layer) => layer.body)];
  const base = lastOf(own, 'base');
  const beneath = base === undefined ? [] : bases.layersOf(base.value);
  const context = contextOf(kind, address, surroundings);
  const forEach = lastOf(own, 'for_each');
  const stacked = { written, beneath, above };
  if (forEach === undefined) {
    refuseStray(own, context);
    return { hasRows: false, resources: [composeOne(stacked, composing, context.root)] };
  }
  const key = lastOf(own, 'key');
  const loop = { forEach, key, allowEmpty: isEmptyAllowed(own, context) };
  return { hasRows: true, resources: composeRows(stacked, loop, composing, context) };
}

/** A written resource with what lies beneath and above it. */
type Stacked = {
  readonly written: WrittenResource;
  readonly beneath: readonly Layer[];
  readonly above: readonly Layer[];
};

function layersOf({ written, beneath, above }: Stacked): readonly Layer[] {
  return [
    ...beneath,
    { label: written.address, body: fieldsOf(unpack(written.body)) },
    ...above.map((layer) => ({ ...layer, body: fieldsOf(layer.body) })),
  ];
}

function composeOne(
  stacked: Stacked,
  { foundations }: Composing,
  root: FieldSchema,
): ComposedResource {
  const { written, beneath } = stacked;
  const { body: _, ...own } = written;
  const foundation = foundations(beneath, root);
  const make = (report: Report): Made => {
    const layers = layersOf(stacked);
    const rest = foundation === undefined ? layers : layers.slice(beneath.length);
    const body = merge(foundation, rest, written, written.address, report);
    return { body, layers, row: undefined };
  };
  return { ...own, ownPlace: written.keyPlace, foundation, make };
}

function composeRows(
  stacked: Stacked,
  loop: Omit<Loop, 'hidden'>,
  { foundations, patches }: Composing,
  context: Context,
): readonly ComposedResource[] {
  const { written } = stacked;
  const { body: _, ...own } = written;
  const layers = layersOf(stacked);
  const rows = readLoop({ ...loop, hidden: hiddenColumns(layers, context.root) }, context);
  const problem = tooMuch(
    rows.length,
    layers.map(({ body }) => body),
    context.folder,
  );
  if (problem !== undefined) {
    reportRows(context, loop.forEach.keyPlace, problem);
    return [];
  }
  // What no row has a part in is the same for all of them.
  const first = layers.findIndex((layer) => usesRow(layer.body));
  const common = first < 0 ? layers : layers.slice(0, first);
  const foundation = foundations(common, context.root);
  const differing = foundation === undefined ? layers : layers.slice(common.length);
  return rows.map(({ key, row }): ComposedResource => {
    const address = withKey(written.address, key);
    const over = patches.overRow(address);
    const make = (report: Report): Made => {
      const filled = { ...row, cells: unpack(row.cells) };
      const rest = [...differing, ...over].map(({ label, body }) => ({
        label,
        body: fillRow(body, filled),
      }));
      const body = merge(foundation, rest, written, address, report);
      const all = over.length === 0 ? layers : [...layers, ...over];
      return { body, layers: all, row: filled };
    };
    return { ...own, address, ownPlace: row.cells.place, foundation, make };
  });
}

/** Columns that sensitive fields are filled in from, so that no frame shows them, whatever becomes of a row. */
function hiddenColumns(layers: readonly Layer[], root: FieldSchema): ReadonlySet<string> {
  const texts = layers.flatMap(({ body }) => textsIn(body, rootField(root), root));
  const expressions = texts
    .filter(({ field }) => field.sensitive)
    .flatMap(({ text }) => expressionsIn(text));
  return new Set(expressions.flatMap((expression) => eachPath(expression)?.[0] ?? []));
}

function contextOf(kind: Kind, address: Address, surroundings: Surroundings): Context {
  const own = { root: resourceSchema(kind), subject: address, address, refs: [], secrets: [] };
  return { ...surroundings, ...own };
}

/** Layers over what is laid already, as one body. It stands where the resource itself does. */
function merge(
  foundation: Foundation | undefined,
  layers: readonly Layer[],
  { kind, body: { place } }: WrittenResource,
  address: Address,
  report: Report,
): WrittenMap {
  const schema = resourceSchema(kind);
  const add = (problem: Problem) =>
    report.add({ ...problem, message: `${address} ${problem.message}`, address });
  const merged = layers.reduce<WrittenMap>(
    (below, { body }) => layOver(below, body, schema, { root: schema, add }),
    foundation?.body ?? { type: 'map', place, members: new Map() },
  );
  return { ...merged, place };
}

function lastOf(bodies: readonly WrittenMap[], key: string): Member | undefined {
  return bodies.map(({ members }) => members.get(key)).findLast((member) => member !== undefined);
}

function isEmptyAllowed(
  bodies: readonly WrittenMap[],
  { report, subject, address }: Context,
): boolean {
  const member = lastOf(bodies, 'allow_empty');
  if (member === undefined) return false;
  const { value } = member;
  if (value.type === 'scalar' && typeof value.value === 'boolean') return value.value;
  report.add({
    rule: 'schema/type',
    message: `${subject}: allow_empty must be true or false, not ${describe(value)}`,
    address,
    path: 'allow_empty',
    place: value.place,
  });
  return false;
}

/** `key` and `allow_empty` say something about rows, and there are none. */
function refuseStray(bodies: readonly WrittenMap[], { report, subject, address }: Context): void {
  for (const key of ['key', 'allow_empty']) {
    const member = lastOf(bodies, key);
    if (member === undefined) continue;
    report.add({
      rule: 'for-each/missing',
      message: `${subject} has ${key} and no for_each`,
      hint: 'Add for_each: { $file: rows.csv }, or remove it',
      address,
      path: key,
      place: member.keyPlace,
    });
  }
}

/**
 * What rows may come to. Files, nesting and aliases have limits of their own, where they are read (`MAX_TEXT_BYTES`,
 * `MAX_DEPTH`, `MAX_ALIASED_NODES`, `MOST_ALTERNATIVES`); rows multiply what stands once.
 */

/** Rows of one resource: a single stack holds some hundred thousand agents in memory. */
const MOST_ROWS = 250_000;
/** Characters that all rows of a resource fill in together: 100,000 prompts of 10,000. */
const MOST_FILLED_CHARACTERS = 1_000_000_000;

/** What is wrong with so many rows of these bodies, as a message after `for_each`. */
function tooMuch(rows: number, bodies: readonly Written[], folder: Folder): Problem | undefined {
  const count = rows.toLocaleString('en-US');
  if (rows > MOST_ROWS) {
    return {
      rule: 'for-each/too-much',
      message: `has ${count} rows; a resource may have ${MOST_ROWS.toLocaleString('en-US')}`,
      hint: 'Split the table, and the stack with it: an organization or a region each',
    };
  }
  const each = bodies.reduce((sum, body) => sum + charactersIn(body, folder), 0);
  if (rows * each <= MOST_FILLED_CHARACTERS) return undefined;
  return {
    rule: 'for-each/too-much',
    message: `has ${count} rows and fills in ${each.toLocaleString('en-US')} characters for each, ${(rows * each).toLocaleString('en-US')} together; all rows of a resource may fill in ${MOST_FILLED_CHARACTERS.toLocaleString('en-US')}`,
    hint: 'Make the template smaller, or split the table and the stack with it',
  };
}

/** Characters of the texts that are filled in for each row: those with expressions, and templates. */
function charactersIn(node: Written, folder: Folder): number {
  if (node.type === 'scalar') {
    const { value }: { readonly value: Json } = node;
    const isFilled = typeof value === 'string' && value.includes('${');
    return isFilled && wholeExpression(value) === undefined ? value.length : 0;
  }
  if (node.type === 'list') {
    return node.items.reduce((sum, item) => sum + charactersIn(item, folder), 0);
  }
  const template = memberOf(node, '$template')?.value;
  let sum = 0;
  if (template?.type === 'scalar' && typeof template.value === 'string') {
    const read = folder.text(template.value);
    if (!isUnreadable(read)) sum += read.source.text.length;
  }
  for (const { value } of node.members.values()) sum += charactersIn(value, folder);
  return sum;
}

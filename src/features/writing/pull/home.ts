import type { Path } from '../../../core/path.ts';
import type { FieldSchema } from '../../../core/schema.ts';
import { schemaBelow } from '../../../core/walk.ts';
import { configPath, step } from '../../../stack/editor/origin.ts';
import { expressionsIn, interpolate, type Scope } from '../../../stack/expressions.ts';
import { getContent, isForm } from '../../../stack/forms.ts';
import { followPath, type LocatedValue } from '../../../stack/resolved.ts';
import type { ResolvedResource } from '../../../stack/resource.ts';
import { resourceSchema } from '../../../stack/schema.ts';
import { findMember, type SourceRange, type SyntaxNode } from '../../../stack/source.ts';
import type { Variables } from '../../../stack/variables.ts';
import type { LiveEdit } from './live-edit.ts';

/** The place where a value is written, and so where a new one belongs. */
export type Home =
  /** A value in YAML, or a cell of a row. */
  | {
      readonly type: 'value';
      /** The same for all that read the value. */
      readonly key: string;
      readonly range: SourceRange;
      /** The alias that stands for it. */
      readonly alias?: SourceRange;
      /** True if it is data of a table, in which nothing is filled in. */
      readonly isCell: boolean;
      /** Several layers say something of it: without this one another would be read. */
      readonly isLayered: boolean;
      readonly schema: FieldSchema;
    }
  /** The whole text of a file. */
  | {
      readonly type: 'file';
      readonly key: string;
      readonly file: string;
      readonly range: SourceRange;
    }
  /** It is put together from other values: it changes when they do, and only then. */
  | { readonly type: 'filled'; readonly by: string; readonly range: SourceRange }
  /** Several layers say something of it, so that no single one can take it away. */
  | { readonly type: 'layered'; readonly by: readonly string[]; readonly range: SourceRange }
  | { readonly type: 'nowhere' };

/** Returns the path by the names of the configuration. */
export function writtenPath({ kind, path }: Pick<LiveEdit, 'kind' | 'path'>): Path {
  return configPath({ kind }, path);
}

export function getRangeKey({ source, start, end }: SourceRange): string {
  return `${source.file}:${start}:${end}`;
}

export function fileKey(file: string): string {
  return `file ${file}`;
}

/** Finds the place where a value is to be written. */
export function findHome(
  liveEdit: LiveEdit,
  resource: ResolvedResource,
  variables: Variables,
): Home {
  const full = writtenPath(liveEdit);
  const path = liveEdit.action === 'add' ? full.slice(0, -1) : full;
  const located = followPath(resource.located, path);
  const node = located?.written;
  if (located === undefined || node === undefined) return above(resource, path);
  const scope: Scope = { variables, row: resource.row };
  if (liveEdit.action === 'remove') {
    const by = layersThatSay(resource, path, scope);
    if (by.length > 1) return { type: 'layered', by, range: node.range };
    return valueHome(located, node, resource, node.range);
  }
  if (liveEdit.action === 'add') return valueHome(located, node, resource, node.range);
  if (node.type === 'map' && liveEdit.next !== undefined) {
    const file = pathOfFile(node, scope);
    if (file !== undefined) {
      return { type: 'file', key: fileKey(file), file, range: node.range };
    }
    const template = findMember(node, '$template')?.value;
    if (template !== undefined) {
      const path = template.type === 'scalar' ? ` ${template.text}` : '';
      return { type: 'filled', by: `$template${path}`, range: node.range };
    }
  }
  const isCell = isOfRow(node, resource);
  const expression = isCell ? undefined : expressionIn(node);
  if (expression !== undefined) return { type: 'filled', by: expression, range: node.range };
  const home = valueHome(located, node, resource, node.origin ?? node.range);
  const isLayered = layersThatSay(resource, path, scope).length > 1;
  return { ...home, isLayered };
}

function valueHome(
  located: LocatedValue,
  node: SyntaxNode,
  resource: ResolvedResource,
  range: SourceRange,
): Home & { readonly type: 'value' } {
  return {
    type: 'value',
    key: getRangeKey(range),
    range,
    ...(node.origin !== undefined && range === node.origin ? { alias: node.range } : {}),
    isCell: isOfRow(node, resource),
    isLayered: false,
    schema: located.schema,
  };
}

/** Finds an expression above a value that is not written out: it may stand for the whole. */
function above(resource: ResolvedResource, path: Path): Home {
  for (let length = path.length - 1; length > 0; length -= 1) {
    const node = followPath(resource.located, path.slice(0, length))?.written;
    const by = node === undefined ? undefined : expressionIn(node);
    if (node !== undefined && by !== undefined) return { type: 'filled', by, range: node.range };
  }
  return { type: 'nowhere' };
}

/** The file that a `$file` names, as files of the stack are called; undefined for anything else. */
export function pathOfFile(node: SyntaxNode, scope: Scope): string | undefined {
  const written = findMember(node, '$file')?.value;
  if (written?.type !== 'scalar' || !isForm(node)) return undefined;
  return plainPath(interpolate(written.text, scope).text ?? '');
}

/** `prompts/a.md` of `./prompts//a.md`. */
export function plainPath(path: string): string {
  return path
    .split('/')
    .filter((part) => part !== '' && part !== '.')
    .join('/');
}

/** True if a node comes from the cells of the row. */
function isOfRow({ range, origin }: SyntaxNode, { row }: ResolvedResource): boolean {
  const own = row?.cells.range;
  const at = origin ?? range;
  return (
    own !== undefined && at.source === own.source && at.start >= own.start && at.end <= own.end
  );
}

/** The first expression in a node, or in anything below it. */
function expressionIn(node: SyntaxNode): string | undefined {
  if (node.type === 'scalar') {
    const [inner] = typeof node.value === 'string' ? expressionsIn(node.value) : [];
    return inner === undefined ? undefined : `\${${inner}}`;
  }
  if (findMember(node, '$template') !== undefined) return '$template';
  const inner =
    node.type === 'list' ? node.items : [...node.members.values()].map(({ value }) => value);
  for (const one of inner) {
    const found = expressionIn(one);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** Labels of the layers that have an element. */
function layersThatSay(
  { kind, layers }: ResolvedResource,
  path: Path,
  scope: Scope,
): readonly string[] {
  const root = resourceSchema(kind);
  return layers
    .filter(({ body }) => {
      let node: SyntaxNode | undefined = body;
      let schema: FieldSchema = root;
      for (const segment of path) {
        node = node && step(getContent(node), segment, schema, scope);
        schema = schemaBelow(root, schema, segment);
      }
      return node !== undefined && findMember(node, '$remove') === undefined;
    })
    .map(({ label }) => label);
}

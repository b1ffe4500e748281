import type { Kind } from '../kinds/kind.ts';
import { interpolate } from './interpolate.ts';
import type { StackFile } from './stack-file.ts';
import type { Variables } from './variables.ts';
import { memberOf, type Written } from './written.ts';

/** A file of the stack that could be parsed; the first is `callsheet.yaml`. */
type Root = { readonly root: Written; readonly main: boolean };

/**
 * The files of a stack that hold resources. A YAML file that some `for_each` reads its rows from lies among
 * them and is none.
 */
export function withoutRows(
  files: readonly StackFile[],
  kinds: readonly Kind[],
  variables: Variables,
): readonly Root[] {
  const roots = files.flatMap(({ root }, index) =>
    root === undefined ? [] : [{ root, main: index === 0 }],
  );
  const rows = new Set(roots.flatMap(({ root }) => rowFilesIn(root, kinds, variables)));
  return roots.filter(({ root, main }) => main || !rows.has(root.place.source.file));
}

function rowFilesIn(
  root: Written,
  kinds: readonly Kind[],
  variables: Variables,
): readonly string[] {
  const sections = kinds.map(({ section }) => memberOf(root, section)?.value);
  const patches = valuesOf(memberOf(root, 'environments')?.value).map(
    (environment) => memberOf(environment, 'patches')?.value,
  );
  return [...sections, ...patches].flatMap((section) =>
    valuesOf(section).flatMap((resource) => {
      // A block holds its resources one level below.
      const inner = valuesOf(resource).flatMap(valuesOf);
      return [resource, ...inner].flatMap((node) => rowFileOf(node, variables) ?? []);
    }),
  );
}

function rowFileOf(resource: Written, variables: Variables): string | undefined {
  const file = memberOf(memberOf(resource, 'for_each')?.value, '$file')?.value;
  if (file?.type !== 'scalar' || typeof file.value !== 'string') return undefined;
  return interpolate(file.value, { variables }).text?.replace(/^\.\//, '');
}

function valuesOf(node: Written | undefined): readonly Written[] {
  return node?.type === 'map' ? [...node.members.values()].map(({ value }) => value) : [];
}

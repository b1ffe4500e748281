import { formatAddress } from '../core/address.ts';
import type { Kind } from '../kinds/kind.ts';
import { STACK_FILE } from './discover.ts';
import { environmentsOf } from './environments.ts';
import { interpolate } from './interpolate.ts';
import type { Report } from './problems.ts';
import { SHARED_MEMBERS } from './resources.ts';
import type { StackFile } from './stack-file.ts';
import type { Variables } from './variables.ts';
import { type Member, memberOf, type Written, type WrittenScalar } from './written.ts';

/** A file of the stack that could be parsed; the first is `callsheet.yaml`. */
type Root = { readonly root: Written; readonly main: boolean };

type ResourceFiles = {
  readonly roots: readonly Root[];
  /** Whether what a `for_each` names is one of them, and so no table; that was reported. */
  readonly isResourceFile: (path: string) => boolean;
};

/**
 * The files of a stack that hold resources. A YAML file that some `for_each` reads its rows from lies among
 * them and is none. One that has resources all the same stays: left out, they would be planned as deletes.
 */
export function withoutRows(
  files: readonly StackFile[],
  kinds: readonly Kind[],
  variables: Variables,
  report: Report,
): ResourceFiles {
  const roots = files.flatMap(({ root }, index) =>
    root === undefined ? [] : [{ root, main: index === 0 }],
  );
  const known = [...kinds.map(({ section }) => section), ...SHARED_MEMBERS];
  const uses = Map.groupBy(
    roots.flatMap(({ root }) => rowFilesIn(root, kinds, variables)),
    ({ path }) => path,
  );
  const rows = new Set(uses.keys());
  for (const { root, main } of roots) {
    const { file } = root.place.source;
    const held = main ? firstKey(root) : known.find((key) => memberOf(root, key) !== undefined);
    if (held === undefined || !rows.delete(file)) continue;
    for (const use of uses.get(file) ?? []) refuse(use, held, report);
  }
  const kept = roots.filter(({ root }) => !rows.has(root.place.source.file));
  const names = new Set(kept.map(({ root }) => root.place.source.file));
  return { roots: kept, isResourceFile: (path) => names.has(plainPath(path)) };
}

/** A `$file` of some `for_each`. */
type Use = { readonly subject: string; readonly path: string; readonly node: WrittenScalar };

function refuse({ subject, node }: Use, held: string, report: Report): void {
  report.add({
    rule: 'for-each/file',
    message: `${subject}: for_each reads ${node.text}, which is a file of the stack itself: it has ${held}`,
    hint: 'Put the rows into a file of their own',
    place: node.place,
  });
}

function firstKey(root: Written): string | undefined {
  return root.type === 'map' ? [...root.members.keys()][0] : undefined;
}

function rowFilesIn(root: Written, kinds: readonly Kind[], variables: Variables): readonly Use[] {
  const resources = kinds.flatMap((kind) =>
    membersIn(memberOf(root, kind.section)?.value).flatMap((member) => resourcesIn(member, kind)),
  );
  const patches = environmentsOf(root).flatMap(({ key: name, value }) =>
    membersIn(memberOf(value, 'patches')?.value).map(({ key, value }) => ({
      subject: `${STACK_FILE}: environments.${name}.patches.${key}`,
      value,
    })),
  );
  return [...resources, ...patches].flatMap(({ subject, value }) => {
    const node = memberOf(memberOf(value, 'for_each')?.value, '$file')?.value;
    if (node?.type !== 'scalar' || typeof node.value !== 'string') return [];
    const path = interpolate(node.value, { variables }).text;
    return path === undefined ? [] : [{ subject, node, path: plainPath(path) }];
  });
}

/** A resource, or those that a block holds. */
function resourcesIn({ key, value }: Member, { name, nested }: Kind) {
  if (nested === undefined) return [{ subject: formatAddress(name, [key]), value }];
  return membersIn(memberOf(value, nested.key)?.value).map((inner) => ({
    subject: formatAddress(name, [key, inner.key]),
    value: inner.value,
  }));
}

function membersIn(node: Written | undefined): readonly Member[] {
  return node?.type === 'map' ? [...node.members.values()] : [];
}

/** `data/rows.yaml` of `./data//rows.yaml`, as files of the stack are called. */
function plainPath(path: string): string {
  return path
    .split('/')
    .filter((part) => part !== '' && part !== '.')
    .join('/');
}

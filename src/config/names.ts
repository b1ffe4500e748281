import { readFileSync } from 'node:fs';
import { join, resolve as resolvePath } from 'node:path';
import { type Address, withKey } from '../core/address.ts';
import { kinds } from '../kinds/index.ts';
import { discover, STACK_FILE } from './discover.ts';
import { enterEnvironment } from './environment.ts';
import { environmentsOf } from './environments.ts';
import { openFolder } from './folder.ts';
import { readLoop } from './for-each.ts';
import type { LoadOptions } from './load.ts';
import { interpolate } from './interpolate.ts';
import { outlineOf } from './outline.ts';
import { openReport, type Report } from './problems.ts';
import { collectResources, type WrittenResource } from './resources.ts';
import { stateFileAt } from './shared-state.ts';
import { readVariables } from './variables.ts';
import { memberOf, type Written, type WrittenMap } from './written.ts';
import { parseYaml } from './yaml.ts';

/** What a stack calls things. */
export type Names = {
  readonly environments: readonly string[];
  readonly variables: readonly string[];
  readonly organizations: readonly string[];
  readonly knowledgeBases: readonly string[];
  /** Read when asked for, as they stand in all files. */
  readonly addresses: () => readonly Address[];
  /** Absolute path of the state; undefined where the settings do not tell. */
  readonly stateFile: () => string | undefined;
};

type Options = Pick<LoadOptions, 'dir' | 'env' | 'environment'>;

/**
 * The names that a stack has, for whoever waits at a prompt: nothing is checked, resolved or reported, and what
 * cannot be read has no names.
 */
export function namesIn(options: Options): Names {
  const dir = resolvePath(options.dir);
  const report = openReport();
  const main = readRoot(dir, STACK_FILE, (text) => text);
  const root = main?.type === 'map' ? main : undefined;
  const keysOf = (member: string) => {
    const value = memberOf(root, member)?.value;
    return value?.type === 'map' ? [...value.members.keys()] : [];
  };
  return {
    environments: environmentsOf(root).map(({ key }) => key),
    variables: keysOf('variables'),
    organizations: keysOf('organizations'),
    knowledgeBases: keysOf('knowledge_bases'),
    addresses: () => (root === undefined ? [] : addressesIn(root, { ...options, dir }, report)),
    stateFile: () => (root === undefined ? undefined : stateFileIn(root, { ...options, dir }, report)),
  };
}

function addressesIn(root: WrittenMap, options: Options, report: Report): readonly Address[] {
  const { dir, environment, env } = options;
  const own = enterEnvironment(root, environment, dir, report).root;
  const outline = (text: string) => outlineOf(text, kinds);
  const others = discover(dir, includeIn(own), [], []).files.flatMap((file) => {
    const read = readRoot(dir, file, outline);
    return read === undefined ? [] : [{ root: read, main: false }];
  });
  const files = [{ root, main: true }, ...others];
  const { resources } = collectResources(files, kinds, report, 'unknown');
  const variables = readVariables(memberOf(own, 'variables')?.value, { env }, report);
  const folder = openFolder(dir);
  const rowsOf = ({ address, body }: WrittenResource): readonly Address[] => {
    const forEach = memberOf(body, 'for_each');
    if (forEach === undefined) return [address];
    const key = memberOf(body, 'key');
    const loop = { forEach, key, allowEmpty: true, hidden: new Set<string>() };
    const rows = readLoop(loop, {
      ...{ report, variables, folder, root: {}, subject: address, address, refs: [], secrets: [] },
      organization: () => 'unreadable',
      defaultOrganization: 'failed',
      unchosen: [],
      isResourceFile: () => false,
      isKind: () => true,
      secretNames: [],
    });
    return [address, ...rows.map((row) => withKey(address, row.key))];
  };
  return resources.flatMap(rowsOf);
}

function stateFileIn(root: WrittenMap, options: Options, report: Report): string | undefined {
  const { dir, env, environment } = options;
  const own = enterEnvironment(root, environment, dir, report).root;
  const file = memberOf(memberOf(own, 'state')?.value, 'file')?.value;
  const where = { dir, env, environment };
  if (file?.type !== 'scalar') return stateFileAt(where, undefined);
  const variables = readVariables(memberOf(own, 'variables')?.value, { env }, report);
  const { text } = interpolate(file.text, { variables });
  return text === undefined ? undefined : stateFileAt(where, text);
}

function includeIn(root: WrittenMap) {
  const value = memberOf(root, 'include')?.value;
  if (value?.type !== 'list') return undefined;
  return value.items.flatMap((item) =>
    item.type === 'scalar' ? [{ pattern: item.text, place: item.place }] : [],
  );
}

/** A file as far as `outline` leaves it, or whole where that is nothing to go by. */
function readRoot(
  dir: string,
  file: string,
  outline: (text: string) => string | undefined,
): Written | undefined {
  try {
    const text = readFileSync(join(dir, file), 'utf8').replace(/^\uFEFF/, '');
    const short = outline(text);
    const first = short === undefined ? undefined : parseYaml({ file, text: short });
    const isEnough = first !== undefined && first.problems.length === 0;
    return (isEnough ? first : parseYaml({ file, text })).root;
  } catch {
    return undefined;
  }
}

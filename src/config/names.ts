import { readFileSync } from 'node:fs';
import { join, resolve as resolvePath } from 'node:path';
import { type Address, formatAddress, withKey } from '../core/address.ts';
import { kinds } from '../kinds/index.ts';
import { discover, STACK_FILE } from './discover.ts';
import { enterEnvironment } from './environment.ts';
import { environmentsOf } from './environments.ts';
import { openFolder } from './folder.ts';
import { readLoop } from './for-each.ts';
import { interpolate } from './interpolate.ts';
import type { LoadOptions } from './load.ts';
import { outlineOf } from './outline.ts';
import { openReport, type Report } from './problems.ts';
import { collectResources } from './resources.ts';
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
  const text = textOf(dir, STACK_FILE);
  const main = text === undefined ? undefined : parseYaml({ file: STACK_FILE, text }).root;
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
    stateFile: () =>
      root === undefined ? undefined : stateFileIn(root, { ...options, dir }, report),
  };
}

function addressesIn(root: WrittenMap, options: Options, report: Report): readonly Address[] {
  const { dir, environment, env } = options;
  const own = enterEnvironment(root, environment, dir, report).root;
  const { files } = discover(dir, includeIn(own), [], []);
  const rowsOf = rowReader(own, { dir, env }, report);
  return [STACK_FILE, ...files].flatMap((file) => {
    const text = textOf(dir, file);
    if (text === undefined) return [];
    const outlined = outlineOf(text, kinds);
    if (outlined === undefined) {
      const whole = file === STACK_FILE ? root : parseYaml({ file, text }).root;
      return whole === undefined ? [] : written(whole, file === STACK_FILE, report, rowsOf);
    }
    return outlined.flatMap(({ kind, names, loop }) => {
      const address = formatAddress(kind.name, names);
      return loop === '' ? [address] : rowsOf(address, parseYaml({ file, text: loop }).root);
    });
  });
}

/** A file that was read as a whole. */
function written(root: Written, main: boolean, report: Report, rowsOf: RowReader) {
  const { resources } = collectResources([{ root, main }], kinds, report, 'unknown');
  return resources.flatMap(({ address, body }) => rowsOf(address, body));
}

type RowReader = (address: Address, body: Written | undefined) => readonly Address[];

/** Gives a resource's address and those of its rows. */
function rowReader(
  root: WrittenMap | undefined,
  { dir, env }: Pick<Options, 'dir' | 'env'>,
  report: Report,
): RowReader {
  const variables = readVariables(memberOf(root, 'variables')?.value, { env }, report);
  const folder = openFolder(dir);
  return (address, body) => {
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

function textOf(dir: string, file: string): string | undefined {
  try {
    return readFileSync(join(dir, file), 'utf8').replace(/^\uFEFF/, '');
  } catch {
    return undefined;
  }
}

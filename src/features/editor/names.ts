import { join, resolve as resolvePath } from 'node:path';
import { type Address, formatAddress, withKey } from '../../core/address.ts';
import { kinds } from '../../kinds/index.ts';
import type { Kind } from '../../kinds/kind.ts';
import { openCollector } from '../../stack/collect.ts';
import { enterEnvironment } from '../../stack/compose.ts';
import { openReport, type Report } from '../../stack/diagnostics.ts';
import { discover, patternsIn } from '../../stack/discover.ts';
import { interpolate } from '../../stack/expressions.ts';
import { isUnreadable, openFolder, readTextAt, STACK_FILE } from '../../stack/folder.ts';
import { readLoop } from '../../stack/rows.ts';
import type { SettingsOptions } from '../../stack/settings.ts';
import {
  findMember,
  type MapNode,
  membersIn,
  type Source,
  type SyntaxNode,
  textIn,
} from '../../stack/source.ts';
import { derivePlace, stateFileAt } from '../../stack/state-place.ts';
import { readVariables, type Variables } from '../../stack/variables.ts';
import { measureIndent, parseYaml, trimBlankEnd, trimBlankStart } from '../../stack/yaml.ts';

/** The names that a stack defines. */
export type Names = {
  readonly environments: readonly string[];
  readonly variables: readonly string[];
  readonly organizations: readonly string[];
  readonly knowledgeBases: readonly string[];
  readonly rollouts: readonly string[];
  /** Read when asked for, as they stand in all files. */
  readonly addresses: () => readonly Address[];
  /** Absolute path of the state; undefined where the settings do not tell. */
  readonly stateFile: () => string | undefined;
};

type Options = Pick<SettingsOptions, 'dir' | 'env' | 'environment'>;

/**
 * Lists the names that a stack has, for completion at a prompt: nothing is checked, resolved or reported, and what
 * cannot be read has no names.
 */
export function namesIn(options: Options): Names {
  const dir = resolvePath(options.dir);
  const report = openReport();
  const source = sourceIn(dir, STACK_FILE);
  const main = source && parseYaml(source).root;
  const root = main?.type === 'map' ? main : undefined;
  const listKeys = (member: string) =>
    membersIn(findMember(root, member)?.value).map(({ key }) => key);
  return {
    environments: listKeys('environments'),
    variables: listKeys('variables'),
    organizations: listKeys('organizations'),
    knowledgeBases: listKeys('knowledge_bases'),
    rollouts: listKeys('rollouts'),
    addresses: () => (root === undefined ? [] : addressesIn(root, { ...options, dir }, report)),
    stateFile: () =>
      root === undefined ? undefined : stateFileIn(root, { ...options, dir }, report),
  };
}

function addressesIn(root: MapNode, options: Options, report: Report): readonly Address[] {
  const { dir, environment, env } = options;
  const own = enterEnvironment(root, environment, dir, report).root;
  const variables = readVariables(findMember(own, 'variables')?.value, { env }, report);
  const { files } = discover(dir, patternsIn(own, variables), []);
  const readRows = rowReader(dir, variables, report);
  return [STACK_FILE, ...files].flatMap((file) => {
    const source = sourceIn(dir, file);
    if (source === undefined) return [];
    const outlined = outlineFile(source.text, kinds);
    if (outlined === undefined) {
      const whole = file === STACK_FILE ? root : parseYaml(source).root;
      return whole === undefined ? [] : written(whole, file === STACK_FILE, report, readRows);
    }
    return outlined.flatMap(({ kind, names, loop }) => {
      const address = formatAddress(kind.name, names);
      return loop === '' ? [address] : readRows(address, parseYaml({ file, text: loop }).root);
    });
  });
}

/** A file that was read as a whole. */
function written(root: SyntaxNode, main: boolean, report: Report, readRows: RowReader) {
  const { resources } = openCollector(kinds, report, 'unknown').add(root, main);
  return resources.flatMap(({ address, body }) => readRows(address, body));
}

type RowReader = (address: Address, body: SyntaxNode | undefined) => readonly Address[];

/** Gives a resource's address and those of its rows. */
function rowReader(dir: string, variables: Variables, report: Report): RowReader {
  const folder = openFolder(dir);
  return (address, body) => {
    const forEach = findMember(body, 'for_each');
    if (forEach === undefined) return [address];
    const key = findMember(body, 'key');
    const loop = { forEach, key, allowEmpty: true, hidden: new Set<string>() };
    const rows = readLoop(loop, {
      ...{ report, variables, folder, subject: address, address, refs: [], secrets: [] },
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

function stateFileIn(root: MapNode, options: Options, report: Report): string | undefined {
  const { dir, env, environment } = options;
  const { CALLSHEET_STATE: elsewhere } = env;
  const id = textIn(findMember(root, 'stack')?.value);
  if (elsewhere !== undefined && elsewhere !== '')
    return resolvePath(dir, derivePlace(elsewhere, { dir, environment, id }));
  const own = enterEnvironment(root, environment, dir, report).root;
  const file = findMember(findMember(own, 'state')?.value, 'file')?.value;
  if (file?.type !== 'scalar') return stateFileAt(dir, environment, undefined);
  const variables = readVariables(findMember(own, 'variables')?.value, { env }, report);
  const { text } = interpolate(file.text, { variables });
  return text === undefined ? undefined : stateFileAt(dir, environment, text);
}

function sourceIn(dir: string, file: string): Source | undefined {
  const read = readTextAt(file, join(dir, file));
  return isUnreadable(read) ? undefined : read.source;
}

/** A resource of a file: where it stands, and the lines that make its rows. */
type Outlined = {
  readonly kind: Kind;
  readonly names: readonly string[];
  /** Its `for_each` and what belongs to it, as YAML; empty where it has none. */
  readonly loop: string;
};

/** Members that make rows of a resource. */
const LOOP = ['for_each', 'key'];

const MEMBER = /^ *([A-Za-z_][A-Za-z0-9_-]*|"[^"\\]*"|'[^']*'):(?: +(.*))?$/s;

/** A key above the line at hand, with its indentation. */
type Above = { readonly key: string; readonly indent: number };

/**
 * Lists the resources of a file of a stack by its lines alone: nothing of what they say is read but what makes rows.
 * It serves completion at a prompt, where parsing everything takes too long. Undefined where the file is written in a
 * way that lines do not show, such as JSON; then all of it must be read.
 */
export function outlineFile(text: string, kinds: readonly Kind[]): readonly Outlined[] | undefined {
  const sections = new Map(kinds.map((kind) => [kind.section, kind]));
  const found: { kind: Kind; names: readonly string[]; loop: string }[] = [];
  const above: Above[] = [];
  // Lines deeper than this belong to a member of a resource, or to what is none.
  let within: { readonly indent: number; readonly isLoop: boolean } | undefined;
  for (const line of text.split('\n')) {
    const trimmed = trimBlankStart(trimBlankEnd(line));
    if (trimmed === '' || trimmed.startsWith('#') || trimmed === '---') continue;
    const indent = measureIndent(line);
    const isItem = trimmed.startsWith('- ') || trimmed === '-';
    if (within !== undefined && (indent > within.indent || (isItem && indent === within.indent))) {
      const last = found.at(-1);
      if (within.isLoop && last !== undefined) last.loop += `${line}\n`;
      continue;
    }
    within = undefined;
    const member = MEMBER.exec(trimBlankEnd(line));
    if (member === null) return undefined;
    const key = (member[1] ?? '').replace(/^["']|["']$/g, '');
    const value = member[2] ?? '';
    while (above.length > 0 && (above.at(-1)?.indent ?? 0) >= indent) above.pop();
    const kind = sections.get(above[0]?.key ?? key);
    const depth = above.length - (kind?.nested === undefined ? 1 : 3);
    const isLeft =
      kind === undefined || (depth === -1 && above.length > 0 && key !== kind.nested?.key);
    // A section, a block or their list that is written on one line holds resources that lines do not tell.
    if (!isLeft && depth < 0 && isFlow(value)) return undefined;
    if (isLeft || depth > 0) {
      within = { indent, isLoop: depth > 0 && LOOP.includes(key) };
      const last = found.at(-1);
      if (within.isLoop && last !== undefined) last.loop += `${line}\n`;
      continue;
    }
    above.push({ key, indent });
    if (depth < 0) continue;
    const names = above.slice(1).filter((_, at) => at !== 1 || kind.nested === undefined);
    found.push({ kind, names: names.map((one) => one.key), loop: inOneLine(value) });
    // The rest of what begins on this line belongs to it.
    if (isFlow(value)) within = { indent, isLoop: false };
  }
  return found;
}

function isFlow(value: string): boolean {
  return value !== '' && !value.startsWith('#');
}

function inOneLine(value: string): string {
  return value.startsWith('{') && value.includes('for_each') ? value : '';
}

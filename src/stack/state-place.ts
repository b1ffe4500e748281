import { existsSync } from 'node:fs';
import { join, relative, resolve as resolvePath } from 'node:path';
import { CallsheetError, formatList } from '../core/errors.ts';
import type { NamedBy } from '../core/origin.ts';
import { placeKey, STORES, type StatePlace } from '../core/stores.ts';
import type { Problem, Report } from './diagnostics.ts';
import {
  foldersAbove,
  isInside,
  posixPath,
  resolveLinks,
  STACK_FILE,
  withoutLinks,
} from './folder.ts';
import { mergeLayers } from './merge.ts';
import { type Resolved, textMembers, toObject } from './resolved.ts';
import { settingsSchema } from './settings-schema.ts';
import {
  findMember,
  type MapNode,
  type Member,
  membersIn,
  type SourceRange,
  type SyntaxNode,
  textIn,
  toPosition,
} from './source.ts';

/** Matches the address of a state that is no file. */
const ADDRESS = /^([a-z][a-z0-9+]*):\/\//;

/** Reports a wrong place of the state. True: it is not to be read any further. */
export function refuseState(state: SyntaxNode | undefined, report: Report): boolean {
  const found = state && stateProblem(state);
  if (found === undefined) return false;
  const { range, mayHoldPassword, ...problem } = found;
  if (mayHoldPassword === true) report.mask(range);
  report.add({ ...problem, message: `${STACK_FILE}: ${problem.message}`, range });
  return true;
}

type StateProblem = Problem & { readonly range: SourceRange; readonly mayHoldPassword?: true };

function stateProblem(state: SyntaxNode): StateProblem | undefined {
  const { range } = state;
  const rule = 'config/state';
  const stores = Object.entries(STORES);
  for (const node of [state, findMember(state, 'file')?.value]) {
    const scheme = ADDRESS.exec(textIn(node) ?? '')?.[1];
    if (node !== undefined && scheme !== undefined) return addressAlone(scheme, node);
  }
  const given = stores.flatMap(([store, facts]) => {
    const node = findMember(state, store)?.value;
    return node === undefined ? [] : [{ store, facts, node }];
  });
  for (const { facts, node } of given) {
    const address = findMember(node, facts.needs[0])?.value;
    const text = textIn(address);
    if (!URL.parse(text ?? '')?.password) continue;
    return {
      rule: 'secret/plain-address',
      message: 'the address of the state contains a password',
      hint: `Remove it, and set ${facts.credentials[0]}.`,
      range: address?.range ?? range,
      mayHoldPassword: true,
    };
  }
  const places = membersIn(state).filter(({ key }) => key === 'file' || Object.hasOwn(STORES, key));
  if (places.length > 1) {
    const message = `the state cannot be kept in several places: ${places.map(({ key }) => key).join(', ')}`;
    const hint =
      'Keep one of them. If an environment uses another store than the stack, remove the store of the stack there: file: { $remove: true }.';
    return { rule, message, hint, range };
  }
  for (const { store, facts, node } of given) {
    const missing = facts.needs.find((name) => findMember(node, name) === undefined);
    if (missing === undefined) continue;
    return { rule, message: `state.${store} needs ${missing}`, range: node.range };
  }
  return undefined;
}

/** Reports each address of a store that is none, with its variables filled in. */
export function reportStateAddresses(
  value: Resolved | undefined,
  written: SyntaxNode | undefined,
  report: Report,
): void {
  for (const [store, { addresses }] of Object.entries(STORES)) {
    const given = textMembers(toObject(value)[store]);
    for (const member of addresses) {
      const text = given[member];
      const name = `state.${store}.${member}`;
      const problem = text === undefined ? undefined : addressProblem(store, name, text);
      if (problem === undefined) continue;
      const { message, hint } = problem;
      const range = findMember(findMember(written, store)?.value, member)?.value.range;
      report.add({ rule: 'config/state', message: `${STACK_FILE}: ${message}`, hint, range });
    }
  }
}

/** An address in the place of a file. */
function addressAlone(scheme: string, { range }: SyntaxNode): StateProblem {
  const stores = Object.entries(STORES).map(
    ([name, { needs }]) => `{ ${name}: { ${needs[0]}: … } }`,
  );
  return {
    rule: 'config/not-supported',
    message: `state is an address at ${scheme}://, and does not name its store`,
    hint: `Use state: ${stores.join(' or state: ')}, or state: { file: .callsheet/state.json }`,
    range,
    mayHoldPassword: true,
  };
}

type StateSurroundings = {
  readonly dir: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly environment: string | undefined;
  /** `state` as it is written. */
  readonly written: SyntaxNode | undefined;
  /** `stack`, the name that a stack gives itself. */
  readonly id: string | undefined;
};

/** Matches what stands in `CALLSHEET_STATE` for the stack and the environment. */
const FILLED_IN = /\{(stack|environment)\}/g;

/** True if a text of `CALLSHEET_STATE` names a place for each stack of a tree. */
export function isPerStack(text: string): boolean {
  return text.includes('{stack}');
}

/**
 * Fills the stack and the environment into a text of `CALLSHEET_STATE`, so that one variable gives each stack and
 * environment of a tree a place of its own. The server is never filled in: a stack would choose who gets the credentials.
 * Throws `CallsheetError('usage')` for a text that leaves it open, and where nothing names the stack.
 */
export function derivePlace(
  text: string,
  { dir, environment, id }: Pick<StateSurroundings, 'dir' | 'environment' | 'id'>,
): string {
  if (/^[a-z][a-z0-9+]*:\/\/[^/]*\{/.test(text))
    throw new CallsheetError('usage', 'CALLSHEET_STATE fills in the server of the state', {
      hint: 'Put {stack} and {environment} behind the server: https://states.example.test/{stack}',
    });
  const values = {
    stack: () => id ?? folderName(dir),
    environment: () => environment ?? 'default',
  };
  return text.replace(FILLED_IN, (_, name: keyof typeof values) => plainName(values[name]()));
}

/** A name as one part of a path. Two stacks that come to the same are refused, as they would have one state. */
function plainName(name: string): string {
  return name.replace(/[^\w.-]+/g, '-').replace(/^[.-]+/, '');
}

/** The folder of a stack below the top of its repository. At the top it has a name of its own on each machine. */
function folderName(dir: string): string {
  const folder = resolvePath(dir);
  const top = foldersAbove(folder).find((one) => existsSync(join(one, '.git')));
  const isTop = existsSync(join(folder, '.git'));
  if (top !== undefined && !isTop) return posixPath(relative(top, folder));
  throw new CallsheetError('config', 'CALLSHEET_STATE has {stack}, and the stack has no name', {
    hint: `Give it one in ${STACK_FILE}, such as stack: harbor-dental.`,
  });
}

/**
 * Returns the place of the state. `CALLSHEET_STATE` wins, as it says where one machine keeps it. A relative path
 * begins at the stack folder, regardless of its source and of the working directory. By default each environment has
 * its own.
 */
export function statePlace(
  value: Resolved | undefined,
  { dir, env, environment, written, id }: StateSurroundings,
): StatePlace {
  const { CALLSHEET_STATE: elsewhere } = env;
  if (elsewhere !== undefined && elsewhere !== '')
    return parsePlace(derivePlace(elsewhere, { dir, environment, id }), dir);
  const members = toObject(value);
  /** The stack names the server, be it with a variable: which one is its word. */
  const by = (store: string, member: string): NamedBy => {
    const given = findMember(written, store)?.value;
    const range = findMember(given, member)?.value.range ?? given?.range ?? written?.range;
    return range === undefined ? { file: STACK_FILE, line: 1, column: 1 } : toPosition(range);
  };
  for (const [store, { read }] of Object.entries(STORES)) {
    const place = read(textMembers(members[store]), (member) => by(store, member));
    if (place !== undefined) return place;
  }
  const { file } = members;
  return { file: stateFileAt(dir, environment, typeof file === 'string' ? file : undefined) };
}

/**
 * Reports a state file that the stack puts outside of its folder: what is written there at apply could be anybody's.
 * Only the environment says so.
 */
export function reportStateFile(
  place: StatePlace,
  {
    env,
    folder: { dir },
    written,
    report,
  }: Pick<StateSurroundings, 'env' | 'written'> & {
    readonly folder: { readonly dir: string };
    readonly report: Report;
  },
): void {
  if (!('file' in place) || env.CALLSHEET_STATE) return;
  const { file } = place;
  const own = findMember(written, 'file')?.value;
  const isOutside = !isInside(dir, file);
  // The name of the environment is to blame then, and reported.
  if (isOutside && own === undefined) return;
  if (!isOutside && isInside(resolveLinks(dir), resolveLinks(file))) return;
  const shown = posixPath(relative(dir, file));
  report.add({
    rule: 'config/state',
    message: isOutside
      ? `${STACK_FILE}: state.file leaves the stack folder`
      : `${STACK_FILE}: the state file ${shown} is behind a link that leads out of the stack folder`,
    hint: 'Keep it in the folder, or set CALLSHEET_STATE=PATH in the environment.',
    range: own?.range,
  });
}

/**
 * A place in one text: an address, or the path of a file, which begins at the stack folder. Throws `CallsheetError('usage')` for an address of no store, and
 * `CallsheetError('config')` for one that is none.
 */
export function parsePlace(text: string, dir: string): StatePlace {
  const scheme = ADDRESS.exec(text)?.[1];
  if (scheme === undefined) return { file: resolvePath(dir, text) };
  const stores = Object.entries(STORES);
  const found = stores.find(([, { protocols }]) => protocols.includes(`${scheme}:`));
  if (found === undefined) {
    const names = stores.map(([, { protocols }]) => `${protocols[0]}//`);
    throw new CallsheetError('usage', `Callsheet cannot keep a state at ${scheme}://`, {
      hint: `A state is kept in a file, at ${formatList(names, 'or')}. \`callsheet help stores\` says how.`,
    });
  }
  const [store, { addresses, needs, parse }] = found;
  const place = parse(text);
  const name = `the ${addresses.includes(needs[0]) ? 'place' : 'endpoint'} of the state`;
  const members = Object.entries(Object.entries(place).find(([key]) => key === store)?.[1] ?? {});
  for (const [member, address] of members) {
    if (!addresses.includes(member)) continue;
    const problem = addressProblem(store, name, String(address));
    if (problem !== undefined)
      throw new CallsheetError('config', problem.message, { hint: problem.hint });
  }
  return place;
}

type AddressProblem = { readonly message: string; readonly hint: string };

/** Returns what is wrong with the address of a store; undefined if nothing is. `name`: `state.postgres.url`. */
export function addressProblem(
  store: string,
  name: string,
  text: string,
): AddressProblem | undefined {
  const schemes = STORES[store]?.schemes ?? [];
  const at = URL.parse(text);
  if (at !== null && at.hostname !== '' && schemes.includes(at.protocol)) return undefined;
  if (/^env:/.test(text))
    return {
      message: `${name} is not taken from the environment`,
      hint: 'Write the address itself, with ${var.NAME} for what differs. The place as a whole can come from the environment: CALLSHEET_STATE.',
    };
  return {
    message: `${name} is not an address that begins with ${schemes.map((scheme) => `${scheme}//`).join(' or ')}`,
    hint: '`callsheet help stores` shows an address of each store.',
  };
}

/** Each environment has its own. */
function defaultStateFile(environment: string | undefined): string {
  return `.callsheet/${environment === undefined ? '' : `${environment}/`}state.json`;
}

/** Returns the path of a state file: one that is named in `callsheet.yaml`, or the environment's own. */
export function stateFileAt(
  dir: string,
  environment: string | undefined,
  file: string | undefined,
): string {
  return resolvePath(dir, file ?? defaultStateFile(environment));
}

/** `file` is undefined where only variables tell it; `range` is what decides it. */
type Kept = {
  readonly file: string | undefined;
  readonly range: SourceRange;
  readonly hint: string;
};

/**
 * Reports every environment whose state is that of the stack or of another environment: each of the two would take
 * the other's resources for its own, and delete what it does not know. What only variables tell is let be.
 */
export function checkStates(
  root: MapNode,
  dir: string,
  environments: readonly Member[],
  report: Report,
): void {
  const shared = findMember(root, 'state')?.value;
  const own =
    storeIn(shared) ?? textIn(findMember(shared, 'file')?.value) ?? defaultStateFile(undefined);
  const known = new Map([[findPath(own, dir), 'the stack without --env']]);
  for (const environment of environments) {
    const { key } = environment;
    const { file, range, hint } = readState(environment, root);
    const path = findPath(file, dir);
    const other = known.get(path);
    if (path === undefined) continue;
    if (other === undefined) known.set(path, `environment ${key}`);
    else {
      const message = `${STACK_FILE}: environment ${key} would share its state with ${other}`;
      report.add({ rule: 'environment/state', message, hint, range });
    }
  }
}

function findPath(file: string | undefined, dir: string): string | undefined {
  if (file === undefined || file.includes('${')) return undefined;
  return file.startsWith(ELSEWHERE) ? file : withoutLinks(resolvePath(dir, file));
}

/** The state of an environment, as laying it over that of the stack gives it. */
function readState({ key, keyPlace, value }: Member, root: MapNode): Kept {
  const shared = findMember(root, 'state');
  const given = findMember(value, 'state');
  const state = laidOver(shared, given);
  const file = findMember(state, 'file')?.value;
  if (file !== undefined && file !== findMember(shared?.value, 'file')?.value) {
    return { file: textIn(file), range: file.range, hint: 'Name another file' };
  }
  const range = given?.keyPlace ?? shared?.keyPlace ?? keyPlace;
  const store = storeIn(state);
  if (store !== undefined) {
    return { file: store, range, hint: 'Give it another place in that store' };
  }
  const give = `Give it a state of its own with state: { file: … } under environments.${key}`;
  if (file === undefined) {
    return { file: defaultStateFile(key), range: given?.keyPlace ?? keyPlace, hint: give };
  }
  const hint = `${give}, or remove state here: then each environment has its own`;
  return { file: textIn(file), range, hint };
}

/** Lays the state of an environment over that of the stack, as entering the environment does. */
function laidOver(shared: Member | undefined, given: Member | undefined): SyntaxNode | undefined {
  if (given === undefined) return shared?.value;
  const only = (member: Member | undefined): MapNode => ({
    type: 'map',
    range: given.keyPlace,
    members: new Map(member === undefined ? [] : [['state', member]]),
  });
  const merge = { root: settingsSchema, add: () => {} };
  return findMember(mergeLayers(only(shared), only(given), settingsSchema, merge), 'state')?.value;
}

const ELSEWHERE = 'store ';

/** Returns an identity of a state in a store. Undefined: it is in a file. */
function storeIn(state: SyntaxNode | undefined): string | undefined {
  for (const [store, { read }] of Object.entries(STORES)) {
    const given = findMember(state, store)?.value;
    if (given === undefined) continue;
    const texts = membersIn(given).flatMap(({ key, value }) => {
      const text = textIn(value);
      return text === undefined ? [] : [[key, text] as const];
    });
    const isKnown = !texts.some(([, text]) => text.includes('${'));
    const place = isKnown ? read(Object.fromEntries(texts), () => 'operator') : undefined;
    return `${ELSEWHERE}${place ? placeKey(place, withoutLinks) : JSON.stringify(texts)}`;
  }
  return undefined;
}

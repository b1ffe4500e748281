import { isAbsolute, join, resolve } from 'node:path';
import { STACK_FILE } from './discover.ts';
import type { Report } from './problems.ts';
import type { Place } from './source.ts';
import { type Member, memberOf, type Written, type WrittenMap } from './written.ts';

/** Where a stack keeps its state that does not say so: each environment has its own. */
export function defaultStateFile(environment: string | undefined): string {
  return `.callsheet/${environment === undefined ? '' : `${environment}/`}state.json`;
}

/**
 * Where the state is. `CALLSHEET_STATE` wins, as it says where one machine keeps it; a relative path
 * there begins at the working directory, one in `callsheet.yaml` at the stack folder. Where neither says
 * anything, each environment has its own.
 */
export function stateFileAt(
  where: {
    readonly dir: string;
    readonly env: Readonly<Record<string, string | undefined>>;
    readonly environment: string | undefined;
  },
  file: string | undefined,
): string {
  const { CALLSHEET_STATE: elsewhere } = where.env;
  if (elsewhere !== undefined && elsewhere !== '') return resolve(elsewhere);
  const path = file ?? defaultStateFile(where.environment);
  return isAbsolute(path) ? path : join(where.dir, path);
}

/** `file` is undefined where only variables tell it; `place` is what decides it. */
type Kept = { readonly file: string | undefined; readonly place: Place; readonly hint: string };

/**
 * Reports every environment whose state is that of the stack or of another environment: each of the two would take
 * the other's resources for its own, and delete what it does not know. What only variables tell is let be.
 */
export function checkStates(
  root: WrittenMap,
  dir: string,
  environments: readonly Member[],
  report: Report,
): void {
  const shared = memberOf(root, 'state')?.value;
  const own = storeIn([shared]) ?? fileIn(shared) ?? defaultStateFile(undefined);
  const known = new Map([[pathOf(own, dir), 'the stack without --env']]);
  for (const environment of environments) {
    const { key } = environment;
    const { file, place, hint } = stateOf(environment, root);
    const path = pathOf(file, dir);
    const other = known.get(path);
    if (path === undefined) continue;
    if (other === undefined) known.set(path, `environment ${key}`);
    else {
      const message = `${STACK_FILE}: environment ${key} would share its state with ${other}`;
      report.add({ rule: 'environment/state', message, hint, place });
    }
  }
}

function pathOf(file: string | undefined, dir: string): string | undefined {
  if (file === undefined || file.includes('${')) return undefined;
  return file.startsWith(ELSEWHERE) ? file : resolve(dir, file);
}

/** The state of an environment, as laying it over that of the stack gives it. */
function stateOf({ key, keyPlace, value }: Member, root: WrittenMap): Kept {
  const shared = memberOf(root, 'state');
  const given = memberOf(value, 'state');
  const file = memberOf(given?.value, 'file');
  const standard = defaultStateFile(key);
  const give = `Give it one with state: { file: … } under environments.${key}`;
  if (file !== undefined) {
    const isRemoved = file.value.type === 'map';
    const text = isRemoved ? standard : textOf(file.value);
    return { file: text, place: file.value.place, hint: 'Name another file' };
  }
  if (given !== undefined && isRemoval(given.value)) {
    return { file: standard, place: given.keyPlace, hint: give };
  }
  const store = storeIn([given?.value, shared?.value]);
  if (store !== undefined) {
    const place = given?.keyPlace ?? shared?.keyPlace ?? keyPlace;
    return { file: store, place, hint: 'Give it another place in that store' };
  }
  const inherited = fileIn(shared?.value);
  if (shared === undefined || inherited === undefined) {
    return { file: standard, place: given?.keyPlace ?? keyPlace, hint: give };
  }
  const hint = `${give}, or remove state here: then each environment has its own`;
  return { file: inherited, place: given?.keyPlace ?? shared.keyPlace, hint };
}

/** Where each store keeps a state, beside files. */
const STORES: { readonly [store: string]: readonly string[] } = {
  http: ['address'],
  postgres: ['url', 'stack'],
  s3: ['endpoint', 'bucket', 'key'],
};
const ELSEWHERE = 'store ';

/** What tells a state in a store from others; the first node that says a member wins. Undefined: it is in a file. */
function storeIn(states: readonly (Written | undefined)[]): string | undefined {
  for (const [store, names] of Object.entries(STORES)) {
    const given = states.flatMap((state) => memberOf(state, store) ?? []);
    const [first] = given;
    if (first === undefined || isRemoval(first.value)) continue;
    const texts = names.map((name) => {
      const found = given.flatMap(({ value }) => memberOf(value, name) ?? [])[0];
      return found && textOf(found.value);
    });
    return `${ELSEWHERE}${store} ${texts.join(' ')}`;
  }
  return undefined;
}

function isRemoval(node: Written): boolean {
  return memberOf(node, '$remove') !== undefined;
}

function fileIn(state: Written | undefined): string | undefined {
  const file = memberOf(state, 'file')?.value;
  return file && textOf(file);
}

function textOf(node: Written): string | undefined {
  return node.type === 'scalar' && typeof node.value === 'string' ? node.value : undefined;
}

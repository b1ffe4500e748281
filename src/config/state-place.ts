import { isAbsolute, join, resolve as resolvePath } from 'node:path';
import { CallsheetError } from '../core/errors.ts';
import type { S3Place, StatePlace } from '../core/state-place.ts';
import { STACK_FILE } from './discover.ts';
import type { Report } from './problems.ts';
import { membersOf, type Resolved } from './resolved.ts';
import { defaultStateFile } from './shared-state.ts';
import { addressProblem } from './state-address.ts';
import { memberOf, type Written } from './written.ts';

/** Where something is that is not a file. */
const ADDRESS = /^([a-z][a-z0-9+]*):\/\//;
/** What each store must be given; the first says where it is. An environment may leave out what the stack says. */
const NEEDS: { readonly [store: string]: readonly [string, ...string[]] } = {
  http: ['address'],
  postgres: ['url', 'stack'],
  s3: ['bucket', 'key'],
};

/** The members that hold the address of a server. */
const ADDRESSES: { readonly [store: string]: string } = {
  http: 'address',
  postgres: 'url',
  s3: 'endpoint',
};

/** What is wrong with where the state is said to be. True: it is not to be read any further. */
export function refuseState(state: Written | undefined, report: Report): boolean {
  return (
    refuseAddress(state, report) ||
    refuseAddress(memberOf(state, 'file')?.value, report) ||
    Object.entries(NEEDS).some(([store, [member]]) =>
      refusePassword(memberOf(memberOf(state, store)?.value, member)?.value, report),
    ) ||
    refuseSeveral(state, report) ||
    refuseUnnamed(state, report) ||
    Object.entries(ADDRESSES).some(([store, member]) =>
      refuseWrongAddress(
        store,
        member,
        memberOf(memberOf(state, store)?.value, member)?.value,
        report,
      ),
    )
  );
}

/** One that is put together from variables is looked at once they are known. */
function refuseWrongAddress(
  store: string,
  member: string,
  node: Written | undefined,
  report: Report,
): boolean {
  if (node?.type !== 'scalar' || typeof node.value !== 'string') return false;
  if (node.value.includes('${')) return false;
  const problem = addressProblem(store, `state.${store}.${member}`, node.value);
  if (problem === undefined) return false;
  report.add({
    rule: 'config/state',
    message: `${STACK_FILE}: ${problem.message}`,
    hint: problem.hint,
    place: node.place,
  });
  return true;
}

/** Throws `CallsheetError('config')` where the address of a place is none. */
function checked(place: StatePlace, from: string): StatePlace {
  const [store, text] =
    'http' in place
      ? ['http', place.http.address]
      : 'postgres' in place
        ? ['postgres', place.postgres.url]
        : ['s3', 's3' in place ? place.s3.endpoint : undefined];
  const name = from === STACK_FILE ? `state.${store}.${ADDRESSES[store]}` : from;
  const problem = text === undefined ? undefined : addressProblem(store ?? '', name, text);
  if (problem === undefined) return place;
  throw new CallsheetError('config', problem.message, { hint: problem.hint });
}

function refuseUnnamed(state: Written | undefined, report: Report): boolean {
  for (const [store, names] of Object.entries(NEEDS)) {
    const given = memberOf(state, store)?.value;
    const missing = given && names.find((name) => memberOf(given, name) === undefined);
    if (missing === undefined) continue;
    report.add({
      rule: 'config/state',
      message: `${STACK_FILE}: state.${store} needs ${missing}`,
      place: given?.place,
    });
    return true;
  }
  return false;
}

/** An address in the place of a file. */
function refuseAddress(node: Written | undefined, report: Report): boolean {
  if (node?.type !== 'scalar' || typeof node.value !== 'string') return false;
  const store = ADDRESS.exec(node.value)?.[1];
  if (store === undefined) return false;
  // Such an address may carry a password.
  report.mask(node.place);
  report.add({
    rule: 'config/not-supported',
    message: `${STACK_FILE}: state is an address at ${store}://, and must say which store that is`,
    hint: `Use state: { ${Object.entries(NEEDS)
      .map(([name, [member]]) => `${name}: { ${member}: … } }`)
      .join(' or state: { ')}, or state: { file: .callsheet/state.json }`,
    place: node.place,
  });
  return true;
}

function refusePassword(node: Written | undefined, report: Report): boolean {
  if (node?.type !== 'scalar' || typeof node.value !== 'string') return false;
  if (!URL.canParse(node.value) || new URL(node.value).password === '') return false;
  report.mask(node.place);
  report.add({
    rule: 'secret/plain-address',
    message: `${STACK_FILE}: the address of the state carries a password`,
    hint: 'Take it out, and give it in CALLSHEET_STATE_PASSWORD.',
    place: node.place,
  });
  return true;
}

function refuseSeveral(state: Written | undefined, report: Report): boolean {
  if (state?.type !== 'map' || state.members.size < 2) return false;
  const known = ['file', ...Object.keys(NEEDS)];
  const given = [...state.members.keys()].filter((name) => known.includes(name));
  if (given.length < 2) return false;
  report.add({
    rule: 'config/state',
    message: `${STACK_FILE}: the state cannot be kept in several places: ${given.join(', ')}`,
    hint: 'Keep one. Where an environment has another store than the stack, it removes that of the stack: file: { $remove: true }.',
    place: state.place,
  });
  return true;
}

export type StateSurroundings = {
  readonly dir: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly environment: string | undefined;
};

/**
 * Where the state is. `CALLSHEET_STATE` wins, as it says where one machine keeps it; a relative path
 * there begins at the working directory, one in `callsheet.yaml` at the stack folder. Where neither says
 * anything, each environment has its own.
 */
export function statePlace(
  value: Resolved | undefined,
  { dir, env, environment }: StateSurroundings,
): StatePlace {
  const { CALLSHEET_STATE: elsewhere } = env;
  if (elsewhere !== undefined && elsewhere !== '') return placeOf(elsewhere);
  const { file, http, postgres, s3 } = membersOf(value);
  const { address, ...others } = textsIn(http);
  if (address !== undefined) return checked({ http: { ...others, address } }, STACK_FILE);
  const { url, stack } = textsIn(postgres);
  if (url !== undefined && stack !== undefined)
    return checked({ postgres: { url, stack } }, STACK_FILE);
  const { bucket, key, ...service } = textsIn(s3);
  if (bucket !== undefined && key !== undefined)
    return checked({ s3: { ...service, bucket, key } }, STACK_FILE);
  const path = typeof file === 'string' ? file : defaultStateFile(environment);
  return { file: isAbsolute(path) ? path : join(dir, path) };
}

/** A place in one text: an address or the path of a file. Throws `CallsheetError('usage')` for an address of no store. */
export function placeOf(text: string): StatePlace {
  const store = ADDRESS.exec(text)?.[1];
  switch (store) {
    case undefined:
      return { file: resolvePath(text) };
    case 'http':
    case 'https':
      return checked({ http: { address: text } }, 'the place of the state');
    case 'postgres':
    case 'postgresql':
      return checked({ postgres: { url: text, stack: stackIn(text) } }, 'the place of the state');
    case 's3':
      return checked({ s3: bucketIn(text) }, 'the endpoint of the state');
    default:
      throw new CallsheetError('usage', `no state is kept at ${store}://`, {
        hint: 'A state is kept in a file, at https://, postgres:// or s3://. docs/state.md says how.',
      });
  }
}

/** `s3://bucket/key`, with region and endpoint behind a question mark. */
function bucketIn(text: string): S3Place {
  const at = URL.canParse(text) ? new URL(text) : undefined;
  const key = decodeURIComponent(at?.pathname.slice(1) ?? '');
  if (at === undefined || at.hostname === '' || key === '')
    throw new CallsheetError('usage', 'CALLSHEET_STATE names no object in a bucket', {
      hint: 'It looks like s3://bucket/folder/state.json, and ?endpoint=https://… for a service that is not Amazon’s.',
    });
  const region = at.searchParams.get('region');
  const endpoint = at.searchParams.get('endpoint');
  return {
    bucket: at.hostname,
    key,
    ...(region === null ? {} : { region }),
    ...(endpoint === null ? {} : { endpoint }),
  };
}

/** A database keeps many states: the address must say which one is meant. */
function stackIn(text: string): string {
  const stack = URL.canParse(text) ? new URL(text).searchParams.get('stack') : null;
  if (stack !== null && stack !== '') return stack;
  throw new CallsheetError('usage', 'CALLSHEET_STATE names a database, and no stack in it', {
    hint: 'Put the name of the stack behind the address: postgres://…/database?stack=NAME.',
  });
}

function textsIn(value: Resolved | undefined): { readonly [name: string]: string } {
  return Object.fromEntries(
    Object.entries(membersOf(value)).flatMap(([name, text]): [string, string][] =>
      typeof text === 'string' ? [[name, text]] : [],
    ),
  );
}

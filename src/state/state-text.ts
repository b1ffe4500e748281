import { createHash, hash } from 'node:crypto';
import { type Address, getKind } from '../core/address.ts';
import { parsePath } from '../core/path.ts';
import { PACKAGE_VERSION } from '../core/version.ts';
import { kinds } from '../kinds/index.ts';
import { MOST_STATE_BYTES } from './bounds.ts';
import {
  damagedState,
  foreignState,
  MovedAway,
  movedState,
  otherAccount,
  otherLineage,
  refuseNewer,
  tooLargeState,
  unwritable,
} from './failures.ts';
import { getIdentity, isRecord, openSharing, type ResourceState, type State } from './model.ts';
import { NO_SEALS, type Seals } from './seal.ts';
import { firstProblem, parseBounded, parseRecord, stateShape } from './shape.ts';

/**
 * The text form of a state, the same for every store that keeps it as one document: JSON with the
 * checksum first, beside it its seal where there is a key (`seal.ts`), and one resource a line.
 *
 * The checksum covers the compact JSON of everything else. Line breaks stand only between tokens, so
 * the compact form is the text without them: a state of 10,000 agents is checked in the time it takes
 * to hash it, a thirtieth of what making canonical JSON of it takes. A file that was merely laid out
 * differently (by a formatter, by Git's line endings) still fits after parsing.
 */
export const VERSION = 1;

const TOP = /^\{"checksum":"(sha256:[0-9a-f]{64})",(?:"seal":"([^"\n]*)",)?\n/;
const END = /\n\}\}\s*$/;

/** The text of a state. Throws `CallsheetError('state')` for what `parseState` would refuse: it is never written. */
export async function formatState(state: State, seals: Seals = NO_SEALS): Promise<string> {
  return [...(await piecesOfState(state, seals))].join('');
}

/**
 * The same text, a resource at a time. The checksum stands first, so each resource is put into words twice:
 * that takes less than holding the lines of a large fleet until it is known.
 */
export async function piecesOfState(
  state: State,
  seals: Seals = NO_SEALS,
): Promise<Iterable<string>> {
  const { resources, ...facts } = state;
  const head = JSON.stringify({ ...facts, made_by: PACKAGE_VERSION }).slice(1, -1);
  const addresses = Object.keys(resources).sort();
  const formatLine = (address: string) =>
    `${JSON.stringify(address)}:${JSON.stringify(resources[address])}`;
  const checksum = checksumOfLines(head, addresses, formatLine);
  const validate = await stateShape();
  if (!validate({ ...state, checksum }))
    throw unwritable(`does not have the shape of a state: ${firstProblem(validate)}`);
  const broken = brokenInvariant(state);
  if (broken !== undefined) throw unwritable(broken);
  const seal = seals.sealState(checksum);
  const top = `{"checksum":"${checksum}",${seal === undefined ? '' : `"seal":"${seal}",`}\n`;
  return textOfLines(`${top}${head},"resources":{\n`, addresses, formatLine);
}

function* textOfLines(
  head: string,
  addresses: readonly string[],
  formatLine: (address: string) => string,
): Iterable<string> {
  yield head;
  for (const [index, address] of addresses.entries()) {
    yield index === 0 ? formatLine(address) : `,\n${formatLine(address)}`;
  }
  yield '\n}}\n';
}

/** The checksum of the compact form, line by line: as one text it would be as large as the state again. */
function checksumOfLines(
  head: string,
  addresses: readonly string[],
  formatLine: (address: string) => string,
): string {
  const sum = createHash('sha256').update(`{${head},"resources":{`);
  let size = 0;
  for (const [index, address] of addresses.entries()) {
    const line = formatLine(address);
    size += Buffer.byteLength(line);
    if (size > MOST_STATE_BYTES) throw tooLargeState(size);
    sum.update(index === 0 ? line : `,${line}`);
  }
  return `sha256:${sum.update('}}').digest('hex')}`;
}

/** A line of a text, without its line break. */
export type Line = {
  readonly text: string;
  /** True if a line break ends it; false only for text behind the last one. */
  readonly isWhole: boolean;
};

const BEFORE_RESOURCES = ',"resources":{';
const LAST_LINE = '}}';

/** Who reads a state: what messages call it, and how its seal is checked. */
export type StateReading = { readonly location: string; readonly seals: Seals };

/**
 * The state in lines that lie as they are written. Undefined for any other, damaged or not: `parseState` reads the
 * whole text, and says what is wrong. Throws `BrokenSeal` for one that is whole and not sealed as it must be.
 */
export async function readState(
  lines: AsyncIterable<Line> | Iterable<Line>,
  reading: StateReading = { location: '', seals: NO_SEALS },
): Promise<State | undefined> {
  const resources = new Map<string, unknown>();
  const share = openSharing();
  const head = await readSealed(lines, reading, (line) => {
    const one = parseRecord(`{${line}}`);
    if (one === undefined) return false;
    for (const [address, resource] of Object.entries(one)) resources.set(address, share(resource));
    return true;
  });
  return head && soundState({ ...head, resources: Object.fromEntries(resources) });
}

/** The part of a state that is not about its resources: enough to tell which one follows it. */
export type StateMark = Pick<State, 'lineage' | 'serial' | 'account_id' | 'last_run'>;

/** The mark of a state whose checksum fits, read as `readState` reads. */
export async function readMark(
  lines: AsyncIterable<Line>,
  reading: StateReading = { location: '', seals: NO_SEALS },
): Promise<StateMark | undefined> {
  const head = await readSealed(lines, reading, () => true);
  return head && soundState({ ...head, resources: {} });
}

/** The lineage and serial that tell the writes of one state apart. */
export type StateHead = Pick<State, 'lineage' | 'serial'>;

/** The head of a state in lines that lie as they are written, read without its resources and not checked. */
export async function readHead(
  lines: AsyncIterable<Line> | Iterable<Line>,
): Promise<StateHead | undefined> {
  let isTop = true;
  for await (const { text: line } of lines) {
    if (!isTop) {
      if (!line.endsWith(BEFORE_RESOURCES)) return undefined;
      const head = parseRecord(`{${line.slice(0, -BEFORE_RESOURCES.length)}}`);
      const { lineage, serial } = head ?? {};
      return typeof lineage === 'string' && typeof serial === 'number'
        ? { lineage, serial }
        : undefined;
    }
    isTop = false;
  }
  return undefined;
}

/** A store that has the state of a write, or of a later one, kept that write. */
export function isAtLeast(found: StateHead | undefined, written: StateHead): boolean {
  return found?.lineage === written.lineage && found.serial >= written.serial;
}

/** Hands on each line of a resource, and returns the rest; undefined where the lines or their checksum do not fit. */
async function readSealed(
  lines: AsyncIterable<Line> | Iterable<Line>,
  { location, seals }: StateReading,
  take: (line: string) => boolean,
): Promise<{ readonly [key: string]: unknown } | undefined> {
  const sum = createHash('sha256');
  let checksum: string | undefined;
  let seal: string | undefined;
  let head: { readonly [key: string]: unknown } | undefined;
  let isOver = false;
  for await (const { text: line } of lines) {
    if (isOver && line !== '') return undefined;
    if (isOver) continue;
    if (checksum === undefined) {
      [, checksum, seal] = TOP.exec(`${line}\n`) ?? [];
      if (checksum === undefined) return undefined;
      continue;
    }
    sum.update(head === undefined ? `{${line}` : line);
    if (head === undefined) {
      if (!line.endsWith(BEFORE_RESOURCES)) return undefined;
      head = parseRecord(`{${line.slice(0, -BEFORE_RESOURCES.length)}}`);
      if (head === undefined) return undefined;
    } else if (line === LAST_LINE) isOver = true;
    else if (line !== '' && !take(line.endsWith(',') ? line.slice(0, -1) : line)) return undefined;
  }
  if (!isOver || checksum === undefined || `sha256:${sum.digest('hex')}` !== checksum)
    return undefined;
  seals.checkState(seal, checksum, location);
  return { checksum, ...head };
}

async function soundState(document: unknown): Promise<State | undefined> {
  const validate = await stateShape();
  if (!validate(document)) return undefined;
  const { checksum: _, made_by: __, ...state } = document;
  if (state.moved_to !== undefined) return undefined;
  return brokenInvariant(state) === undefined ? state : undefined;
}

/**
 * The state in a text. `location` names it in messages. Throws `CallsheetError('state')` that tells
 * empty, cut-off, damaged, foreign, newer and altered ones apart, and `BrokenSeal` as `readState` does.
 */
export async function parseState(
  text: string,
  location: string,
  seals: Seals = NO_SEALS,
): Promise<State> {
  const document = parseDocument(text, location);
  if (!isRecord(document) || document.format !== 'callsheet-state')
    throw foreignState(location, 'it is some other JSON file');
  const { version } = document;
  refuseNewer(location, version, VERSION);
  if (version !== VERSION)
    throw damagedState(location, `has the unknown version ${JSON.stringify(version)}`);
  const { checksum, seal, ...rest } = document;
  if (typeof checksum !== 'string' || !isWhole(text, checksum, rest))
    throw damagedState(
      location,
      'was changed after Callsheet wrote it: its checksum does not match its content',
    );
  seals.checkState(seal === undefined ? undefined : String(seal), checksum, location);
  const validate = await stateShape();
  if (!validate(document))
    throw damagedState(location, `does not have the shape of a state: ${firstProblem(validate)}`);
  const { checksum: _, seal: __, made_by: ___, ...state } = document;
  if (state.moved_to !== undefined) throw new MovedAway(location, state.moved_to, state.lineage);
  const broken = brokenInvariant(state);
  if (broken !== undefined) throw damagedState(location, broken);
  return state;
}

function isWhole(text: string, checksum: string, rest: unknown): boolean {
  const head = TOP.exec(text);
  if (head?.[1] === checksum) {
    const compact = `{${text.slice(head[0].length).replaceAll('\n', '')}`;
    if (computeChecksum(compact) === checksum) return true;
  }
  return computeChecksum(JSON.stringify(rest)) === checksum;
}

function computeChecksum(compact: string): string {
  return `sha256:${hash('sha256', compact)}`;
}

function parseDocument(text: string, location: string): unknown {
  if (text.trim() === '') throw damagedState(location, 'is empty');
  if (/^\0+$/.test(text)) throw damagedState(location, 'holds nothing but zero bytes');
  const document = parseBounded(text, `the state ${location}`);
  if (document === undefined) throw damagedState(location, whyNotJson(text));
  return document;
}

function whyNotJson(text: string): string {
  if (/^(<{7}|>{7}) /m.test(text)) return 'holds the marks of an unfinished Git merge';
  if (!text.trimStart().startsWith('{')) return 'is not JSON';
  return END.test(text)
    ? 'is damaged: it is no longer valid JSON'
    : 'was cut off: its end is missing';
}

/** The state that the new one must follow: the one on disk or, if that is gone, the one that the run began from. */
export type Base = Pick<State, 'lineage' | 'serial' | 'account_id'>;

/**
 * Throws `CallsheetError`: `state` for another stack's or account's state, `stale` when the one on disk is not the
 * one that the new state was made from. A first state may have any lineage and has serial 1.
 */
export function checkSuccession(state: State, base: Base | undefined, location: string): void {
  if (base !== undefined && base.lineage !== state.lineage)
    throw otherLineage(location, base.lineage, state.lineage);
  const serial = base?.serial ?? 0;
  if (state.serial !== serial + 1) throw movedState(location, serial, state.serial - 1);
  if (base?.account_id !== undefined && base.account_id !== state.account_id)
    throw otherAccount(location, base.account_id, state.account_id ?? 'none');
}

const kindsByName = new Map(kinds.map((kind) => [kind.name, kind]));

/**
 * Returns the fault of a state that its shape does not show, to go on after its name: `holds …`. Undefined: none. A
 * state that breaks one of these rules is neither written nor used.
 */
function brokenInvariant({ resources }: State): string | undefined {
  const addresses = new Map<string, Address>();
  const paths = new Set<string>();
  for (const [address, resource] of Object.entries(resources)) {
    const broken = brokenResource(address, resource, paths);
    if (broken !== undefined) return broken;
    const own = getIdentity(resource);
    const other = addresses.get(own);
    if (other !== undefined) return `holds ${own} twice, as ${other} and as ${address}`;
    addresses.set(own, address);
  }
  return undefined;
}

/** The same of one resource, looked at alone. `paths` gathers those that are sound: most resources have the same. */
export function brokenResource(
  address: Address,
  resource: ResourceState,
  paths = new Set<string>(),
): string | undefined {
  if (getKind(address) !== resource.kind) return `holds ${address} with the kind ${resource.kind}`;
  const kind = kindsByName.get(resource.kind);
  if (kind === undefined)
    return `holds ${address}, of a kind that this Callsheet does not know: ${resource.kind}`;
  const missing = kind.scope.find((field) => !resource.scope[field]);
  if (missing !== undefined) return `holds ${address} without its ${missing}`;
  const leaf = Object.keys(resource.leaves).find((path) => {
    if (paths.has(path)) return false;
    if (parsePath(path) === undefined) return true;
    paths.add(path);
    return false;
  });
  if (leaf !== undefined)
    return `holds ${address} with a leaf that has no path: ${JSON.stringify(leaf)}`;
  return undefined;
}

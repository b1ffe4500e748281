import { isAddress } from '../core/address.ts';
import { NewerDocument } from './failures.ts';
import { brokenResource } from './invariants.ts';
import type { JournalEntry } from './journal.ts';
import { JOURNAL_HEADER, readLine, TORN_LINE } from './journal-text.ts';
import type { ResourceState, State } from './model.ts';
import { entryShape, holdsShape, isRecord, resourceShape } from './shape.ts';
import { VERSION } from './state-text.ts';

/** What a damaged text still tells of a state. Nothing vouches for it but that it has the right form. */
export type Remains = Partial<Pick<State, 'lineage' | 'serial' | 'salt' | 'account_id' | 'holds'>> &
  Pick<State, 'resources'>;

const RESOURCE_LINE = /^\s*("(?:[^"\\]|\\.)+")\s*:\s*(\{.*\})\s*,?\s*$/;

/**
 * Reads what is left of a state's text: of one that is JSON its members, of any other each line that holds
 * a whole resource. Of a text with two sides, as a merge leaves it, the later side counts. Undefined for what
 * never was a state. Throws `NewerDocument` for one of a later format.
 */
export async function salvageState(text: string, location: string): Promise<Remains | undefined> {
  const document = parseJson(text);
  const isState = isRecord(document)
    ? document.format === 'callsheet-state'
    : text.includes('"format":"callsheet-state"');
  if (!isState) return undefined;
  const facts = isRecord(document) ? document : factsIn(text);
  const { version, lineage, serial, salt, account_id: account, holds } = facts;
  const isHolds = await holdsShape();
  if (typeof version === 'number' && version > VERSION)
    throw new NewerDocument(location, version, VERSION);
  const found = isRecord(document) ? membersOf(document.resources) : resourceLines(text);
  return {
    ...(typeof lineage === 'string' && lineage !== '' ? { lineage } : {}),
    ...(typeof serial === 'number' && Number.isSafeInteger(serial) ? { serial } : {}),
    ...(typeof salt === 'string' && /^[0-9a-f]+$/.test(salt) ? { salt } : {}),
    ...(typeof account === 'string' && account !== '' ? { account_id: account } : {}),
    ...(isHolds(holds) ? { holds } : {}),
    resources: await soundResources(found),
  };
}

/** The resources that could stand in a state, each under one address. */
async function soundResources(
  found: readonly (readonly [string, unknown])[],
): Promise<State['resources']> {
  const validate = await resourceShape();
  const sound = new Map<string, ResourceState>();
  for (const [address, value] of found) {
    if (!isAddress(address) || !validate(value)) continue;
    if (brokenResource(address, value) === undefined) sound.set(address, value);
  }
  return Object.fromEntries(sound);
}

function membersOf(resources: unknown): readonly (readonly [string, unknown])[] {
  return isRecord(resources) ? Object.entries(resources) : [];
}

function resourceLines(text: string): readonly (readonly [string, unknown])[] {
  return text.split('\n').flatMap((line): readonly (readonly [string, unknown])[] => {
    const [, name = '', value = ''] = RESOURCE_LINE.exec(line) ?? [];
    const address = parseJson(name);
    return typeof address === 'string' ? [[address, parseJson(value)]] : [];
  });
}

/** The facts of the first lines, wherever they stand; the last of each. */
function factsIn(text: string): { readonly [name: string]: unknown } {
  const facts = text.matchAll(
    /"(version|lineage|serial|salt|account_id|holds)":("[^"\\]*"|\d+|\{(?:"(?:[^"\\]|\\.)*"|[^{}"]|\{(?:"(?:[^"\\]|\\.)*"|[^{}"])*\})*\})/g,
  );
  return Object.fromEntries(
    [...facts].map(([, name = '', value = '']) => [name, parseJson(value)]),
  );
}

export type SalvagedEntries = {
  readonly entries: readonly JournalEntry[];
  /** Whole lines that could not be read. */
  readonly lost: number;
};

/**
 * The entries of a journal that are whole, whatever stands between them. A rest of a write that was cut
 * off is no loss: nobody relied on it. Undefined for what does not begin as a journal does.
 */
export async function salvageJournal(
  text: string,
  location: string,
): Promise<SalvagedEntries | undefined> {
  const [header = '', ...lines] = text.split('\n').slice(0, -1);
  const { version } = membersIn(header);
  if (typeof version === 'number' && version > VERSION)
    throw new NewerDocument(location, version, VERSION);
  const validate = await entryShape();
  const entries: JournalEntry[] = [];
  let lost = `${header}\n` === JOURNAL_HEADER || header === '' ? 0 : 1;
  for (const [index, line] of lines.entries()) {
    if (line === TORN_LINE || lines[index + 1] === TORN_LINE) continue;
    const entry = readLine(line);
    if (entry !== undefined && validate(entry)) entries.push(entry);
    else lost += 1;
  }
  return entries.length === 0 && lost > 0 ? undefined : { entries, lost };
}

function membersIn(line: string): { readonly [name: string]: unknown } {
  const value = parseJson(line);
  return isRecord(value) && value.format === 'callsheet-journal' ? value : {};
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

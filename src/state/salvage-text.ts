import { isAddress } from '../core/address.ts';
import type { Line } from './disk.ts';
import { NewerDocument } from './failures.ts';
import { brokenResource } from './invariants.ts';
import type { JournalEntry } from './journal.ts';
import { eachLine, JOURNAL_HEADER, JOURNAL_VERSION, readLine } from './journal-text.ts';
import type { ResourceState, State } from './model.ts';
import { entryShape, holdsShape, isRecord, resourceShape } from './shape.ts';
import { migrateResource, VERSION } from './state-text.ts';

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
    resources: await soundResources(
      found.map(([address, one]) => [address, migrateResource(one, version)]),
    ),
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
export async function salvageJournal<L extends Line>(
  lines: AsyncIterable<L> | Iterable<L>,
  location: string,
  keep: (entry: JournalEntry, line: L) => JournalEntry = (entry) => entry,
): Promise<SalvagedEntries | undefined> {
  const validate = await entryShape();
  const entries: JournalEntry[] = [];
  let lost = 0;
  await eachLine(lines, {
    header(text) {
      const { version } = membersIn(text);
      if (typeof version === 'number' && version > JOURNAL_VERSION)
        throw new NewerDocument(location, version, JOURNAL_VERSION);
      if (`${text}\n` !== JOURNAL_HEADER && text !== '') lost += 1;
    },
    line(line) {
      const entry = readLine(line.text);
      if (entry !== undefined && validate(entry)) entries.push(keep(entry, line));
      else lost += 1;
    },
    torn() {},
  });
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

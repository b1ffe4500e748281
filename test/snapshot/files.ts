import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { CallsheetError } from '../../src/core/errors.ts';
import type { Keys, Seal } from '../../src/snapshot/container.ts';
import { openSnapshot, type SnapshotFile, writeSnapshot } from '../../src/snapshot/file.ts';
import type {
  ContentRecord,
  End,
  Header,
  Line,
  ResourceRecord,
} from '../../src/snapshot/format.ts';
import { temporaryFolder } from '../temporary.ts';

/** A key of age that opens nothing but what is written in tests, and its public part. */
export const IDENTITY =
  'AGE-SECRET-KEY-1LHK6LP4RT0CTJY3RHDZJCJ3HLRR4ZUFUCQZ7DTTUXGQHF9Y5U0MQ0ELFTM';
export const RECIPIENT = 'age12x6zfswrx2uz2an57japthl9rk0utfh8m0u2jnm79k5ch927jc9qgypaaw';

export const PASSPHRASE = 'correct horse battery';

export const SEALS: readonly Seal[] = [
  { type: 'none' },
  // Guessing costs nothing in tests.
  { type: 'passphrase', passphrase: PASSPHRASE, workFactor: 4 },
  { type: 'age', recipients: [RECIPIENT] },
];

export const KEYS: Keys = {
  passphrase: async () => PASSPHRASE,
  identities: async () => [IDENTITY],
};

export const NO_KEYS: Keys = { passphrase: async () => undefined, identities: async () => [] };

export const HEADER: Header = {
  type: 'header',
  format: 'callsheet-snapshot',
  version: 1,
  id: '6f1d0f0e-3b6a-4a52-9a53-0a4f6f0b7c11',
  made_at: '2026-11-21T09:45:00.000Z',
  made_by: '0.1.0',
  platform: {
    base_url: 'https://voice.example.test',
    account_id: 'e7ac14dd-6755-4b7f-bb6b-7319e7f7b316',
  },
  organization: null,
  sensitive: false,
  stack: null,
  base: null,
};

/** A resource that nobody has anywhere else. */
export function agentOf(number: number, more: Partial<ResourceRecord> = {}): ResourceRecord {
  const id = `00000000-0000-4000-8000-${String(number).padStart(12, '0')}`;
  const organization_id = '3c6e0b8a-9c15-4f1d-9f0e-5d2b7f1a2c11';
  return {
    type: 'resource',
    kind: 'agent',
    id,
    scope: { organization_id },
    extent: 'whole',
    record: { id, organization_id, name: `Agent ${number}`, status: 'active' },
    facets: {},
    history: null,
    withheld: [],
    address: null,
    state: null,
    ...more,
  };
}

/** A folder of its own, gone when the test ends. */
export async function folder(): Promise<string> {
  const dir = temporaryFolder();
  return dir;
}

export async function* flow<T>(items: Iterable<T>): AsyncGenerator<T> {
  yield* items;
}

/** Writes a snapshot of these records into a folder of its own. */
export async function written(
  records: Iterable<ContentRecord>,
  seal: Seal = { type: 'none' },
  header: Header = HEADER,
): Promise<{ readonly file: string; readonly end: End }> {
  const file = join(await folder(), 'then.snapshot');
  const end = await writeSnapshot(file, header, flow(records), seal);
  return { file, end };
}

/** Reads all of a snapshot. */
export async function readAll(
  file: string,
  keys: Keys = KEYS,
): Promise<{
  readonly snapshot: SnapshotFile;
  readonly records: readonly (ContentRecord | End)[];
}> {
  const snapshot = await openSnapshot(file, keys);
  const records: (ContentRecord | End)[] = [];
  for await (const record of snapshot.records()) records.push(record);
  return { snapshot, records };
}

/** Why a snapshot cannot be read, in words. Whatever is no sentence of ours is passed on. */
export async function refusal(file: string, keys: Keys = KEYS): Promise<string | undefined> {
  try {
    await readAll(file, keys);
    return undefined;
  } catch (error) {
    if (error instanceof CallsheetError) return error.message;
    throw error;
  }
}

/** Lines as they stand in a file that is not encrypted. */
export function zipped(lines: readonly (Line | string)[]): Buffer {
  const texts = lines.map((line) => (typeof line === 'string' ? line : JSON.stringify(line)));
  return gzipSync(texts.map((text) => `${text}\n`).join(''));
}

import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { CallsheetError } from '../../src/core/errors.ts';
import type {
  IntentRecorded,
  JournalEntry,
  OutcomeRecorded,
  RunBegan,
} from '../../src/state/journal.ts';
import { linesIn, readJournal } from '../../src/state/journal-text.ts';
import type {
  AppliedCommit,
  Holds,
  KeptEntry,
  ResourceState,
  State,
} from '../../src/state/model.ts';
import { emptyState } from '../../src/state/replay.ts';
import type { LineSeals } from '../../src/state/seal.ts';
import type { Holder } from '../../src/state/store.ts';
import { temporaryFolder } from '../temporary.ts';

/** Small, whole values for the tests of this folder. */

export const LINEAGE = '8f0f7c52-6d0a-4a53-9a4e-0a1f5a6f2b11';
const AT = '2026-03-02T08:30:00.000Z';

/** A value that was rolled back. */
export const HOLDS: Holds = {
  [`sha256:${'0b'.repeat(32)}`]: {
    ...{ address: 'agent.desk', id: 'a1', path: 'name', value: `sha256:${'0c'.repeat(32)}` },
    ...{ undid: 'r1', by: 'r2', at: AT, user: 'sam' },
  },
};

/** A commit that was applied. Every state of these tests has it, so that each store is seen to keep it. */
export const APPLIED: AppliedCommit = {
  commit: '0a'.repeat(20),
  tree: '0b'.repeat(20),
  run: 'r1',
  at: AT,
  user: 'sam',
};

export function resource(id: string, more: Partial<ResourceState> = {}): ResourceState {
  return {
    kind: 'agent',
    id,
    scope: { organization_id: '3c6e0b8a-9c15-4f1d-9f0e-5d2b7f1a2c11' },
    name: `Desk ${id}`,
    leaves: {
      name: { value: `Desk ${id}` },
      system_prompt: { digest: `sha256:${'0a'.repeat(32)}` },
      'extensions.tools[crm].headers[X-Key].value': { fingerprint: 'hmac:00000000:ff' },
      'config.tags': { value: ['a', { b: null }] },
    },
    pin: { digest: 'sha256:1', updated_at: AT, history_id: 7 },
    protect: false,
    ...more,
  };
}

export function stateWith(resources: State['resources'], more: Partial<State> = {}): State {
  return { ...emptyState(LINEAGE), serial: 1, applied: APPLIED, resources, ...more };
}

/** The text of a document with a checksum that fits, whatever else is wrong with it. */
export function sealed(document: object): string {
  return sealedText(JSON.stringify(document));
}

/** The same of the text of one without a checksum, which may be too deep for `JSON.stringify`. */
export function sealedText(text: string): string {
  const checksum = `sha256:${createHash('sha256').update(text).digest('hex')}`;
  return `{"checksum":"${checksum}"${text === '{}' ? '' : ','}${text.slice(1)}`;
}

/** JSON of so many lists in each other. */
export function deep(levels: number): string {
  return `${'['.repeat(levels)}${']'.repeat(levels)}`;
}

/** The entries in the text of a journal, and whether its end is torn. */
export async function entriesIn(text: string, location: string, seals?: LineSeals) {
  const entries: JournalEntry[] = [];
  const take = (entry: JournalEntry) => entries.push(entry);
  const torn = await readJournal(linesIn([text]), location, take, seals);
  return { entries, torn };
}

export function began(run: string, serial = 0, lineage = LINEAGE): RunBegan {
  return {
    type: 'began',
    run,
    at: AT,
    purpose: 'apply',
    actor: { user: 'sam', host: 'desk', pid: 41, commit: null, pipeline: null },
    plan_digest: 'sha256:2',
    config_digest: 'sha256:3',
    account_id: 'account-1',
    base_url: 'https://platform.example.test',
    lineage,
    serial,
  };
}

export function intent(seq: number, address: string, id: string | null = null): IntentRecorded {
  return {
    type: 'intent',
    seq,
    at: AT,
    address,
    step: id === null ? 'create' : 'update',
    operation: id === null ? 'createAgent' : 'updateAgent',
    id,
    fields: ['name'],
  };
}

export function outcome(seq: number, id: string | null, ok = true): OutcomeRecorded {
  return { type: 'outcome', seq, at: AT, ok, id, error: ok ? null : 'refused' };
}

export function recorded(address: string, value: ResourceState | null): JournalEntry {
  return { type: 'resource', address, resource: value };
}

export function snapshot(address: string, id: string | null): JournalEntry {
  return {
    type: 'snapshot',
    address,
    kind: 'agent',
    id,
    document: id === null ? null : { name: `Desk ${id}`, notes: 'Grüße, “quoted”\n{{token}}' },
    pin: null,
    resource: null,
    withheld: [],
    intended: null,
  };
}

export function ended(addresses: readonly string[] = []): JournalEntry {
  return {
    type: 'ended',
    at: AT,
    status: 'done',
    verified: true,
    ledger: addresses.map((address) => ({
      address,
      action: 'update',
      status: 'done',
      id: 'a1',
      message: null,
      fields: ['name'],
      history: { before: 7, after: 8 },
    })),
  };
}

export function holder(run: string, pid = process.pid): Holder {
  return { run, command: 'apply', user: 'sam', host: 'desk', pid, since: AT };
}

/** A folder that goes when the test has ended. */
export async function makeFolder(): Promise<string> {
  const folder = temporaryFolder();
  return folder;
}

let gone: number | undefined;

/** The number of a process that ran on this machine and has ended. */
export function deadPid(): number {
  gone ??= spawnSync(process.execPath, ['-e', '0']).pid;
  return gone;
}

/** The failure that a piece of work ends in; anything but a `CallsheetError` fails the test. */
export async function failureOf(work: () => unknown): Promise<CallsheetError> {
  try {
    await work();
  } catch (error) {
    if (error instanceof CallsheetError) return error;
    throw error;
  }
  throw new Error('it did not fail');
}

/** What a feature keeps, as a state has it. */
export function keptOf(more: Partial<KeptEntry>): KeptEntry {
  return { status: 'judging', why: null, open: true, runs: [], data: { step: 0 }, ...more };
}

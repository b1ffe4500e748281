/**
 * `export/` turns what is live into a stack, as if a careful person had written it. It lists everything, gives
 * it names (`survey.ts`, `names.ts`), says each resource in the words of the configuration (`resource.ts`) and
 * decides where it stands (`layout.ts`). Resources come and go one by one, so that a fleet of any size fits.
 */
import type { Writable } from '../config/write.ts';
import type { Address } from '../core/address.ts';
import { inTurns } from '../core/in-turns.ts';
import type { Kind } from '../kinds/kind.ts';
import type { LiveResource, Reader } from '../plan/reader.ts';
import { type Census, openCensus } from './factor.ts';
import { compare } from './names.ts';
import type { Remark } from './resource.ts';
import type { SecretUse } from './secret-names.ts';
import {
  type Entry,
  isStreamed,
  type Organization,
  type Scopes,
  type Survey,
  survey,
} from './survey.ts';
import { type Done, openWork } from './work.ts';

export type { Remark } from './resource.ts';
export type { SecretUse } from './secret-names.ts';
export type { Organization, Scopes } from './survey.ts';

export type ExportInput = {
  readonly kinds: readonly Kind[];
  readonly scopes: Scopes;
  /** A reader that has nothing in mind. */
  readonly open: () => Reader;
  /** Why the platform refuses what was asked, in words; undefined where the error is another one. */
  readonly isRefusal: (error: unknown) => string | undefined;
  /** Resources that are read at once. */
  readonly concurrency: number;
  /** Path of the schema that editors use, from the folder of the stack. */
  readonly schema: string;
  /** Whether common settings are lifted into bases. Resources are then kept on disk until all were seen. */
  readonly isFactored: boolean;
  /** Keeps texts until they are asked for, in the order in which they came. */
  readonly spool: Spool;
  /** Writes a file of the stack; several are under way at once. */
  readonly write: (path: string, text: string) => Promise<void>;
  /** Told of every resource that the stack has, for its state. */
  readonly remember: (kind: Kind, writable: Writable, live: LiveResource, idOf: IdOf) => void;
  /** Told how far it is. */
  readonly onProgress: (done: number, total: number) => void;
};

export type IdOf = (address: Address) => string | undefined;
export type Spool = {
  readonly add: (text: string) => void;
  readonly each: () => AsyncIterable<string>;
};

/** What an export came to. */
export type ExportResult = {
  readonly organizations: readonly Organization[];
  /** Resources written, by kind, in the order of kinds. */
  readonly counts: ReadonlyMap<string, number>;
  readonly bases: number;
  /** Variables that stand for ids of what the stack cannot have: name → id. */
  readonly variables: ReadonlyMap<string, string>;
  readonly secrets: readonly SecretUse[];
  readonly remarks: readonly Remark[];
  readonly unlisted: Survey['unlisted'];
};

/** Reads everything and writes it as a stack. What it writes is the same for the same platform, byte for byte. */
export async function exportStack(input: ExportInput): Promise<ExportResult> {
  const { kinds, scopes, open, concurrency, isFactored } = input;
  const seen = await survey(kinds, scopes, open, input.isRefusal);
  const work = openWork(seen, input);
  const { organizations, entries } = seen;
  const censuses = new Map<Kind, Census>();
  const streamed = entries.filter(({ kind }) => isStreamed(kind));
  await inTurns(streamed, concurrency, async (entry) => {
    const one = await work.read(entry);
    if (one === undefined) return;
    if (!isFactored) return work.writeOne(one);
    const census = censuses.get(entry.kind) ?? openCensus(entry.kind, organizations);
    censuses.set(entry.kind, census);
    census.count(entry.organization ?? '', one.writable.document);
    work.spool(one);
  });
  if (isFactored) await work.writeSpooled(censuses);
  const grouped = entries.filter(({ kind }) => !isStreamed(kind));
  const rest = await readAll(grouped, concurrency, work.read);
  await work.writeGroups(rest);
  return work.result();
}

async function readAll(
  entries: readonly Entry[],
  concurrency: number,
  read: (entry: Entry) => Promise<Done | undefined>,
): Promise<readonly Done[]> {
  const found: Done[] = [];
  await inTurns(entries, concurrency, async (entry) => {
    const one = await read(entry);
    if (one !== undefined) found.push(one);
  });
  return found.sort((a, b) => compare(a.entry.address, b.entry.address));
}

import { randomUUID } from 'node:crypto';
import { readFile, stat } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import type { Context } from '../../console/context.ts';
import { say } from '../../console/events.ts';
import { type ShowFlags, show } from '../../console/show.ts';
import { type KeyFlags, keysFrom, type SealFlags, sealFrom } from '../../console/snapshot-keys.ts';
import type { Terminal } from '../../console/terminal.ts';
import { commandLine, quoted } from '../../core/command-line.ts';
import { CallsheetError, EXIT, type ExitCode } from '../../core/errors.ts';
import { Blob, findFilled } from '../../core/value.ts';
import { getText, recordIn } from '../../kinds/making.ts';
import { organizationNamed } from '../../live/organizations.ts';
import { createReader } from '../../live/reader.ts';
import { formatNumber } from '../../render/wording.ts';
import { DEFAULT_CONCURRENCY } from '../../run/client.ts';
import { type PlatformSession, withPlatform } from '../../run/platform-session.ts';
import { NO_LINEAGE } from '../../run/session.ts';
import { holdYoungGeneration } from '../../run/stack.ts';
import {
  type Base,
  openSnapshot,
  readBase,
  refuseExisting,
  withMedia,
  withoutSame,
  writeSnapshot,
} from '../../snapshot/file.ts';
import { type ContentRecord, createTally, type Header, VERSION } from '../../snapshot/format.ts';
import { readAccount, recordedIn } from '../../snapshot/read-account.ts';
import type { State } from '../../state/model.ts';
import { collectHeld } from './held.ts';
import { renderSnapshotText } from './snapshot.ts';
import { listAsked } from './supplies.ts';

export type CreateFlags = ShowFlags &
  SealFlags &
  KeyFlags & {
    readonly out?: string;
    readonly base?: string;
    /** True if the files of the stack are kept that resources were made of. */
    readonly media?: boolean;
    readonly organization?: string;
    readonly knowledgeBase?: readonly string[];
  };

/** Resources between two lines of progress. */
const TELLING = 1000;

/** Resources that are read at once: enough that every connection has always something to do. */
const AHEAD = 4 * DEFAULT_CONCURRENCY;

/** `callsheet snapshot create`: everything readable of the account, in one file. */
export async function create(flags: CreateFlags, context: Context): Promise<ExitCode> {
  const { terminal } = context;
  const seal = await sealFrom(flags, context);
  if (flags.out !== undefined) await refuseExisting(flags.out);
  holdYoungGeneration();
  return withPlatform(flags, context, async (session) => {
    const { client, settings } = session;
    const me = await client.call({ operation: 'getMe' });
    const account = getText(recordIn(me), 'account_id');
    const state = await readState(session);
    checkAccount(state, account);
    const { organization: wanted } = flags;
    const organizations = settings?.organizations ?? {};
    const now = context.now();
    const organization =
      wanted === undefined
        ? undefined
        : await organizationNamed(wanted, organizations, client, now);
    const file = flags.out ?? join(dirname(flags.base ?? ''), fileName(account, now));
    await refuseExisting(file);
    const platform = { base_url: client.baseUrl, account_id: account };
    const base =
      flags.base === undefined
        ? undefined
        : await openBase(flags.base, file, platform, flags, context);
    const header: Header = {
      type: 'header',
      format: 'callsheet-snapshot',
      version: VERSION,
      id: randomUUID(),
      made_at: now.toISOString(),
      made_by: context.version,
      platform,
      organization: organization ?? null,
      sensitive: seal.type !== 'none',
      stack: state === undefined ? null : { lineage: state.lineage },
      base: base?.mark ?? null,
    };
    const knowledge = await listKnowledgeBases(flags.knowledgeBase ?? [], session, state, context);
    const recorded = recordedIn(state ?? { resources: {} });
    const records = readAccount({
      client,
      reader: createReader(client, me),
      me,
      organization,
      known: {
        organizations: Object.values(organizations),
        knowledgeBases: knowledge,
        ids: recorded.ids,
      },
      ahead: AHEAD,
      now,
      sensitive: header.sensitive,
      owner: recorded.owner,
      earlier: client.endpoints.assume ? base && takenFrom(base, header) : undefined,
    });
    const tally = createTally();
    const files = flags.media === true ? await readMedia(session) : [];
    const collected = collectHeld(async function* () {});
    const seen = noted(
      tally.over(withMedia(reportProgress(records, terminal), files)),
      collected.note,
    );
    const body = base === undefined ? seen : withoutSame(seen, base.digests);
    const end = await writeSnapshot(file, header, body, seal);
    const { size } = await stat(file);
    const about = tally.document({ file, size, encryption: seal.type }, header, end);
    const stack = settings && (await session.stack().catch(() => undefined));
    const made = { ...about, restore: await listAsked(collected.held, stack) };
    const { passphraseFile } = flags;
    const key = passphraseFile === undefined ? '' : ` --passphrase-file ${quoted(passphraseFile)}`;
    const listing = commandLine(`snapshot show ${quoted(file)}${key}`, flags);
    show(flags, made, (to) => renderSnapshotText(made, to, listing), context);
    return EXIT.done;
  });
}

/** A base that another Callsheet made, or that keeps sensitive values otherwise, has records that cannot be taken over. */
function takenFrom(
  { header, earlier }: Base,
  { made_by, sensitive }: Header,
): Base['earlier'] | undefined {
  return header.made_by === made_by && header.sensitive === sensitive ? earlier : undefined;
}

async function* noted<T extends ContentRecord>(
  records: AsyncIterable<T>,
  note: (record: T) => void,
): AsyncGenerator<T> {
  for await (const record of records) {
    note(record);
    yield record;
  }
}

/** Says now and then how far it is: a large account takes minutes. */
async function* reportProgress(
  records: AsyncIterable<ContentRecord>,
  { err }: Terminal,
): AsyncGenerator<ContentRecord> {
  let count = 0;
  for await (const record of records) {
    if (record.type === 'resource') count += 1;
    if (record.type === 'resource' && count % TELLING === 0)
      err(`${formatNumber(count)} resources read`);
    yield record;
  }
}

/** The base, which must be of the same account, and lie where it will be looked for. */
async function openBase(
  given: string,
  file: string,
  { account_id, base_url }: Header['platform'],
  flags: CreateFlags,
  context: Context,
): Promise<Base> {
  if (dirname(resolve(given)) !== dirname(resolve(file))) {
    throw new CallsheetError('usage', `${file} would not be next to its base ${given}`, {
      hint: 'A snapshot needs its base in the same folder: set --out to that folder.',
    });
  }
  const base = await openSnapshot(given, keysFrom(flags, context));
  const { platform } = base.header;
  if (platform.account_id !== account_id || platform.base_url !== base_url) {
    const whose = `account ${platform.account_id} on ${platform.base_url}`;
    throw new CallsheetError('usage', `the base ${given} is of ${whose}`, {
      hint: `These credentials are for account ${account_id} on ${base_url}.`,
    });
  }
  return readBase(base);
}

/** `callsheet-1f3a9c2e-20261121T094500Z.snapshot`: in the order of time, and of whom it is. */
function fileName(account: string, now: Date): string {
  const who = account.replaceAll(/[^A-Za-z0-9]/g, '').slice(0, 8);
  const when = now.toISOString().replaceAll(/[-:]|\.\d+/g, '');
  return `callsheet-${who}-${when}.snapshot`;
}

/** The state of the stack, if there is a stack and it has one. */
async function readState(session: PlatformSession): Promise<State | undefined> {
  if (session.settings === undefined) return undefined;
  const state = await session.state();
  return state.lineage === NO_LINEAGE ? undefined : state;
}

/** Addresses of another account would stand for nothing in the snapshot. */
function checkAccount(state: State | undefined, account: string): void {
  const known = state?.account_id;
  if (known === undefined || known === account) return;
  throw new CallsheetError(
    'state',
    `the state of this stack belongs to account ${known}; these credentials are for account ${account}`,
    { hint: 'Check the credentials, or take the snapshot outside of the stack (--dir).' },
  );
}

/**
 * Knowledge bases, which the platform does not list: those of the command line, the stack and its state. A stack
 * that is wrong does not stand in the way of a backup, but then it is said that it could not be asked.
 */
async function listKnowledgeBases(
  given: readonly string[],
  session: PlatformSession,
  state: State | undefined,
  { terminal }: Context,
): Promise<readonly string[]> {
  const recorded = Object.values(state?.resources ?? {}).map(
    ({ scope }) => scope.knowledge_base_id,
  );
  let configured: readonly unknown[] = [];
  if (session.settings !== undefined) {
    try {
      const { resources } = await session.stack();
      configured = resources.map(({ document }) => document.knowledge_base_id);
    } catch (error) {
      if (!(error instanceof CallsheetError)) throw error;
      say(
        terminal,
        'Warning: the configuration has errors (`callsheet validate`), so the snapshot includes only the knowledge bases in the state.',
      );
    }
  }
  const all = [...given, ...recorded, ...configured];
  return [...new Set(all.flatMap((id) => findFilled(id) ?? []))];
}

/** The files of the stack that its resources are made of. The platform returns no bytes of them. */
async function readMedia(session: PlatformSession) {
  if (session.settings === undefined) {
    throw new CallsheetError('usage', '--media needs a stack, whose files are kept', {
      hint: 'The platform returns no files. Set --dir to the folder of the stack, or remove --media.',
    });
  }
  const { resources, dir } = await session.stack().catch((error: unknown) => {
    if (!(error instanceof CallsheetError) || error.diagnostics.length === 0) throw error;
    const why = 'no snapshot was written: --media keeps the files of the stack';
    throw new CallsheetError('usage', `${why}, and its configuration has errors`, {
      hint: '`callsheet validate` shows them. Without --media the snapshot is written, and has no files.',
    });
  });
  const blobs = resources.flatMap(({ document }) =>
    Object.values(document).filter((value) => value instanceof Blob),
  );
  const byDigest = new Map(blobs.map((blob) => [blob.sha256, blob]));
  return [...byDigest.values()].map(({ path, sha256, mime, size }) => ({
    sha256,
    mime,
    size,
    name: basename(path),
    read: () => readFile(join(dir, path)),
  }));
}

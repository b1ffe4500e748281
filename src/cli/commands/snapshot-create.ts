import { randomUUID } from 'node:crypto';
import { stat } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { readEndpoints } from '../../api/endpoints.ts';
import { CallsheetError } from '../../core/errors.ts';
import { recordIn, textOf } from '../../kinds/answer.ts';
import { createReader } from '../../live/reader.ts';
import { renderSnapshotText } from '../../render/snapshot.ts';
import { formatNumber } from '../../render/wording.ts';
import { type ContentRecord, type Header, VERSION } from '../../snapshot/format.ts';
import { withMedia } from '../../snapshot/media.ts';
import { readAccount } from '../../snapshot/read-account.ts';
import { type Base, openSnapshot, readBase, withoutSame } from '../../snapshot/read-file.ts';
import { createTally } from '../../snapshot/summary.ts';
import { refuseExisting, writeSnapshot } from '../../snapshot/write-file.ts';
import type { CommonFlags, Context } from '../context.ts';
import { EXIT, type ExitCode } from '../exit.ts';
import { organizationNamed } from '../export/scopes.ts';
import { DEFAULT_CONCURRENCY } from '../open-client.ts';
import { withPlatform } from '../platform-session.ts';
import { type KeyFlags, keysFrom, type SealFlags, sealFrom } from '../snapshot/keys.ts';
import {
  checkAccount,
  idsOf,
  knowledgeBasesOf,
  mediaOf,
  ownersIn,
  stateOf,
} from '../snapshot/stack-facts.ts';
import type { Terminal } from '../terminal.ts';

export type CreateFlags = CommonFlags &
  SealFlags &
  KeyFlags & {
    readonly out?: string;
    readonly base?: string;
    /** Whether the files of the stack are kept that resources were made of. */
    readonly media?: boolean;
    readonly organization?: string;
    readonly knowledgeBase?: readonly string[];
    readonly format: 'text' | 'json';
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
  return withPlatform(flags, context, async (session) => {
    const { client, settings } = session;
    const me = await client.call({ operation: 'getMe' });
    const account = textOf(recordIn(me), 'account_id');
    const state = await stateOf(session);
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
        : await baseOf(flags.base, file, platform, flags, context);
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
    const knowledge = await knowledgeBasesOf(flags.knowledgeBase ?? [], session, state, context);
    const records = readAccount({
      client,
      reader: createReader(client, settings && readEndpoints(settings.platform), me),
      me,
      organization,
      known: {
        organizations: Object.values(organizations),
        knowledgeBases: knowledge,
        ids: (kind) => idsOf(state, kind),
      },
      ahead: AHEAD,
      now,
      sensitive: header.sensitive,
      owner: ownersIn(state),
    });
    const tally = createTally();
    const files = flags.media === true ? await mediaOf(session) : [];
    const seen = tally.over(withMedia(told(records, terminal), files));
    const body = base === undefined ? seen : withoutSame(seen, base.digests);
    const end = await writeSnapshot(file, header, body, seal);
    const { size } = await stat(file);
    const made = tally.document({ file, size, encryption: seal.type }, header, end);
    terminal.out(
      flags.format === 'json'
        ? JSON.stringify(made, null, 2)
        : renderSnapshotText(made, terminal.render),
    );
    return EXIT.done;
  });
}

/** Says now and then how far it is: a large account takes minutes. */
async function* told(
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
async function baseOf(
  given: string,
  file: string,
  { account_id, base_url }: Header['platform'],
  flags: CreateFlags,
  context: Context,
): Promise<Base> {
  if (dirname(resolve(given)) !== dirname(resolve(file))) {
    throw new CallsheetError('usage', `${file} would not lie beside its base ${given}`, {
      hint: 'A snapshot is read with its base beside it: write it to the same folder (--out).',
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

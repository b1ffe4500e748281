import { existsSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Context } from '../../../console/context.ts';
import { refuseInterrupted } from '../../../console/events.ts';
import { rootAbove, withNamedFile } from '../../../console/named-file.ts';
import { type ShowFlags, show, stampDocument } from '../../../console/show.ts';
import type { ExportDocument } from '../../../core/documents.ts';
import { EXIT, type ExitCode } from '../../../core/errors.ts';
import { createReader } from '../../../live/reader.ts';
import { DEFAULT_CONCURRENCY, readAccountId } from '../../../run/client.ts';
import { type PlatformSession, withPlatform } from '../../../run/platform-session.ts';
import { holdYoungGeneration } from '../../../run/stack.ts';
import { discover } from '../../../stack/discover.ts';
import { openStateSeals } from '../../../state/open.ts';
import { addedFiles, lookAround, SCHEMA_FILE, schemaText } from '../init/files.ts';
import { renderExportText } from '../init/new-stack.ts';
import { type ExportResult, exportStack, openMemory } from './index.ts';
import { type NewFolder, openNewFolder, refuseFolder } from './new-folder.ts';
import { type ScopeFlags, scopesFor } from './survey.ts';
import {
  hasLeftOut,
  REPORT_FILE,
  reportText,
  secretsFile,
  secretsText,
  stackText,
} from './texts.ts';

export type ExportFlags = ShowFlags &
  ScopeFlags & {
    readonly out: string;
    readonly overwrite?: boolean;
    readonly factor?: boolean;
    readonly unchecked?: boolean;
    readonly state: boolean;
    readonly secretsFile?: string;
  };

const STATE = join('.callsheet', 'state.json');

/** `callsheet export --out DIR`: what is live as a stack. It writes nothing on the platform. */
export async function exportCommand(flags: ExportFlags, context: Context): Promise<ExitCode> {
  const dir = resolve(flags.out);
  refuseFolder(dir, flags.overwrite === true);
  holdYoungGeneration();
  return withPlatform(flags, context, async (session) => {
    const folder = openNewFolder(dir);
    try {
      const written = await writeStack(folder, dir, flags, session, context);
      refuseInterrupted(context);
      if (flags.secretsFile !== undefined) await writeSecrets(flags.secretsFile, written.result);
      try {
        folder.commit();
      } catch (error) {
        // Without the stack, its file of secrets would be left behind unnoticed.
        if (flags.secretsFile !== undefined) rmSync(resolve(flags.secretsFile), { force: true });
        throw error;
      }
      const document = exportDocument(written, dir, flags);
      show(flags, document, (to) => renderExportText(document, to), context);
      return EXIT.done;
    } finally {
      folder.discard();
    }
  });
}

async function writeStack(
  folder: NewFolder,
  dir: string,
  flags: ExportFlags,
  { client, settings }: PlatformSession,
  context: Context,
) {
  const account = await readAccountId(client);
  const scopes = await scopesFor(flags, settings?.organizations ?? {}, client, context.now());
  const memory = openMemory();
  const hasState = flags.state && !existsSync(join(dir, STATE));
  const files = new Set<string>();
  const write = async (path: string, text: string) => {
    refuseInterrupted(context);
    files.add(path);
    return folder.write(path, text);
  };
  const result = await exportStack({
    scopes,
    open: () => createReader(client),
    // Some are written while others are on their way.
    concurrency: 2 * DEFAULT_CONCURRENCY,
    schema: SCHEMA_FILE,
    isFactored: flags.factor !== false,
    isUnchecked: flags.unchecked === true,
    spool: folder.spool,
    write,
    remember: hasState ? memory.remember : () => {},
    onProgress(done, total) {
      if (done % STRIDE === 0) context.terminal.err(`${done} of ${total} resources read`);
    },
  });
  const around = lookAround(dir, true);
  await write('callsheet.yaml', stackText(result, client.baseUrl, SCHEMA_FILE, around.id));
  await write(SCHEMA_FILE, schemaText());
  const isEarlier = (path: string) => existsSync(join(dir, path));
  if (result.secrets.length > 0 || isEarlier('SECRETS.md'))
    await write('SECRETS.md', secretsText(result.secrets));
  if (hasLeftOut(result) || isEarlier(REPORT_FILE)) await write(REPORT_FILE, reportText(result));
  for (const { path, text } of addedFiles('none', around)) {
    // Files that somebody else wrote stay.
    if (!existsSync(join(dir, path))) await write(path, text);
  }
  if (hasState) {
    const seals = openStateSeals({ file: STATE }, context);
    await memory.write(join(folder.draft, STATE), account, result.secrets, { ...context, seals });
  }
  return { result, files, hasState };
}

/** Resources between two lines of progress. */
const STRIDE = 500;

async function writeSecrets(file: string, { secrets }: ExportResult): Promise<void> {
  const text = secretsFile(secrets);
  await withNamedFile('--secrets-file', file, async () =>
    writeFileSync(resolve(file), text, { mode: 0o600, flag: 'wx' }),
  );
}

function exportDocument(
  { result, files, hasState }: Awaited<ReturnType<typeof writeStack>>,
  dir: string,
  flags: ExportFlags,
): ExportDocument {
  const { organizations, counts, bases, secrets, remarks, unlisted, unasked, variables } = result;
  const kept = discover(dir, undefined, []).files.filter((file) => !files.has(file));
  return stampDocument('callsheet-export', {
    dir: flags.out,
    in_repository: rootAbove(dir) !== undefined,
    organizations,
    resources: [...counts].map(([kind, count]) => ({ kind, count })),
    bases,
    files: files.size,
    kept,
    state: hasState,
    secrets: secrets.map(({ name, address, path, value }) => ({
      name,
      address,
      path,
      told: value !== undefined,
    })),
    secrets_file: flags.secretsFile ?? null,
    remarks,
    unlisted,
    unasked,
    variables: [...variables].map(([name, id]) => ({ name, id })),
  });
}

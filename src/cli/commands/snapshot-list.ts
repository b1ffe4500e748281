import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { CallsheetError } from '../../core/errors.ts';
import { type ListedSnapshot, renderSnapshotsText } from '../../render/snapshot.ts';
import { type Keys, readSealing, type Sealing } from '../../snapshot/container.ts';
import { inWords } from '../../snapshot/failures.ts';
import { readHeader } from '../../snapshot/read-file.ts';
import type { CommonFlags, Context } from '../context.ts';
import { EXIT, type ExitCode } from '../exit.ts';
import { type KeyFlags, keysFrom } from '../snapshot/keys.ts';

export type ListFlags = CommonFlags & KeyFlags & { readonly format: 'text' | 'json' };

/** `callsheet snapshot list [DIR]`: the snapshots of a folder. Reads their headers alone. */
export async function list(
  dir: string | undefined,
  flags: ListFlags,
  context: Context,
): Promise<ExitCode> {
  const { terminal } = context;
  const folder = dir ?? '.';
  // Nobody is asked for a passphrase file by file.
  const keys = keysFrom(flags, { ...context, terminal: { ...terminal, canAsk: false } });
  const names = await readdir(folder, { withFileTypes: true }).catch((error: unknown) => {
    throw inWords(error, 'read', folder);
  });
  const files = names.filter((one) => one.isFile() && !one.name.endsWith('.part'));
  const found: ListedSnapshot[] = [];
  for (const { name } of files) {
    const one = await look(folder, name, keys);
    if (one !== undefined) found.push(one);
  }
  found.sort(
    (a, b) => (b.made_at ?? '').localeCompare(a.made_at ?? '') || (a.file < b.file ? -1 : 1),
  );
  terminal.out(
    flags.format === 'json'
      ? JSON.stringify({ format: 'callsheet-snapshots', version: 1, snapshots: found }, null, 2)
      : renderSnapshotsText(found, folder, terminal.render),
  );
  return EXIT.done;
}

/** What a file says of itself; undefined for one that is no snapshot. */
async function look(folder: string, name: string, keys: Keys): Promise<ListedSnapshot | undefined> {
  const path = join(folder, name);
  const encryption = await readSealing(path).catch(() => undefined);
  if (encryption === undefined) return undefined;
  const { size } = await stat(path);
  const about = { file: name, size, encryption };
  try {
    const header = await readHeader(path, keys);
    const { made_at, base, platform } = header;
    return { ...about, made_at, ...platform, base: base?.file ?? null, problem: null };
  } catch (error) {
    if (!(error instanceof CallsheetError)) throw error;
    // Other files are compressed, or encrypted with age, too.
    if (!name.endsWith('.snapshot') && encryption !== 'passphrase') return undefined;
    const isSealed = encryption !== 'none' && (await keyFor(encryption, keys)) === undefined;
    const problem = isSealed ? SEALED[encryption] : error.message;
    const nothing = { made_at: null, account_id: null, base_url: null, base: null };
    return { ...about, ...nothing, problem };
  }
}

const SEALED: { readonly [type in Exclude<Sealing, 'none'>]: string } = {
  passphrase: 'encrypted with a passphrase, which was not given',
  age: 'encrypted for keys of age; none was given',
};

async function keyFor(sealing: Exclude<Sealing, 'none'>, keys: Keys): Promise<string | undefined> {
  return sealing === 'passphrase' ? keys.passphrase() : (await keys.identities())[0];
}

import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { openTable } from '../../src/cli/command-table.ts';
import { buildProgram } from '../../src/cli/program.ts';
import {
  type KeyFlags,
  keysFrom,
  type SealFlags,
  sealFrom,
} from '../../src/console/snapshot-keys.ts';
import { CallsheetError } from '../../src/core/errors.ts';
import { features } from '../../src/features/index.ts';
import { folder, IDENTITY, PASSPHRASE, RECIPIENT } from '../snapshot/files.ts';
import { quietContext } from './quiet-context.ts';

const OTHER = 'another passphrase, long enough';

/** A folder with a file of this content, and its path. */
async function fileOf(text: string): Promise<string> {
  const file = join(await folder(), 'given');
  await writeFile(file, text);
  return file;
}

function contextOf(env: Readonly<Record<string, string>> = {}) {
  return { ...quietContext().context, env };
}

const FROM_ENVIRONMENT = { CALLSHEET_SNAPSHOT_PASSPHRASE: PASSPHRASE };

describe('a new snapshot is encrypted', () => {
  const seal = (flags: SealFlags, env: Readonly<Record<string, string>> = {}) =>
    sealFrom(flags, contextOf(env));

  test('not at all where nothing says how', async () => {
    expect(await seal({})).toEqual({ type: 'none' });
  });

  test('or not made where the passphrase of a pipeline is missing, unless there are keys', async () => {
    const empty = { CALLSHEET_SNAPSHOT_PASSPHRASE: '' };
    await expect(seal({}, empty)).rejects.toThrow('is set and empty');
    expect(await seal({ recipient: [RECIPIENT] }, empty)).toMatchObject({ type: 'age' });
  });

  test('with the passphrase of the environment, or of a file, which was named for this command', async () => {
    expect(await seal({}, FROM_ENVIRONMENT)).toEqual({
      type: 'passphrase',
      passphrase: PASSPHRASE,
    });
    const file = await fileOf(`${OTHER}\r\n`);
    expect(await seal({ passphraseFile: file }, FROM_ENVIRONMENT)).toEqual({
      type: 'passphrase',
      passphrase: OTHER,
    });
  });

  test('for keys, though the environment has the passphrase of other snapshots', async () => {
    expect(await seal({ recipient: [RECIPIENT] }, FROM_ENVIRONMENT)).toEqual({
      type: 'age',
      recipients: [RECIPIENT],
    });
  });

  const refused: readonly (readonly [string, () => Promise<SealFlags>, string])[] = [
    ['keys and a passphrase', async () => ({ recipient: [RECIPIENT], encrypt: true }), 'exclude'],
    ['a question where nobody is', async () => ({ encrypt: true }), 'without a passphrase'],
    [
      'a short passphrase',
      async () => ({ passphraseFile: await fileOf('elevenchars') }),
      'shorter',
    ],
    ['an empty file', async () => ({ passphraseFile: await fileOf('\n') }), 'is empty'],
    [
      'a longer text',
      async () => ({ passphraseFile: await fileOf('one\ntwo\n') }),
      'more than one',
    ],
    ['no file', async () => ({ passphraseFile: '/nowhere' }), 'cannot be read'],
  ];
  test.each(refused)('%s is refused', async (_what, flags, message) => {
    const failed = seal(await flags()).catch((error: unknown) => error);
    expect(await failed).toBeInstanceOf(CallsheetError);
    expect(String(await failed)).toContain(message);
  });
});

describe('a snapshot is opened', () => {
  const keys = (flags: KeyFlags, env: Readonly<Record<string, string>> = {}) =>
    keysFrom(flags, contextOf(env));

  test('with what is given, which is read once', async () => {
    const both = await fileOf(`# made today\n\n${IDENTITY}\n`);
    const opened = keys({ identity: [both] }, FROM_ENVIRONMENT);
    expect(await opened.passphrase()).toBe(PASSPHRASE);
    expect(await opened.identities()).toEqual([IDENTITY]);
    expect(opened.identities()).toBe(opened.identities());
  });

  test('with nothing where nothing is given and nobody can be asked', async () => {
    expect(await keys({}).passphrase()).toBeUndefined();
    expect(await keys({}).identities()).toEqual([]);
  });

  test.each([
    ['holds no key', '# nothing\n'],
    ['holds a line that is not a key of age', `${IDENTITY}\nAGE-SECRET-KEY-1NONSENSE\n`],
  ])('not with a key file that %s', async (message, text) => {
    const file = await fileOf(text);
    await expect(keys({ identity: [file] }).identities()).rejects.toThrow(message);
  });
});

test('flags that are repeated are taken as lists', async () => {
  const seen: unknown[] = [];
  const program = buildProgram(
    openTable(features),
    () => async (flags) => void seen.push(flags),
    '0.0.0',
  );
  const line = ['snapshot', 'create', '--recipient', 'age1a', '--recipient', 'age1b'];
  await program.parseAsync([...line, '--knowledge-base', 'a', '--identity', 'k'], { from: 'user' });
  expect(seen).toMatchObject([
    { recipient: ['age1a', 'age1b'], knowledgeBase: ['a'], identity: ['k'] },
  ]);
});

test.each([
  ['snapshot show', ['--identity', 'k']],
  ['restore', ['--identity', 'k']],
  ['restore', ['--organization', 'harbor']],
  ['restore', ['--map-organization', 'harbor=marina']],
  ['restore', ['--map-knowledge-base', 'a=b']],
])('%s takes its file also after %j', async (name, flags) => {
  const seen: unknown[] = [];
  const program = buildProgram(
    openTable(features),
    () => async (given) => void seen.push(given),
    '0.0.0',
  );
  const line = [...name.split(' '), ...flags, 'a.snapshot'];
  await program.parseAsync(line, { from: 'user' });
  expect(Object.values(seen[0] as object)).toContainEqual([flags[1]]);
});

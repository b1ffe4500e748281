import { readFile } from 'node:fs/promises';
import { password } from '@clack/prompts';
import { CallsheetError, explainSystemError } from '../core/errors.ts';
import { identitiesIn, type Keys, type Seal } from '../snapshot/container.ts';
import type { Context } from './context.ts';
import { answered } from './events.ts';
import { missingHint } from './named-file.ts';

/** Flags that say what a snapshot is opened with. */
export type KeyFlags = {
  readonly passphraseFile?: string;
  readonly identity?: readonly string[];
};

/** Flags that say how a snapshot is encrypted. */
export type SealFlags = Pick<KeyFlags, 'passphraseFile'> & {
  readonly recipient?: readonly string[];
  readonly encrypt?: boolean;
};

const ENVIRONMENT = 'CALLSHEET_SNAPSHOT_PASSPHRASE';
/** Guessing fewer is a matter of hours, whatever scrypt costs. */
const SHORTEST = 12;

/** Keys come from the environment, a file, or a question on a terminal. Each is read once. */
export function keysFrom(flags: KeyFlags, context: Context): Keys {
  let passphrase: Promise<string | undefined> | undefined;
  let identities: Promise<readonly string[]> | undefined;
  return {
    derived: new Map(),
    passphrase: () => {
      passphrase ??= givenPassphrase(flags, context).then(
        (given) =>
          given ?? (context.terminal.canAsk ? ask('Passphrase of the snapshot') : undefined),
      );
      if (flags.passphraseFile === undefined && !context.terminal.canAsk) refuseEmpty(context);
      return passphrase;
    },
    identities: () => {
      identities ??= readIdentities(flags.identity ?? []);
      return identities;
    },
  };
}

/** How a new snapshot is encrypted. Without a word about it, it is not. */
export async function sealFrom(flags: SealFlags, context: Context): Promise<Seal> {
  const { recipient: recipients = [], encrypt = false } = flags;
  const given = await givenPassphrase(flags, context);
  if (recipients.length > 0) {
    if (flags.passphraseFile === undefined && !encrypt) return { type: 'age', recipients };
    throw new CallsheetError('usage', '--recipient and a passphrase exclude each other', {
      hint: 'age encrypts a file for keys or with a passphrase, not both.',
    });
  }
  if (given !== undefined) return { type: 'passphrase', passphrase: checked(given) };
  refuseEmpty(context);
  if (!encrypt) return { type: 'none' };
  if (!context.terminal.canAsk) {
    throw new CallsheetError('usage', '--encrypt was given without a passphrase', {
      hint: `Set ${ENVIRONMENT}, or set --passphrase-file to a file with the passphrase.`,
    });
  }
  const passphrase = checked(await ask('Passphrase for the snapshot'));
  if ((await ask('The same again')) === passphrase) return { type: 'passphrase', passphrase };
  throw new CallsheetError('usage', 'the two passphrases differ; nothing was written');
}

/** A pipeline whose secret is missing sets it so, and would keep backups without what they are for. */
function refuseEmpty({ env }: Context): void {
  if (env[ENVIRONMENT] !== '') return;
  throw new CallsheetError('usage', `${ENVIRONMENT} is set and empty`, {
    hint: 'Set it to the passphrase, or unset it for a snapshot that is not encrypted.',
  });
}

/** The file wins over the environment: it was named for this command. */
async function givenPassphrase(
  { passphraseFile: file }: Pick<KeyFlags, 'passphraseFile'>,
  { env }: Context,
): Promise<string | undefined> {
  if (file === undefined) return env[ENVIRONMENT] || undefined;
  const text = (await readNamed('--passphrase-file', file)).replace(/\r?\n$/, '');
  if (text !== '' && !text.includes('\n')) return text;
  const what = text === '' ? 'is empty' : 'holds more than one line';
  throw new CallsheetError('usage', `--passphrase-file ${file} ${what}`, {
    hint: 'The file must contain the passphrase and nothing else.',
  });
}

function checked(passphrase: string): string {
  if ([...passphrase].length >= SHORTEST) return passphrase;
  throw new CallsheetError('usage', `the passphrase is shorter than ${SHORTEST} characters`, {
    hint: 'Five random words are easy to keep and hard to guess.',
  });
}

async function readIdentities(files: readonly string[]): Promise<readonly string[]> {
  const texts = files.map(async (file) => identitiesIn(file, await readNamed('--identity', file)));
  return (await Promise.all(texts)).flat();
}

async function readNamed(flag: string, file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    const hint = missingHint(file, error, undefined);
    throw explainSystemError(error, `${flag} ${file} cannot be read`, { hint });
  }
}

/** On a terminal, without showing what is typed. Results go to standard output, so questions do not. */
async function ask(message: string): Promise<string> {
  const asked = await password({ message, input: process.stdin, output: process.stderr });
  return answered(asked) ?? '';
}

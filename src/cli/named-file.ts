import { CallsheetError } from '../core/errors.ts';

/**
 * Does something with a file that a flag names. Where the file system refuses, that is a mistake on the
 * command line: `CallsheetError('usage')`.
 */
export async function withNamedFile<T>(
  flag: string,
  file: string,
  work: () => Promise<T>,
): Promise<T> {
  try {
    return await work();
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message.split(',')[0] : String(cause);
    throw new CallsheetError('usage', `${flag} ${file} cannot be written: ${reason}`, { cause });
  }
}

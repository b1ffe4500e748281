import { writeSync } from 'node:fs';

/**
 * Keeps a command going whatever becomes of its output: a run that has begun must not die half-way because nobody
 * looks any more. A reader that went away (`| head`) is no error. Anything else, such as a full disk, is told at the
 * end, and a command that would have ended well ends with 1: what it was to show is missing.
 */
export function outliveOutput({ stdout, stderr }: Pick<NodeJS.Process, 'stdout' | 'stderr'>): void {
  let lost: NodeJS.ErrnoException | undefined;
  for (const stream of [stdout, stderr]) {
    // Of one stream the first says why; what follows only says that it is closed.
    let isBroken = false;
    stream.on('error', (error: NodeJS.ErrnoException) => {
      if (!isBroken && error.code !== 'EPIPE') lost ??= error;
      isBroken = true;
    });
  }
  process.once('exit', () => {
    if (lost === undefined) return;
    process.exitCode = process.exitCode || 1;
    tell(
      `Not all of the output could be written: ${lost.message}. The command itself is complete; only its output is cut off.\n`,
    );
  });
}

/** Standard error may be what is broken. */
function tell(text: string): void {
  try {
    writeSync(2, text);
  } catch {
    // Then there is nobody to tell.
  }
}

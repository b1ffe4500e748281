import { closeSync, constants, fchmodSync, fstatSync, openSync, writeSync } from 'node:fs';
import type { Terminal } from '../console/terminal.ts';
import { CallsheetError, explainSystemError, reasonIn } from '../core/errors.ts';
import type { TraceEntry } from '../platform/operation.ts';

/** `--trace-http` writes here, one JSON object a line. */
export type TraceFile = {
  /** Writes a line at once, so that it is there however the process ends. */
  readonly write: (entry: TraceEntry) => void;
  readonly close: () => void;
};

/** Never through a link, and never waiting for a pipe's reader. */
const FLAGS =
  constants.O_WRONLY |
  constants.O_APPEND |
  constants.O_CREAT |
  constants.O_NOFOLLOW |
  constants.O_NONBLOCK;

/**
 * Opens a trace file for its owner alone; what it holds already stays. Throws `CallsheetError('usage')`
 * where the path is a link, a folder or something else that is no file. A disk that fails later ends the
 * trace with a warning, not the command.
 */
export function openTraceFile(path: string, terminal: Terminal): TraceFile {
  const file = openPlainFile(path);
  let isBroken = false;
  const attempt = (work: () => void) => {
    try {
      work();
    } catch (error) {
      if (!isBroken) terminal.err(`Warning: --trace-http ${path} ends here: ${reasonIn(error)}`);
      isBroken = true;
    }
  };
  return {
    write(entry) {
      if (!isBroken) attempt(() => writeSync(file, `${JSON.stringify(entry)}\n`));
    },
    // A disk elsewhere may say only now that it is full.
    close: () => attempt(() => closeSync(file)),
  };
}

const NEW_FILE = { hint: 'Use a new file, or one that an earlier trace wrote.' };

function openPlainFile(path: string): number {
  const unusable = `--trace-http ${path} cannot be written`;
  let file: number;
  try {
    file = openSync(path, FLAGS, 0o600);
  } catch (error) {
    throw explainSystemError(error, unusable, NEW_FILE);
  }
  if (fstatSync(file).isFile()) {
    fchmodSync(file, 0o600);
    return file;
  }
  closeSync(file);
  throw new CallsheetError('usage', `${unusable}: it is not a file`, NEW_FILE);
}

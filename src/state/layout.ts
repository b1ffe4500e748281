import { basename, dirname, join } from 'node:path';

/**
 * What stands where, for a state in `<folder>/state.json`:
 *
 * | name                    | what it is                                                       |
 * |-------------------------|------------------------------------------------------------------|
 * | `state.json`            | the state as last committed                                      |
 * | `state.json.<id>.tmp`   | the state that a lease is about to commit                        |
 * | `state.lock/<number>`   | who holds the state, or held it last                             |
 * | `runs/<run>.open.jsonl` | the journal of a run that has not committed                      |
 * | `runs/<run>.jsonl`      | the journal of a finished run: its receipt                       |
 *
 * For a state of another name, say `prod.json`, the folders are `prod.json.lock` and `prod.json.runs`.
 */
export type Layout = {
  readonly folder: string;
  readonly state: string;
  readonly lock: string;
  readonly runs: string;
  readonly openRun: (run: string) => string;
  readonly finishedRun: (run: string) => string;
  readonly draft: (lease: string) => string;
  /** Whether a name in `folder` is that of a draft. */
  readonly isDraft: (name: string) => boolean;
};

const OPEN = '.open.jsonl';
const FINISHED = '.jsonl';
const RUN = /^[A-Za-z0-9][A-Za-z0-9._-]*$/;

export function layoutOf(path: string): Layout {
  const folder = dirname(path);
  const name = basename(path);
  const usual = name === 'state.json';
  const runs = join(folder, usual ? 'runs' : `${name}.runs`);
  return {
    folder,
    state: path,
    lock: join(folder, usual ? 'state.lock' : `${name}.lock`),
    runs,
    openRun: (run) => join(runs, `${run}${OPEN}`),
    finishedRun: (run) => join(runs, `${run}${FINISHED}`),
    draft: (lease) => `${path}.${lease}.tmp`,
    isDraft: (entry) => entry.startsWith(`${name}.`) && entry.endsWith('.tmp'),
  };
}

/** Whether a text can be a run's id: it becomes part of a file's name. */
export function isRunId(text: string): boolean {
  return RUN.test(text) && !text.endsWith('.open');
}

/** The run whose journal a file of the runs' folder is; undefined for any other file. */
export function runOf(name: string): { readonly run: string; readonly open: boolean } | undefined {
  const open = name.endsWith(OPEN);
  if (!open && !name.endsWith(FINISHED)) return undefined;
  const run = name.slice(0, -(open ? OPEN : FINISHED).length);
  return isRunId(run) ? { run, open } : undefined;
}

import { readFile } from 'node:fs/promises';
import type { Context } from '../../console/context.ts';
import { missingHint } from '../../console/named-file.ts';
import { type ShowFlags, show, stampDocument } from '../../console/show.ts';
import type { Version } from '../../core/documents.generated.ts';
import { CallsheetError, EXIT, type ExitCode, explainSystemError } from '../../core/errors.ts';
import { findText } from '../../core/value.ts';
import { VERSION as PLAN_VERSION, parsePlan } from '../../plan/document.ts';
import { type RenderOptions, sentence } from '../../render/terminal.ts';
import { BrokenSeal, MovedAway } from '../../state/failures.ts';
import { JOURNAL_VERSION, linesIn, readJournal, readLine } from '../../state/journal-text.ts';
import { isRecord } from '../../state/model.ts';
import { beganAt } from '../../state/runs.ts';
import { parseState, VERSION as STATE_VERSION } from '../../state/state-text.ts';

type VersionFlags = ShowFlags & { readonly check?: string };

type Checked = NonNullable<Version.Document['checked']>;

type Facts = { readonly [member: string]: unknown };

/** A format of files that Callsheet keeps. */
type FileFormat = {
  /** The largest version that is read; the smallest is 1. */
  readonly largest: number;
  /** Throws `CallsheetError` for what cannot be read. */
  readonly read: (text: string, file: string) => unknown;
  readonly writer: (facts: Facts, text: string) => Pick<Checked, 'made_by' | 'run' | 'at'>;
};

const FORMATS: { readonly [format: string]: FileFormat } = {
  'callsheet-state': {
    largest: STATE_VERSION,
    read: parseState,
    writer({ made_by: by, last_run: last }) {
      const run = findText(last) ?? null;
      return { made_by: findText(by) ?? null, run, at: beganAt(run ?? '') || null };
    },
  },
  'callsheet-plan': {
    largest: PLAN_VERSION,
    read: parsePlan,
    writer: ({ made_by: by, created_at: at }) => ({
      ...{ made_by: findText(by) ?? null, run: null, at: findText(at) ?? null },
    }),
  },
  'callsheet-journal': {
    largest: JOURNAL_VERSION,
    read: (text, file) => readJournal(linesIn([text]), file, () => {}),
    writer(_, text) {
      const { made_by: by, run, at } = Object(readLine(text.split('\n', 2)[1] ?? ''));
      return {
        made_by: findText(by) ?? null,
        run: findText(run) ?? null,
        at: findText(at) ?? null,
      };
    },
  },
};

/** `callsheet version [--check FILE]`: this version, or who wrote a file and whether it can be read here. */
export async function version(flags: VersionFlags, context: Context): Promise<ExitCode> {
  const checked = flags.check === undefined ? null : await checkFile(flags.check);
  const document = stampDocument('callsheet-version', { callsheet: context.version, checked });
  const render = (to: RenderOptions) =>
    checked === null ? `${context.version}\n` : renderChecked(checked, context.version, to);
  show(flags, document, render, context);
  return checked === null || checked.readable ? EXIT.done : EXIT.error;
}

/** Throws `CallsheetError('usage')` where the file cannot be read, or is none of Callsheet's. */
async function checkFile(file: string): Promise<Checked> {
  const text = await readFile(file, 'utf8').catch((error: unknown) => {
    const hint = missingHint(file, error, undefined);
    throw explainSystemError(error, `--check ${file} cannot be read`, { hint });
  });
  const facts = findFacts(text);
  const { format: name = '', version: found } = facts ?? {};
  const format = typeof name === 'string' ? FORMATS[name] : undefined;
  if (facts === undefined || format === undefined || typeof found !== 'number')
    throw new CallsheetError('usage', `${file} is no state, plan or record of a run`, {
      hint: 'Name a state file, the output of `callsheet state pull`, a file of `callsheet plan --out`, or a file of the folder runs. `callsheet snapshot show` says who made a snapshot.',
    });
  const problem = await findProblem(text, file, format);
  return {
    file,
    format: String(name),
    format_version: found,
    reads: { from: 1, to: format.largest },
    ...format.writer(facts, text),
    readable: problem === null,
    problem,
  };
}

/** The document, or the header of a journal, whatever version it has. */
function findFacts(text: string): Facts | undefined {
  for (const part of [text, text.split('\n', 1)[0] ?? ''])
    try {
      const value: unknown = JSON.parse(part);
      return isRecord(value) ? value : undefined;
    } catch {
      // A journal is one document a line.
    }
  return undefined;
}

/** Why a file cannot be read; null: it can. Which key it is sealed with, and if a state was moved, is no matter here. */
async function findProblem(
  text: string,
  file: string,
  { read }: FileFormat,
): Promise<string | null> {
  try {
    await read(text, file);
    return null;
  } catch (error) {
    if (!(error instanceof CallsheetError)) throw error;
    return error instanceof BrokenSeal || error instanceof MovedAway ? null : error.message;
  }
}

function renderChecked(
  { file, format, format_version: found, reads, made_by: by, run, at, problem }: Checked,
  version: string,
  options: RenderOptions,
): string {
  const writer = by === null ? 'a Callsheet that left out its version' : `Callsheet ${by}`;
  const where = run === null ? '' : ` in run ${run}`;
  const when = at === null ? '' : ` at ${at}`;
  const written = `${file} is ${format}, version ${found}, written by ${writer}${where}${when}.`;
  const range = `Callsheet ${version} reads versions ${reads.from} to ${reads.to} of that format`;
  const read =
    problem === null ? `${range}, and this file.` : `${range}, not this file: ${problem}.`;
  return `${sentence(written, options)}${sentence(read, options)}`;
}

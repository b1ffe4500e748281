import { existsSync, readFileSync, realpathSync, renameSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { CommonFlags, Context } from '../../../console/context.ts';
import { draftBeside, withNamedFile } from '../../../console/named-file.ts';
import type { Diagnostic } from '../../../core/diagnostics.ts';
import { CallsheetError, EXIT, type ExitCode } from '../../../core/errors.ts';
import { renderDiagnosticsText } from '../../../render/diagnostics.ts';
import { sanitiseLine } from '../../../render/untrusted.ts';
import { formatCount } from '../../../render/wording.ts';
import { type FormattedFile, formatFile, formatText, stackFiles } from './format.ts';

type FmtFlags = CommonFlags & { readonly check?: boolean };

/** `callsheet fmt`: the YAML of the stack, or the files given, in the canonical order and style. */
export async function fmt(
  given: readonly string[],
  flags: FmtFlags,
  context: Context,
): Promise<ExitCode> {
  const { terminal } = context;
  if (given.includes('-')) return formatStandardInput(given, flags, context);
  const wanted =
    given.length > 0 ? namedFiles(given, flags.dir) : filesOfStack(resolve(flags.dir), context);
  const results = wanted.map(({ file, absolute, instead }) => ({
    file,
    absolute,
    ...formatFile(file, absolute, instead),
  }));
  const changed = results.filter(({ before, after }) => after !== undefined && after !== before);
  for (const { file, absolute, after = '' } of changed) {
    if (flags.check !== true)
      await withNamedFile('fmt', file, async () => replace(absolute, after));
    terminal.out(sanitiseLine(file));
  }
  const diagnostics = results.flatMap((result) => result.diagnostics);
  tellProblems(diagnostics, context);
  const files = formatCount(changed.length, 'file');
  const all = `${formatCount(results.length, 'file')} checked`;
  const isClean = changed.length === 0;
  terminal.err(
    flags.check === true
      ? `${isClean ? 'Nothing' : files} to format, ${all}.`
      : `${isClean ? 'Nothing' : files} formatted, ${all}.`,
  );
  const failed = diagnostics.length > 0 || (flags.check === true && !isClean);
  return failed ? EXIT.error : EXIT.done;
}

type Wanted = {
  readonly file: string;
  readonly absolute: string;
  /** The file that may have been meant if there is no such file. */
  readonly instead?: string | undefined;
};

function namedFiles(given: readonly string[], dir: string): readonly Wanted[] {
  return given.map((file) => {
    const inStack = join(dir, file);
    const absolute = resolve(file);
    return { file, absolute, instead: existsSync(inStack) ? inStack : undefined };
  });
}

function filesOfStack(dir: string, { env }: Context): readonly Wanted[] {
  const files = stackFiles(dir, env);
  if ('message' in files)
    throw new CallsheetError(
      'usage',
      files.message,
      files.hint === undefined ? {} : { hint: files.hint },
    );
  return files.map((file) => ({ file, absolute: join(dir, file) }));
}

function tellProblems(diagnostics: readonly Diagnostic[], { terminal }: Context): void {
  if (diagnostics.length > 0) {
    terminal.err(renderDiagnosticsText(diagnostics, terminal.renderErr));
  }
}

/** For editors: what cannot be formatted goes out as it came in. */
function formatStandardInput(
  given: readonly string[],
  flags: FmtFlags,
  context: Context,
): ExitCode {
  if (given.length > 1) {
    throw new CallsheetError('usage', '- means standard input, and cannot be combined with files');
  }
  const result: FormattedFile = formatText('(standard input)', readFileSync(0, 'utf8'));
  tellProblems(result.diagnostics, context);
  if (flags.check === true) return result.after === result.before ? EXIT.done : EXIT.error;
  // Not through `out`, which would add a line break to a text that has none.
  process.stdout.write(result.after ?? result.before);
  return result.after === undefined ? EXIT.error : EXIT.done;
}

/** Puts a new text in the place of a file at once, with its permissions; a link keeps leading to it. */
function replace(path: string, text: string): void {
  const target = realpathSync(path);
  renameSync(draftBeside(target, text, 'fmt'), target);
}

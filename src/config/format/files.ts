import { statSync } from 'node:fs';
import { join } from 'node:path';
import type { Diagnostic } from '../../core/diagnostics.ts';
import { kinds } from '../../kinds/index.ts';
import { discover, type Pattern, STACK_FILE } from '../discover.ts';
import { fileWords } from '../file-words.ts';
import { isUnreadable, readText, type Unreadable } from '../folder.ts';
import { maskSecretFields, secretNames } from '../masks.ts';
import { openReport } from '../problems.ts';
import { refuseFolder } from '../refuse-folder.ts';
import { type Source, startOf } from '../source.ts';
import { memberOf } from '../written.ts';
import { parseYaml } from '../yaml.ts';
import { formatYaml } from './index.ts';
import { fileShape } from './order.ts';

/** A file as it is and as it should be. */
export type FormattedFile = {
  readonly before: string;
  /** Undefined where the file is left alone. */
  readonly after: string | undefined;
  readonly diagnostics: readonly Diagnostic[];
};

/** Formats one text; `file` is what diagnostics call it. */
export function formatText(file: string, before: string): FormattedFile {
  const source: Source = { file, text: before.replace(/^\uFEFF/, '') };
  const formatted = formatYaml(source, fileShape(kinds));
  if ('text' in formatted) return { before, after: formatted.text, diagnostics: [] };
  const report = openReport();
  for (const problem of formatted.problems) report.add(problem);
  maskSecretFields(source, secretNames(kinds), report);
  return { before, after: undefined, diagnostics: report.diagnostics() };
}

/** Reads and formats one file. `instead` is what may have been meant where it does not exist. */
export function formatFile(
  file: string,
  absolute: string,
  instead?: string | undefined,
): FormattedFile {
  const read = readFile(file, absolute);
  if (!isUnreadable(read)) return formatText(file, (read.bom ? '\uFEFF' : '') + read.source.text);
  const words = wordsFor(file, read, instead);
  const report = openReport();
  report.add({ ...words, message: `fmt ${words.message}`, place: startOf({ file, text: '' }) });
  return { before: '', after: undefined, diagnostics: report.diagnostics() };
}

/** Files that are named on the command line are looked for in the working directory, as everywhere. */
function wordsFor(file: string, read: Unreadable, instead: string | undefined) {
  const words = fileWords(file, read);
  if (read.reason !== 'missing') return words;
  const hint = 'Files given to fmt are looked for in the working directory, whatever --dir is';
  return { ...words, hint: instead === undefined ? hint : `${hint}. Did you mean "${instead}"?` };
}

function readFile(file: string, absolute: string) {
  try {
    const stats = statSync(absolute);
    if (stats.isDirectory()) return { reason: 'directory' } satisfies Unreadable;
    if (!stats.isFile()) return { reason: 'special' } satisfies Unreadable;
    return readText(file, { absolute, size: stats.size });
  } catch {
    return { reason: 'missing', nearest: undefined } satisfies Unreadable;
  }
}

/** The YAML files of a stack, relative to its folder, or why the folder is none. */
export function stackFiles(dir: string): readonly string[] | Omit<Diagnostic, 'severity'> {
  const refused = refuseFolder(dir);
  if (refused !== undefined) return refused;
  return [STACK_FILE, ...discover(dir, includedIn(dir), []).files];
}

/** The patterns of `include`; a stack whose settings cannot be read is formatted whole. */
function includedIn(dir: string): readonly Pattern[] | undefined {
  const read = readFile(STACK_FILE, join(dir, STACK_FILE));
  const root = isUnreadable(read) ? undefined : parseYaml(read.source).root;
  const include = memberOf(root, 'include')?.value;
  const items = include?.type === 'list' ? include.items : include === undefined ? [] : [include];
  const patterns = items.flatMap((item): Pattern[] =>
    item.type === 'scalar' && typeof item.value === 'string'
      ? [{ pattern: item.value, place: item.place }]
      : [],
  );
  return patterns.length === 0 ? undefined : patterns;
}

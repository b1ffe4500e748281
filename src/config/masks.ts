import { type FieldSchema, itemSchema } from '../core/schema.ts';
import type { Kind } from '../kinds/kind.ts';
import type { Report } from './problems.ts';
import type { Source } from './source.ts';

function indentOf(line: string): number {
  return line.length - line.trimStart().length;
}

/** Where on a line the value of such a key begins. A `$secret` only names where a secret is. */
function valueStart(key: RegExp, line: string): number | undefined {
  for (const match of line.matchAll(key)) {
    const start = match.index + match[0].length;
    if (!/^\{\s*\$secret\s*:/.test(line.slice(start))) return start;
  }
  return undefined;
}

/** Hides what stands after a key of these names: the rest of its line and the deeper lines that follow. */
function maskAfter(names: string, source: Source, report: Report): void {
  const key = new RegExp(`(?<![\\w$-])(?:${names})["']?[ \\t]*:[ \\t]*`, 'g');
  let lineStart = 0;
  // The indentation of the key whose value goes on, where it does.
  let within: number | undefined;
  for (const line of source.text.split('\n')) {
    const end = lineStart + line.length;
    const indent = indentOf(line);
    if (within !== undefined && indent <= within && line.trim() !== '') within = undefined;
    const from = within === undefined ? valueStart(key, line) : indent;
    if (from !== undefined) {
      within ??= indent;
      if (from < line.length) report.mask({ source, start: lineStart + from, end });
    }
    lineStart = end + 1;
  }
}

/** Hides every value of a file, whatever its key. */
export function maskValues(source: Source, report: Report): void {
  maskAfter('[\\w.-]+', source, report);
}

function collectSecretNames(root: FieldSchema, schema: FieldSchema, into: Set<string>): void {
  for (const [name, field] of Object.entries(schema.properties ?? {})) {
    if (field['x-secret'] === true || field['x-sensitive'] === true) into.add(name);
    collectSecretNames(root, field, into);
  }
  if (schema.items !== undefined) collectSecretNames(root, itemSchema(root, schema), into);
}

/** Names of the fields that hold secrets, in any kind. */
export function secretNames(kinds: readonly Kind[]): readonly string[] {
  const names = new Set<string>();
  for (const { schema } of kinds) {
    collectSecretNames(schema, schema, names);
    for (const def of Object.values(schema.$defs ?? {})) collectSecretNames(schema, def, names);
  }
  return [...names];
}

/**
 * Hides what follows the names of secret fields in a file that could not be read as it was meant. Where
 * a file can be read, the fields themselves say what to hide.
 */
export function maskSecretFields(source: Source, names: readonly string[], report: Report): void {
  if (names.length > 0) maskAfter(names.join('|'), source, report);
}

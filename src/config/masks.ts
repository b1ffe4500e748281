import { credentialsIn, isSecretName } from '../core/redact.ts';
import { type FieldSchema, itemSchema } from '../core/schema.ts';
import type { Kind } from '../kinds/kind.ts';
import type { Report } from './problems.ts';
import type { Source } from './source.ts';

function indentOf(line: string): number {
  return line.length - line.trimStart().length;
}

const KEY = /(?<![\w$.-])([\w$.-]+)["']?[ \t]*:[ \t]*/g;

/** Where on a line the value of such a key begins. A `$secret` only names where a secret is. */
function valueStart(isMeant: (key: string) => boolean, line: string): number | undefined {
  for (const match of line.matchAll(KEY)) {
    const start = match.index + match[0].length;
    if (!isMeant(match[1] ?? '')) continue;
    if (!/^\{\s*\$secret\s*:/.test(line.slice(start))) return start;
  }
  return undefined;
}

/** Hides what stands after a key of these names: the rest of its line and the deeper lines that follow. */
function maskAfter(isMeant: (key: string) => boolean, source: Source, report: Report): void {
  let lineStart = 0;
  // The indentation of the key whose value goes on, where it does.
  let within: number | undefined;
  for (const line of source.text.split('\n')) {
    const end = lineStart + line.length;
    const indent = indentOf(line);
    if (within !== undefined && indent <= within && line.trim() !== '') within = undefined;
    const from = within === undefined ? valueStart(isMeant, line) : indent;
    if (from !== undefined) {
      within ??= indent;
      if (from < line.length) report.mask({ source, start: lineStart + from, end });
    }
    lineStart = end + 1;
  }
}

/** Hides every value of a file, whatever its key. */
export function maskValues(source: Source, report: Report): void {
  maskAfter(() => true, source, report);
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
  const known = new Set(names);
  // The name of a header stands after `key`, and is none.
  const isMeant = (key: string) => known.has(key) || (key !== 'key' && isSecretName(key));
  maskAfter(isMeant, source, report);
  for (const credential of new Set(credentialsIn(source.text))) {
    let start = source.text.indexOf(credential);
    for (; start >= 0; start = source.text.indexOf(credential, start + credential.length))
      report.mask({ source, start, end: start + credential.length });
  }
}

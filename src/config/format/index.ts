import { parseDocument } from 'yaml';
import type { Problem } from '../problems.ts';
import type { Source } from '../source.ts';
import { parseYaml } from '../yaml.ts';
import { gapLines, readGap, splitHeader, splitTail, Unformattable } from './gaps.ts';
import { contentOf, endOfValue, rangeOf } from './nodes.ts';
import type { Shape } from './order.ts';
import { printBlock } from './print.ts';
import { sameValues, strayComment } from './same.ts';

/** What became of a file: its new text, or why it is left alone. */
export type Formatted = { readonly text: string } | { readonly problems: readonly Problem[] };

const SCHEMA_LINE = /^#[ \t]*yaml-language-server:[^\n]*(?:\n|$)/m;

/**
 * Brings a YAML file into the canonical order and style. What it means never changes: the result is read
 * again and compared, value by value and comment by comment, and a file of which that cannot be shown is
 * left alone.
 */
export function formatYaml(source: Source, shape: Shape): Formatted {
  const before = parseYaml(source);
  if (before.problems.some(({ severity }) => severity !== 'warning')) {
    return { problems: before.problems };
  }
  if (before.root?.type !== 'map') return { text: source.text };
  try {
    const text = print(source.text.replaceAll('\r\n', '\n'), shape);
    const after = parseYaml({ file: source.file, text });
    const comment = strayComment(source.text, text);
    if (comment !== undefined) {
      const offset = Math.max(0, source.text.indexOf(comment));
      return { problems: [refusal(source, 'a comment', offset)] };
    }
    if (sameValues(before.root, after.root)) return { text };
    return { problems: [refusal(source, 'a value', 0)] };
  } catch (error) {
    if (!(error instanceof Unformattable)) throw error;
    return { problems: [refusal(source, error.message, error.offset)] };
  }
}

function refusal(source: Source, what: string, offset: number): Problem {
  return {
    severity: 'error',
    rule: 'fmt/kept',
    message: `${source.file} is left as it is: it has ${what} that fmt cannot keep`,
    hint: 'Write it in another way, or format the file by hand',
    place: { source, start: offset, end: offset },
  };
}

function print(given: string, shape: Shape): string {
  const { schemaLine, text } = withoutSchemaLine(given);
  const contents = parseDocument(text, { uniqueKeys: false }).contents;
  const value = contentOf(contents);
  if (value.type === 'flow' || contents === null) return given;
  if (value.type !== 'map') throw new Unformattable('no map of sections', 0);
  const [start] = rangeOf(value.node);
  const end = endOfValue(value, start, text);
  const { marker, comments } = readHead(text.slice(0, start));
  const { trailing, lines } = readGap(`${text.slice(end).trimEnd()}\n`, end);
  const { own, rest } = splitTail(lines, 0);
  const { header, lead } = splitHeader(comments);
  const spot = { text, indent: '', shape };
  const printed = [
    ...schemaLine,
    ...marker,
    ...gapLines(header, ''),
    ...printBlock(value, lead, { trailing, lines: own }, spot),
    ...gapLines(rest, ''),
  ];
  return `${printed.join('\n').trimEnd()}\n`;
}

/** The line that tells editors the schema comes first, wherever it stood among the first comments. */
function withoutSchemaLine(text: string) {
  const found = SCHEMA_LINE.exec(text);
  const isAbove = found !== null && /^(?:[ \t]*(?:#.*)?\n)*$/.test(text.slice(0, found.index));
  if (!isAbove) return { schemaLine: [], text };
  const rest = text.slice(0, found.index) + text.slice(found.index + found[0].length);
  const isParted = found.index === 0 ? /^[ \t]*\n/.test(rest) : true;
  const line = found[0].trimEnd();
  return { schemaLine: isParted ? [line, ''] : [line], text: rest.replace(/^(?:[ \t]*\n)+/, '') };
}

/** What stands above the first section: a marker that begins the document, and comments. */
function readHead(text: string) {
  const at = text.search(/^---[ \t]*$/m);
  if (at < 0) return { marker: [], comments: readGap(`\n${text}`, 0).lines };
  const above = readGap(`\n${text.slice(0, at)}`, 0).lines;
  const end = text.indexOf('\n', at);
  return {
    marker: [...gapLines(above, ''), '---'],
    comments: readGap(text.slice(end), end).lines,
  };
}

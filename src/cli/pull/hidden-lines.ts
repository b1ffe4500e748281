import type { Stack } from '../../config/index.ts';
import { resourceSchema } from '../../config/schema.ts';
import { spotsBelow } from '../../config/trace.ts';
import { contextAt, sensitivity } from '../../core/redact.ts';

/**
 * Finds lines of a file that hold sensitive values in clear: no diff shows them. A line that is new holds one
 * where it has the words of one, as when something beside it changed.
 */
export function hiddenLines(stack: Stack, file: string): (line: string) => boolean {
  const lines = new Set<string>();
  const words = new Set<string>();
  for (const { kind, spot } of stack.written().resources) {
    const root = resourceSchema(kind);
    for (const { path, written } of spotsBelow(root, spot)) {
      if (written?.type !== 'scalar') continue;
      if (sensitivity(contextAt(root, path), written.text) === 'open') continue;
      for (const { source, start, end } of [written.place, written.origin ?? written.place]) {
        if (source.file !== file) continue;
        const from = source.text.lastIndexOf('\n', start - 1) + 1;
        const to = source.text.indexOf('\n', end - 1);
        const text = source.text.slice(from, to < 0 ? undefined : to);
        for (const line of text.split(/\r?\n/)) lines.add(line);
        for (const line of source.text.slice(start, end).split(/\r?\n/)) words.add(line.trim());
      }
    }
  }
  words.delete('');
  return (line) => lines.has(line) || [...words].some((one) => line.includes(one));
}

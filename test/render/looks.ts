import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** What texts look like, by Unicode's own table: it shares no code with what is tested. */

const TABLE = new Map<string, string>(
  Object.entries(
    JSON.parse(readFileSync(fileURLToPath(import.meta.resolve('unhomoglyph/data.json')), 'utf8')),
  ),
);

const sources = Map.groupBy(TABLE.keys(), (one) => TABLE.get(one) ?? '');

/** Other characters that look like one. */
export function lookalikes(character: string): readonly string[] {
  return (sources.get(TABLE.get(character) ?? character) ?? []).filter((one) => one !== character);
}

/** The skeleton of a text (Unicode TR 39), any white space in it as one space. */
export function looksOf(text: string): string {
  const form = Array.from(text.normalize('NFD'), (one) => TABLE.get(one) ?? one).join('');
  return form
    .normalize('NFD')
    .replace(/(?:\s|\\[nrt])+/g, ' ')
    .trim();
}

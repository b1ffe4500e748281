import type { JsonObject } from '../../core/value.ts';
import { paint, type RenderOptions } from '../terminal.ts';
import { formatCount } from '../wording.ts';
import type { Field } from './layout.ts';
import { noteLines } from './note.ts';
import { tableLines } from './table.ts';

/** What a catalogue of the platform holds, and how it is shown. */
type Catalogue = {
  /** `model`, and `models`. */
  readonly noun: string;
  readonly plural: string;
  readonly fields: readonly Field[];
};

const DESCRIBED: readonly Field[] = [
  { path: 'id', title: 'id' },
  { path: 'name', title: 'name', least: 18, drop: 3 },
];
const DESCRIPTION: Field = { path: 'description', title: 'description', least: 20, drop: 1 };

export const MODELS: Catalogue = {
  noun: 'model',
  plural: 'models',
  fields: [...DESCRIBED, { path: 'provider', title: 'provider', drop: 2 }, DESCRIPTION],
};

export const STT_PROVIDERS: Catalogue = {
  noun: 'speech-to-text provider',
  plural: 'speech-to-text providers',
  fields: [...DESCRIBED, DESCRIPTION],
};

/** What may be used, one a line. */
export function renderCatalogueText(
  { noun, plural, fields }: Catalogue,
  entries: readonly JsonObject[],
  { width, color }: RenderOptions,
): string {
  if (entries.length === 0) return `There are no ${plural}.\n`;
  const lines = [
    ...tableLines(fields, entries, width),
    [],
    ...noteLines(`${formatCount(entries.length, noun, plural)}.`, width),
  ];
  return paint(lines, color);
}

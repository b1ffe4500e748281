import type { JsonObject } from '../../core/value.ts';
import { type Line, paint, type RenderOptions, span } from '../terminal.ts';
import { sanitiseLine } from '../untrusted.ts';
import { formatCount } from '../wording.ts';
import { type Field, layOut } from './layout.ts';
import { noteLines } from './note.ts';
import { headingLine, leftOutLines, recordLine } from './table.ts';

/** What is shown of a feature. */
const FEATURE_FIELDS: readonly Field[] = [
  { path: 'key', title: 'key', least: 20 },
  { path: 'name', title: 'name', least: 20, drop: 3 },
  {
    path: 'state',
    title: 'state',
    tone: (state) => (state === 'locked' ? 'warning' : 'plain'),
  },
  { path: 'locked_scope', title: 'where', drop: 1 },
  { path: 'decided_by', title: 'decided by', form: 'words', drop: 2 },
];

/** In CSV the category and the description have columns of their own. */
export const FEATURE_COLUMNS = [...FEATURE_FIELDS, { path: 'category' }, { path: 'description' }];

type FeatureView = {
  /** What the matrix is of: `organization Harbor Dental`. */
  readonly scope: string;
  /** Whether the matrix governs, rather than the older settings. */
  readonly isAdministered: boolean;
  readonly features: readonly JsonObject[];
  /** Whether only locked ones are shown. */
  readonly lockedOnly: boolean;
};

/** The feature matrix of one level, grouped by category. */
export function renderFeaturesText(view: FeatureView, { width, color }: RenderOptions): string {
  const { features, lockedOnly } = view;
  const locked = features.filter(({ state }) => state === 'locked');
  const shown = lockedOnly ? locked : features;
  const layout = layOut(FEATURE_FIELDS, shown, width - 2);
  const governs = view.isAdministered
    ? 'The feature matrix governs.'
    : 'The older settings of account and organization govern, not the feature matrix.';
  const lines: Line[] = [
    ...noteLines(`Features of ${sanitiseLine(view.scope)}`, width),
    ...noteLines(governs, width, 'dim'),
    [],
  ];
  if (shown.length > 0) lines.push(headingLine(layout, 2));
  for (const [category, members] of Map.groupBy(shown, (one) => String(one.category ?? ''))) {
    lines.push([span(categoryTitle(category), 'strong')]);
    for (const feature of members) lines.push(recordLine(layout, feature, { indent: 2 }));
  }
  if (shown.length > 0) lines.push([]);
  lines.push(...noteLines(countOf(features.length, locked.length), width));
  if (shown.length > 0) lines.push(...leftOutLines(layout));
  return paint(lines, color);
}

function countOf(all: number, locked: number): string {
  const features = formatCount(all, 'feature');
  return locked === 0 ? `${features}, none locked.` : `${features}, ${locked} locked.`;
}

/** `LLM model` of `LLM_MODEL`. */
function categoryTitle(category: string): string {
  const words = category.toLowerCase().replaceAll('_', ' ');
  const title = words.replace(/\b(?:llm|tts)\b/g, (word) => word.toUpperCase());
  return sanitiseLine(title === '' ? 'other' : title);
}

import type { JsonObject } from '../../../core/value.ts';
import {
  type Field,
  formatDecimal,
  formatFigure,
  layOut,
  tableLines,
  tableWidth,
} from '../../../render/read/table.ts';
import {
  type Fact,
  factLines,
  type Line,
  noteLines,
  paint,
  type RenderOptions,
  span,
  wrap,
} from '../../../render/terminal.ts';
import { formatCount } from '../../../render/wording.ts';

/** The entries of a catalogue of the platform, and how they are shown. */
export type Catalogue = {
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

export const ORGANIZATIONS: Catalogue = {
  noun: 'organization',
  plural: 'organizations',
  fields: [
    { path: 'name', title: 'name', least: 18 },
    { path: 'id', title: 'id' },
    { path: 'stack_name', title: 'in the stack', drop: 1 },
    { path: 'reseller_name', title: 'reseller', drop: 2 },
  ],
};

/** Lists the entries of a catalogue, one a line. */
export function renderCatalogueText(
  { noun, plural, fields }: Catalogue,
  entries: readonly JsonObject[],
  options: RenderOptions,
): string {
  const { width, color } = options;
  if (entries.length === 0) return `There are no ${plural}.\n`;
  const lines = [
    ...tableLines(fields, entries, tableWidth(options)),
    [],
    ...noteLines(`${formatCount(entries.length, noun, plural)}.`, width),
  ];
  return paint(lines, color);
}

/** The columns of a feature. */
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
  /** The subject of the matrix: `organization Harbor Dental`. */
  readonly scope: string;
  /** True if the matrix governs, rather than the older settings. */
  readonly isAdministered: boolean;
  readonly features: readonly JsonObject[];
  /** True if only locked features are shown. */
  readonly lockedOnly: boolean;
};

/** The feature matrix of one level, grouped by category. */
export function renderFeaturesText(view: FeatureView, options: RenderOptions): string {
  const { width, color } = options;
  const { features, lockedOnly } = view;
  const locked = features.filter(({ state }) => state === 'locked');
  const shown = lockedOnly ? locked : features;
  const { heading, row, leftOut } = layOut(FEATURE_FIELDS, shown, tableWidth(options), 2);
  const governs = view.isAdministered
    ? 'The feature matrix governs.'
    : 'The older settings of account and organization govern, not the feature matrix.';
  const lines: Line[] = [
    ...noteLines(`Features of ${view.scope}`, width),
    ...noteLines(governs, width),
    [],
  ];
  if (shown.length > 0) lines.push(...heading);
  for (const [category, members] of Map.groupBy(shown, (one) => String(one.category ?? ''))) {
    lines.push([span(categoryTitle(category), 'strong')]);
    lines.push(...members.flatMap((feature) => row(feature)));
  }
  if (shown.length > 0) lines.push([]);
  lines.push(...noteLines(formatTotal(features.length, locked.length), width));
  if (shown.length > 0) lines.push(...leftOut());
  return paint(lines, color);
}

function formatTotal(all: number, locked: number): string {
  const features = formatCount(all, 'feature');
  return locked === 0 ? `${features}, none locked.` : `${features}, ${locked} locked.`;
}

/** `LLM model` of `LLM_MODEL`. */
function categoryTitle(category: string): string {
  const words = category.toLowerCase().replaceAll('_', ' ');
  const title = words.replace(/\b(?:llm|tts)\b/g, (word) => word.toUpperCase());
  return title === '' ? 'other' : title;
}

/** Shows if and how an agent may take payments, as the readiness answer has it (Payment readiness). */
export function renderPaymentsText(
  label: string,
  readiness: JsonObject,
  { width, color }: RenderOptions,
): string {
  const isArmed = readiness.payment_tool_enabled === true;
  const facts: readonly Fact[] = [
    ['feature', readiness.feature_locked === true ? 'locked' : 'available'],
    ['account', formatFigure(readiness.account_status, 'words')],
    ['charges', readiness.charges_enabled === true ? 'enabled' : 'not enabled'],
    ['text messages', readiness.twilio_configured === true ? 'configured' : 'not configured'],
    ['single charge', `at most ${formatCents(readiness.max_single_charge_cents)}`],
    ['one call', `at most ${formatCents(readiness.max_per_call_cents)}`],
    ['links per call', `at most ${formatFigure(readiness.max_attempts_per_call, 'number')}`],
    ['returns to', formatFigure(readiness.success_url)],
  ];
  const lines: Line[] = [
    ...noteLines(`Payments of ${label}`, width),
    ...wrap(renderVerdict(readiness, isArmed), width, 0),
    [],
    ...factLines(facts, width, 2),
  ];
  if (!isArmed) lines.push([], [span('The limits are those that would apply.')]);
  return paint(lines, color);
}

function renderVerdict(readiness: JsonObject, isArmed: boolean): Line {
  if (isArmed) return [span('The payment tool is on.', 'strong')];
  if (readiness.can_enable === true) {
    return [span('The payment tool is off; it can be switched on.')];
  }
  const lacks = obstacles(readiness);
  const why = lacks.length === 0 ? '' : `: ${lacks.join(', ')}`;
  return [span(`The payment tool is off and cannot be switched on${why}.`, 'strong')];
}

/** Lists what stands between an agent and taking payments. */
function obstacles(readiness: JsonObject): readonly string[] {
  return [
    ...(readiness.feature_locked === true ? ['the feature is locked'] : []),
    ...(readiness.can_accept_payments === false
      ? ['the organization cannot accept payments yet']
      : []),
    ...(readiness.twilio_configured === false
      ? ['the agent lacks credentials for text messages']
      : []),
  ];
}

/** `50,000 cents (500.00)`: the platform names no currency. */
function formatCents(value: JsonObject[string] | undefined): string {
  const text = formatFigure(value, 'number');
  return typeof value === 'number' ? `${text} cents (${formatDecimal(value / 100, 2)})` : text;
}

import type { FieldDocument, FieldMember } from '../core/field-document.ts';
import { cutLine, type Line, paint, type RenderOptions, span, wrap } from './terminal.ts';
import { sanitiseLine } from './untrusted.ts';
import { padText, widestOf } from './width.ts';

const LABEL = 11;
/** Wider names and types do not push the descriptions of all others to the right. */
const MOST_NAME = 30;
const MOST_TYPE = 24;

/** What is known of a field, in words. */
export function renderFieldText(field: FieldDocument, { width, color }: RenderOptions): string {
  const lines = [
    [span(sanitiseLine(field.field), 'strong')],
    ...wrap([span(`  ${sanitiseLine(field.description)}`)], width, 2),
    ...(field.settable ? [[], ...facts(field).flatMap((fact) => row(fact, width))] : notSettable()),
    ...members(field, width),
  ];
  return paint(lines, color);
}

function notSettable(): readonly Line[] {
  return [
    [],
    [span('  It cannot be given: the platform sets it, or it follows from something else.')],
  ];
}

type Fact = readonly [label: string, text: string];

function facts(field: FieldDocument): readonly Fact[] {
  const found: [string, string | false | null][] = [
    ['type', field.type],
    ['values', field.values.length > 0 && field.values.map(String).join(', ')],
    ['listed by', field.listed_by],
    ['default', field.default !== null && JSON.stringify(field.default)],
    [
      'given as',
      field.forms.length > 0 && `${field.secret ? '' : 'plain, or '}${field.forms.join(', ')}`,
    ],
    ['example', field.example],
    ['required', field.required && 'yes'],
    ['null', field.clearable && 'clears it'],
    ['secret', secrecy(field)],
    ['changed', field.immutable && 'another value means another resource: it is replaced'],
    ['revert', revert(field.restored_by_revert)],
    ['lock', field.lock !== null && `${field.lock}; see: callsheet features`],
    [
      'endpoint',
      field.facet !== null && `${field.facet} is written through an endpoint of its own`,
    ],
    ['elements', field.identity !== null && `recognised by ${field.identity}`],
    ['order', field.unordered && 'means nothing'],
    ['written', field.whole && 'always whole'],
    ['assumption', field.assumption !== null && `${field.assumption}; see: callsheet assumptions`],
  ];
  return found.flatMap(([label, text]) => (text === false || text === null ? [] : [[label, text]]));
}

function secrecy({ secret, sensitive }: FieldDocument): string | false {
  if (secret) return 'only given as $secret; never stored, printed or read back';
  return sensitive && 'masked wherever it is shown; give it as $secret';
}

function revert(restored: boolean | null): string | null {
  if (restored === null) return null;
  return restored
    ? 'a history revert brings it back'
    : 'a history revert leaves it alone; a rollback writes it';
}

function row([label, text]: Fact, width: number): readonly Line[] {
  const head = span(`  ${padText(label, LABEL)} `, 'dim');
  return wrap([head, span(sanitiseLine(text))], width, LABEL + 3);
}

/** Members as a table whose last column is cut where the line ends. */
function members(field: FieldDocument, width: number): readonly Line[] {
  const shown = field.members.filter(({ settable }) => settable);
  if (shown.length === 0) return [];
  const names = Math.min(MOST_NAME, widestOf(shown.map(nameOf)));
  const types = Math.min(MOST_TYPE, widestOf(shown.map(({ type }) => type)));
  const others = field.members.filter(({ settable }) => !settable).map(({ name }) => name);
  return [
    [],
    [span('  Members', 'strong'), span(' (* required)', 'dim')],
    ...shown.map((member) =>
      cutLine(
        [
          span(`    ${padText(sanitiseLine(nameOf(member)), names)}  `),
          span(`${padText(member.type, types)}  `, 'dim'),
          span(sanitiseLine(member.description)),
        ],
        width,
      ),
    ),
    ...(others.length === 0
      ? []
      : wrap([span(`  Set by the platform: ${others.join(', ')}`, 'dim')], width, 4)),
  ];
}

function nameOf({ name, required }: FieldMember): string {
  return `${name}${required ? '*' : ''}`;
}

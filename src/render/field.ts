import type { FieldDocument, FieldMember } from '../core/field-document.ts';
import { type Fact, factsOf, plainWords } from './field-words.ts';
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
    ...(field.settable
      ? [[], ...factsOf(field).flatMap((fact) => row(fact, width))]
      : notSettable()),
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

function row([label, words]: Fact, width: number): readonly Line[] {
  const head = span(`  ${padText(label, LABEL)} `, 'dim');
  return wrap([head, span(sanitiseLine(plainWords(words)))], width, LABEL + 3);
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

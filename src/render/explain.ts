import { stringify } from 'yaml';
import { formatPosition } from '../core/diagnostics.ts';
import type {
  FieldDocument,
  FieldMember,
  ValueDocument,
  ValueFilling,
  ValueLayer,
} from '../core/documents.ts';
import { mapTexts } from '../core/value.ts';
import {
  cutLine,
  type Line,
  listLines,
  measureWidest,
  padText,
  paint,
  type RenderOptions,
  span,
  titled,
  wrap,
} from './terminal.ts';
import { sanitise, sanitiseLine } from './untrusted.ts';

/** The texts of `explain`: the source of a value, and the facts about a field. */

/** A value that is longer is cut, unless everything is asked for. */
const MOST_LINES = 12;
const WIDEST_BY = 32;

export function renderValueText(document: ValueDocument, options: RenderOptions): string {
  const { address, field, layers, filled } = document;
  const title = [span(address, 'strong'), ...(field === '' ? [] : [span(`  ${field}`, 'strong')])];
  return paint(
    [
      ...wrap(title, options.width, 2),
      [],
      ...valueLines(document, options),
      ...section('From, the last wins', layers.map(layerRow), options),
      ...section('Filled in', filled.map(fillingRow), options),
    ],
    options.color,
  );
}

function valueLines({ given, value }: ValueDocument, options: RenderOptions): readonly Line[] {
  if (!given) return [[span('  not set, so Callsheet does not change it')]];
  // As the files have it: a prompt in lines.
  const text =
    typeof value === 'string'
      ? value
      : stringify(mapTexts(value, sanitise, sanitiseLine), { lineWidth: 0, blockQuote: 'literal' });
  const lines = sanitise(text).replace(/\n$/, '').split('\n');
  const wrapLine = (line: string) => wrap([span(`  ${line}`)], options.width, 2);
  return listLines(lines, wrapLine, MOST_LINES, options, 'more lines');
}

/** A part of the value: its name, its text, and its place. */
type Row = { readonly name: string; readonly text: string; readonly place: string };

function section(title: string, rows: readonly Row[], { width }: RenderOptions): readonly Line[] {
  const names = Math.min(WIDEST_BY, measureWidest(rows.map(({ name }) => sanitiseLine(name))));
  const lines = rows.flatMap(({ name, text, place }) => {
    const head = span(`    ${padText(sanitiseLine(name), names)}  `);
    const where = place === '' ? [] : [span(`  ${place}`)];
    return wrap([head, span(text), ...where], width, names + 6);
  });
  return titled(span(`  ${title}`, 'strong'), lines, { width });
}

const SAYS: Readonly<Record<ValueLayer['says'], (text: string) => string>> = {
  value: (text) => text,
  removed: () => 'removes it',
  empty: (text) => `${text} (nothing in this row, so the value of the layer below applies)`,
};

function layerRow({ by, says, text, position }: ValueLayer): Row {
  return { name: by, text: SAYS[says](text), place: formatPosition(position) };
}

function fillingRow({ expression, value, by, position }: ValueFilling): Row {
  const isFile = expression === '$file' || expression === '$template';
  const given = isFile ? by : value === null ? `nothing, from ${by}` : `${value}, from ${by}`;
  return {
    name: expression,
    text: given,
    place: isFile || !position ? '' : formatPosition(position),
  };
}

const LABEL = 11;
/** Wider names and types do not push the descriptions of all others to the right. */
const MOST_NAME = 30;
const MOST_TYPE = 24;

export function renderFieldText(field: FieldDocument, { width, color }: RenderOptions): string {
  const lines = [
    [span(field.field, 'strong')],
    ...wrap([span(`  ${field.description}`)], width, 2),
    ...(field.settable
      ? [[], ...listFacts(field).flatMap((fact) => row(fact, width))]
      : notSettable()),
    ...members(field, width),
  ];
  return paint(lines, color);
}

function notSettable(): readonly Line[] {
  return [
    [],
    [span('  It cannot be set: the platform sets it, or it follows from another field.')],
  ];
}

function row([label, words]: Fact, width: number): readonly Line[] {
  const head = span(`  ${padText(label, LABEL)} `);
  return wrap([head, span(plainText(words))], width, LABEL + 3);
}

/** Members as a table whose last column is cut where the line ends. */
function members(field: FieldDocument, width: number): readonly Line[] {
  const shown = field.members.filter(({ settable }) => settable);
  if (shown.length === 0) return [];
  const names = Math.min(MOST_NAME, measureWidest(shown.map(formatName)));
  const types = Math.min(MOST_TYPE, measureWidest(shown.map(({ type }) => type)));
  const others = field.members.filter(({ settable }) => !settable).map(({ name }) => name);
  return [
    [],
    [span('  Members', 'strong'), span(' (* required)')],
    ...shown.map((member) =>
      cutLine(
        [
          span(`    ${padText(sanitiseLine(formatName(member)), names)}  `),
          span(`${padText(member.type, types)}  `),
          span(member.description),
        ],
        width,
      ),
    ),
    ...(others.length === 0
      ? []
      : wrap([span(`  Set by the platform: ${others.join(', ')}`)], width, 4)),
  ];
}

function formatName({ name, required }: FieldMember): string {
  return `${name}${required ? '*' : ''}`;
}

/** Words that are typed or read literally. */
type Code = { readonly code: string };

/** Words, and what stands among them literally. */
export type Words = readonly (string | Code)[];

/** Something that is known of a field, under a word for what it is about. */
type Fact = readonly [label: string, words: Words];

/** Lists the facts about a field beside its description, in the words of `explain` and of the reference. */
export function listFacts(field: FieldDocument): readonly Fact[] {
  const { facet, identity, assumption, listed_by: listedBy, lock, example } = field;
  const { told_while: flag, follows, created_as: created } = field;
  const found: [string, Words | false | null][] = [
    ['type', typeText(field.type)],
    ['values', field.values.length > 0 && listed(field.values.map(String))],
    ['listed by', listedBy !== null && [{ code: listedBy }]],
    ['default', field.default !== null && [{ code: JSON.stringify(field.default) }]],
    [
      'given as',
      field.forms.length > 0 && [...(field.secret ? [] : ['plain, or ']), ...listed(field.forms)],
    ],
    ['example', example !== null && [{ code: example }]],
    ['required', field.required && ['yes']],
    ['null', field.clearable && ['clears it']],
    ['secret', secrecy(field)],
    ['changed', field.immutable && ['a change replaces the resource']],
    ['revert', revert(field.restored_by_revert)],
    ['lock', lock !== null && [{ code: lock }, '; see: ', { code: 'callsheet get features' }]],
    ['told', flag !== undefined && ['only while ', { code: flag }, ' is on']],
    ['follows', follows !== undefined && [{ code: follows }, ', unless it is given']],
    [
      'created as',
      created !== undefined && [...listed(created), '; another value follows by an update'],
    ],
    ['content', field.distinct === true && ['no two of one scope may have the same']],
    ['endpoint', facet !== null && [{ code: facet }, ' is written through an endpoint of its own']],
    ['elements', identity !== null && ['recognised by ', { code: identity }]],
    ['order', field.unordered && ['means nothing']],
    ['written', field.whole && ['always whole']],
    [
      'assumption',
      assumption !== null && [
        { code: assumption },
        '; see: ',
        { code: `callsheet explain assumptions ${assumption}` },
      ],
    ],
  ];
  return found.flatMap(([label, words]) =>
    words === false || words === null ? [] : [[label, words]],
  );
}

/** Words as a terminal shows them. */
function plainText(words: Words): string {
  return words.map((word) => (typeof word === 'string' ? word : word.code)).join('');
}

function listed(texts: readonly string[]): Words {
  return texts.flatMap((code, at) => (at === 0 ? [{ code }] : [', ', { code }]));
}

/** The pattern of a type is the last that is said of it. */
function typeText(type: string): Words {
  const mark = 'must match ';
  const at = type.indexOf(mark);
  if (at < 0) return [type];
  const end = at + mark.length;
  return [type.slice(0, end), { code: type.slice(end) }];
}

function secrecy({ secret, sensitive }: FieldDocument): Words | false {
  const form: Code = { code: '$secret' };
  if (secret) return ['only given as ', form, '; never stored, printed or read back'];
  return sensitive && ['masked wherever it is shown; give it as ', form];
}

function revert(restored: boolean | null): Words | null {
  if (restored === null) return null;
  return [
    restored
      ? 'a history revert brings it back'
      : 'a history revert does not change it; a rollback writes it',
  ];
}

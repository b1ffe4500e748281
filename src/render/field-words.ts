import type { FieldDocument } from '../core/field-document.ts';

/** What somebody would type or read literally. */
type Code = { readonly code: string };

/** Words, and what stands among them literally. */
export type Words = readonly (string | Code)[];

/** Something that is known of a field, under a word for what it is about. */
export type Fact = readonly [label: string, words: Words];

/** What is known of a field beside its description, in the words of `explain` and of the reference. */
export function factsOf(field: FieldDocument): readonly Fact[] {
  const { facet, identity, assumption, listed_by: listedBy, lock, example } = field;
  const found: [string, Words | false | null][] = [
    ['type', typeWords(field.type)],
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
    ['changed', field.immutable && ['another value means another resource: it is replaced']],
    ['revert', revert(field.restored_by_revert)],
    ['lock', lock !== null && [{ code: lock }, '; see: ', { code: 'callsheet features' }]],
    ['endpoint', facet !== null && [{ code: facet }, ' is written through an endpoint of its own']],
    ['elements', identity !== null && ['recognised by ', { code: identity }]],
    ['order', field.unordered && ['means nothing']],
    ['written', field.whole && ['always whole']],
    [
      'assumption',
      assumption !== null && [{ code: assumption }, '; see: ', { code: 'callsheet assumptions' }],
    ],
  ];
  return found.flatMap(([label, words]) =>
    words === false || words === null ? [] : [[label, words]],
  );
}

/** Words as a terminal shows them. */
export function plainWords(words: Words): string {
  return words.map((word) => (typeof word === 'string' ? word : word.code)).join('');
}

function listed(texts: readonly string[]): Words {
  return texts.flatMap((code, at) => (at === 0 ? [{ code }] : [', ', { code }]));
}

/** The pattern of a type is the last that is said of it. */
function typeWords(type: string): Words {
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
      : 'a history revert leaves it alone; a rollback writes it',
  ];
}

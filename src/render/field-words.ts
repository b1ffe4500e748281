import type { FieldDocument } from '../core/field-document.ts';

/** What is said of a field that a configuration cannot give. */
export const NOT_SETTABLE =
  'It cannot be given: the platform sets it, or it follows from something else.';

/** Something that is known of a field, under a word for what it is about. */
export type Fact = readonly [label: string, text: string];

/** What is known of a field beside its description, in the words of `explain` and of the reference. */
export function factsOf(field: FieldDocument): readonly Fact[] {
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

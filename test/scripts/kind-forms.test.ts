import { expect, test } from 'vitest';
import { wireForms } from '../../scripts/generate/kind-forms.ts';

const COLOR = { type: 'string', enum: ['red', 'green'] };

test.each([
  ['that can be cleared may come back as null', COLOR, ['red', 'green', null]],
  ['that cannot be cleared always has a value', { ...COLOR, 'x-clearable': false }, COLOR.enum],
])('a field of a few values %s', (_name, color, values) => {
  const kind = { type: 'object', properties: { color } };
  const { $defs } = wireForms(new Map([['widget', kind]]));
  expect($defs).toMatchObject({ widget: { properties: { color: { enum: values } } } });
});

import { type FieldSchema, itemSchema, memberSchema } from '../core/schema.ts';
import { contentOf, isForm } from './explain-text.ts';
import { below, type Field } from './resolved.ts';
import type { Written } from './written.ts';

/** A text with the field that it stands in. */
type FieldText = { readonly text: string; readonly field: Field };

/** The texts in the written value of a field. */
export function textsIn(written: Written, field: Field, root: FieldSchema): readonly FieldText[] {
  const node = contentOf(written);
  if (node.type === 'scalar') {
    return typeof node.value === 'string' ? [{ text: node.value, field }] : [];
  }
  if (node.type === 'list') {
    const element = below(field, itemSchema(root, field.schema), '[]');
    return node.items.flatMap((item) => textsIn(item, element, root));
  }
  // The members of a form are no fields: all of them have a part in the field that it stands in.
  const ofForm = isForm(node);
  return [...node.members.values()].flatMap(({ key, value }) => {
    const inner = ofForm ? field : below(field, memberSchema(root, field.schema, key), key);
    return textsIn(value, inner, root);
  });
}

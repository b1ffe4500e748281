import type { SourcePosition } from '../core/diagnostics.ts';
import { MASK } from '../core/mask.ts';
import { type FieldSchema, itemSchema, memberSchema } from '../core/schema.ts';
import { contentOf, isForm } from './explain-text.ts';
import { interpolate, type Scope } from './interpolate.ts';
import { below, type Field } from './resolved.ts';
import { eachPath, lookUpCell } from './rows.ts';
import { positionOf } from './source.ts';
import type { Written } from './written.ts';

/** What one expression or file in a written value stands for. */
export type Filling = {
  /** `${each.name}`, `${var.city}`, `$file`. */
  readonly expression: string;
  /** Undefined for a file, and where it stands for nothing; masked where a secret may be made of it. */
  readonly value?: string | undefined;
  /** What gave it: `clinics.csv`, `--var`, `its default`. */
  readonly by: string;
  readonly position?: SourcePosition | undefined;
};

const EXPRESSION = /(?<!\$)\$\{([^{}\n]*)\}/g;

/** What a value is looked into with. */
export type Looking = {
  /** Holds the definitions that `$ref`s of the schema lead to. */
  readonly root: FieldSchema;
  readonly scope: Scope;
};

/** Everything that is filled in in the written value of a field, each once. */
export function fillingsOf(
  node: Written,
  field: Field,
  { root, scope }: Looking,
): readonly Filling[] {
  const expressions = new Map<string, { readonly hidden: boolean }>();
  for (const { text, hidden } of textsIn(node, field, root)) {
    for (const [, inner = ''] of text.matchAll(EXPRESSION)) {
      const known = expressions.get(inner.trim())?.hidden === true;
      expressions.set(inner.trim(), { hidden: hidden || known });
    }
  }
  const filled = [...expressions].flatMap(([inner, { hidden }]) => {
    const filling = fillingOf(inner, scope);
    if (filling === undefined) return [];
    return hidden && filling.value !== undefined ? { ...filling, value: MASK } : filling;
  });
  return isHidden(field) ? filled : [...filled, ...filesIn(node, scope)];
}

function fillingOf(inner: string, scope: Scope): Filling | undefined {
  const expression = `\${${inner}}`;
  const name = /^var\.([A-Za-z_][\w-]*)$/.exec(inner)?.[1];
  if (name !== undefined) {
    const origin = scope.variables.originOf(name);
    const found = scope.variables.lookup(name);
    const value = typeof found === 'object' && 'value' in found ? found.value : undefined;
    const position = origin?.place && positionOf(origin.place);
    return { expression, value, by: origin?.by ?? 'nothing', position };
  }
  const path = eachPath(inner);
  if (path === undefined || scope.row === undefined) return undefined;
  const found = lookUpCell(scope.row, path);
  const { label, cells } = scope.row;
  if (typeof found === 'string' || !('cell' in found)) {
    return { expression, by: label, position: positionOf(cells.place) };
  }
  const { cell } = found;
  const value = cell.type === 'scalar' ? cell.text : undefined;
  return { expression, value, by: label, position: positionOf(cell.place) };
}

function filesIn(written: Written, scope: Scope): readonly Filling[] {
  const node = contentOf(written);
  if (node.type !== 'map') return [];
  return ['$file', '$template'].flatMap((form) => {
    const path = node.members.get(form)?.value;
    const text = path?.type === 'scalar' ? interpolate(path.text, scope).text : undefined;
    return text === undefined
      ? []
      : [{ expression: form, by: text, position: { file: text, line: 1, column: 1 } }];
  });
}

type Text = { readonly text: string; readonly hidden: boolean };

/** The texts in a value, each with whether its field may hold a secret. */
function textsIn(written: Written, field: Field, root: FieldSchema): readonly Text[] {
  const node = contentOf(written);
  if (node.type === 'scalar') {
    return typeof node.value === 'string' ? [{ text: node.value, hidden: isHidden(field) }] : [];
  }
  if (node.type === 'list') {
    const element = below(field, itemSchema(root, field.schema), '[]');
    return node.items.flatMap((item) => textsIn(item, element, root));
  }
  // The members of a form are no fields: all of them have a part in the field that it stands in.
  const ofForm = isForm(node);
  return [...node.members.values()].flatMap(({ key, value }) =>
    textsIn(value, ofForm ? field : below(field, memberSchema(root, field.schema, key), key), root),
  );
}

function isHidden({ sensitive, holdsSecrets }: Field): boolean {
  return sensitive || holdsSecrets;
}

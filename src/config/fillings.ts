import type { SourcePosition } from '../core/diagnostics.ts';
import { MASK, redactText } from '../core/redact.ts';
import type { FieldSchema } from '../core/schema.ts';
import { contentOf } from './explain-text.ts';
import { textsIn } from './field-texts.ts';
import { expressionsIn, interpolate, type Scope, variableName } from './interpolate.ts';
import type { Field } from './resolved.ts';
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
  for (const { text, field: own } of textsIn(node, field, root)) {
    for (const inner of expressionsIn(text)) {
      const known = expressions.get(inner)?.hidden === true;
      expressions.set(inner, { hidden: isHidden(own) || known });
    }
  }
  const filled = [...expressions].flatMap(([inner, { hidden }]) => {
    const filling = fillingOf(inner, scope);
    if (filling === undefined) return [];
    const { value } = filling;
    return value === undefined ? filling : { ...filling, value: hidden ? MASK : redactText(value) };
  });
  return isHidden(field) ? filled : [...filled, ...filesIn(node, scope)];
}

function fillingOf(inner: string, scope: Scope): Filling | undefined {
  const expression = `\${${inner}}`;
  const name = variableName(inner);
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

function isHidden({ sensitive, holdsSecrets, secrecy }: Field): boolean {
  return sensitive || holdsSecrets || secrecy.hidden !== 'no';
}

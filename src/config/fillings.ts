import type { SourcePosition } from '../core/diagnostics.ts';
import { interpolate, type Scope } from './interpolate.ts';
import { eachPath, lookUpCell } from './rows.ts';
import { positionOf } from './source.ts';
import type { Written } from './written.ts';

/** What one expression or file in a written value stands for. */
export type Filling = {
  /** `${each.name}`, `${var.city}`, `$file`. */
  readonly expression: string;
  /** Undefined for a file, and where it stands for nothing. */
  readonly value?: string | undefined;
  /** What gave it: `clinics.csv`, `--var`, `its default`. */
  readonly by: string;
  readonly position?: SourcePosition | undefined;
};

const EXPRESSION = /(?<!\$)\$\{([^{}\n]*)\}/g;

/** Everything that is filled in in a written value, each once. */
export function fillingsOf(node: Written, scope: Scope): readonly Filling[] {
  const texts = textsIn(node);
  const expressions = new Set(
    texts.flatMap((text) =>
      [...text.matchAll(EXPRESSION)].map(([, inner]) => (inner ?? '').trim()),
    ),
  );
  const filled = [...expressions].flatMap((inner) => fillingOf(inner, scope) ?? []);
  return [...filled, ...filesIn(node, scope)];
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

function filesIn(node: Written, scope: Scope): readonly Filling[] {
  if (node.type !== 'map') return [];
  return ['$file', '$template'].flatMap((form) => {
    const path = node.members.get(form)?.value;
    const text = path?.type === 'scalar' ? interpolate(path.text, scope).text : undefined;
    return text === undefined
      ? []
      : [{ expression: form, by: text, position: { file: text, line: 1, column: 1 } }];
  });
}

function textsIn(node: Written): readonly string[] {
  if (node.type === 'scalar') return typeof node.value === 'string' ? [node.value] : [];
  const inner =
    node.type === 'list' ? node.items : [...node.members.values()].map(({ value }) => value);
  return inner.flatMap(textsIn);
}

import { STACK_FILE } from './discover.ts';
import { nearest } from './nearest.ts';
import type { Problem } from './problems.ts';
import { eachPath, formIn, lookUpCell, type Row } from './rows.ts';
import type { Variables } from './variables.ts';
import type { Member, Written } from './written.ts';

/** `$${`, or `${…}` with what stands inside; the closing brace may be missing. */
const EXPRESSION = /\$\$\{|\$\{([^{}\n]*)(\}?)/g;
const WHOLE = /^\$\{([^{}\n]*)\}$/;

/** What the expressions of a text may stand for. */
export type Scope = {
  readonly variables: Variables;
  /** The row of a resource with `for_each`. */
  readonly row?: Row | undefined;
  /** What `with` gives a template, by name; undefined where it could not be worked out. */
  readonly given?: ReadonlyMap<string, string | undefined>;
  /** Takes the names of `given` that a text asks for. */
  readonly used?: Set<string>;
};

type Interpolated = {
  /** Undefined where an expression could not be filled in. */
  readonly text: string | undefined;
  /** Problems with the expression each is about; the caller knows where the text stands, unless a problem has a place of its own. */
  readonly problems: readonly Misfit[];
  /** The text is one expression and nothing else, so that it may stand for a number or a truth value. */
  readonly whole: boolean;
  /** What was filled in, in order, between the `expressionPieces` of the text. */
  readonly values: readonly string[];
};

/** `offset` is that of the expression in the text. */
type Misfit = { readonly expression: string; readonly offset: number; readonly problem: Problem };

/** What stands inside a text that is one expression and nothing else. */
export function wholeExpression(text: string): string | undefined {
  return text.startsWith('${') ? WHOLE.exec(text)?.[1]?.trim() : undefined;
}

/** Whether a name can stand in `${name}` for what `with` gives. */
export function isGivenName(name: string): boolean {
  return /^[A-Za-z_][\w-]*$/.test(name);
}

/** What stands inside each expression of a text. */
export function expressionsIn(text: string): readonly string[] {
  if (!text.includes('${')) return [];
  return [...text.matchAll(EXPRESSION)].flatMap(([, inner, close]) =>
    inner === undefined || close === '' ? [] : inner.trim(),
  );
}

/** The variable that an expression names; undefined where it is about something else. */
export function variableName(expression: string): string | undefined {
  return /^var\.([A-Za-z_][\w-]*)$/.exec(expression)?.[1];
}

/** A text in which nothing is filled in any more: data from a table is never read as an expression. */
export function escapeExpressions(text: string): string {
  // A function, as a replacement text reads $$ as one $.
  return text.replaceAll('${', () => '$${');
}

/**
 * Fills in `${var.name}`, `${each.column}` and what a template was given. `$${` is a literal `${`, and the
 * platform's own `{{token}}` is left alone. Messages begin with a verb: the caller puts address and field
 * before them.
 */
export function interpolate(text: string, scope: Scope): Interpolated {
  if (!text.includes('${')) return { text, problems: [], whole: false, values: [] };
  const problems: Misfit[] = [];
  const values: string[] = [];
  let failed = false;
  const filled = text.replace(
    EXPRESSION,
    (expression, inner: string | undefined, close: string, offset: number) => {
      const value = inner === undefined ? '${' : valueIn(inner, close, scope);
      if (typeof value === 'string') {
        values.push(value);
        return value;
      }
      failed = true;
      if (value?.problem) problems.push({ expression, offset, problem: value.problem });
      return '';
    },
  );
  return { text: failed ? undefined : filled, problems, whole: WHOLE.test(text), values };
}

/** What stands between the expressions of a text: one piece more than there are expressions. */
export function expressionPieces(text: string): readonly string[] {
  const pieces: string[] = [];
  let from = 0;
  for (const { index, 0: expression } of text.matchAll(EXPRESSION)) {
    pieces.push(text.slice(from, index));
    from = index + expression.length;
  }
  return [...pieces, text.slice(from)];
}

function valueIn(inner: string, close: string, scope: Scope): Value {
  return close === '' ? { problem: unclosed() } : evaluate(inner.trim(), scope);
}

/** Undefined where what is wrong was said elsewhere. */
type Value = string | { readonly problem: Problem } | undefined;

function evaluate(inner: string, scope: Scope): Value {
  const name = variableName(inner);
  if (name !== undefined) return variable(name, scope.variables);
  const path = eachPath(inner);
  if (path !== undefined) return column(path, scope.row);
  if (scope.given !== undefined && isGivenName(inner)) {
    scope.used?.add(inner);
    return given(inner, scope.given);
  }
  const message = `uses \${${inner}}, which is not of the form ${formsOf(scope)}`;
  return { problem: { rule: 'variable/syntax', message, hint: LITERAL } };
}

function formsOf({ row, given }: Scope): string {
  const forms = ['${var.name}', row && '${each.column}', given && '${name} of with'];
  return forms.filter((form) => form !== undefined).join(' or ');
}

const LITERAL = 'Write $${ for a literal ${';

function unclosed(): Problem {
  return { rule: 'variable/syntax', message: 'opens ${ and never closes it', hint: LITERAL };
}

function variable(name: string, variables: Variables): Value {
  const found = variables.lookup(name);
  if (found === 'unreadable') return undefined;
  if ('value' in found) return found.value;
  if ('missing' in found) {
    const { env } = found.missing;
    return {
      problem: {
        rule: 'variable/missing',
        message: `uses \${var.${name}}, which has no value`,
        hint: `${env === undefined ? '' : `Set ${env}, or `}give --var ${name}=…, or declare a default`,
      },
    };
  }
  const close = found.unknown.nearest;
  return {
    problem: {
      rule: 'variable/unknown',
      message: `uses \${var.${name}}, which is no variable of the stack`,
      hint:
        close === undefined
          ? `Declare it under variables in ${STACK_FILE}`
          : `Did you mean \${var.${close}}?`,
    },
  };
}

function column(path: readonly string[], row: Row | undefined): Value {
  const found = lookUpCell(row, path);
  if (found === 'nothing') return '';
  if ('unknown' in found) return { problem: found.unknown };
  return textOf(found.cell) ?? { problem: notText(path, found.cell) };
}

function textOf(cell: Written): string | undefined {
  return cell.type === 'scalar' ? cell.text : undefined;
}

function notText(path: readonly string[], cell: Written): Problem {
  const form = formIn(cell);
  if (form !== undefined) return holdsForm(path.join('.'), form);
  const what = cell.type === 'list' ? 'a list' : 'a map';
  return {
    rule: 'for-each/cell',
    message: `uses \${each.${path.join('.')}} inside a text, and it is ${what}`,
    hint: `A ${cell.type} can only be the whole value of a field`,
  };
}

function holdsForm(name: string, { key, keyPlace }: Member): Problem {
  return {
    rule: 'for-each/cell',
    message: `uses \${each.${name}}, which holds ${key}, and a table is data`,
    hint: `Write the form in the resource, { ${key}: "\${each.${name}}" }, and give the path or name alone in the cell`,
    place: keyPlace,
  };
}

function given(name: string, names: ReadonlyMap<string, string | undefined>): Value {
  if (names.has(name)) return names.get(name);
  const close = nearest(name, names.keys());
  return {
    problem: {
      rule: 'template/name',
      message: `uses \${${name}}, which with does not give`,
      hint: close === undefined ? `Add ${name} to with. ${LITERAL}` : `Did you mean \${${close}}?`,
    },
  };
}

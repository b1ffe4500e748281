import { STACK_FILE } from './discover.ts';
import type { Problem } from './problems.ts';
import type { Variables } from './variables.ts';

/** `$${`, or `${…}` with what stands inside; the closing brace may be missing. */
const EXPRESSION = /\$\$\{|\$\{([^{}\n]*)(\}?)/g;

export type Interpolated = {
  /** Undefined where an expression could not be filled in. */
  readonly text: string | undefined;
  /** Problems with the expression each is about; the caller knows where the text stands. */
  readonly problems: readonly { readonly expression: string; readonly problem: Problem }[];
  /** The text is one expression and nothing else, so that it may stand for a number or a truth value. */
  readonly whole: boolean;
};

function unknownExpression(inner: string, closed: boolean): Problem {
  const hint = 'Write $${ for a literal ${';
  if (!closed) return { rule: 'variable/syntax', message: 'opens ${ and never closes it', hint };
  if (inner.startsWith('each.')) {
    const message = `uses \${${inner}}, and for_each is not supported yet`;
    return { rule: 'config/not-supported', message };
  }
  const message = `uses \${${inner}}, which is not of the form \${var.name}`;
  return { rule: 'variable/syntax', message, hint };
}

/**
 * Fills in `${var.name}`. `$${` is a literal `${`, and the platform's own `{{token}}` is left alone.
 * Messages begin with a verb: the caller puts address and field before them.
 */
export function interpolate(text: string, variables: Variables): Interpolated {
  if (!text.includes('${')) return { text, problems: [], whole: false };
  const problems: { expression: string; problem: Problem }[] = [];
  let failed = false;
  const filled = text.replace(EXPRESSION, (expression, inner: string | undefined, close) => {
    if (inner === undefined) return '${';
    const fail = (problem: Problem | undefined) => {
      failed = true;
      if (problem !== undefined) problems.push({ expression, problem });
      return '';
    };
    const name = /^var\.([A-Za-z_][\w-]*)$/.exec(inner.trim())?.[1];
    if (name === undefined || close === '')
      return fail(unknownExpression(inner.trim(), close !== ''));
    const found = variables.lookup(name);
    if (found === 'unreadable') return fail(undefined);
    if ('value' in found) return found.value;
    if ('missing' in found) {
      const { env } = found.missing;
      return fail({
        rule: 'variable/missing',
        message: `uses \${var.${name}}, which has no value`,
        hint: `${env === undefined ? '' : `Set ${env}, or `}give --var ${name}=…, or declare a default`,
      });
    }
    const { nearest } = found.unknown;
    return fail({
      rule: 'variable/unknown',
      message: `uses \${var.${name}}, which is no variable of the stack`,
      hint:
        nearest === undefined
          ? `Declare it under variables in ${STACK_FILE}`
          : `Did you mean \${var.${nearest}}?`,
    });
  });
  return {
    text: failed ? undefined : filled,
    problems,
    whole: /^\$\{[^{}\n]*\}$/.test(text),
  };
}

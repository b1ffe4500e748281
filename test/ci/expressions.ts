import { data, Evaluator, Lexer, Parser } from '@actions/expressions';
import type { TemplateToken } from '@actions/workflow-parser/templates/tokens/template-token';
import {
  isBasicExpression,
  isMapping,
  isScalar,
  isSequence,
} from '@actions/workflow-parser/templates/tokens/type-guards';

/** What expressions may speak of: `github`, `env`, `steps` and so on. */
export type Contexts = { readonly [name: string]: unknown };

/** How the job went so far, for `success()` and its like. */
export type Status = 'success' | 'failure' | 'cancelled';

/** The value of an expression, as GitHub's own evaluator has it. */
export function evaluate(expression: string, contexts: Contexts, status: Status): unknown {
  const { tokens } = new Lexer(expression).lex();
  const functions = statusFunctions(status);
  const parsed = new Parser(tokens, Object.keys(contexts), functions).parse();
  const named = new Map(functions.map((one) => [one.name, one]));
  const result = new Evaluator(parsed, dictionaryOf(contexts), named).evaluate();
  return JSON.parse(JSON.stringify(result, data.replacer));
}

/** What an `if` comes to. */
export function holds(expression: string, contexts: Contexts, status: Status): boolean {
  return Boolean(evaluate(expression, contexts, status));
}

/** A part of a workflow with every `${{ }}` filled in; texts, or lists and maps of them. */
export function resolve(
  token: TemplateToken | undefined,
  contexts: Contexts,
  status: Status,
): unknown {
  if (token === undefined) return undefined;
  if (isBasicExpression(token)) return evaluate(token.expression, contexts, status);
  if (isScalar(token)) return token.toString();
  if (isMapping(token)) {
    const entries = Array.from({ length: token.count }, (_, index) => token.get(index));
    return Object.fromEntries(
      entries.map(({ key, value }) => [key.toString(), resolve(value, contexts, status)]),
    );
  }
  if (isSequence(token)) {
    return Array.from({ length: token.count }, (_, index) =>
      resolve(token.get(index), contexts, status),
    );
  }
  throw new Error(`cannot resolve ${token.toString()}`);
}

/** The same of a map, with texts as environments and inputs have them. */
export function resolveTexts(
  token: TemplateToken | undefined,
  contexts: Contexts,
  status: Status,
): Record<string, string> {
  const map = resolve(token, contexts, status) ?? {};
  return Object.fromEntries(Object.entries(map).map(([key, value]) => [key, textOf(value)]));
}

export function textOf(value: unknown): string {
  return value === null || value === undefined ? '' : String(value);
}

function statusFunctions(status: Status) {
  const answers = {
    success: status === 'success',
    failure: status === 'failure',
    cancelled: status === 'cancelled',
    always: true,
  };
  return Object.entries(answers).map(([name, answer]) => ({
    name,
    minArgs: 0,
    maxArgs: 0,
    call: () => new data.BooleanData(answer),
  }));
}

function dictionaryOf(contexts: Contexts): data.Dictionary {
  const value: unknown = JSON.parse(JSON.stringify(contexts), data.reviver);
  if (value instanceof data.Dictionary) return value;
  throw new Error('contexts are a map');
}

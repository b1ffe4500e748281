import {
  type ASTNode,
  TypeError as CelTypeError,
  Environment,
  EvaluationError,
  ParseError,
} from '@marcbachmann/cel-js';
import type { RuleProblem } from './rule.ts';

/** Longest expression. What needs more is several rules. */
const MAX_LENGTH = 4000;
/** Far beyond what a person writes; deeper ones would only exhaust the stack. */
const LIMITS = {
  maxAstNodes: 2000,
  maxDepth: 60,
  maxListElements: 500,
  maxMapEntries: 200,
  maxCallArguments: 16,
};

/** Variables that a rule sees, by name, with their CEL types. */
const VARIABLES = {
  resource: {
    resource: 'map',
    address: 'string',
    kind: 'string',
    name: 'string',
    organization: 'string',
    resources: 'list',
  },
  change: { change: 'map', plan: 'map', now: 'google.protobuf.Timestamp' },
  plan: { plan: 'map', now: 'google.protobuf.Timestamp' },
} as const;

/** An expression that can be asked. */
export type Program = {
  readonly ast: ASTNode;
  readonly ask: (variables: object) => Answer;
};

/** `missing` is the name of a key that the expression asks for and that is not there. */
export type Answer =
  | { readonly holds: boolean }
  | { readonly failed: string; readonly missing: string | undefined };

type Wrong = Omit<RuleProblem, 'member'>;

/** Compiles an expression that gives true or false. */
export function compile(
  text: string,
  over: keyof typeof VARIABLES,
): { readonly program: Program } | { readonly wrong: Wrong } {
  if (text.length > MAX_LENGTH) {
    const hint = 'Split it into several rules';
    return { wrong: { message: `has more than ${MAX_LENGTH} characters`, hint } };
  }
  const environment = environmentFor(over);
  try {
    const parsed = environment.parse(text);
    const checked = parsed.check();
    if (!checked.valid) return { wrong: wrongIn(checked.error, over) };
    if (checked.type !== 'bool' && checked.type !== 'dyn') {
      return { wrong: { message: `has the type ${checked.type}, and must be true or false` } };
    }
    const pattern = brokenPattern(parsed.ast);
    if (pattern !== undefined) return { wrong: pattern };
    return {
      program: { ast: parsed.ast, ask: (variables) => ask(() => parsed({ ...variables })) },
    };
  } catch (error) {
    return { wrong: wrongIn(error, over) };
  }
}

function environmentFor(over: keyof typeof VARIABLES): Environment {
  const environment = new Environment({
    enableOptionalTypes: true,
    homogeneousAggregateLiterals: false,
    limits: LIMITS,
  });
  for (const [name, type] of Object.entries(VARIABLES[over])) {
    environment.registerVariable(name, type);
  }
  return environment;
}

function ask(run: () => unknown): Answer {
  try {
    const value = run();
    if (typeof value === 'boolean') return { holds: value };
    return { failed: 'its result is neither true nor false', missing: undefined };
  } catch (error) {
    if (!(error instanceof EvaluationError)) throw error;
    const missing = /^No such key: ([^\s:]+)$/.exec(error.summary)?.[1];
    return { failed: plain(error.summary), missing };
  }
}

function wrongIn(error: unknown, over: keyof typeof VARIABLES): Wrong {
  const isKnown =
    error instanceof ParseError ||
    error instanceof CelTypeError ||
    error instanceof EvaluationError;
  // The parser recurses: what it cannot bear is too deep for a person as well.
  if (error instanceof RangeError) return { message: 'is nested too deeply' };
  if (!isKnown) throw error;
  const span = error.range === undefined ? {} : { span: { ...error.range } };
  const isVariable = error.summary.startsWith('Unknown variable');
  const names = Object.keys(VARIABLES[over]).join(', ');
  return {
    ...span,
    message: `cannot be read as CEL: ${plain(error.summary)}`,
    hint: isVariable
      ? `A rule over ${over} sees ${names}`
      : '`callsheet help rules` shows what expressions may hold',
  };
}

/** A sentence of the library as the middle of one of ours. */
function plain(summary: string): string {
  const [line = ''] = summary.split('\n');
  return /^[A-Z][a-z]/.test(line) ? line.charAt(0).toLowerCase() + line.slice(1) : line;
}

/** The nodes of an expression, outermost first. */
function* nodesIn(ast: ASTNode): Generator<ASTNode> {
  yield ast;
  for (const child of childrenIn(ast.args)) yield* nodesIn(child);
}

/** The nodes right below one, by its `args`. */
export function* childrenIn(args: unknown): Generator<ASTNode> {
  if (Array.isArray(args)) for (const one of args) yield* childrenIn(one);
  else if (isNode(args)) yield args;
}

function isNode(value: unknown): value is ASTNode {
  return typeof value === 'object' && value !== null && 'op' in value && 'args' in value;
}

/** A pattern that is written out and is none. */
function brokenPattern(ast: ASTNode): Wrong | undefined {
  for (const node of nodesIn(ast)) {
    if (node.op !== 'rcall' || node.args[0] !== 'matches') continue;
    const [pattern] = node.args[2];
    if (pattern?.op !== 'value' || typeof pattern.args !== 'string') continue;
    try {
      new RegExp(pattern.args);
    } catch (error) {
      const why = error instanceof SyntaxError ? error.message : 'it cannot be read';
      const { start, end } = pattern.range;
      return { span: { start, end }, message: `has an invalid pattern: ${why}` };
    }
  }
  return undefined;
}

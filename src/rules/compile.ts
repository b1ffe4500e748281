import type { FieldSchema } from '../core/schema.ts';
import { compile, type Program } from './cel.ts';
import { compileSchema, type SchemaCheck } from './json-schema.ts';
import { unknownField } from './known-fields.ts';
import type { RuleProblem, WrittenRule } from './rule.ts';

/** A rule that can be asked. */
export type Rule = Pick<
  WrittenRule,
  'name' | 'over' | 'on' | 'field' | 'message' | 'severity' | 'source'
> & {
  readonly when: Program | undefined;
  readonly require: Program | undefined;
  readonly check: SchemaCheck | undefined;
  /** Whether an expression speaks of `resources`, all of them. */
  readonly seesAll: boolean;
};

/** Compiles a rule. What is wrong with it is told, each member by itself. */
export function compileRule(
  written: WrittenRule,
  schemaOf: (kind: string) => FieldSchema | undefined,
  kinds: readonly string[],
): { readonly rule: Rule } | { readonly problems: readonly RuleProblem[] } {
  const problems: RuleProblem[] = [];
  const schemas = (written.on ?? kinds).flatMap((kind) => schemaOf(kind) ?? []);
  const program = (member: 'when' | 'require'): Program | undefined => {
    const text = written[member];
    if (text === undefined) return undefined;
    const compiled = compile(text, written.over);
    if ('wrong' in compiled) {
      problems.push({ member, ...compiled.wrong });
      return undefined;
    }
    const unknown = unknownField(compiled.program.ast, schemas);
    if (unknown !== undefined) problems.push({ member, ...unknown });
    return compiled.program;
  };
  const [when, require] = [program('when'), program('require')];
  const compiled = written.schema === undefined ? undefined : compileSchema(written.schema);
  if (compiled !== undefined && 'wrong' in compiled) {
    problems.push({ member: 'schema', ...compiled.wrong });
  }
  if (problems.length > 0) return { problems };
  const { name, over, on, field, message, severity, source } = written;
  const check = compiled !== undefined && 'check' in compiled ? compiled.check : undefined;
  const seesAll = [written.when, written.require].some((text) => /\bresources\b/.test(text ?? ''));
  return {
    rule: { name, over, on, field, message, severity, source, when, require, check, seesAll },
  };
}

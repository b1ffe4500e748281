import { isIdentity, parsePath } from '../core/path.ts';
import type { FieldSchema } from '../core/schema.ts';
import { compile, type Program } from './cel.ts';
import { compileSchema, type SchemaCheck } from './json-schema.ts';
import { unknownField, unknownKey } from './known-fields.ts';
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
  const compiled =
    written.schema === undefined ? undefined : compileSchema(written.schema, schemas);
  if (compiled !== undefined && 'wrong' in compiled) {
    problems.push({ member: 'schema', ...compiled.wrong });
  }
  if (compiled !== undefined && 'slips' in compiled) {
    for (const slip of compiled.slips) problems.push({ member: 'schema', ...slip });
  }
  const path = written.field === undefined ? undefined : wrongField(written.field, schemas);
  if (path !== undefined) problems.push({ member: 'field', ...path });
  if (problems.length > 0) return { problems };
  const { name, over, on, field, message, severity, source } = written;
  const check = compiled !== undefined && 'check' in compiled ? compiled.check : undefined;
  const seesAll = [written.when, written.require].some((text) => /\bresources\b/.test(text ?? ''));
  return {
    rule: { name, over, on, field, message, severity, source, when, require, check, seesAll },
  };
}

/** A field to show findings at that no such resource has. */
function wrongField(text: string, schemas: readonly FieldSchema[]) {
  const path = parsePath(text);
  if (path === undefined) return { message: `names ${JSON.stringify(text)}, which is not a path` };
  // What stands below an element of a list is not looked at.
  const element = path.findIndex(isIdentity);
  const keys = element < 0 ? path : path.slice(0, element);
  for (let length = 1; length <= keys.length; length += 1) {
    const hint = unknownKey(schemas, keys.slice(0, length));
    if (hint !== undefined) {
      return { message: `names ${JSON.stringify(text)}, which does not exist`, hint };
    }
  }
  return undefined;
}

import type { DesiredResource } from '../core/desired.ts';
import type { Severity } from '../core/diagnostics.ts';
import { formatPath, writtenSegments } from '../core/path.ts';
import { rootContext } from '../core/redact.ts';
import { dereference, type FieldSchema, itemSchema, memberSchema } from '../core/schema.ts';
import type { Answer } from './cel.ts';
import type { Rule } from './compile.ts';
import { RULE_SECONDS, withinTime } from './time-limit.ts';
import { forCel, type Shown, viewOf } from './view.ts';

/** What a rule has against a resource; against nothing in particular where it could not be asked. */
export type RuleFinding = {
  readonly rule: string;
  readonly severity: Severity;
  readonly resource: DesiredResource | undefined;
  /** The field that it is about; empty for the resource as a whole. */
  readonly path: string;
  readonly message: string;
  readonly hint?: string;
};

type Judged = {
  readonly resources: readonly DesiredResource[];
  readonly schemaOf: (kind: string) => FieldSchema | undefined;
  /** Name of an organization by its id, where it has one. */
  readonly organizationOf: (id: string) => string;
};

/** A resource as rules see it. */
type Subject = {
  readonly resource: DesiredResource;
  readonly schema: FieldSchema;
  readonly document: Shown;
  readonly variables: { readonly [name: string]: Shown };
};

/** What rules have against the resources of a stack. */
export function judgeResources(
  rules: readonly Rule[],
  judged: Judged,
  seconds: number = RULE_SECONDS,
): readonly RuleFinding[] {
  if (rules.length === 0) return [];
  const subjects = judged.resources.map((resource) => subjectOf(resource, judged));
  const all = subjects.map(({ variables }) => variables);
  return rules.flatMap((rule) => {
    const findings = withinTime(
      () =>
        subjects
          .filter(({ resource }) => rule.on?.includes(resource.kind) ?? true)
          .flatMap((subject) => judgeOne(rule, subject, all)),
      seconds,
    );
    return findings === undefined ? [tooSlow(rule, subjects.length, seconds)] : findings.value;
  });
}

function subjectOf(resource: DesiredResource, { schemaOf, organizationOf }: Judged): Subject {
  const { address, kind, document: wanted } = resource;
  const schema = schemaOf(kind) ?? {};
  const document = viewOf(rootContext(schema), wanted);
  const { organization_id: id } = wanted;
  return {
    resource,
    schema,
    document,
    variables: {
      resource: forCel(document),
      address,
      kind,
      name: address.slice(address.indexOf('.') + 1),
      organization: typeof id === 'string' ? organizationOf(id) : '',
    },
  };
}

function judgeOne(
  rule: Rule,
  subject: Subject,
  all: readonly Subject['variables'][],
): readonly RuleFinding[] {
  const { resource, variables } = subject;
  const seen = rule.seesAll ? { ...variables, resources: all } : { ...variables, resources: [] };
  const when = rule.when?.ask(seen);
  // A resource without the field that a rule asks for first is none that it is about.
  if (when !== undefined && 'failed' in when && when.missing !== undefined) return [];
  if (when !== undefined && 'failed' in when) return [unanswered(rule, resource, 'when', when)];
  if (when?.holds === false) return [];
  const answer = rule.require?.ask(seen);
  if (answer !== undefined && 'failed' in answer) {
    return [unanswered(rule, resource, 'require', answer)];
  }
  const { name, severity, message, field = '' } = rule;
  const broken: RuleFinding = { rule: name, severity, resource, path: field, message };
  return [...(answer?.holds === false ? [broken] : []), ...violations(rule, subject)];
}

function violations(rule: Rule, { resource, schema, document }: Subject): readonly RuleFinding[] {
  const { check, name, severity, message } = rule;
  if (check === undefined) return [];
  return check(document).map(({ pointer, words }) => {
    const path = pathOf(pointer, schema, document);
    const what = path === '' ? words : `${path} ${words}`;
    return { rule: name, severity, resource, path, message: `${message}: ${what}` };
  });
}

/** A JSON pointer as the path that Callsheet writes: elements of a list by what they are recognised by. */
function pathOf(pointer: string, root: FieldSchema, document: Shown): string {
  const path: string[] = [];
  let schema = dereference(root, root);
  let value: unknown = document;
  for (const part of pointer.split('/').slice(1)) {
    const key = part.replaceAll('~1', '/').replaceAll('~0', '~');
    if (Array.isArray(value)) {
      const element: unknown = value[Number(key)];
      path.push(segmentFor(schema, value, Number(key)));
      [value, schema] = [element, itemSchema(root, schema)];
    } else {
      path.push(key);
      value = typeof value === 'object' && value !== null ? Reflect.get(value, key) : undefined;
      schema = memberSchema(root, schema, key);
    }
  }
  return formatPath(path);
}

function segmentFor(list: FieldSchema, elements: readonly unknown[], index: number): string {
  const key = list['x-identity'];
  const identities = elements.map((element): unknown =>
    key !== undefined && typeof element === 'object' && element !== null
      ? Reflect.get(element, key)
      : undefined,
  );
  return writtenSegments(identities)[index] ?? `[${index}]`;
}

/** A rule that could not be asked has not been kept: it weighs as much as one that was broken. */
function unanswered(
  { name, severity, message: words, field = '', source }: Rule,
  resource: DesiredResource,
  member: 'when' | 'require',
  { failed, missing }: Extract<Answer, { failed: string }>,
): RuleFinding {
  const message = `${words} (${member} could not be asked: ${failed})`;
  const ask =
    missing === undefined
      ? ''
      : `: ask first whether it is there, with has(….${missing}) or ….?${missing}.orValue(…)`;
  const hint = `Mend the rule at ${source}${ask}`;
  return { rule: name, severity, resource, path: field, message, hint };
}

function tooSlow({ name, message, source }: Rule, count: number, seconds: number): RuleFinding {
  return {
    rule: name,
    severity: 'error',
    resource: undefined,
    path: '',
    message: `${message} (not known: it took more than ${seconds} seconds over ${count} ${count === 1 ? 'resource' : 'resources'} and was stopped)`,
    hint: `Mend the rule at ${source}: narrow it with on, do not look through all resources for each of them, and take repetitions within repetitions, such as (a+)+, out of its patterns`,
  };
}

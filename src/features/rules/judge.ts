import { createContext, Script } from 'node:vm';
import { redactText } from '../../core/credentials.ts';
import type { DesiredResource } from '../../core/desired.ts';
import type { Severity } from '../../core/diagnostics.ts';
import { formatCount, formatFirst } from '../../core/errors.ts';
import {
  formatPath,
  isIdentity,
  parsePath,
  pointerParts,
  writtenSegments,
} from '../../core/path.ts';
import type { Note, PlanDocument, PlanRules, Refusal } from '../../core/plan-document.ts';
import {
  type FieldContext,
  itemContext,
  memberContext,
  rootContext,
  sensitivity,
} from '../../core/redact.ts';
import { dereference, type FieldSchema, itemSchema, memberSchema } from '../../core/schema.ts';
import { Blob, isList, isObject, LinkedText, Ref, Secret, type Value } from '../../core/value.ts';
import { type Answer, compile, type Program } from './cel.ts';
import { compileSchema, type SchemaCheck } from './json-schema.ts';
import { unknownField, unknownKey } from './known-fields.ts';
import type { RuleProblem, WrittenRule } from './rule.ts';

/** The resource is undefined where the rule could not be asked. */
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
  readonly findSchema: (kind: string) => FieldSchema | undefined;
  /** Name of an organization by its id, where it has one. */
  readonly getOrganizationName: (id: string) => string;
};

/** A resource as rules see it. */
type Subject = {
  readonly resource: DesiredResource;
  readonly schema: FieldSchema;
  readonly document: Shown;
  readonly variables: { readonly [name: string]: Shown };
};

export function judgeResources(
  rules: readonly Rule[],
  judged: Judged,
  seconds: number = RULE_SECONDS,
): readonly RuleFinding[] {
  if (rules.length === 0) return [];
  const inTime = openTime(seconds);
  const subjects = judged.resources.map((resource) => buildSubject(resource, judged));
  const all = subjects.map(({ variables }) => variables);
  return rules.flatMap((rule) => {
    const findings = inTime(() =>
      subjects
        .filter(({ resource }) => rule.on?.includes(resource.kind) ?? true)
        .flatMap((subject) => judgeOne(rule, subject, all)),
    );
    return 'value' in findings ? findings.value : [tooSlow(rule, subjects.length, findings.why)];
  });
}

function buildSubject(
  resource: DesiredResource,
  { findSchema, getOrganizationName }: Judged,
): Subject {
  const { address, kind, document: wanted } = resource;
  const schema = findSchema(kind) ?? {};
  const document = toShown(rootContext(schema), wanted);
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
      organization: typeof id === 'string' ? getOrganizationName(id) : '',
    },
  };
}

function judgeOne(
  rule: Rule,
  subject: Subject,
  all: readonly Subject['variables'][],
): readonly RuleFinding[] {
  const { resource, variables } = subject;
  const { name, severity, field = '', source } = rule;
  const verdict = askRule(rule, { ...variables, resources: rule.seesAll ? all : [] });
  if (verdict === 'apart') return [];
  if (verdict === 'kept') return violations(rule, subject);
  const { why: message, unanswered } = verdict;
  const broken: RuleFinding = { rule: name, severity, resource, path: field, message };
  if (unanswered === undefined) return [broken, ...violations(rule, subject)];
  const { missing } = unanswered;
  const ask =
    missing === undefined
      ? ''
      : `: first check that it exists, with has(….${missing}) or ….?${missing}.orValue(…)`;
  return [{ ...broken, hint: `Correct the rule at ${source}${ask}` }];
}

/** `apart` where a rule is not about what it is asked of. */
type Verdict =
  | 'kept'
  | 'apart'
  | { readonly why: string; readonly unanswered?: Extract<Answer, { failed: string }> };

/** One that could not be asked has not been kept: it weighs as much as one that was broken. */
function askRule({ when, require, message }: Rule, variables: object): Verdict {
  for (const [member, program] of Object.entries({ when, require })) {
    const answer = program?.ask(variables);
    if (answer === undefined) continue;
    if ('failed' in answer) {
      // A resource without the first field that a rule asks for is none that the rule is about.
      if (member === 'when' && answer.missing !== undefined) return 'apart';
      const why = `${message} (${member} could not be checked: ${answer.failed})`;
      return { why, unanswered: answer };
    }
    if (!answer.holds) return member === 'when' ? 'apart' : { why: message };
  }
  return 'kept';
}

function violations(rule: Rule, { resource, schema, document }: Subject): readonly RuleFinding[] {
  const { check, name, severity, message } = rule;
  if (check === undefined) return [];
  return check(document).map(({ pointer, words }) => {
    const path = toFieldPath(pointer, schema, document);
    const what = path === '' ? words : `${path} ${words}`;
    return { rule: name, severity, resource, path, message: `${message}: ${what}` };
  });
}

/** A JSON pointer as the path that Callsheet writes: elements of a list by what they are recognised by. */
function toFieldPath(pointer: string, root: FieldSchema, document: Shown): string {
  const path: string[] = [];
  let schema = dereference(root, root);
  let value: unknown = document;
  for (const key of pointerParts(pointer)) {
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

function tooSlow({ name, message, source }: Rule, count: number, why: string): RuleFinding {
  return {
    rule: name,
    severity: 'error',
    resource: undefined,
    path: '',
    message: `${message} (not checked for ${formatCount(count, 'resource')}: ${why})`,
    hint: `Correct the rule at ${source}: narrow it with on, do not search all resources for each resource, and remove nested repetitions, such as (a+)+, from its patterns`,
  };
}

/** How long one rule may take over everything that it judges. 10,000 resources take well under a second. */
const RULE_SECONDS = 5;
/** How many times as long all rules together may take. */
const ALL_RULES = 4;

/** Runs the work of rules, one after the other, until their time is over; says which time it was. */
function openTime(seconds: number) {
  let left = ALL_RULES * seconds * 1000;
  return <T>(work: () => T): { readonly value: T } | { readonly why: string } => {
    const all = `all rules together took ${ALL_RULES * seconds} seconds`;
    if (left <= 0) return { why: all };
    const began = performance.now();
    const own = Math.min(seconds, left / 1000);
    const done = withinTime(work, own);
    left -= performance.now() - began;
    const why = own < seconds ? all : `it took more than ${seconds} seconds and was stopped`;
    return done ?? { why };
  };
}

const RUN = new Script('run()');

/**
 * Runs a function, and stops it where it takes too long: a rule that compares every resource with every
 * other, or a pattern that tries every way to match. It is no sandbox: CEL has no effects to keep in.
 *
 * @returns undefined where it was stopped
 */
export function withinTime<T>(run: () => T, seconds: number): { readonly value: T } | undefined {
  let value: { readonly value: T } | undefined;
  const context = createContext({
    run: () => {
      value = { value: run() };
    },
  });
  try {
    RUN.runInContext(context, { timeout: Math.max(1, Math.ceil(seconds * 1000)) });
  } catch (error) {
    if (isTimeout(error)) return undefined;
    throw error;
  }
  return value;
}

function isTimeout(error: unknown): boolean {
  return (
    typeof error === 'object' &&
    error !== null &&
    'code' in error &&
    error.code === 'ERR_SCRIPT_EXECUTION_TIMEOUT'
  );
}

/** Plain data for a rule. CEL's whole numbers are `bigint`. */
type Shown =
  | boolean
  | number
  | bigint
  | string
  | null
  | readonly Shown[]
  | { readonly [key: string]: Shown };

const MASK = '***';

/**
 * A document as rules see it, without what must stay secret: a secret is where it comes from, as it was
 * written, and a sensitive text is masked. A reference is the address. A field that is null is to be
 * cleared, so it is absent.
 */
function toShown(field: FieldContext, value: Value): Shown {
  if (value instanceof Secret) return { $secret: value.source };
  if (value instanceof Ref) return value.address;
  if (value instanceof LinkedText) return toShown(field, value.toJSON());
  if (value instanceof Blob) {
    const { path, size, mime, sha256 } = value;
    return { path, size, mime, sha256 };
  }
  if (isList(value)) {
    const items = itemContext(field);
    return value.map((item) => toShown(items, item));
  }
  if (isObject(value)) {
    const members = Object.entries(value).filter(([, member]) => member !== null);
    return Object.fromEntries(
      members.map(([key, member]) => [key, toShown(memberContext(field, key, value), member)]),
    );
  }
  const found = sensitivity(field, value);
  if (found === 'open') return value;
  return found === 'whole' || typeof value !== 'string' ? MASK : redactText(value);
}

/** The same with whole numbers as CEL has them, so that `attempts + 1` can be asked. */
function forCel(value: Shown): Shown {
  if (typeof value === 'number') return Number.isSafeInteger(value) ? BigInt(value) : value;
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(forCel);
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, forCel(member)]));
}

/** The changes that break a rule; none for the plan as a whole. */
type Breach = { readonly addresses: readonly string[]; readonly why: string };

const NOTHING = { refusals: [], notes: [] };

/** Rules over plans and their changes as one function. A rollback is not asked: it must be possible at any time. */
export function planRules(rules: readonly Rule[]): PlanRules {
  if (rules.length === 0) return () => NOTHING;
  const judge: PlanRules = (plan, now) => {
    if (plan.purpose !== 'apply') return NOTHING;
    const shown = plainPlan(plan);
    const inTime = openTime(RULE_SECONDS);
    const breaches = rules.flatMap((rule) =>
      listBreaches(rule, plan, shown, now, inTime).map((breach) => ({ rule, breach })),
    );
    const refusals: Refusal[] = [];
    const notes: Note[] = [];
    for (const { rule, breach } of breaches) {
      const message = tell(rule, breach);
      const advice = `Change what rules.${rule.name} complains about, or plan a part with --target.`;
      if (rule.severity === 'error') refusals.push({ guard: 'rule', message, until: null, advice });
      else notes.push({ severity: 'warning', address: null, message });
    }
    return { refusals, notes };
  };
  return Object.assign(judge, { readsCalls: rules.some((rule) => rule.readsCalls) });
}

type PlainPlan = { readonly plan: Shown; readonly changes: readonly Shown[] };

/** A plan holds no secret: those are masked when it is made. */
function plainPlan(plan: Omit<PlanDocument, 'digest' | 'checks'>): PlainPlan {
  // Undefined members are absent, as in the plan's file. Call-outs are a list also where there are none, so that a rule
  // need not ask for them first.
  const called = plan.changes.map((change) => ({ callouts: [], ...change }));
  const whole: { readonly [key: string]: Shown } = JSON.parse(
    JSON.stringify({ ...plan, changes: called }),
  );
  const { changes } = whole;
  return { plan: forCel(whole), changes: Array.isArray(changes) ? changes.map(forCel) : [] };
}

function listBreaches(
  rule: Rule,
  { changes }: Omit<PlanDocument, 'digest' | 'checks'>,
  shown: PlainPlan,
  now: Date,
  inTime: ReturnType<typeof openTime>,
): readonly Breach[] {
  const judged = inTime(() => {
    if (rule.over === 'plan') {
      const verdict = askRule(rule, { plan: shown.plan, now });
      return typeof verdict === 'string' ? [] : [{ why: verdict.why, addresses: [] }];
    }
    const broken = changes.flatMap(({ address, kind, verdict }, index) => {
      // Apply leaves these changes out, so they do no harm.
      if (verdict !== 'ok' || rule.on?.includes(kind) === false) return [];
      const found = askRule(rule, { change: shown.changes[index], plan: shown.plan, now });
      return typeof found === 'string' ? [] : [{ why: found.why, address }];
    });
    // A reason that several changes share is given once.
    const same = Map.groupBy(broken, ({ why }) => why);
    return [...same].map(([why, all]) => ({ why, addresses: all.map(({ address }) => address) }));
  });
  if ('value' in judged) return judged.value;
  return [{ why: `${rule.message} (not checked: ${judged.why})`, addresses: [] }];
}

/** Addresses that are named; of more, the first. */
const MOST_NAMED = 3;

function tell({ name, source }: Rule, { addresses, why }: Breach): string {
  const about = addresses.length === 0 ? '' : `: ${formatFirst(addresses, MOST_NAMED)}`;
  return `rules.${name} (${source})${about}: ${why}`;
}

/** A rule that can be asked. */
export type Rule = Pick<
  WrittenRule,
  'name' | 'over' | 'on' | 'field' | 'message' | 'severity' | 'source'
> & {
  readonly when: Program | undefined;
  readonly require: Program | undefined;
  readonly check: SchemaCheck | undefined;
  /** An expression reads `resources`, all of them. */
  readonly seesAll: boolean;
  /** An expression speaks of the `calls` of a change. */
  readonly readsCalls: boolean;
};

/** Compiles a rule. Reports what is wrong with each member. */
export function compileRule(
  written: WrittenRule,
  findSchema: (kind: string) => FieldSchema | undefined,
  kinds: readonly string[],
): { readonly rule: Rule } | { readonly problems: readonly RuleProblem[] } {
  const problems: RuleProblem[] = [];
  const schemas = (written.on ?? kinds).flatMap((kind) => findSchema(kind) ?? []);
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
  const names = (word: RegExp) => word.test(`${written.when} ${written.require}`);
  const seesAll = names(/\bresources\b/);
  const readsCalls = over !== 'resource' && names(/\bcalls\b/);
  const asked = { when, require, check, seesAll, readsCalls };
  return { rule: { name, over, on, field, message, severity, source, ...asked } };
}

/** A field to show findings at that no such resource has. */
function wrongField(text: string, schemas: readonly FieldSchema[]) {
  const path = parsePath(text);
  if (path === undefined) return { message: `names ${JSON.stringify(text)}, which is not a path` };
  // Keys below an element of a list are not checked.
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

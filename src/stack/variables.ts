import { resolve } from 'node:path';
import { isResourceName } from '../core/address.ts';
import { didYouMean } from '../core/nearest.ts';
import { getOwn } from '../core/value.ts';
import { NAME_HINT, type Report } from './diagnostics.ts';
import { fileMessage, type Instead, isUnreadable, readTextAt, STACK_FILE } from './folder.ts';
import { isOwnCredential } from './secrets.ts';
import { findMember, type Member, type SourceRange, type SyntaxNode, textIn } from './source.ts';
import { parseYaml, redactValues } from './yaml.ts';

/** The value of `${var.name}`, or why there is none. */
type Lookup =
  | { readonly value: string }
  | { readonly missing: { readonly env: string | undefined } }
  | { readonly others: ReadonlySet<string> }
  /** The declarations could not be read, which was already said. */
  | 'unreadable';

export type Variables = {
  readonly lookup: (name: string) => Lookup;
  /** Returns the source of a variable's value; undefined where it has none. */
  readonly findOrigin: (name: string) => VariableOrigin | undefined;
  /** Keeps the value of a variable out of frames, messages and origins, and its default, used or not. */
  readonly hide: (name: string) => void;
  readonly isHidden: (name: string) => boolean;
};

/** The source of a variable's value, in words, and its place in the stack. */
type VariableOrigin = { readonly by: string; readonly range?: SourceRange | undefined };

export const unreadableVariables: Variables = {
  lookup: () => 'unreadable',
  findOrigin: () => undefined,
  hide: () => {},
  isHidden: () => false,
};

export type VariableInputs = {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** `--var`, by name. */
  readonly vars?: Readonly<Record<string, string>>;
  /** `--var-file`: absolute, or relative to the working directory. Later ones win. */
  readonly varFiles?: readonly string[];
  /** `--allow-env`: variables of the process's environment that the stack may read beside those named for it. */
  readonly allowEnv?: readonly string[];
  /** Files of variables may be among them. */
  readonly instead?: Instead;
};

const DECLARE = `Declare it under variables in ${STACK_FILE}`;

/** Reads one file of variables: a YAML or JSON map of names to values. */
function readVarFile(
  path: string,
  declared: ReadonlySet<string>,
  report: Report,
  instead: Instead | undefined,
) {
  const values = new Map<string, string>();
  const read = readTextAt(path, resolve(path), instead);
  if (isUnreadable(read)) {
    const words = fileMessage(path, read);
    report.add({ ...words, message: `--var-file ${words.message}`, hint: 'Check the path' });
    return values;
  }
  // Nothing says which variables are secret, so no frame shows their values.
  redactValues(read.source, report);
  const { root, problems } = parseYaml(read.source);
  for (const problem of problems) report.add(problem);
  if (root === undefined || (root.type === 'scalar' && root.empty)) return values;
  if (root.type !== 'map') {
    const message = `--var-file ${path} must hold a map of names and values`;
    report.add({ rule: 'variable/value', message, range: root.range });
    return values;
  }
  for (const { key, keyPlace, value } of root.members.values()) {
    if (value.type !== 'scalar' || value.value === null) {
      const message = `the variable ${key} must be a text, a number, true or false`;
      report.add({ rule: 'variable/value', message, range: value.range });
    } else if (!declared.has(key)) {
      report.add({
        severity: 'warning',
        rule: 'variable/unknown',
        message: `${path} sets ${key}, which is not a variable of the stack`,
        hint: didYouMean(key, declared, DECLARE),
        range: keyPlace,
      });
    } else values.set(key, value.text);
  }
  return values;
}

/** The default of a declaration, as text. Its shape is checked with the rest of `callsheet.yaml`. */
function findDefault(declaration: SyntaxNode): string | undefined {
  const value = findMember(declaration, 'default')?.value;
  return value?.type === 'scalar' && value.value !== null ? value.text : undefined;
}

function rangeOfDefault(declaration: SyntaxNode | undefined): SourceRange | undefined {
  return findMember(declaration, 'default')?.value.range;
}

/** Checks a declaration for mistakes that the schema of `callsheet.yaml` cannot express. */
function checkDeclaration({ key, keyPlace, value }: Member, report: Report): void {
  if (!isResourceName(key)) {
    report.add({
      rule: 'variable/name',
      message: `${STACK_FILE}: ${JSON.stringify(key)} cannot name a variable`,
      hint: NAME_HINT,
      range: keyPlace,
    });
  }
  const given = findMember(value, 'default')?.value;
  if (given === undefined || !findDefault(value)?.includes('${var.')) return;
  report.add({
    rule: 'variable/syntax',
    message: `${STACK_FILE}: the default of ${key} holds \${var.…}, which Callsheet does not fill in there`,
    hint: 'Use the other variable where this one is used',
    range: given.range,
  });
}

/** The variable of the environment that every stack may read, beside those that are named for it. */
const BASE_URL = 'CALLSHEET_BASE_URL';
const FOR_STACKS = /^CALLSHEET_VAR_./;
const LEAVE = 'CALLSHEET_ALLOW_ENV';

/**
 * Which variables of the environment a stack may read. What it reads is printed, and a stack can come from a
 * stranger, so those that are not named for it need leave from outside of it: a name, or a beginning with a star.
 */
function readLeave(
  { env, allowEnv = [] }: VariableInputs,
  report: Report,
): (name: string) => boolean {
  const named = [
    ...allowEnv.map((text) => ['--allow-env', text] as const),
    [LEAVE, env[LEAVE] ?? ''] as const,
  ].flatMap(([from, text]) => text.split(/[\s,]+/).map((name) => [from, name] as const));
  const patterns: string[] = [];
  for (const [from, pattern] of named) {
    if (/^[A-Za-z_]\w*\*?$/.test(pattern)) patterns.push(pattern);
    else if (pattern !== '') {
      report.add({
        rule: 'variable/leave',
        message: `${from} allows ${JSON.stringify(pattern)}, which is not a name of an environment variable`,
        hint: 'Write names, such as CITY, or prefixes, such as CITY_*',
      });
    }
  }
  const isAllowed = (name: string) =>
    patterns.some((pattern) =>
      pattern.endsWith('*') ? name.startsWith(pattern.slice(0, -1)) : name === pattern,
    );
  return (name) =>
    name === BASE_URL || FOR_STACKS.test(name) || (isAllowed(name) && !isOwnCredential(name));
}

/** Reports a variable of the environment that a stack may not read. */
function refuseEnv({ key, value }: Member, name: string, report: Report): void {
  const own = isOwnCredential(name);
  report.add({
    rule: 'variable/environment',
    message: own
      ? `${STACK_FILE}: the variable ${key} reads ${name}, a credential of Callsheet, which no stack may read`
      : `${STACK_FILE}: the variable ${key} reads ${name} from the environment, which is not allowed`,
    hint: own
      ? 'Use another variable, such as CALLSHEET_VAR_NAME'
      : `Call it CALLSHEET_VAR_${name.toUpperCase()}, or allow it: --allow-env ${name}, or ${LEAVE}=${name}`,
    range: findMember(value, 'env')?.value.range,
  });
}

function findEnv(declaration: SyntaxNode): string | undefined {
  return textIn(findMember(declaration, 'env')?.value);
}

/**
 * The variables of a stack. The command line wins over files of variables (the last one first), these
 * over the environment, and that over the default. An environment variable that is set but empty counts
 * as not set: pipelines leave absent ones so.
 */
export function readVariables(
  declared: SyntaxNode | undefined,
  given: VariableInputs,
  report: Report,
): Variables {
  const declarations = new Map<string, SyntaxNode>();
  const mayRead = readLeave(given, report);
  if (declared?.type === 'map') {
    for (const member of declared.members.values()) {
      declarations.set(member.key, member.value);
      checkDeclaration(member, report);
      const name = findEnv(member.value);
      if (name !== undefined && !mayRead(name)) refuseEnv(member, name, report);
    }
  }
  const names = new Set(declarations.keys());
  const files = (given.varFiles ?? [])
    .map((path) => ({ path, values: readVarFile(path, names, report, given.instead) }))
    .reverse();
  for (const name of Object.keys(given.vars ?? {})) {
    if (names.has(name)) continue;
    report.add({
      rule: 'variable/unknown',
      message: `--var sets ${name}, which is not a variable of the stack`,
      hint: didYouMean(name, names, DECLARE),
    });
  }
  const vars = new Map(Object.entries(given.vars ?? {}));
  const hidden = new Set<string>();
  /** Everything that may give a variable its value, the strongest first. */
  const listSources = (name: string, declaration: SyntaxNode): readonly Source[] => {
    const env = findEnv(declaration);
    const isRead = env !== undefined && mayRead(env);
    return [
      { by: '--var', value: vars.get(name) },
      ...files.map(({ path, values }) => ({ by: `--var-file ${path}`, value: values.get(name) })),
      {
        by: `the environment variable ${env}`,
        value: (isRead && getOwn(given.env, env)) || undefined,
      },
      {
        by: 'its default',
        value: findDefault(declaration),
        range: rangeOfDefault(declaration),
      },
    ];
  };
  return {
    lookup: (name) => {
      const declaration = declarations.get(name);
      if (declaration === undefined) return { others: names };
      const found = listSources(name, declaration).find(({ value }) => value !== undefined);
      const env = findEnv(declaration);
      if (found === undefined && env !== undefined && !mayRead(env)) return 'unreadable';
      return found?.value === undefined
        ? { missing: { env: findEnv(declaration) } }
        : { value: found.value };
    },
    findOrigin: (name) => {
      const declaration = declarations.get(name);
      return declaration && listSources(name, declaration).find(({ value }) => value !== undefined);
    },
    hide: (name) => {
      const declaration = declarations.get(name);
      if (declaration === undefined || hidden.has(name)) return;
      hidden.add(name);
      for (const { value, range } of listSources(name, declaration)) {
        if (value !== undefined) report.hide(value);
        if (range !== undefined) report.mask(range);
      }
    },
    isHidden: (name) => hidden.has(name),
  };
}

type Source = VariableOrigin & { readonly value: string | undefined };

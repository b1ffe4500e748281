import { getOwn } from './value.ts';
/** An entry of `platform.endpoints`, as it is written. */
export type WrittenEndpoint = { readonly method?: string; readonly path?: string };

export type EndpointProblem = {
  readonly operation: string;
  /** The member at fault; undefined where it is the operation's name. */
  readonly member: 'method' | 'path' | undefined;
  /** One sentence, no trailing stop. */
  readonly message: string;
  /** Values that may stand there instead; the nearest of them is what was probably meant. */
  readonly candidates: readonly string[];
};

/** An operation, as far as it matters to where it may lie. */
type Place = { readonly method: string; readonly path: string; readonly documented: boolean };
type Places = { readonly [operation: string]: Place };

/** Methods of one nature: an operation is moved to another of its own, so a read never becomes a write. */
const NATURES: readonly (readonly string[])[] = [['GET'], ['POST', 'PUT', 'PATCH'], ['DELETE']];

/**
 * Checks overrides against the operations that there are. A stack can come from a stranger, so that an override
 * only says where an operation lies which the specification does not show: it keeps its nature and the parameters
 * of its path, and never comes to lie where the platform has something else.
 */
export function checkEndpoints(
  overrides: { readonly [operation: string]: WrittenEndpoint },
  operations: Places,
): readonly EndpointProblem[] {
  return Object.entries(overrides).flatMap(([operation, written]): readonly EndpointProblem[] => {
    const known = getOwn(operations, operation);
    if (known?.documented === false) return checkOverride(operation, written, known, operations);
    const candidates = Object.keys(operations).filter((name) => !operations[name]?.documented);
    const message =
      known === undefined
        ? `${operation} is not an operation of the platform`
        : `${operation} is documented: it stays at ${known.method} ${known.path}`;
    return [{ operation, member: undefined, message, candidates: known ? [] : candidates }];
  });
}

function checkOverride(
  operation: string,
  { method, path }: WrittenEndpoint,
  original: Place,
  operations: Places,
): readonly EndpointProblem[] {
  const problems: EndpointProblem[] = [];
  const allowed = NATURES.find((methods) => methods.includes(original.method)) ?? [];
  if (method !== undefined && !allowed.includes(method)) {
    const may = allowed.length === 1 ? `${allowed[0]} alone` : 'POST, PUT or PATCH';
    const message = `the method of ${operation} is ${JSON.stringify(method)}; it may be ${may}`;
    problems.push({ operation, member: 'method', message, candidates: allowed });
  }
  for (const complaint of path === undefined ? [] : listComplaints(path, original, operations)) {
    const message = `the path of ${operation} ${complaint}`;
    problems.push({ operation, member: 'path', message, candidates: [] });
  }
  return problems;
}

function listComplaints(path: string, original: Place, operations: Places): readonly string[] {
  const [given, wanted] = [listParameters(path), listParameters(original.path)];
  const missing = wanted.filter((name) => !given.includes(name));
  const unknown = given.filter((name) => !wanted.includes(name));
  const twice = new Set(given.filter((name, index) => given.indexOf(name) !== index));
  const rest = path.replaceAll(PARAMETER, 'x');
  const form = [
    ...(path.startsWith('/') ? [] : ['does not begin with a slash']),
    // Servers read an encoded slash, `;` or a doubled slash in ways of their own.
    ...(PLAIN.test(rest)
      ? []
      : ['has a character that a path cannot have: steps are letters, digits, - . _ ~ :']),
    ...(/(^|\/)\.{1,2}(\/|$)/.test(rest) ? ['holds a step of dots'] : []),
    ...missing.map((name) => `lacks {${name}}, which ${original.path} has`),
    ...unknown.map((name) => `has {${name}}, which ${original.path} does not have`),
    ...[...twice].map((name) => `has {${name}} twice`),
  ];
  if (form.length > 0) return form;
  const other = Object.entries(operations).find(
    ([, { path: taken }]) => mayMeet(path, taken) && !mayMeet(original.path, taken),
  );
  return other === undefined
    ? []
    : [`may lead to the operation ${other[0]}, ${other[1].method} ${other[1].path}`];
}

/** Steps of plain characters, with or without a slash behind the last. */
const PLAIN = /^\/?[\w.~:-]+(\/[\w.~:-]+)*\/?$/;

/** A parameter of a path: `{agentId}`. */
const PARAMETER = /\{(\w+)\}/g;

function listParameters(path: string): readonly string[] {
  return [...path.matchAll(PARAMETER)].map(([, name = '']) => name);
}

/** Returns true if two paths are the same for some values of their parameters. */
function mayMeet(one: string, other: string): boolean {
  const [these, those] = [listSteps(one), listSteps(other)];
  return (
    these.length === those.length &&
    these.every((step, index) => {
      const [a, b] = [step, those[index] ?? ''];
      return a === b || a.includes('{') || b.includes('{');
    })
  );
}

function listSteps(path: string): readonly string[] {
  return path
    .toLowerCase()
    .split('/')
    .filter((step) => step !== '');
}

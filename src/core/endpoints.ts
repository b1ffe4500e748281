/** Where a stack says that an operation lies (`platform.endpoints`), as it is written. */
export type WrittenEndpoint = { readonly method?: string; readonly path?: string };

/** What is wrong with one override. */
export type EndpointProblem = {
  readonly operation: string;
  /** The member at fault; undefined where it is the operation's name. */
  readonly member: 'method' | 'path' | undefined;
  /** One sentence, no trailing stop. */
  readonly message: string;
  /** What may stand there instead; the nearest of them is what was probably meant. */
  readonly candidates: readonly string[];
};

export const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const;

/**
 * Checks overrides against the operations that there are: names, methods, and that a path keeps the
 * parameters of the one that it replaces.
 */
export function checkEndpoints(
  overrides: { readonly [operation: string]: WrittenEndpoint },
  operations: { readonly [operation: string]: { readonly path: string } },
): readonly EndpointProblem[] {
  return Object.entries(overrides).flatMap(([operation, written]) => {
    const known = Object.hasOwn(operations, operation) ? operations[operation] : undefined;
    if (known !== undefined) return checkOverride(operation, written, known.path);
    const message = `${operation} is no operation of the platform`;
    return [{ operation, member: undefined, message, candidates: Object.keys(operations) }];
  });
}

function checkOverride(
  operation: string,
  { method, path }: WrittenEndpoint,
  original: string,
): readonly EndpointProblem[] {
  const problems: EndpointProblem[] = [];
  if (method !== undefined && !METHODS.some((known) => known === method)) {
    const message = `the method of ${operation} is ${JSON.stringify(method)}; it may be ${METHODS.join(', ')}`;
    problems.push({ operation, member: 'method', message, candidates: METHODS });
  }
  for (const complaint of path === undefined ? [] : complaintsOf(path, original)) {
    const message = `the path of ${operation} ${complaint}`;
    problems.push({ operation, member: 'path', message, candidates: [] });
  }
  return problems;
}

function complaintsOf(path: string, original: string): readonly string[] {
  const [given, wanted] = [parametersOf(path), parametersOf(original)];
  const missing = wanted.filter((name) => !given.includes(name));
  const unknown = given.filter((name) => !wanted.includes(name));
  const rest = path.replaceAll(PARAMETER, '');
  return [
    ...(path.startsWith('/') ? [] : ['does not begin with a slash']),
    ...(/^[\x21-\x7e]*$/.test(path) && !/[?#{}\\]/.test(rest)
      ? []
      : ['holds what a path cannot: blanks, ?, #, a backslash or a brace without its other half']),
    ...(/(^|\/)\.{1,2}(\/|$)/.test(rest) ? ['holds a step of dots'] : []),
    ...missing.map((name) => `lacks {${name}}, which ${original} has`),
    ...unknown.map((name) => `has {${name}}, which ${original} does not have`),
  ];
}

/** A parameter of a path: `{agentId}`. */
const PARAMETER = /\{(\w+)\}/g;

function parametersOf(path: string): readonly string[] {
  return [...path.matchAll(PARAMETER)].map(([, name = '']) => name);
}

import { isObject, type Json } from '../core/value.ts';

/** Levels that a body may be nested. The specification gives no figure; deeper bodies are no honest ones. */
const DEPTH_LIMIT = 100;

/** A body, or what is wrong with it as a sentence. An empty body is no value. */
type JsonReading = { readonly body: Json | undefined } | { readonly problem: string };

/** Reads a body that nobody vouches for. */
export function readJson(bytes: Buffer): JsonReading {
  if (bytes.length === 0) return { body: undefined };
  let body: Json;
  try {
    body = JSON.parse(bytes.toString('utf8')) as Json;
  } catch {
    return { problem: 'the body is not JSON' };
  }
  const problem = trouble(body);
  return problem === undefined ? { body } : { problem };
}

/** What a value has that no honest body has, looked for without recursion. Takes out members named `__proto__`. */
function trouble(body: Json): string | undefined {
  let level: readonly Json[] = [body];
  for (let depth = 0; level.length > 0; depth += 1) {
    if (depth > DEPTH_LIMIT) return `the body is nested more than ${DEPTH_LIMIT} levels deep`;
    if (level.some((value) => typeof value === 'number' && !Number.isFinite(value)))
      return 'the body has a number that is too large';
    // Ignored like any unknown member; stored, it would become the prototype of its record.
    for (const value of level) if (isObject(value)) Reflect.deleteProperty(value, '__proto__');
    level = level.flatMap((value) =>
      typeof value === 'object' && value !== null ? Object.values(value) : [],
    );
  }
  return undefined;
}

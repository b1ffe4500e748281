import { contextAt, maskStrictly, secretTexts } from '../core/redact.ts';
import type { FieldSchema } from '../core/schema.ts';
import { isList, isObject, type Json } from '../core/value.ts';
import bodies from './bodies.generated.json' with { type: 'json' };

/** Members are operations, below them `request` and `answer`; and `errors`. */
const root: FieldSchema = bodies;

/** Which body of an operation is meant. */
export type BodyPart = 'request' | 'answer';

/** What a text is shown as at most; prompts and pages are longer. */
const LONGEST_TEXT = 200;

/**
 * A body as a trace may show it. A value is shown only where the contract names it and it is no secret
 * (`core/redact.ts`): what is newer than the contract may be one.
 */
export function maskBody(operation: string, part: BodyPart, body: Json): Json {
  return shortened(maskStrictly(root, [operation, part], body));
}

/** An error's body as a trace may show it. */
export function maskErrorBody(body: Json): Json {
  return shortened(maskStrictly(root, ['errors'], body));
}

/**
 * Every text of a body that is a secret: what the contract calls so, what is named like one, and what the contract
 * does not know where secrets are to be expected.
 */
export function secretsOf(operation: string, part: BodyPart, body: Json): readonly string[] {
  return secretTexts(contextAt(root, [operation, part]), body);
}

function shortened(value: Json): Json {
  if (isList(value)) return value.map(shortened);
  if (isObject(value)) {
    return Object.fromEntries(
      Object.entries(value).map(([key, member]: readonly [string, Json]) => [
        key,
        shortened(member),
      ]),
    );
  }
  if (typeof value !== 'string' || value.length <= LONGEST_TEXT) return value;
  return `${value.slice(0, LONGEST_TEXT)}… (${value.length} characters)`;
}

import { MASK, redactText } from '../core/credentials.ts';
import { errorMessage } from '../core/errors.ts';
import { contextAt, maskStrictly, maskUnknown, secretTexts } from '../core/redact.ts';
import type { FieldSchema } from '../core/schema.ts';
import { type Json, type JsonObject, mapTexts } from '../core/value.ts';
import bodies from './bodies.generated.json' with { type: 'json' };
import { clipped, plainUrl } from './errors.ts';
import type { TraceEntry } from './operation.ts';
import type { WireAnswer, WireRequest } from './transport.ts';

export type Outcome = { readonly answer: WireAnswer } | { readonly error: unknown };

/** Headers that say nothing in confidence. Every other one is masked. */
const OPEN_HEADERS =
  /^(accept|age|allow|cache-control|connection|keep-alive|content-(encoding|language|length|type)|date|retry-after|server|transfer-encoding|user-agent|vary|via|x-request-id|(x-)?ratelimit-[\w-]+)$/;

/** Writes down one try of a request. Times are in milliseconds since 1970. */
export function traceEntry(
  wire: WireRequest,
  outcome: Outcome,
  start: number,
  end: number,
): TraceEntry {
  const hide = hideSecrets(secretsIn(wire));
  const answer = 'answer' in outcome ? outcome.answer : undefined;
  return {
    time: new Date(start).toISOString(),
    operation: wire.about?.operation ?? null,
    method: wire.method,
    // An address without an operation is a presigned one.
    url: wire.about === undefined ? `${plainUrl(wire.url)}?…` : hide.text(wire.url),
    attempt: wire.attempt,
    status: answer?.status ?? null,
    milliseconds: end - start,
    request_id: answer?.requestId === undefined ? null : hide.text(answer.requestId),
    request: { headers: shownHeaders(wire.headers, hide), body: requestBody(wire, hide) },
    answer:
      answer === undefined
        ? null
        : { headers: shownHeaders(answer.headers, hide), body: answerBody(wire, answer, hide) },
    error: 'error' in outcome ? hide.text(errorMessage(outcome.error)) : null,
  };
}

/** Lists the secrets that a request carries. */
export function secretsIn({ headers, about }: Pick<WireRequest, 'headers' | 'about'>) {
  const { authorization = '', 'x-pbx-api-key': key = '' } = headers;
  const token = authorization.replace(/^Bearer /, '');
  const { operation = '', content = null } = about ?? {};
  return [token, key, ...listSecrets(operation, 'request', content)];
}

function requestBody({ about, headers }: WireRequest, hide: Hide): Json {
  if (about === undefined) return `(${headers['content-length']} bytes)`;
  if (about.content === undefined) return null;
  return maskBody(about.operation, 'request', hide.json(about.content));
}

function answerBody({ about }: WireRequest, answer: WireAnswer, hide: Hide): Json {
  const { status, body, headers, length } = answer;
  if (body === null) return null;
  if (about === undefined || body === undefined) {
    return `(${headers['content-type']?.split(';')[0] || 'no type'}, ${length} characters)`;
  }
  const known = hide.json(body);
  return status < 400 ? maskBody(about.operation, 'answer', known) : maskErrorBody(known);
}

function shownHeaders(headers: Readonly<Record<string, string>>, hide: Hide): JsonObject {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => {
      if (name === 'location') return [name, plainUrl(hide.text(value))];
      return [name, OPEN_HEADERS.test(name) ? hide.text(value) : MASK];
    }),
  );
}

/** Members are operations, below them `request` and `answer`; and `errors`. */
const root: FieldSchema = bodies;

/** Which body of an operation is meant. */
type BodyPart = 'request' | 'answer';

/** The most characters of a text that are shown; prompts and pages are longer. */
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
export function listSecrets(operation: string, part: BodyPart, body: Json): readonly string[] {
  return secretTexts(contextAt(root, [operation, part]), body);
}

function shortened(value: Json): Json {
  return mapTexts(value, (text) => clipped(text, LONGEST_TEXT));
}

/** Shorter ones hide nothing, and would tear holes into every sentence. */
const SHORTEST_SECRET = 4;
/** The shortest word or line of a longer secret that is hidden by itself. */
const SHORTEST_PART = 8;

/** Replaces secrets in texts, wherever they are repeated. */
export type Hide = {
  readonly text: (text: string) => string;
  readonly json: (value: Json) => Json;
};

/**
 * Makes a function that hides secrets. They are found as they are, as JSON and URLs write them, in
 * Base64 and in hexadecimal; a value that is nothing but a secret is hidden however short it is.
 */
export function hideSecrets(secrets: readonly string[]): Hide {
  const whole = new Set(secrets.filter((secret) => secret !== ''));
  // Made when it is first needed: most answers are good ones, of which nothing is shown.
  let spellings: readonly string[] | undefined;

  function text(value: string): string {
    if (whole.has(value)) return MASK;
    spellings ??= [...new Set([...whole].flatMap(listSpellings))].sort(
      (a, b) => b.length - a.length,
    );
    const hidden = spellings.reduce((before, secret) => before.replaceAll(secret, MASK), value);
    // Secrets that the request did not carry may be repeated from what is stored.
    return redactText(hidden);
  }

  return { text, json: (value) => mapTexts(maskUnknown(value), text, text) };
}

function listSpellings(secret: string): readonly string[] {
  if (secret.length < SHORTEST_SECRET) return [];
  const parts = secret.split(/\s+/).filter((part) => part.length >= SHORTEST_PART);
  return [secret, ...parts].flatMap((part) => [
    part,
    quoted(part),
    // Some log a body as a text, which quotes it once more.
    quoted(quoted(part)),
    encodeURIComponent(part),
    // Without their padding, which may be left out.
    Buffer.from(part).toString('base64').replace(/=+$/, ''),
    Buffer.from(part).toString('base64url'),
    Buffer.from(part).toString('hex'),
  ]);
}

/** As it stands within the quotes of JSON. */
function quoted(text: string): string {
  return JSON.stringify(text).slice(1, -1);
}

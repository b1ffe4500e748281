import { MASK, maskUnknown, redactText } from '../core/redact.ts';
import { isList, isObject, type Json } from '../core/value.ts';

/** Shorter ones hide nothing, and would tear holes into every sentence. */
const SHORTEST_SECRET = 4;
/** Of a secret of several words or lines, the parts that are hidden where they stand alone. */
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
    spellings ??= [...new Set([...whole].flatMap(spellingsOf))].sort((a, b) => b.length - a.length);
    const hidden = spellings.reduce((before, secret) => before.replaceAll(secret, MASK), value);
    // What the request did not carry may be repeated from what is stored.
    return redactText(hidden);
  }

  function json(value: Json): Json {
    if (typeof value === 'string') return text(value);
    if (isList(value)) return value.map(json);
    if (!isObject(value)) return value;
    return Object.fromEntries(
      Object.entries(value).map(([key, member]) => [text(key), json(member)]),
    );
  }

  return { text, json: (value) => json(maskUnknown(value)) };
}

function spellingsOf(secret: string): readonly string[] {
  if (secret.length < SHORTEST_SECRET) return [];
  const parts = secret.split(/\s+/).filter((part) => part.length >= SHORTEST_PART);
  return [secret, ...parts].flatMap((part) => [
    part,
    quoted(part),
    // Whoever logs a body as a text quotes it once more.
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

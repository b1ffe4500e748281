import { isMoment } from './value.ts';
/**
 * Finds the names of secrets, and the parts of a text that are credentials, wherever they stand. `redact.ts` uses
 * both.
 */

/** Stands wherever a secret value would. */
export const MASK = '(secret)';

// Names

type NameFacts = {
  readonly secret: boolean;
  readonly plural: boolean;
  /** True for the name of a list or map of headers. */
  readonly headers: boolean;
};

export const PLAIN_NAME: NameFacts = { secret: false, plural: false, headers: false };

/** Every value of a fleet asks for its name; people may choose any number of them. */
const known = new Map<string, NameFacts>();
const MOST_KNOWN = 20_000;

export function factsOfName(name: string): NameFacts {
  let facts = known.get(name);
  if (facts === undefined) {
    const words = splitWords(name);
    facts = {
      secret: soundSecret(words),
      plural: words.at(-1)?.endsWith('s') === true,
      headers: HEADERS.test(words.at(-1) ?? ''),
    };
    if (known.size >= MOST_KNOWN) known.clear();
    known.set(name, facts);
  }
  return facts;
}

/** Returns true for the name of a secret in any spelling: `clientSecret`, `X-API-Key`, `session`. */
export function isSecretName(name: string): boolean {
  return factsOfName(name).secret;
}

/** `privateKey`, `private_key` and `PRIVATE-KEY` are the same words; a number at the end says nothing. */
function splitWords(name: string): readonly string[] {
  return name
    .replace(/([\p{Ll}\d])(\p{Lu})/gu, '$1 $2')
    .replace(/(\p{Lu})(\p{Lu}\p{Ll})/gu, '$1 $2')
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u)
    .map((word) => word.replace(/\d+$/, ''))
    .filter((word) => word !== '');
}

/** An e-mail has a preheader, and a page a subheader. */
const HEADERS = /(?<!pre|sub)headers?$/;

/** Words that make a name a secret's wherever they stand in it, unless it ends in one that says otherwise. */
const ANYWHERE =
  /passw(?:or)?d|passphrase|passcode|credential|secret(?!ar|ion)|authori[sz]ation|privatekey/;
/** About a secret, such as `password_reset_url`, `secret_name` and `credentials_updated_at`. */
const ABOUT =
  /^(?:ur[li]|links?|page|hint|polic(?:y|ies)|length|min|max|expiry|expires|expired|expiration|at|on|date|time|ttl|timeout|days|hours|minutes|seconds|required|enabled|disabled|rotation|count|limits?|type|format|status|state|reset|name|used|prompt|label|description|instructions|message|text|title)$/;
/** Words that make a name a secret's where they end it. */
const AT_END =
  /(?:token|apikey|accesskey|secretkey|authkey)s?$|^(?:auth|oauth|cookies?|signatures?|sig|sessions?|session(?:id|key)|bearer|jwts?|pwd|userpass|passkeys?|secrets?)$/;
/** A key is a credential behind one of these words; other keys sort, or name something. */
const KEY_FOR =
  /^(?:api|access|app|application|auth|private|subscription|secret|encryption|decryption|signing|master|shared|service|account|server|client|consumer|storage|session|webhook|license|deploy|ssh|hmac|aes|rsa|x)$/;
/** An id counts as half of a credential behind one of these words. */
const ID_OF = /^(?:api|access|app|auth|private|subscription|session)$/;
/** A secret in some form: `token_value`, `authorization_header`. */
const FORM = /^(?:values?|headers?|strings?|base|hex|raw|encoded|plain|plaintext)$/;

function soundSecret(words: readonly string[]): boolean {
  const last = words.at(-1);
  if (last === undefined) return false;
  const before = words.at(-2) ?? '';
  if (words.length > 1 && FORM.test(last)) return soundSecret(words.slice(0, -1));
  if (/^keys?$/.test(last))
    return words.length === 1
      ? last === 'key'
      : KEY_FOR.test(before) || words.some((word) => ANYWHERE.test(word));
  if (/^ids?$/.test(last) && ID_OF.test(before)) return true;
  if (AT_END.test(last) || (last === 'pass' && words.length === 1)) return true;
  return !ABOUT.test(last) && words.some((word) => ANYWHERE.test(word));
}

// Values

/** Placeholders that are filled in during a call, or by the configuration. */
const FILLED_IN = /\$\{[^{}]*\}|\{\{[^{}]*\}\}/g;
const NUMBER = /^\d+$/;

/** Returns true if a text gives nothing away although its name is that of a secret. */
export function isHarmless(text: string, counts: boolean): boolean {
  return isFilledIn(text) || isMoment(text) || (counts && NUMBER.test(text));
}

/** Returns true for placeholders with no text but a scheme: `Bearer {{token}}`. */
export function isFilledIn(text: string): boolean {
  return SCHEME.test(text.replace(FILLED_IN, '').trim());
}

const SCHEME = /^(?:bearer|basic|digest|token|apikey|api-key)?$/i;

// Credentials within a text

/** `name=` of a query, a fragment or a form, also where it stands within another address or is a value itself. */
const PAIR = /(?:^|[?&#;]|%3f|%26|(?<==|%3d))([\w.~%[\]-]{1,100}?)(?:=|%3d)/gi;
/** The value behind it. */
const VALUE = /[^\s&#"<>`]*?(?=$|[\s&#"<>`]|%26)/y;
/** The user information of an address. */
const USER = /(?:\b|(?<=%[\da-f]{2}))([a-z][a-z0-9+.-]*:\/\/)([^\s/?#"'<>`\\]+)(?=@)/gi;
/** Protocols in which a user name alone opens no door. */
const NAMES_USER = /^(?:ssh|sftp|git|git\+ssh|svn\+ssh|rsync|ftp):/i;
const SCHEMED = /\b(bearer|basic)(\s+)((?=[^\s]*\d)(?=[^\s]*[a-z])[\w.~+/=-]{12,})/gi;
const JWT = /\beyJ[\w-]{8,}\.eyJ[\w-]{8,}\.[\w-]{8,}/g;
const PEM = /(-----BEGIN [A-Z ]*PRIVATE KEY-----)([\s\S]*?)(-----END |$)/g;

/** A scheme as it is spelled in practice. */
const SCHEMES = ['bearer ', 'Bearer ', 'EARER ', 'basic ', 'Basic ', 'ASIC '];

/** A stretch of a text. */
export type Span = { readonly start: number; readonly end: number };

const NO_SPANS: readonly Span[] = [];

/**
 * The stretches of a text that are credentials, in their order. Each rule is tried only where what it needs is there:
 * of nearly all texts that is a look, and no more. What is looked for begins with what texts hardly have: a look for an
 * `e` stops at every tenth letter.
 */
export function credentialSpans(text: string): readonly Span[] {
  if (text.length < LONG) return findSpans(text);
  if (last?.text !== text) last = { text, spans: findSpans(text) };
  return last.spans;
}

/** The long text that was looked through last: the stages of a plan ask one after the other for the same. */
let last: { readonly text: string; readonly spans: readonly Span[] } | undefined;
const LONG = 10_000;

function findSpans(text: string): readonly Span[] {
  const found: Span[] = [];
  const take = (start: number, value: string) => {
    if (!isFilledIn(value) && value !== MASK) found.push({ start, end: start + value.length });
  };
  if (text.includes('PRIVATE KEY'))
    for (const { index, 1: begin = '', 2: body = '' } of text.matchAll(PEM))
      take(index + begin.length, body);
  if (text.includes('@') && text.includes('://'))
    for (const { index, 1: scheme = '', 2: user = '' } of text.matchAll(USER)) {
      const [name = '', ...rest] = user.split(':');
      const start = index + scheme.length;
      const password = rest.join(':');
      if (password !== '') take(start + name.length + 1, password);
      else if (!NAMES_USER.test(scheme)) take(start, name);
    }
  if (text.includes('=') || text.includes('%3')) takePairs(text, take);
  if (text.includes('.eyJ'))
    for (const { index, 0: token } of text.matchAll(JWT)) take(index, token);
  if (SCHEMES.some((scheme) => text.includes(scheme)))
    for (const { index, 1: scheme = '', 2: space = '', 3: value = '' } of text.matchAll(SCHEMED))
      take(index + scheme.length + space.length, value);
  return found.length === 0 ? NO_SPANS : mergeSpans(found);
}

/** Stretches without those that lie in others, in their order. */
function mergeSpans(spans: readonly Span[]): readonly Span[] {
  const merged: Span[] = [];
  for (const span of spans.toSorted((a, b) => a.start - b.start)) {
    const last = merged.at(-1);
    if (last === undefined || span.start >= last.end) merged.push(span);
    else merged[merged.length - 1] = { ...last, end: Math.max(last.end, span.end) };
  }
  return merged;
}

/** Values of names that sound secret. The value of any other name may hold such a pair itself. */
function takePairs(text: string, take: (start: number, value: string) => void): void {
  PAIR.lastIndex = 0;
  for (let pair = PAIR.exec(text); pair !== null; pair = PAIR.exec(text)) {
    const { secret, plural } = factsOfName(decoded(pair[1] ?? ''));
    if (!secret) continue;
    const start = PAIR.lastIndex;
    VALUE.lastIndex = start;
    const value = VALUE.exec(text)?.[0] ?? '';
    if (value === '' || isHarmless(value, plural)) continue;
    take(start, value);
    PAIR.lastIndex = start + value.length;
  }
}

function decoded(name: string): string {
  if (!name.includes('%')) return name;
  try {
    return decodeURIComponent(name);
  } catch {
    return name;
  }
}

/** A text with the credentials in it masked: `https://user:(secret)@host/x?token=(secret)`. */
export function redactText(text: string): string {
  const spans = credentialSpans(text);
  if (spans.length === 0) return text;
  let shown = '';
  let from = 0;
  for (const { start, end } of spans) {
    shown += text.slice(from, start) + MASK;
    from = end;
  }
  return shown + text.slice(from);
}

/** The credentials in a text. */
export function credentialsIn(text: string): readonly string[] {
  return credentialSpans(text).map(({ start, end }) => text.slice(start, end));
}

/** The mask of a whole text. An address keeps its scheme and host: `https://host/(secret)`. */
export function maskWhole(text: string): string {
  const host = ADDRESS.test(text) ? hostIn(text) : undefined;
  return host === undefined ? MASK : `${host}/${MASK}`;
}

const ADDRESS = /^\s*[a-z][a-z0-9+.-]*:\/\//i;
/** Schemes whose host is one, whatever it looks like. Of others only what plainly is a host is shown. */
const WEB = /^(?:https?|wss?):$/;
const PLAIN_HOST = /^(?:localhost|[a-z0-9-]+(?:\.[a-z0-9-]+)+|\[[0-9a-f:.]+\])(?::\d+)?$/i;

/** Scheme and host of an address. */
function hostIn(address: string): string | undefined {
  try {
    const { protocol, host } = new URL(address.trim());
    const isHost = host !== '' && (WEB.test(protocol) || PLAIN_HOST.test(host));
    return isHost ? `${protocol}//${host}` : undefined;
  } catch {
    return undefined;
  }
}

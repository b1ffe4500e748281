import { createHash, type Hash, hash } from 'node:crypto';

/** JSON with object keys in order, so that equal documents give equal text. `undefined` members are left out. */
export function canonicalJson(value: unknown): string {
  return write(value) ?? 'null';
}

/** Undefined for what JSON has no text for. Written by hand: a replacer would copy every object to sort it. */
function write(value: unknown): string | undefined {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  if ('toJSON' in value && typeof value.toJSON === 'function') return write(value.toJSON());
  if (Array.isArray(value)) return `[${value.map((item) => write(item) ?? 'null').join(',')}]`;
  return writeMembers(sortedKeys(value), (key) => Reflect.get(value, key));
}

function writeMembers(keys: readonly string[], getMember: (key: string) => unknown): string {
  let text = '';
  for (const key of keys) {
    const member = write(getMember(key));
    if (member !== undefined) text += `${text === '' ? '' : ','}${JSON.stringify(key)}:${member}`;
  }
  return `{${text}}`;
}

/**
 * Keys that read as an index stand first, by their number, as in every object of JavaScript: digests that were
 * stored before hold them so.
 */
function sortedKeys(value: object): readonly string[] {
  const keys = Object.keys(value);
  const rest = keys.findIndex((key) => !isIndex(key));
  if (rest <= 0) return rest < 0 ? keys : keys.sort();
  return [...keys.slice(0, rest), ...keys.slice(rest).sort()];
}

function isIndex(key: string): boolean {
  // Hardly any begins with a digit.
  const first = key.charCodeAt(0);
  if (!(first >= DIGITS[0] && first <= DIGITS[1])) return false;
  return /^(?:0|[1-9]\d{0,9})$/.test(key) && Number(key) < 2 ** 32 - 1;
}

/** Codes of `0` and `9`. */
const DIGITS = [48, 57] as const;

/** The same as of an object with these members, which need not be made for it. */
export function digestOfMembers(members: ReadonlyMap<string, unknown>): string {
  const keys = [...members.keys()];
  if (keys.some(isIndex)) return computeDigest(Object.fromEntries(members));
  return `sha256:${hash(
    'sha256',
    writeMembers(keys.sort(), (key) => members.get(key)),
  )}`;
}

/** `sha256:<hex>` of a text or of a value's canonical JSON, which is hashed in pieces as it comes. */
export function computeDigest(value: unknown): string {
  let begun: Hash | undefined;
  let waiting = '';
  const give = (text: string) => {
    waiting += text;
    if (waiting.length < PIECE) return;
    begun ??= createHash('sha256');
    begun.update(waiting);
    waiting = '';
  };
  writeInPieces(value, LEVELS_IN_PIECES, give);
  // Most values are small, and hashed at once that is quicker.
  const hex = begun ? begun.update(waiting).digest('hex') : hash('sha256', waiting);
  return `sha256:${hex}`;
}

/**
 * A key of bounded length for a text: a short text itself, of a longer one its digest. A map holds its keys for as long as
 * it lives, and V8 takes the length of a text beyond 16,383 characters for its hash, so that equally long ones are
 * compared with each other.
 */
export function textKey(text: string): string {
  return text.length <= LONGEST_KEY ? text : `\0${text.length}:${hash('sha256', text, 'base64')}`;
}

/** Characters of a text that is a key itself. */
const LONGEST_KEY = 64;

/** Characters that are hashed at once. */
const PIECE = 64 * 1024;
/**
 * A plan of ten thousand changes would have a text of hundreds of megabytes. Its changes are members of a
 * member: what lies deeper is written as a whole.
 */
const LEVELS_IN_PIECES = 2;

/** The text that `canonicalJson` gives, piece by piece. */
function writeInPieces(value: unknown, levels: number, give: (text: string) => void): void {
  if (levels === 0 || typeof value !== 'object' || value === null || 'toJSON' in value) {
    give(canonicalJson(value));
    return;
  }
  const isArray = Array.isArray(value);
  let before = isArray ? '[' : '{';
  for (const key of isArray ? value.keys() : sortedKeys(value)) {
    const member: unknown = Reflect.get(value, key);
    if (!isArray && !hasText(member)) continue;
    give(isArray ? before : `${before}${JSON.stringify(key)}:`);
    writeInPieces(member, levels - 1, give);
    before = ',';
  }
  if (before !== ',') give(before);
  give(isArray ? ']' : '}');
}

/** Returns true if JSON can write the value. */
function hasText(value: unknown): boolean {
  if (typeof value === 'object' && value !== null)
    return !('toJSON' in value) || write(value) !== undefined;
  return value !== undefined && typeof value !== 'function' && typeof value !== 'symbol';
}

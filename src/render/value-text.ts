import { isAddress } from '../core/address.ts';
import { MASK } from '../core/credentials.ts';
import { compareTexts, getOwn, isList, isObject, type Json } from '../core/value.ts';
import { Named, type Names, type Shown } from './names.ts';
import { cutText } from './terminal.ts';
import { listUnseen, stringsIn } from './unseen.ts';
import { sanitise, sanitiseLine } from './untrusted.ts';
import { oddBlanksIn, showOddBlanks } from './white-space.ts';
import { formatCount, formatSize } from './wording.ts';

/** A value with a name at each id and reference that has one. */
export function nameValue(value: Json, names: Names): Shown {
  if (typeof value === 'string') return namedBy(value, value, names);
  if (isList(value)) return value.map((item) => nameValue(item, names));
  if (!isObject(value)) return value;
  const ref = referenceIn(value);
  if (ref !== undefined) return namedBy(ref, value, names);
  if (standsForOther(value)) return value;
  const members = Object.entries(value).map(([key, one]) => [key, nameValue(one, names)] as const);
  return Object.fromEntries(members);
}

function namedBy(id: string, value: Json, names: Names): Shown {
  const name = getOwn(names, id);
  return name === undefined ? value : new Named(name, id);
}

/** The address in what stands for a reference: only the exact shape counts, as live data may hold a `$ref` of its own. */
function referenceIn(value: { readonly [key: string]: Shown }): string | undefined {
  const { $ref: ref } = value;
  const isAlone = Object.keys(value).length === 1;
  return isAlone && typeof ref === 'string' && isAddress(ref) ? ref : undefined;
}

/**
 * A value in one line, as it stands in a field line: `"Front desk"`, `1.05`, `Gentle redial (retry_policy.gentle)`. No two
 * values have the same line. `areBlanksShown`: white space that a reader does not expect stands as signs.
 */
export function inlineValue(value: Shown, areBlanksShown = false): string {
  if (value === null) return '(none)';
  if (value instanceof Named) return `${value.name} (${value.id})`;
  if (value === MASK) return MASK;
  if (typeof value === 'string') return quoted(value, areBlanksShown);
  if (typeof value !== 'object') return String(value);
  return specialValue(value) ?? compact(value, areBlanksShown);
}

/** Characters around the first difference of two values that only part of is shown. */
const BEFORE_IT = 20;
/** A mark or half of a character, which would begin a part. */
const TORN = /^(?:\p{M}|\p{Cs})+/u;

/**
 * Two values in so many columns each, from a little before the place where they begin to differ, and sentences on what
 * cannot be seen of the difference.
 */
export function shortSides(before: Shown, after: Shown, columns: number) {
  const { before: old, after: fresh } = inlineSides(before, after);
  let at = 0;
  while (at < Math.min(old.length, fresh.length) && old[at] === fresh[at]) at += 1;
  const start = at + BEFORE_IT <= columns ? 0 : at - BEFORE_IT;
  const part = (text: string) =>
    cutText(start === 0 ? text : `…${text.slice(start).replace(TORN, '')}`, columns);
  return { before: part(old), after: part(fresh), unseen: listUnseen(before, after) };
}

/** A backslash that would make an escape of what follows it. */
const ESCAPING = /\\(?=[nrtxu"\\]|$)/g;

function quoted(text: string, areBlanksShown: boolean): string {
  const shown = sanitiseLine(text.replace(ESCAPING, '\\\\')).replaceAll('"', '\\"');
  return `"${areBlanksShown ? showOddBlanks(shown) : shown}"`;
}

/**
 * Two values, each in one line, with the white space in which they differ as signs. The ids of what has names stand behind
 * both, as they are read last: `(4be1… → 91cc…)`.
 */
export function inlineSides(
  before: Shown,
  after: Shown,
): { readonly before: string; readonly after: string; readonly ids: string | null } {
  if (before instanceof Named && after instanceof Named)
    return { before: before.name, after: after.name, ids: `(${before.id} → ${after.id})` };
  const oddIn = (value: Shown) => stringsIn(value).flatMap(oddBlanksIn).join('|');
  const areBlanksShown = oddIn(before) !== oddIn(after);
  return {
    before: inlineValue(before, areBlanksShown),
    after: inlineValue(after, areBlanksShown),
    ids: null,
  };
}

/** A member of an element, which may have no name. */
export function inlineMember({ key, value }: { readonly key: string; readonly value: Shown }) {
  return key === '' ? inlineValue(value) : `${key}: ${inlineValue(value)}`;
}

/** Words a value that stands for a reference, a secret or a file in the document. Only the exact shape counts. */
function specialValue(value: Shown): string | undefined {
  if (!isMembers(value)) return undefined;
  const { $secret: secret, $blob: blob, path, size, mime, ...others } = value;
  const members = Object.keys(value).length;
  const ref = referenceIn(value);
  if (ref !== undefined) return `id of ${ref}`;
  if (members === 1 && typeof secret === 'string') return `(secret from ${sanitiseLine(secret)})`;
  if (typeof blob !== 'string' || members !== 4 || Object.keys(others).length > 0) return undefined;
  const digest = sanitiseLine(blob).slice(0, 'sha256:'.length + 12);
  return `file ${sanitiseLine(String(path))} (${formatSize(Number(size))}, ${sanitiseLine(String(mime))}, ${digest}…)`;
}

/** True if a value stands for a reference, a secret or a file. */
export function standsForOther(value: Shown): boolean {
  return specialValue(value) !== undefined;
}

/** True if a value stands for a file of the stack. */
export function isFile(value: Shown): boolean {
  return isMembers(value) && '$blob' in value && standsForOther(value);
}

function isItems(value: Shown): value is readonly Shown[] {
  return Array.isArray(value);
}

/** An object with members that are shown one by one. */
function isMembers(value: Shown): value is { readonly [key: string]: Shown } {
  return (
    typeof value === 'object' && value !== null && !isItems(value) && !(value instanceof Named)
  );
}

function compact(value: Shown, areBlanksShown: boolean): string {
  const inline = (own: Shown) => inlineValue(own, areBlanksShown);
  if (isItems(value)) return `[${value.map((item) => inline(item)).join(', ')}]`;
  if (!isMembers(value)) return inline(value);
  const members = Object.entries(value).sort(byKey);
  return members.length === 0
    ? '{}'
    : `{ ${members.map(([key, member]) => `${keyText(key)}: ${inline(member)}`).join(', ')} }`;
}

const PLAIN_KEY = /^[\p{L}\p{M}\p{N}_$@./-]+(?: [\p{L}\p{M}\p{N}_$@./-]+)*$/u;

/** The name of a member, in quotes where it could be read as more than a name. */
function keyText(key: string): string {
  return PLAIN_KEY.test(key) ? key : inlineValue(key);
}

function byKey([a]: readonly [string, Shown], [b]: readonly [string, Shown]): number {
  return compareTexts(a, b);
}

/**
 * A value over as many lines as it needs: a text as it is, a list or an object one member a line without
 * commas and brackets, so that a comparison by lines marks the members that changed and no others.
 */
export function blockValue(value: Shown): string {
  if (typeof value === 'string') return sanitise(value);
  const lines =
    isItems(value) && isFlat(value) ? value.map((item) => inlineValue(item)) : block(value);
  return lines.join('\n');
}

/** A value as it is compared by lines or as prose. CR before LF is white space there, and shown as such. */
export function comparedText(value: Shown): string {
  return typeof value === 'string'
    ? value.split('\r\n').map(sanitise).join('\r\n')
    : blockValue(value);
}

/** A list of this many characters is read as one thing. */
const SHORT_LIST = 60;

function isFlat(list: readonly Shown[]): boolean {
  return list.every((item) => !isItems(item) && !isMembers(item));
}

function block(value: Shown): readonly string[] {
  if (isItems(value)) {
    const inline = inlineValue(value);
    if (isFlat(value) && inline.length <= SHORT_LIST) return [inline];
    return value.flatMap((item) => block(item).map((line, at) => (at === 0 ? '- ' : '  ') + line));
  }
  if (!isMembers(value) || standsForOther(value)) return [inlineValue(value)];
  if (Object.keys(value).length === 0) return ['{}'];
  return Object.entries(value)
    .sort(byKey)
    .flatMap(([key, member]) => {
      const lines = block(member);
      const nested = (isItems(member) || isMembers(member)) && lines[0] !== inlineValue(member);
      const name = keyText(key);
      return nested ? [`${name}:`, ...lines.map((line) => `  ${line}`)] : [`${name}: ${lines[0]}`];
    });
}

/** Words that make a sentence, and the share of them that stays in an edit of it rather than in another sentence. */
const FEWEST_WORDS = 4;
const LEAST_KEPT = 1 / 3;

/** True if two values are versions of one sentence, which are read best with the changed words marked. */
export function areVersions(before: Shown, after: Shown): boolean {
  if (typeof before !== 'string' || typeof after !== 'string') return false;
  const [old, fresh] = [before, after].map((text) => text.trim().split(/\s+/));
  if (old === undefined || fresh === undefined) return false;
  const fewest = Math.min(old.length, fresh.length);
  const kept = new Set(fresh);
  return (
    fewest >= FEWEST_WORDS && old.filter((word) => kept.has(word)).length >= fewest * LEAST_KEPT
  );
}

export function isMultiline(value: Shown): boolean {
  return typeof value === 'string' && value.replace(/\n$/, '').includes('\n');
}

/** How much of a text there is: `42 lines, 5.1 KB`. */
export function formatExtent(text: string): string {
  const lines = text.replace(/\n$/, '').split('\n').length;
  const size = formatSize(new TextEncoder().encode(text).length);
  return lines === 1 ? size : `${formatCount(lines, 'line')}, ${size}`;
}

/** The beginning of a text as one line, with `⏎` where lines end. */
export function firstWords(text: string): string {
  return text
    .slice(0, 1000)
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')
    .join(' ⏎ ');
}

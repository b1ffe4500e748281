import { isAddress } from '../core/address.ts';
import { MASK } from '../core/credentials.ts';
import { compareTexts, isObject, type Json } from '../core/value.ts';
import { sanitise, sanitiseLine } from './untrusted.ts';
import { formatCount, formatSize } from './wording.ts';

/** A value in one line, as it stands in a field line: `"Front desk"`, `1.05`, `id of retry_policy.gentle`. */
export function inlineValue(value: Json): string {
  if (value === null) return '(none)';
  if (value === MASK) return MASK;
  if (typeof value === 'string') return `"${sanitiseLine(value).replaceAll('"', '\\"')}"`;
  if (typeof value !== 'object') return String(value);
  return specialValue(value) ?? compact(value);
}

/** A member of an element, which may have no name. */
export function inlineMember({ key, value }: { readonly key: string; readonly value: Json }) {
  return key === '' ? inlineValue(value) : `${key}: ${inlineValue(value)}`;
}

/**
 * What stands for a reference, a secret or a file in the document. Only the exact shape counts: live data
 * may hold a `$ref` of its own, in the schema of a tool for instance.
 */
function specialValue(value: Json): string | undefined {
  if (!isObject(value)) return undefined;
  const { $ref: ref, $secret: secret, $blob: blob, path, size, mime, ...others } = value;
  const members = Object.keys(value).length;
  if (members === 1 && typeof ref === 'string' && isAddress(ref)) return `id of ${ref}`;
  if (members === 1 && typeof secret === 'string') return `(secret from ${sanitiseLine(secret)})`;
  if (typeof blob !== 'string' || members !== 4 || Object.keys(others).length > 0) return undefined;
  const digest = sanitiseLine(blob).slice(0, 'sha256:'.length + 12);
  return `file ${sanitiseLine(String(path))} (${formatSize(Number(size))}, ${sanitiseLine(String(mime))}, ${digest}…)`;
}

/** Whether a value stands for a reference, a secret or a file. */
export function standsForOther(value: Json): boolean {
  return specialValue(value) !== undefined;
}

/** Whether a value stands for a file of the stack. */
export function isFile(value: Json): boolean {
  return isObject(value) && '$blob' in value && standsForOther(value);
}

function compact(value: Json): string {
  if (Array.isArray(value)) {
    return `[${value.map((item: Json) => inlineValue(item)).join(', ')}]`;
  }
  if (!isObject(value)) return inlineValue(value);
  const members = Object.entries(value).sort(byKey);
  return members.length === 0
    ? '{}'
    : `{ ${members.map(([key, member]) => `${sanitiseLine(key)}: ${inlineValue(member)}`).join(', ')} }`;
}

function byKey([a]: readonly [string, Json], [b]: readonly [string, Json]): number {
  return compareTexts(a, b);
}

/**
 * A value over as many lines as it needs: a text as it is, a list or an object one member a line without
 * commas and brackets, so that a comparison by lines marks the members that changed and no others.
 */
export function blockValue(value: Json): string {
  if (typeof value === 'string') return sanitise(value);
  const lines =
    Array.isArray(value) && isFlat(value)
      ? value.map((item: Json) => inlineValue(item))
      : block(value);
  return lines.join('\n');
}

/** A list of this many characters is read as one thing. */
const SHORT_LIST = 60;

function isFlat(list: readonly Json[]): boolean {
  return list.every((item) => item === null || typeof item !== 'object');
}

function block(value: Json): readonly string[] {
  if (typeof value !== 'object' || value === null || standsForOther(value)) {
    return [inlineValue(value)];
  }
  if (Array.isArray(value)) {
    const inline = inlineValue(value);
    if (isFlat(value) && inline.length <= SHORT_LIST) return [inline];
    return value.flatMap((item: Json) =>
      block(item).map((line, at) => (at === 0 ? '- ' : '  ') + line),
    );
  }
  if (Object.keys(value).length === 0) return ['{}'];
  return Object.entries(value)
    .sort(byKey)
    .flatMap(([key, member]: readonly [string, Json]) => {
      const lines = block(member);
      const nested =
        typeof member === 'object' && member !== null && lines[0] !== inlineValue(member);
      const name = sanitiseLine(key);
      return nested ? [`${name}:`, ...lines.map((line) => `  ${line}`)] : [`${name}: ${lines[0]}`];
    });
}

/** Words that make a sentence, and the share of them that stays in an edit of it rather than in another sentence. */
const FEWEST_WORDS = 4;
const LEAST_KEPT = 1 / 3;

/** Whether two values are versions of one sentence, which are read best with the changed words marked. */
export function areVersions(before: Json, after: Json): boolean {
  if (typeof before !== 'string' || typeof after !== 'string') return false;
  const [old, fresh] = [before, after].map((text) => text.trim().split(/\s+/));
  if (old === undefined || fresh === undefined) return false;
  const fewest = Math.min(old.length, fresh.length);
  const kept = new Set(fresh);
  return (
    fewest >= FEWEST_WORDS && old.filter((word) => kept.has(word)).length >= fewest * LEAST_KEPT
  );
}

/** Whether a value is a text of several lines. */
export function isMultiline(value: Json): boolean {
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

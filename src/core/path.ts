import { reduceText } from './alike.ts';
import { redactText } from './credentials.ts';
import { getOwn, isObject, type Value } from './value.ts';

/**
 * A path leads to a leaf of a canonical document. Its segments are object keys; an element of a list
 * that is keyed by identity (webhooks by `name`, say) has a segment in square brackets, so that
 * `extensions.tools[crm_lookup].url` stays the same leaf wherever the element stands in the list. Of
 * elements that share an identity, each but the first has its number too: `headers[Cookie#2].value`. Paths are shown
 * and kept, so that a credential within an identity is masked in them.
 */
export type Path = readonly string[];

const PLAIN_KEY = /^[A-Za-z_$][\w$-]*$/;
const PLAIN_IDENTITY = /^[\w$./:-]+$/;

/** An identity as documents that are shown have it. */
export function shownIdentity(identity: string): string {
  return redactText(identity);
}

/** An identity as paths have it: elements are recognised whatever the platform made of the white space around it. */
export function pathIdentity(identity: string): string {
  return shownIdentity(reduceText(identity));
}

/** The segment of a keyed list's element. `nth`: its number among those of the same identity, from 1. */
export function identitySegment(identity: string, nth = 1): string {
  const known = pathIdentity(identity);
  const text = PLAIN_IDENTITY.test(known) ? known : JSON.stringify(known);
  return nth === 1 ? `[${text}]` : `[${text}#${nth}]`;
}

/** The segments of elements with these identities, in their order. No two are the same. */
export function toSegments(identities: readonly string[]): readonly string[] {
  const seen = new Map<string, number>();
  return identities.map(pathIdentity).map((identity) => {
    const nth = (seen.get(identity) ?? 0) + 1;
    seen.set(identity, nth);
    return identitySegment(identity, nth);
  });
}

/** The segments of a keyed list's elements. `key`: the member that they are recognised by (`x-identity`). */
export function elementSegments(key: string, list: readonly Value[]): readonly string[] {
  return toSegments(
    list.map((element) => {
      const name = isObject(element) ? getOwn(element, key) : undefined;
      return String(name ?? '');
    }),
  );
}

/** `[crm_lookup]` for each element with an identity, `[2]` for any other. */
export function writtenSegments(identities: readonly unknown[]): readonly string[] {
  const named = toSegments(identities.filter((one) => typeof one === 'string')).values();
  return identities.map((one, index) =>
    typeof one === 'string' ? (named.next().value ?? '') : `[${index}]`,
  );
}

const ORDINAL = /#([1-9]\d*)$/;

/** The identity of the element that a segment leads to, as paths have it and without its number. */
export function identityText(segment: string): string {
  const text = segment.slice(1, -1).replace(ORDINAL, '');
  return text.startsWith('"') ? String(JSON.parse(text)) : text;
}

/** The number of the element that a segment leads to, among those of the same identity. */
export function identityOrdinal(segment: string): number {
  return Number(ORDINAL.exec(segment.slice(1, -1))?.[1] ?? 1);
}

/** Returns true for the segment of a keyed list's element. */
export function isIdentity(segment: string): boolean {
  return segment.startsWith('[');
}

/** The text form of a path: `voice_settings.speed`, `extensions.tools[crm_lookup].headers[X-Api-Key].value`. */
export function formatPath(path: Path): string {
  let text = '';
  for (const segment of path) text = extendPath(text, segment);
  return text;
}

/** The text of a path with one more segment. */
export function extendPath(text: string, segment: string): string {
  if (isIdentity(segment) && readSegment(segment) === segment) return text + segment;
  // A key of an object may begin with a bracket, too.
  const key = PLAIN_KEY.test(segment) ? segment : JSON.stringify(segment);
  return text === '' ? key : `${text}.${key}`;
}

const TOKEN = /\[(?:"(?:[^"\\]|\\.)*"(?:#[1-9]\d*)?|[^\]"]+)\]|"(?:[^"\\]|\\.)*"|[^.[\]"]+/y;

/**
 * The reverse of `formatPath`; undefined when the text is not a path. Quotes that need not be there are
 * understood too: people write paths by hand in `lifecycle.ignore`.
 */
export function parsePath(text: string): Path | undefined {
  const path: string[] = [];
  let at = 0;
  while (at < text.length) {
    if (text[at] === '.' && at > 0) at += 1;
    TOKEN.lastIndex = at;
    const token = TOKEN.exec(text)?.[0];
    const segment = token === undefined ? undefined : readSegment(token);
    if (token === undefined || segment === undefined) return undefined;
    path.push(segment);
    at += token.length;
  }
  return path.length > 0 ? path : undefined;
}

/** The path that a text of ours stands for, such as one in a plan or in the state. */
export function toPath(text: string): Path {
  return parsePath(text) ?? [text];
}

/** The top-level field that a text of ours leads to, or into. */
export function fieldIn(text: string): string {
  return toPath(text)[0] ?? '';
}

/** The members and positions that a JSON pointer names: `a/b` and `0` of `/a~1b/0`. */
export function pointerParts(pointer: string): readonly string[] {
  const parts = pointer.split('/').slice(1);
  if (!pointer.includes('~')) return parts;
  return parts.map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'));
}

/** The paths among some texts: what is none is left out. */
export function parsePaths(texts: readonly string[]): readonly Path[] {
  return texts.flatMap((text) => {
    const path = parsePath(text);
    return path === undefined ? [] : [path];
  });
}

function readSegment(token: string): string | undefined {
  if (!isIdentity(token)) return unquote(token);
  const identity = unquote(token.slice(1, -1).replace(ORDINAL, ''));
  return identity === undefined ? undefined : identitySegment(identity, identityOrdinal(token));
}

function unquote(text: string): string | undefined {
  if (!text.startsWith('"')) return text;
  try {
    return String(JSON.parse(text));
  } catch {
    return undefined;
  }
}

/** Returns true if `path` is `prefix` or lies below it. */
export function startsWith(path: Path, prefix: Path): boolean {
  return prefix.length <= path.length && prefix.every((segment, index) => path[index] === segment);
}

/** Returns true if `path` is one of the prefixes or lies below one. */
export function isWithin(path: Path, prefixes: readonly Path[]): boolean {
  return prefixes.some((prefix) => startsWith(path, prefix));
}

/** Tells whether the text of a path leads below the place that another one leads to. */
export function isTextBelow(text: string, above: string): boolean {
  return text.startsWith(above) && /^[.[]/.test(text.slice(above.length));
}

/** Returns true if one of the paths is the other or lies below it. */
export function overlaps(one: Path, other: Path): boolean {
  return startsWith(one, other) || startsWith(other, one);
}

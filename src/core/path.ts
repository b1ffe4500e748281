/**
 * A path leads to a leaf of a canonical document. Its segments are object keys; an element of a list
 * that is keyed by identity (webhooks by `name`, say) has a segment in square brackets, so that
 * `extensions.tools[crm_lookup].url` stays the same leaf wherever the element stands in the list.
 */
export type Path = readonly string[];

const PLAIN_KEY = /^[A-Za-z_$][\w$-]*$/;
const PLAIN_IDENTITY = /^[\w$./:-]+$/;

/** The segment of a keyed list's element. */
export function identitySegment(identity: string): string {
  return `[${PLAIN_IDENTITY.test(identity) ? identity : JSON.stringify(identity)}]`;
}

/** What stands between a segment's brackets, with or without quotes. */
export function identityText(segment: string): string {
  const text = segment.slice(1, -1);
  return text.startsWith('"') ? String(JSON.parse(text)) : text;
}

/** Whether a segment is that of a keyed list's element. */
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
  if (isIdentity(segment)) return text + segment;
  const key = PLAIN_KEY.test(segment) ? segment : JSON.stringify(segment);
  return text === '' ? key : `${text}.${key}`;
}

const TOKEN = /\[(?:"(?:[^"\\]|\\.)*"|[^\]"]+)\]|"(?:[^"\\]|\\.)*"|[^.[\]"]+/y;

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

function readSegment(token: string): string | undefined {
  if (!isIdentity(token)) return unquote(token);
  const identity = unquote(token.slice(1, -1));
  return identity === undefined ? undefined : identitySegment(identity);
}

function unquote(text: string): string | undefined {
  if (!text.startsWith('"')) return text;
  try {
    return String(JSON.parse(text));
  } catch {
    return undefined;
  }
}

/** Whether `path` is `prefix` or lies below it. */
export function startsWith(path: Path, prefix: Path): boolean {
  return prefix.length <= path.length && prefix.every((segment, index) => path[index] === segment);
}

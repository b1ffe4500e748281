/**
 * Patterns of file names: `*` and `?` within a name, `[a-z]` and `[!a-z]`, `{one,other}`, and `**` for any folders.
 * They come from a stack that may be a stranger's, so a match takes no more steps than pattern times path: no regular
 * expression that tries every way is made of them.
 */
export type Glob = (path: string) => boolean;

/** Characters of a pattern. Paths have at most 4,096, and a pattern says less than a path. */
const MOST_PATTERN_CHARACTERS = 1_000;
/** Patterns that the braces of one come to. */
const MOST_ALTERNATIVES = 100;

/** A sign of a name, or any number of any of them. */
type Token = '*' | Sign;
type Sign = (character: string) => boolean;
/** A name, or any number of any folders. */
type Part = '**' | readonly Token[];

/** Reads a pattern. Gives what is wrong with it, in words that follow its own, where it cannot be used. */
export function readGlob(pattern: string): Glob | string {
  if (pattern.length > MOST_PATTERN_CHARACTERS) {
    return `has ${pattern.length} characters; a pattern may have ${MOST_PATTERN_CHARACTERS}`;
  }
  if (/[@!+*?]\(/.test(pattern)) return 'uses ( ), which patterns do not know';
  const written = expandBraces(pattern);
  if (written === undefined) {
    return `stands for more than ${MOST_ALTERNATIVES} patterns through its braces`;
  }
  const globs = written.map((one) => one.split('/').map(readPart));
  return (path) => {
    const names = path.split('/').map((name) => [...name]);
    return globs.some((parts) =>
      matches<'**', readonly Token[], readonly string[]>(parts, names, '**', isName),
    );
  };
}

function readPart(text: string): Part {
  return text === '**' ? '**' : tokensOf(text);
}

function isName(part: Exclude<Part, '**'>, name: readonly string[]): boolean {
  const one = (sign: Sign, character: string) => sign(character);
  return matches<'*', Sign, string>(part, name, '*', one);
}

/**
 * Whether a pattern matches a whole sequence. Only the last star has to be tried with more: what an earlier one could
 * take, the last one can take as well.
 */
function matches<S extends string, P, T>(
  pattern: readonly (P | S)[],
  text: readonly T[],
  star: S,
  one: (part: P, item: T) => boolean,
): boolean {
  const isStar = (part: P | S | undefined): part is S => part === star;
  let [at, next] = [0, 0];
  let last: { readonly after: number; from: number } | undefined;
  while (at < text.length) {
    const part = pattern[next];
    const item = text[at];
    if (isStar(part)) {
      last = { after: next + 1, from: at };
      next += 1;
    } else if (part !== undefined && item !== undefined && one(part, item)) {
      at += 1;
      next += 1;
    } else if (last === undefined) return false;
    else {
      last.from += 1;
      at = last.from;
      next = last.after;
    }
  }
  return pattern.slice(next).every(isStar);
}

const CLASS = /^\[([!^]?)(\]?[^\]]*)\]/;

function tokensOf(text: string): readonly Token[] {
  const tokens: Token[] = [];
  for (let rest = text; rest !== ''; ) {
    const [whole, not, members] = CLASS.exec(rest) ?? [];
    const [first = ''] = rest;
    if (whole !== undefined && members !== undefined && members !== '') {
      tokens.push((character) => isIn(members, character) === (not === ''));
    } else if (first === '*') tokens.push('*');
    else tokens.push((character) => first === '?' || character === first);
    rest = rest.slice(whole === undefined || members === '' ? first.length : whole.length);
  }
  return tokens;
}

function isIn(members: string, character: string): boolean {
  for (const [, from = '', to = from] of members.matchAll(/(.)(?:-(.))?/gsu)) {
    if (from <= character && character <= to) return true;
  }
  return false;
}

/** The patterns that braces come to; undefined where they are too many. */
function expandBraces(pattern: string): readonly string[] | undefined {
  let open = [pattern];
  for (;;) {
    const expanded = open.flatMap((one) => {
      // The innermost braces first.
      const [whole, members] = /\{([^{},]*(?:,[^{},]*)+)\}/.exec(one) ?? [];
      if (whole === undefined || members === undefined) return [one];
      return members.split(',').map((member) => one.replace(whole, () => member));
    });
    if (expanded.length > MOST_ALTERNATIVES) return undefined;
    if (expanded.length === open.length) return expanded;
    open = expanded;
  }
}

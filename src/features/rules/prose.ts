import { hash } from 'node:crypto';
import type { DesiredResource } from '../../core/desired.ts';
import type { Severity } from '../../core/diagnostics.ts';
import type { FieldSchema, KindSchema } from '../../core/schema.ts';
import { oncePer } from '../../core/value.ts';
import sections from './settings.schema.json' with { type: 'json' };

/**
 * A named rule that reads what a stack says rather than whether it is allowed: a prompt that names a tool which is
 * not there, a token that nothing supplies, the same prompt written twice. It has a name, a default severity, and a
 * function from the resources of a sound stack to findings; `settings.schema.json` describes it. It reads no file and no
 * comment: where a finding is in the YAML, and whether it is suppressed there, is worked out by `report.ts`.
 */
export type LintRule = {
  /** `prompt/unknown-tool` */
  readonly name: string;
  /** The default where `callsheet.yaml` does not set it. */
  readonly severity: Severity;
  readonly check: (subject: LintSubject) => readonly LintFinding[];
};

export type LintSubject = {
  readonly resources: readonly DesiredResource[];
  readonly settings: LintSettings;
  /** Undefined for a kind that does not exist. */
  readonly findSchema: (kind: string) => KindSchema | undefined;
  /** Returns the source of a field's text; equal for all fields that take it from one place. */
  readonly findOrigin: (resource: DesiredResource, path: string) => Origin;
};

export type Origin = {
  /** Equal for texts that are written once. */
  readonly key: string;
  /** `prompts/front-desk.md` or `agents.yaml:12`. */
  readonly label: string;
};

/** Something that a rule has found in a field. */
export type LintFinding = {
  readonly resource: DesiredResource;
  readonly path: string;
  /** The part of the field's text that it is about; the whole field where absent. */
  readonly span?: Span;
  /** Begins with a verb; address and field are put before it. */
  readonly message: string;
  readonly hint?: string;
};

/** Offsets in a text; `end` is exclusive. */
export type Span = { readonly start: number; readonly end: number };

/** `lint:` of callsheet.yaml. */
export type LintSettings = {
  /** Severities that differ from the rules' own, by name of rule. */
  readonly severities: ReadonlyMap<string, Severity | 'off'>;
  /** Tokens that calls and messages are supplied with; undefined where the team keeps no list. `contact.*` stands for all that begin so. */
  readonly tokens: readonly string[] | undefined;
  /** Tools that agents have beside those of the stack: the platform's own. */
  readonly tools: readonly string[];
  /** Templates that are kept elsewhere, by name. */
  readonly templates: readonly string[];
  readonly max_prompt_characters: number;
  readonly min_duplicate_characters: number;
};

const { max_prompt_characters, min_duplicate_characters } = sections.lint.schema.properties;

/** Applies where `callsheet.yaml` has no `lint:`. */
export const DEFAULT_LINT: LintSettings = {
  severities: new Map(),
  tokens: undefined,
  tools: [],
  templates: [],
  /**
   * The specification has no limit for a prompt, but the model reads it again at every turn of a call. At
   * about four characters a token this is 5,000 tokens, of which one turn of a voice call can bear few more.
   */
  max_prompt_characters: max_prompt_characters.default,
  /** Shorter texts are alike by chance, and a base for them is more to read than what it saves. */
  min_duplicate_characters: min_duplicate_characters.default,
};

/** Values of `x-prose`. */
type Role = 'instructions' | 'speech' | 'message';

/** A text that a resource is given to say or to follow. */
export type Prose = {
  readonly resource: DesiredResource;
  readonly path: string;
  readonly role: Role;
  /** Read from the resource at each look: all prompts of a fleet together fill the memory. */
  readonly text: string;
  /** Counted from 0; the same number for the same text. */
  readonly textId: number;
};

/** The prose of a stack in its order, of the roles that are wanted: the fields that schemas mark with `x-prose`. */
export function listProse(subject: LintSubject, roles: readonly Role[]): readonly Prose[] {
  return allProse(subject).filter(({ role }) => roles.includes(role));
}

const allProse = oncePer(({ resources, findSchema }: LintSubject): readonly Prose[] => {
  const byKind = new Map<string, readonly Field[]>();
  const ids = new Map<string, number>();
  const all: Prose[] = [];
  for (const resource of resources) {
    const fields = byKind.get(resource.kind) ?? listFields(findSchema(resource.kind));
    byKind.set(resource.kind, fields);
    for (const { path, role } of fields) {
      const text = resource.document[path];
      if (typeof text !== 'string') continue;
      const key = textKey(text);
      const textId = ids.get(key) ?? ids.size;
      ids.set(key, textId);
      all.push(new FieldProse(resource, path, role, textId));
    }
  }
  return all;
});

class FieldProse implements Prose {
  readonly resource: DesiredResource;
  readonly path: string;
  readonly role: Role;
  readonly textId: number;

  constructor(resource: DesiredResource, path: string, role: Role, textId: number) {
    this.resource = resource;
    this.path = path;
    this.role = role;
    this.textId = textId;
  }

  get text(): string {
    // Only texts have become prose.
    return this.resource.document[this.path] as string;
  }
}

/** A digest takes as long as five lines of text, and little memory. */
const LONG = 200;

/** The same for the same text: the text itself, or its digest where that is shorter. */
export function textKey(text: string): string {
  return text.length > LONG ? `sha256:${hash('sha256', text)}` : text;
}

type Field = Pick<Prose, 'path' | 'role'>;

const ROLES: readonly Role[] = ['instructions', 'speech', 'message'];

function listFields(schema: FieldSchema | undefined): readonly Field[] {
  return Object.entries(schema?.properties ?? {}).flatMap(([path, field]) => {
    const role = ROLES.find((one) => one === field['x-prose']);
    return role === undefined ? [] : [{ path, role }];
  });
}

/** Remembers what a function makes of a text: many resources share theirs. */
export function perText<T>(read: (text: string) => T): (prose: Prose) => T {
  const made: T[] = [];
  return (prose) => {
    const { textId } = prose;
    if (!(textId in made)) made[textId] = read(prose.text);
    // It was put there.
    return made[textId] as T;
  };
}

/** A name that a text speaks of. */
export type Mention = { readonly name: string; readonly span: Span };

/** A name as code is named: `crm_lookup`. Prose has no such words. */
const SNAKE = '[a-z][a-z0-9]*(?:_[a-z0-9]+)+';

/**
 * The source of a pattern for a name that `rest` follows. It begins at the first underscore of the name and looks
 * back from there: prose has few underscores, and a pattern that began with a letter would try every word. What
 * looks back is tried from its right: \b stands there, so that the name is only read where it begins.
 */
export function snakeBefore(rest: string): string {
  const name = `(?<=(?=(?<name>${SNAKE}))\\b[a-z][a-z0-9]*_)`;
  return `_${name}[a-z0-9]+(?:_[a-z0-9]+)*${rest}`;
}

/** The source of a pattern for a name that stands after `before`. It begins and looks back in the same way. */
export function snakeAfter(before: string): string {
  return `_(?<=${before}(?=(?<name>${SNAKE}))\\b[a-z][a-z0-9]*_)[a-z0-9]+(?:_[a-z0-9]+)*`;
}

/** Patterns by what a text must hold for any of them to match: most prompts are then looked through quickly. */
export type Patterns = {
  /** Those that need a quotation mark. */
  readonly quoted: readonly RegExp[];
  /** Those that need a `SNAKE`. */
  readonly named: readonly RegExp[];
};

/**
 * Finds mentions in a text, by place. Each pattern has the group `name`; a pattern may have it twice, one of which
 * matches. The same place is reported once.
 */
export function mentionsIn(text: string, { quoted, named }: Patterns): readonly Mention[] {
  const patterns = [...(/[`"“]/.test(text) ? quoted : []), ...(text.includes('_') ? named : [])];
  return findAll(text, patterns);
}

/** Finds all matches of the patterns, without a check that the text has the characters they need. */
export function findAll(text: string, patterns: readonly RegExp[]): readonly Mention[] {
  const found = new Map<number, Mention>();
  for (const pattern of patterns) {
    // Not matchAll, which copies its pattern for every text.
    pattern.lastIndex = 0;
    for (let match = pattern.exec(text); match !== null; match = pattern.exec(text)) {
      const name = match.groups?.name;
      const place = match.indices?.groups?.name;
      if (name === undefined || place === undefined) continue;
      const [start, end] = place;
      if (!found.has(start)) found.set(start, { name, span: { start, end } });
    }
  }
  return [...found.values()].sort((a, b) => a.span.start - b.span.start);
}

/** The first mention of each name. */
export function firstOfEach(mentions: readonly Mention[]): readonly Mention[] {
  const seen = new Set<string>();
  return mentions.filter(({ name }) => !seen.has(name) && seen.add(name));
}

/** A `{{token}}` that does not open and close as it should. */
type Unbalanced = { readonly span: Span; readonly message: string };

const SINGLE = /\{[A-Za-z_][\w.]*(?:\|[^{}\n]*)?\}\}/y;
const SHOWN = 40;
/** A text with more of them is not what it was meant to be; saying so this often is enough. */
const MOST_UNBALANCED = 10;

/** Finds the next `part` from an offset on; offsets only grow, so a text is searched once. */
function finder(text: string, part: string) {
  let known = -1;
  return {
    from: (offset: number): number => {
      if (known < offset) {
        const at = text.indexOf(part, offset);
        known = at < 0 ? Number.POSITIVE_INFINITY : at;
      }
      return known;
    },
  };
}

function snippet(text: string, from: number): number {
  const end = text.indexOf('\n', from);
  return Math.min(SHOWN, (end < 0 ? text.length : end) - from);
}

/**
 * The platform's placeholders that are opened and not closed, or closed and not opened. Single braces
 * are left alone: prompts quote JSON and templates hold CSS, where `}}` is common.
 */
export function findUnbalanced(text: string): readonly Unbalanced[] {
  if (!text.includes('{{') && !text.includes('}}')) return [];
  const closes = finder(text, '}}');
  const opens = finder(text, '{{');
  const lines = finder(text, '\n');
  const found: Unbalanced[] = [];
  let depth = 0;
  for (let at = 0; at < text.length && found.length < MOST_UNBALANCED; at += 1) {
    const char = text[at];
    if (char === '}') depth = Math.max(0, depth - 1);
    if (char !== '{') continue;
    if (text[at + 1] !== '{') {
      SINGLE.lastIndex = at;
      const length = depth === 0 ? SINGLE.exec(text)?.[0].length : undefined;
      if (length !== undefined) {
        found.push({
          span: { start: at, end: at + length },
          message: 'closes with }} a token that opens with one brace',
        });
        at += length - 1;
      } else depth += 1;
      continue;
    }
    const close = closes.from(at + 2);
    const next = opens.from(at + 2);
    const closed = close < next && close < lines.from(at);
    if (closed) at = close + 1;
    else {
      found.push({
        span: { start: at, end: at + snippet(text, at) },
        message: 'opens a token with {{ that is not closed with }} on its line',
      });
      at += 1;
    }
  }
  return found;
}

import { expressionPieces } from './interpolate.ts';
import type { Resolved, ResolvedObject } from './resolved.ts';
import type { Source } from './source.ts';

/**
 * A template with its places filled in. What stands between them is the template's own and the same for all who use
 * it, so that a thousand prompts of one template are one text and a thousand names.
 */
export type FilledText = {
  readonly between: readonly string[];
  /** One less than `between`. */
  readonly values: readonly string[];
};

const pieces = new WeakMap<Source, readonly string[]>();

export function filledText(source: Source, values: readonly string[]): FilledText {
  const between = pieces.get(source) ?? expressionPieces(source.text);
  pieces.set(source, between);
  return { between, values };
}

function textOf({ between, values }: FilledText): string {
  return between.map((piece, at) => (at === 0 ? piece : `${values[at - 1]}${piece}`)).join('');
}

const TEXTS = Symbol('texts');
type Holder = { readonly [TEXTS]?: ReadonlyMap<string, FilledText> };

/** One for each field: objects whose getters are functions of their own would share no layout. */
const getters = new Map<string, () => string | undefined>();

function getterOf(field: string): () => string | undefined {
  const known = getters.get(field);
  if (known !== undefined) return known;
  const get = function (this: Holder): string | undefined {
    const text = this[TEXTS]?.get(field);
    return text && textOf(text);
  };
  getters.set(field, get);
  return get;
}

/**
 * The same document in little memory. Fields that templates fill are put together whenever they are read; in every
 * other way they are fields like the others.
 */
export function leanDocument(
  document: ResolvedObject,
  texts: ReadonlyMap<string, FilledText>,
): ResolvedObject {
  const held = [...texts].filter(([field]) => typeof document[field] === 'string');
  // A copy is half as large as what was put together member by member.
  if (held.length === 0) return { ...document };
  const lean: Holder & Record<string, Resolved> = {};
  let since: Record<string, Resolved> = {};
  for (const [field, value] of Object.entries(document)) {
    if (!texts.has(field)) {
      since[field] = value;
      continue;
    }
    Object.assign(lean, since);
    since = {};
    Object.defineProperty(lean, field, { enumerable: true, get: getterOf(field) });
  }
  Object.assign(lean, since);
  return Object.defineProperty(lean, TEXTS, { value: new Map(held) });
}

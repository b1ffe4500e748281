import anyAscii from 'any-ascii';
import { compareTexts } from '../core/value.ts';

/** Longer names are hard to read in a plan, and paths on some machines end at 260 characters. */
const MOST_CHARACTERS = 48;
/** Characters of an id that stand in for a name which leaves nothing to write. */
const ID_CHARACTERS = 8;

/** Files of these names cannot be made on Windows, with any extension. */
const DEVICES = /^(?:con|prn|aux|nul|com[0-9]|lpt[0-9]|conin|conout)$/;
const IN_ASCII = /^[\x20-\x7e]*$/;
/** Words that some reader of YAML or of objects takes for something else than a name. */
const WORDS = /^(?:null|true|false|yes|no|on|off|y|n|constructor|prototype|tostring|valueof)$/;

/** A file of the first name makes its folder a stack of its own; a folder of the second is not looked into. */
const STACK_WORDS = /^(?:callsheet|node_modules)$/;

/**
 * A name that is safe in addresses, in YAML and as a file on every system: `front_desk` of `Front desk`,
 * `qian_tai` of `前台`. Lower case, so that no two differ by case alone. Empty where nothing remains.
 */
export function toSlug(display: string): string {
  const plain = inAscii(display)
    .replace(/['’`]/g, '')
    .replace(/([a-z])([A-Z])/g, '$1_$2')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '_')
    .replace(/^_+|_+$/g, '');
  return shorten(plain);
}

/** Apart from what stands beside it, a character of another script reads better: `Qian Tai`. */
function inAscii(display: string): string {
  // Most names are, and of a large fleet looking up each character of them takes its time.
  if (IN_ASCII.test(display)) return display;
  return anyAscii(display.normalize('NFKC').replace(/\p{M}+/gu, ''));
}

function shorten(slug: string): string {
  if (slug.length <= MOST_CHARACTERS) return slug;
  const cut = slug.slice(0, MOST_CHARACTERS);
  const end = cut.lastIndexOf('_');
  // A word is only cut where there is no other way.
  return (end > MOST_CHARACTERS / 2 ? cut.slice(0, end) : cut).replace(/_+$/, '');
}

export type Nameless = {
  readonly id: string;
  /** The display name. */
  readonly display: string;
  /** When it was made, where that is known: the oldest of a name keeps it. */
  readonly createdAt: string;
};

/** A name by itself, whatever others are called; `noun` goes before what cannot begin one. */
function baseName({ id, display }: Nameless, noun: string): string {
  const slug = toSlug(display);
  if (slug === '') return `${noun}_${toSlug(id).replaceAll('_', '').slice(0, ID_CHARACTERS)}`;
  const isOdd = /^[0-9]/.test(slug) || [DEVICES, WORDS, STACK_WORDS].some((one) => one.test(slug));
  return isOdd ? `${noun}_${slug}` : slug;
}

/**
 * Names for things of one kind, by id: each its own, whatever order they come in. Of several that would be
 * called the same, the oldest keeps the name and the others are numbered; `taken` are names that others have.
 */
export function nameAll(
  things: readonly Nameless[],
  noun: string,
  taken: readonly string[] = [],
): ReadonlyMap<string, string> {
  const ordered = things.toSorted(
    (a, b) => compareTexts(a.createdAt, b.createdAt) || compareTexts(a.id, b.id),
  );
  return distinct(
    ordered.map((thing) => [thing.id, baseName(thing, noun)]),
    taken,
  );
}

/** Each with a name of its own: who comes first keeps it, those who come later are numbered. */
export function distinct(
  wanted: readonly (readonly [id: string, name: string])[],
  reserved: readonly string[] = [],
): ReadonlyMap<string, string> {
  const names = new Map<string, string>();
  const taken = new Set<string>(reserved);
  const later: (readonly [string, string])[] = [];
  for (const [id, name] of wanted) {
    if (taken.has(name)) later.push([id, name]);
    else names.set(id, name);
    taken.add(name);
  }
  const next = new Map<string, number>();
  for (const [id, name] of later) {
    let number = next.get(name) ?? 2;
    while (taken.has(`${name}_${number}`)) number += 1;
    next.set(name, number + 1);
    taken.add(`${name}_${number}`);
    names.set(id, `${name}_${number}`);
  }
  return names;
}

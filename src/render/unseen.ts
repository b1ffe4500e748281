import { formatCount, formatList, formatNumber } from '../core/errors.ts';
import {
  computeSkeleton,
  describeCharacters,
  differences,
  findScript,
  isAscii,
  isIn,
  quote,
  shorten,
  visibleForm,
} from './look-alikes.ts';
import type { Shown } from './names.ts';
import { UNSPACED } from './prose/words.ts';
import {
  type BlankChange,
  blankChange,
  blankPhrase,
  rareBlanksIn,
  rareChange,
} from './white-space.ts';

/**
 * The part of a difference that a reader cannot see, in words: white space, composed and decomposed letters, and
 * letters that look like others. Every view of two values takes its sentences from here.
 */

/** More sentences about one value are counted. */
const MOST_SENTENCES = 4;

/** Characters that are compared word by word, of both values without their equal ends. It takes half a second. */
const MOST_COMPARED = 500_000;

/**
 * Sentences on what cannot be seen of a change; a value that was not there before is searched for words that pass for
 * others. They are sanitised.
 */
export function listUnseen(before: Shown, after: Shown): readonly string[] {
  if (after === null || before === after) return [];
  const notes = new Notes();
  if (before === null) lookAtNew(stringsIn(after).join('\n').slice(0, MOST_COMPARED), notes);
  else if (typeof before === 'string' && typeof after === 'string')
    compareTexts(before, after, notes);
  else compareValues(before, after, notes);
  return notes.sentences();
}

/** Tells whether two texts differ, and nothing of it can be seen. */
export function looksAlike(one: Shown, other: Shown): boolean {
  if (typeof one !== 'string' || typeof other !== 'string' || one === other) return false;
  const { old, now } = differingPart(one, other);
  return old.length + now.length <= MOST_COMPARED && visibleForm(old) === visibleForm(now);
}

/** Collects the findings: each sort once, with its first place and its count. */
class Notes {
  readonly #hosts = new Map<string, string>();
  readonly #words = new Map<string, { readonly example: string; count: number }>();
  readonly #blanks = new Map<string, { readonly change: BlankChange; count: number }>();
  #isAllBlank = true;
  #tooLong: string | undefined;

  get isEmpty(): boolean {
    return (
      this.#hosts.size + this.#words.size + this.#blanks.size === 0 && this.#tooLong === undefined
    );
  }

  addHost(host: string, ascii: string): void {
    this.#hosts.set(host, ascii);
  }

  /** `what`: what is true of the word. It is said once, with the first word as its example. */
  addWord(word: string, what: string, count: number): void {
    const known = this.#words.get(what);
    if (known === undefined) this.#words.set(what, { example: word, count });
    else known.count += count;
  }

  addBlank(change: BlankChange): void {
    const key = JSON.stringify([change.gone, change.fresh, change.place]);
    const known = this.#blanks.get(key);
    if (known === undefined) this.#blanks.set(key, { change, count: 1 });
    else known.count += 1;
  }

  /** There is more than white space to the difference. */
  addVisible(): void {
    this.#isAllBlank = false;
  }

  /** Notes that a difference is too long to be compared. */
  addTooLong(text: string): void {
    this.#tooLong = text;
  }

  sentences(): readonly string[] {
    const hosts = [...this.#hosts].slice(0, MOST_SENTENCES);
    const words = [...this.#words].slice(0, MOST_SENTENCES);
    const last = [
      ...this.#blankSentence(),
      ...(this.#tooLong === undefined ? [] : [this.#tooLong]),
    ];
    const all = [
      ...hosts.map(([host, ascii]) => `the host ${shorten(host)} is ${shorten(ascii)}`),
      ...words.map(([what, word]) => wordSentence(what, word)),
      ...last,
    ];
    const rest = this.#hosts.size + this.#words.size + last.length - MOST_SENTENCES;
    if (rest <= 0) return all;
    const more = formatCount(rest, 'more difference');
    return [...all.slice(0, MOST_SENTENCES), `${more} that cannot be seen`];
  }

  #blankSentence(): readonly string[] {
    if (this.#blanks.size === 0) return [];
    const rest = this.#blanks.size - MOST_PHRASES;
    const phrases = [...this.#blanks.values()]
      .slice(0, MOST_PHRASES)
      .map(({ change, count }) => blankPhrase(change, count));
    const listed = rest > 0 ? [...phrases, `${formatNumber(rest)} more`] : phrases;
    const isOnly = this.#isAllBlank && this.#words.size === 0;
    return [`${isOnly ? 'only ' : ''}white space differs: ${formatList(listed)}`];
  }
}

function wordSentence(what: string, { example, count }: { example: string; count: number }) {
  const often = count > 1 ? `, and in ${formatCount(count - 1, 'more word')}` : '';
  const name = example.replace(AROUND_WORD, '');
  return `${name === '' ? '' : `${shorten(name)}: `}${what}${often}`;
}

const MOST_PHRASES = 4;
/** Signs around a word, which are not needed to know it again. */
const AROUND_WORD = /^[^\p{L}\p{N}]+|[^\p{L}\p{M}\p{N}]+$/gu;
// Two values

/** The texts that a value is made of, names of members included. */
export function stringsIn(value: Shown): readonly string[] {
  if (typeof value === 'string') return [value];
  if (typeof value !== 'object' || value === null) return [];
  if (isItems(value)) return value.flatMap(stringsIn);
  const members: readonly (readonly [string, Shown])[] = Object.entries(value);
  return members.flatMap(([key, member]) => [key, ...stringsIn(member)]);
}

function isItems(value: Shown): value is readonly Shown[] {
  return Array.isArray(value);
}

/** Lists and objects: the texts that only one of them holds, each beside the one that looks like it. */
function compareValues(before: Shown, after: Shown, notes: Notes): void {
  notes.addVisible();
  const gone = countEach(stringsIn(before));
  const fresh = countEach(stringsIn(after));
  withoutCommon(gone, fresh);
  if (measure(gone) + measure(fresh) > MOST_COMPARED) {
    notes.addTooLong(TOO_LONG);
    return;
  }
  for (const { old, now } of takeAlike(gone, fresh)) compareTexts(old, now, notes);
  compareWords([...gone.keys()].join(' '), [...fresh.keys()].join(' '), notes);
}

function measure(texts: ReadonlyMap<string, number>): number {
  return [...texts.keys()].reduce((sum, { length }) => sum + length, 0);
}

function compareTexts(before: string, after: string, notes: Notes): void {
  const part = differingPart(before, after);
  const { old, now } = part;
  if (old.length + now.length > MOST_COMPARED) {
    notes.addTooLong(isOnlyBlank(old, now) ? 'only white space differs' : TOO_LONG);
    return;
  }
  compareWords(old, now, notes);
  compareBlanks(part, after, notes);
  if (notes.isEmpty && visibleForm(old) === visibleForm(now)) {
    for (const what of differences(old, now)) notes.addWord('', what, 1);
  }
}

const TOO_LONG = 'too much differs to search it for characters that look alike';

/** Tells whether two texts have the same characters but for white space. */
function isOnlyBlank(one: string, other: string): boolean {
  let [at, to] = [0, 0];
  while (at < one.length && to < other.length) {
    if (isBlankAt(one, at)) at += 1;
    else if (isBlankAt(other, to)) to += 1;
    else if (one.charCodeAt(at) !== other.charCodeAt(to)) return false;
    else [at, to] = [at + 1, to + 1];
  }
  return one.slice(at).trim() === '' && other.slice(to).trim() === '';
}

function isBlankAt(text: string, at: number): boolean {
  const code = text.charCodeAt(at);
  return code <= 0x20 || (code >= 0xa0 && /\s/.test(text.charAt(at)));
}

/** Two texts without their equal ends, in whole words with the white space around them. */
type Part = {
  readonly old: string;
  readonly now: string;
  /** The offset at which it begins in both texts. */
  readonly head: number;
  readonly isToEnd: boolean;
};

/** Characters that a word is gone back for: a text may be one word. */
const LONGEST_WORD = 500;

function differingPart(before: string, after: string): Part {
  const least = Math.min(before.length, after.length);
  let head = 0;
  while (head < least && before.charCodeAt(head) === after.charCodeAt(head)) head += 1;
  let tail = 0;
  const most = least - head;
  const [last, end] = [before.length - 1, after.length - 1];
  while (tail < most && before.charCodeAt(last - tail) === after.charCodeAt(end - tail)) tail += 1;
  const start = wordStart(before, head);
  const behind = before.length - tail;
  const rest = tail - (wordEnd(before, behind) - behind);
  return {
    old: before.slice(start, before.length - rest),
    now: after.slice(start, after.length - rest),
    head: start,
    isToEnd: rest === 0,
  };
}

/** Returns the start of the word before a place, from which white space may separate it. */
function wordStart(text: string, from: number): number {
  const least = Math.max(0, from - LONGEST_WORD);
  let at = from;
  while (at > least && isBlankAt(text, at - 1)) at -= 1;
  while (at > least && !isBlankAt(text, at - 1)) at -= 1;
  return at;
}

function wordEnd(text: string, from: number): number {
  const most = Math.min(text.length, from + LONGEST_WORD);
  let at = from;
  while (at < most && isBlankAt(text, at)) at += 1;
  while (at < most && !isBlankAt(text, at)) at += 1;
  return at;
}

// Words

/** How often each stands there. */
function countEach(all: Iterable<string>): Map<string, number> {
  const counts = new Map<string, number>();
  for (const one of all) counts.set(one, (counts.get(one) ?? 0) + 1);
  return counts;
}

function withoutCommon(one: Map<string, number>, other: Map<string, number>): void {
  for (const [text, count] of [...one]) {
    const common = Math.min(count, other.get(text) ?? 0);
    for (const side of common > 0 ? [one, other] : []) {
      const left = (side.get(text) ?? 0) - common;
      if (left > 0) side.set(text, left);
      else side.delete(text);
    }
  }
}

type Alike = { readonly old: string; readonly now: string; readonly count: number };

/** Takes out of both what looks alike in them. */
function takeAlike(gone: Map<string, number>, fresh: Map<string, number>): readonly Alike[] {
  const waiting = Map.groupBy(gone.keys(), visibleForm);
  return [...fresh].flatMap(([now, count]): readonly Alike[] => {
    const others = waiting.get(visibleForm(now));
    const old = others?.at(-1);
    if (old === undefined || isChance(old, now)) return [];
    others?.pop();
    gone.delete(old);
    fresh.delete(now);
    return [{ old, now, count }];
  });
}

/** `1` went and `I` came: two words that have nothing to do with each other. */
function isChance(old: string, now: string): boolean {
  return old.length === 1 && now.length === 1 && isAscii(old + now);
}

/** A word, a letter of a script without blanks, or a sign. */
const TOKEN = new RegExp(
  `[${UNSPACED}]\\p{M}*|(?:(?![${UNSPACED}])[\\p{L}\\p{M}\\p{N}_])+|\\S`,
  'gu',
);

function wordsIn(text: string): readonly string[] {
  return text.split(/\s+/).filter((word) => word !== '');
}

function tokensIn(text: string): readonly string[] {
  return text.match(TOKEN) ?? [];
}

/** Words of one side that pass for words of the other, and new ones that pass for something else. */
function compareWords(before: string, after: string, notes: Notes): void {
  const [gone, fresh] = [countEach(wordsIn(before)), countEach(wordsIn(after))];
  withoutCommon(gone, fresh);
  for (const word of fresh.keys()) findHosts(word, notes);
  addAlike(takeAlike(gone, fresh), notes);
  // A part of a word that changed elsewhere, too, may look like an old one.
  const countParts = (words: Map<string, number>) => countEach([...words.keys()].flatMap(tokensIn));
  const [old, now] = [countParts(gone), countParts(fresh)];
  withoutCommon(old, now);
  addAlike(takeAlike(old, now), notes);
  lookAtWords(now, after, notes);
}

function addAlike(alike: readonly Alike[], notes: Notes): void {
  for (const { old, now, count } of alike) {
    for (const what of differences(old, now)) notes.addWord(now, what, count);
  }
}

function lookAtNew(text: string, notes: Notes): void {
  if (isAscii(text)) return;
  notes.addVisible();
  for (const word of wordsIn(text)) findHosts(word, notes);
  lookAtWords(countEach(tokensIn(text)), text, notes);
}

const HOST = /(?:\/\/|@)(?<host>[^\s/?#:@"'<>()[\]{},;\\]{1,253})/gu;

/** A host that is not written in ASCII, and its name in the network. */
function findHosts(word: string, notes: Notes): void {
  if (isAscii(word)) return;
  for (const { groups } of word.matchAll(HOST)) {
    const host = groups?.host ?? '';
    const url = `https://${host}`;
    if (!isAscii(host) && URL.canParse(url)) notes.addHost(host, new URL(url).hostname);
  }
}

/** Scripts that are written together, also with Latin. */
const TOGETHER = new Set(['Han', 'Hiragana', 'Katakana', 'Hangul', 'Bopomofo']);

/** New words of letters of several scripts, or of one script that passes for another. */
function lookAtWords(words: ReadonlyMap<string, number>, text: string, notes: Notes): void {
  const alone = new Map<string, boolean>();
  for (const [word, count] of words) {
    if (isAscii(word)) continue;
    const letters = Array.from(word).filter((one) => /\p{L}/u.test(one));
    const scripts = new Set(letters.flatMap((one) => findScript(one) ?? []));
    const [script, ...others] = [...scripts].filter((one) => !TOGETHER.has(one));
    const poser = letters.find((one) => !isAscii(one) && isAscii(computeSkeleton(one)));
    if (poser === undefined || script === undefined) continue;
    if (others.length > 0) {
      const all = formatList([script, ...others]);
      notes.addWord(word, `${all} letters in one word, ${describeCharacters(poser)}`, count);
    } else if (script !== 'Latin') {
      const isOne = alone.get(script) ?? isAlone(script, text);
      alone.set(script, isOne);
      const what = `${script} letters that look like ${quote(computeSkeleton(word))}`;
      if (isOne) notes.addWord(word, what, count);
    }
  }
}

/** Tells whether every word of a script looks like Latin, in a text that has Latin letters: it is no text in that script. */
function isAlone(script: string, text: string): boolean {
  const own = tokensIn(text).filter((token) => !isAscii(token) && isIn(script, token));
  return /[a-z]/i.test(text) && own.every((token) => isAscii(computeSkeleton(token)));
}

// White space

/** White space between words that stayed; between others, that at the ends and that which is rare. */
function compareBlanks({ old, now, head, isToEnd }: Part, after: string, notes: Notes): void {
  const [was, is] = [splitGaps(old), splitGaps(now)];
  const isSame = was.tokens.length === is.tokens.length;
  if (!isSame || was.tokens.some((token, at) => token !== is.tokens[at])) notes.addVisible();
  const isAligned = isSame && was.tokens.every((token, at) => isAlike(token, is.tokens[at]));
  const isLong = after.trimEnd().includes('\n');
  const last = is.gaps.length - 1;
  let line = isLong ? lineBreaks(after.slice(0, head)) + 1 : 1;
  for (const [at, gap] of is.gaps.entries()) {
    const other = at === last ? was.gaps.at(-1) : was.gaps[at];
    const end = at === 0 && head === 0 ? 'start' : at === last && isToEnd ? 'end' : undefined;
    if (other !== undefined && gap !== other && (isAligned || end !== undefined)) {
      const change = blankChange(other, gap, end);
      const here = change.place === 'line start' ? line + lineBreaks(gap) : line;
      notes.addBlank({ ...change, line: isLong ? here : null });
    }
    line += lineBreaks(gap);
  }
  if (isAligned) return;
  // The ends are compared already.
  const within = (text: string) => text.slice(head === 0 ? text.search(/\S|$/) : 0);
  const inner = (text: string) => within(isToEnd ? text.trimEnd() : text);
  const [gone, fresh] = [countEach(rareBlanksIn(inner(old))), countEach(rareBlanksIn(inner(now)))];
  withoutCommon(gone, fresh);
  for (const [sort, count] of gone) notes.addBlank(rareChange(sort, count, true));
  for (const [sort, count] of fresh) notes.addBlank(rareChange(sort, count, false));
}

function isAlike(one: string, other = ''): boolean {
  return one === other || computeSkeleton(one) === computeSkeleton(other);
}

function lineBreaks(text: string): number {
  let count = 0;
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) count += 1;
  return count;
}

/** Tokens, and the white space before each and behind the last. */
function splitGaps(text: string) {
  const tokens: string[] = [];
  const gaps: string[] = [];
  let end = 0;
  for (const { 0: token, index } of text.matchAll(TOKEN)) {
    gaps.push(text.slice(end, index));
    tokens.push(token);
    end = index + token.length;
  }
  gaps.push(text.slice(end));
  return { tokens, gaps };
}

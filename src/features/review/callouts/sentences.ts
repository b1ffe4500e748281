import { oncePer } from '../../../core/value.ts';
import { type Fact, factKey, isName, NEGATED } from './fact.ts';
import { factsIn } from './facts.ts';
import type { Language } from './language.ts';
import {
  findLexicon,
  type Lexicon,
  type Span,
  spanFinder,
  type Token,
  tokensIn,
} from './meaning.ts';
import {
  compile,
  END,
  fold,
  inAny,
  matchAny,
  matchesIn,
  mistyped,
  START,
  wordSet,
  words,
} from './patterns.ts';

/** Sentences of a paragraph, what they state, and what they forbid, demand or permit. */

/** The effect of a word on its sentence. */
type Force =
  | 'forbids'
  | 'negates'
  | 'turns'
  | 'without'
  | 'excepts'
  | 'limits'
  | 'always'
  | 'obliges'
  | 'permits'
  | 'softens'
  | 'condition';

/** A reading of a sentence is compared with that of another. */
export type Reading = {
  /** The effects of its words of instruction. */
  readonly forces: ReadonlySet<string>;
  /** Its facts, in one form. */
  readonly facts: readonly string[];
  readonly joints: Joints;
  /** For each of its words whether it is affirmed, negated, or both. */
  readonly signs: ReadonlyMap<string, Sign>;
  /** The words that a negation is about first: what is not to be done. */
  readonly denied: ReadonlySet<string>;
  /** Words that begin what something is done before or after. */
  readonly order: ReadonlyMap<string, 'before' | 'after'>;
  /** All that a negation is about that stands in no condition. */
  readonly negated: ReadonlySet<string>;
  /** Something is done only where something else is: a prohibition with an exception came to that. */
  readonly isNeed: boolean;
  /** It says what is done first or has to be, which is what a need is in other words. */
  readonly isOrdered: boolean;
  /** It negates something outside of conditions. */
  readonly isDenying: boolean;
};

export type Sentence = {
  /** Without the sign of a list item and without emphasis, blanks as one. */
  readonly text: string;
  /** The same for sentences that only differ in case, signs and emphasis. */
  readonly key: string;
  /** The offset in its paragraph. */
  readonly start: number;
  readonly facts: readonly Fact[];
  /** Its words in lower case, without accents. */
  readonly words: readonly string[];
  /** It tells the agent what to do, or never, always or only to do. */
  readonly isInstruction: boolean;
  /** True if it is one also where it comes or goes: an exception in a statement is reported only where it changes. */
  readonly isWhole: boolean;
  /** As it is written, and with what comes to the same in one form: `never A without B` demands B. */
  readonly plain: Reading;
  readonly settled: Reading;
  /** Its content words as they are written, without words of instruction and facts. */
  readonly content: ReadonlyMap<string, string>;
  /** Those of them that say on which condition something is done. */
  readonly conditions: ReadonlySet<string>;
  /** Those that say who is handed over to somebody. */
  readonly handed: ReadonlySet<string>;
  /** Words that could stand for any other. */
  readonly light: ReadonlySet<string>;
  /** Its words that say something by themselves, as they are written; values are none of them. */
  readonly spoken: ReadonlySet<string>;
};

export type Sign = 'yes' | 'no' | 'both';

/** Words that say in which order something is done, and that join what is to be done. */
export type Joints = {
  readonly before: number;
  readonly after: number;
  readonly and: number;
  readonly or: number;
  /** How strongly it demands or permits. */
  readonly must: number;
  readonly may: number;
};

type Marker = {
  readonly force: Force;
  /** It stands in a condition or the like, where it forbids nothing. */
  readonly isCondition: boolean;
  readonly start: number;
  readonly end: number;
};

/** In the order in which they are tried: a longer phrase has its force before a word of it. */
const FORCES = [
  ['forbids', ({ rules }) => rules.forbids],
  ['permits', ({ rules }) => rules.permits],
  ['excepts', ({ rules }) => rules.excepts],
  ['limits', ({ rules }) => rules.limits],
  ['always', ({ rules }) => rules.demands],
  ['turns', ({ rules }) => rules.turns],
  ['softens', ({ rules }) => rules.softens],
  ['obliges', ({ rules }) => rules.obliges],
  ['negates', ({ rules }) => rules.negates],
  ['without', ({ rules }) => rules.without],
  ['condition', ({ rules }) => rules.conditions],
] as const satisfies readonly (readonly [Force, (language: Language) => string])[];

/** Words of instruction of a language, and what stands around them. */
const compileRules = oncePer((language: Language) => {
  const { rules, meaning } = language;
  const typed = compile(words(matchAny(rules.typed)), 'g');
  const forces = FORCES.map(([force, member]) => {
    const pattern = member(language).replace(typed, (word) => `(?:${mistyped(word)})`);
    return `(?<${force}>${pattern})`;
  });
  return {
    marker: compile(
      `${START}(?:(?<none>${rules.comparisons})|${forces.join('|')})(?:${END}|(?<=['’]))`,
    ),
    subordinate: compile(`${words(rules.subordinates)}[^,;:.–—]{0,120}$`, 'iu'),
    relative: compile(`^[^\\p{L}]{0,8}(?:\\p{L}+ ){1,3}(?:${rules.relatives})$`, 'iu'),
    modal: compile(`^(?:${rules.must}|${rules.may})`, 'iu'),
    reported: compile(`${START}(?:${rules.reported})$`, 'iu'),
    ends: compile(`[.;!?—–()]|${words(rules.breaks)}|,(?=\\s{1,9}(?<next>[\\p{L}\\p{M}]{1,30}))`),
    or: compile(words(rules.or), 'iu'),
    agent: compile(words(rules.agent), 'iu'),
    first: compile(words(rules.first), 'iu'),
    sequence: compile(words(`(?<before>${rules.earlier})|(?:${rules.later})`)),
    unless: compile(`^(?:${rules.unless})$`, 'iu'),
    echoes: compile(`^(?:${rules.echoes})$`, 'iu'),
    predicates: compile(`(?:${rules.predicates})$`, 'iu'),
    nextStep: compile(words(rules.nextStep), 'iu'),
    step: compile(`(?:[,;:.]|${words(meaning.joined)})`),
    joined: compile(`(?:[,;:]|${words(meaning.joined)})\\s{0,9}$`, 'iu'),
    reason: compile(`,? ?${words(rules.reasons)}[^.;:!?]{0,200}(?=[.;:!?]|$)`, 'iu'),
    joints: compile(
      words(
        `(?<before>${rules.before})|(?<after>${rules.after})|(?<and>${rules.and})|(?<or>${rules.or})|(?<must>${rules.must})|(?<may>${rules.may})`,
      ),
    ),
    order: orderPattern(meaning, `(?:(?:${meaning.leads})${END}[^.;:!?]{0,160}?, )?`),
    later: orderPattern(meaning, '[^.;:!?,]{1,60}, '),
    states: compile(`^ (?:[\\p{L}'’]+ )?(?:${meaning.states})(?!\\p{L})`, 'iu'),
    roles: wordSet(meaning.roles),
    notOrdered: wordSet(meaning.notOrdered),
    styles: wordSet(meaning.styles),
    styleNouns: wordSet(meaning.styleNouns),
    styleVerbs: wordSet(meaning.styleVerbs),
    styleStems: new Set(meaning.styleVerbs.split(' ').map(meaning.stem)),
  };
});

/** The word that may be an order: the first of a sentence or of a clause in it, behind what leads to it. */
function orderPattern({ joined, adverbs }: Language['meaning'], lead: string): RegExp {
  const begins = `(?:^|[;:—–] ?|, (?:${joined}) |[.!?¡¿] )[^\\p{L}\\p{N}]{0,4}`;
  const order = '(?<order>[\\p{L}\\p{M}]+(?:-[\\p{L}]+)?)(?<rest>[^.;:!?]{0,24})';
  return compile(`${begins}${lead}(?:(?:${adverbs})${END},? ){0,3}${order}`);
}

/** Words of instruction in a text, with what they do and where. */
export function markersIn(text: string, lexicon: Lexicon = findLexicon([text])): readonly Marker[] {
  const { marker, subordinate, reported, relative, modal } = compileRules(lexicon.language);
  return matchesIn(text, marker).flatMap(({ 0: own, index, groups = {} }) => {
    const found = FORCES.find(([force]) => groups[force] !== undefined);
    if (found === undefined) return [];
    const before = text.slice(Math.max(0, index - 140), index);
    const isMain = reported.test(before) || (modal.test(own) && relative.test(before));
    const isCondition = !isMain && subordinate.test(before);
    return [{ force: found[0], isCondition, start: index, end: index + own.length }];
  });
}

/** Forces that make an instruction of any sentence. */
const STRONG: ReadonlySet<Force> = new Set([
  'forbids',
  'turns',
  'always',
  'obliges',
  'permits',
  'limits',
  'excepts',
]);

/** Forces with which how to speak is a rule, too. */
const FIRM: ReadonlySet<Force> = new Set(['forbids', 'limits', 'excepts']);

/** Reads how a heading, or the line above a list, changes the sense of the lines below it. */
export function findSense(text: string, lexicon: Lexicon): string {
  const found = markersIn(text, lexicon).filter((one) => !one.isCondition);
  const first = found.find(({ force }) => SENSES.has(force));
  if (first !== undefined) return [nameForce(first), ...qualify(text, found, lexicon)].join(' ');
  return found.some(({ force }) => force === 'condition') ? `if ${wordsIn(text).join(' ')}` : '';
}

/** Finds the condition in a line that introduces a list: `without asking you may:`, `with their consent you may:`. */
function qualify(text: string, markers: readonly Marker[], lexicon: Lexicon): readonly string[] {
  if (!INTRODUCES.test(text)) return [];
  const isMarker = spanFinder(markers);
  const words = tokensIn(text, lexicon).flatMap(({ word, start }) => {
    const meaning = lexicon.findMeaning(word);
    const isSaid = meaning !== undefined && !meaning.isRole && !meaning.isLight && !isMarker(start);
    return isSaid ? meaning.word : [];
  });
  const isWithout = markers.some(({ force }) => force === 'without');
  return [...(isWithout ? ['without'] : []), ...new Set(words)].sort();
}

const INTRODUCES = /:["”*_\s]*$/u;

const SENSES: ReadonlySet<Force> = new Set(['forbids', 'turns', 'permits', 'limits', 'excepts']);

/** The beginning of a list item, a quotation or a heading, or the number of a step. */
const OPENING = compile(
  `^(?:\\s*(?:[-*+•–>#|]+\\s|\\d{1,3}[.)]\\s|[a-z][.)]\\s|${inAny(({ meaning }) => meaning.steps)} \\d{1,3}\\s?[:.–-]\\s))+`,
  'iu',
);
const ABBREVIATION = compile(
  `(?:^|[\\s("'])(?:\\p{L}|${inAny(({ meaning }) => meaning.abbreviations)})\\.$`,
  'iu',
);
const STOP = /[.!?…]+["'”’»)\]*_`]*(?=\s)|[。！？]/gu;

/** A paragraph taken apart at the ends of its sentences. `above`: the heading or the line above its list. */
export function splitSentences(
  paragraph: string,
  above: string | null,
  lexicon: Lexicon,
): readonly Sentence[] {
  const over = markersIn(above ?? '', lexicon).filter(
    ({ force, isCondition }) => STRONG.has(force) && !isCondition,
  );
  const facts = factsIn(paragraph);
  const quotes = quotesIn(paragraph);
  const sentences: Sentence[] = [];
  const add = (from: number, to: number) => {
    const sentence = readSentence(paragraph, from, to, facts, over, lexicon);
    if (sentence.key !== '') sentences.push(sentence);
  };
  let start = OPENING.exec(paragraph)?.[0].length ?? 0;
  for (const match of matchesIn(paragraph, STOP)) {
    const end = match.index + match[0].length;
    if (end <= start || !endsSentence(paragraph, start, match, facts, quotes)) continue;
    add(start, end);
    start = end;
  }
  add(start, paragraph.length);
  return sentences;
}

function endsSentence(
  text: string,
  start: number,
  { 0: stop, index }: RegExpExecArray,
  facts: readonly Fact[],
  quotes: readonly Span[],
): boolean {
  const end = index + stop.length;
  const next = /\S/u.exec(text.slice(end, end + 40))?.[0] ?? '';
  if (/\p{Ll}/u.test(next)) return false;
  if ([...facts, ...quotes].some((one) => one.start < end && end < one.end)) return false;
  if (!stop.startsWith('.')) return true;
  const isTime = /[ap]\.\s?m\.$/i.test(text.slice(start, end));
  return isTime
    ? /\p{Lu}/u.test(next)
    : !ABBREVIATION.test(text.slice(Math.max(start, end - 16), end));
}

/** A sentence on its way to be read: places are those in its own text. */
type Draft = {
  readonly raw: string;
  readonly facts: readonly Fact[];
  readonly markers: readonly Marker[];
  readonly isStated: (at: number) => boolean;
  /** Words of instruction in the heading or the line above. */
  readonly over: readonly Marker[];
  readonly lexicon: Lexicon;
};

function readSentence(
  paragraph: string,
  from: number,
  to: number,
  all: readonly Fact[],
  over: readonly Marker[],
  lexicon: Lexicon,
): Sentence {
  const raw = paragraph.slice(from, to);
  const facts = all
    .filter((fact) => fact.start >= from && fact.end <= to)
    .map((fact) => moved(fact, -from));
  const isStated = spanFinder(facts);
  const markers = markersIn(raw, lexicon).filter(({ start }) => !isStated(start));
  const draft: Draft = { raw, facts, markers, isStated, over, lexicon };
  const main = markers.flatMap(({ force, isCondition }) => (isCondition ? [] : force));
  const has = (forces: ReadonlySet<Force>) => main.some((force) => forces.has(force));
  const isOrder = findOrder(draft);
  const isDirective = isOrder || over.length > 0;
  const isTone = over.length === 0 && !has(FIRM) && !facts.some(isName) && isStyle(draft, isOrder);
  const isInstruction = (isDirective || has(STRONG)) && !isTone;
  // A demand on somebody else is reported as its value: `Clients have to be 18 or older.`
  const isValue =
    facts.some(({ isWeak }) => !isWeak) && !compileRules(lexicon.language).agent.test(raw);
  const isRule = main.some(
    (force) => force !== 'excepts' && STRONG.has(force) && !(isValue && force === 'obliges'),
  );
  const { content, conditions, handed, light, spoken, ...about } = readContent(
    draft,
    listScopes(draft),
    isInstruction,
  );
  const plain = { ...readPlain(draft), ...about, isNeed: false };
  const text = raw
    .replace(/\*\*|(?<!\p{L})__|__(?!\p{L})|<\/?[a-z][\w-]{0,60}>/giu, '')
    .replace(/\s+/g, ' ')
    .trim();
  return {
    text,
    key: (fold(text).match(SPOKEN) ?? []).join(' '),
    start: from + (raw.length - raw.trimStart().length),
    facts,
    words: wordsIn(raw),
    isInstruction,
    isWhole: isInstruction && (isDirective || isRule),
    plain,
    settled: settle(plain, draft, isInstruction),
    content,
    conditions,
    handed,
    light,
    spoken,
  };
}

function moved(fact: Fact, by: number): Fact {
  return { ...fact, start: fact.start + by, end: fact.end + by, from: fact.from + by };
}

function readPlain({
  markers,
  over,
  facts,
  raw,
  isStated,
  lexicon,
}: Draft): Omit<Reading, 'signs' | 'denied' | 'negated' | 'order' | 'isNeed'> {
  const telling = [...markers, ...over].filter(({ force }) => !SILENT.has(force));
  const joints = { before: 0, after: 0, and: 0, or: 0, must: 0, may: 0 };
  for (const { index, groups = {} } of matchesIn(raw, compileRules(lexicon.language).joints)) {
    const joint = JOINTS.find((name) => groups[name] !== undefined);
    if (joint !== undefined && !isStated(index)) joints[joint] += 1;
  }
  const isOrdered =
    joints.before + joints.after > 0 ||
    markers.some(({ force }) => ORDERING.has(force)) ||
    compileRules(lexicon.language).first.test(raw);
  return {
    forces: new Set(telling.map(nameForce)),
    facts: facts.map(factKey),
    joints,
    isOrdered,
    isDenying: markers.some(({ force, isCondition }) => DENYING.has(force) && !isCondition),
  };
}

const JOINTS = ['before', 'after', 'and', 'or', 'must', 'may'] as const;

function nameForce({ force, isCondition }: Marker): string {
  const name = force === 'turns' ? 'forbids' : force;
  return isCondition ? `${name} if` : name;
}

/** Forces that say nothing where they come or go: what they are about does. */
const SILENT: ReadonlySet<Force> = new Set(['condition', 'obliges', 'negates']);

/**
 * | as written                     | comes to                     |
 * |--------------------------------|------------------------------|
 * | never A without B, no A unless | A needs B                    |
 * | do not A before B, until B     | A needs B                    |
 * | only A if B, A only with B     | A needs B                    |
 * | do not A if not B, to no non-B | A needs B                    |
 * | without B no A                 | A needs B                    |
 * | do not A more than three       | A at most three              |
 */
function settle(plain: Reading, draft: Draft, isInstruction: boolean): Reading {
  const { markers, facts } = draft;
  const isMain = (wanted: ReadonlySet<Force>) => (one: Marker) =>
    wanted.has(one.force) && !one.isCondition;
  const forbids = markers.find(isMain(DENYING));
  if (forbids === undefined) {
    const limits = markers.find(isMain(LIMITING));
    if (limits === undefined) return settleConditions(plain, draft, isInstruction);
    const isBound = facts.some(
      ({ bound, lead, start }) =>
        (bound !== '' || lead !== undefined) &&
        start > limits.start &&
        start < limits.end + MOST_LIMITED,
    );
    const forces = new Set([...plain.forces].filter((force) => force !== 'limits'));
    return { ...plain, forces, isNeed: !isBound };
  }
  const isBehind = ({ start }: Span) => start > forbids.start;
  const exception =
    markers.find((one) => EXCEPTING.has(one.force) && (isBehind(one) || leads(draft, one))) ??
    markers.find((one) => DENYING.has(one.force) && one.isCondition && isBehind(one));
  const has = new Set([...plain.forces].filter((force) => !LIFTED.has(force)));
  const lift = (dropped: readonly Marker[]) => {
    const scopes = listScopes(draft).filter(({ from }) => !dropped.some((one) => one.end === from));
    const { signs, denied, negated } = readContent(draft, scopes, isInstruction);
    return { ...plain, forces: has, signs, denied, negated };
  };
  const denying = markers.filter((one) => isMain(DENYING)(one));
  if (exception !== undefined) return { ...lift([...denying, exception]), isNeed: true };
  // `Minors` are under 18, and a rule that forbids them something permits others no more.
  const bounded = facts.find((one) => !one.isWeak && /[<>]/.test(one.bound) && isBehind(one));
  if (forbids.force === 'forbids' && bounded !== undefined) {
    const negate = (fact: Fact) =>
      fact === bounded && fact.bound !== '' ? { ...fact, bound: NEGATED[fact.bound] } : fact;
    // `Not if it is older than a year` is `only if it is not`.
    const isNeed = markers.some(
      ({ force, start }) => force === 'condition' && start > forbids.start && start < bounded.start,
    );
    const about = { isNeed, isOrdered: plain.isOrdered || isNeed };
    return { ...lift(denying), ...about, facts: facts.map((fact) => factKey(negate(fact))) };
  }
  const { before, after, ...joints } = plain.joints;
  if (before !== 1 || after !== 0) return plain;
  return {
    ...lift(denying),
    joints: { ...joints, before: after, after: before },
    order: new Map([...plain.order].map(([word]) => [word, 'after'])),
    isNeed: true,
    isOrdered: true,
  };
}

/** Returns true if a sentence begins with the requirement: `without a pass no guest may enter`. */
function leads({ raw }: Draft, { force, start }: Marker): boolean {
  return force === 'without' && !/\p{L}/u.test(raw.slice(0, start));
}

/** Characters between `only` and the number that it limits: `only up to three`. */
const MOST_LIMITED = 20;

/** `Unless A` is `if not A`: what a condition negates is in its signs. */
function settleConditions(plain: Reading, draft: Draft, isInstruction: boolean): Reading {
  const { raw, markers, lexicon } = draft;
  const { unless } = compileRules(lexicon.language);
  const exceptions = markers.filter(
    ({ force, start, end }) => force === 'excepts' && unless.test(raw.slice(start, end)),
  );
  if (exceptions.length === 0 && !plain.forces.has('forbids if')) return plain;
  const silent = exceptions.length > 0 ? ['forbids if', 'excepts', 'excepts if'] : ['forbids if'];
  const forces = new Set([...plain.forces].filter((force) => !silent.includes(force)));
  const isSaid = ({ word }: Token) => lexicon.findMeaning(word) !== undefined;
  const tokens = exceptions.length === 0 ? [] : tokensIn(raw, lexicon).filter(isSaid);
  const scopes = exceptions.map(({ end }): Scope => {
    const stop = raw.slice(end).search(CLAUSE);
    // Who it is about is not negated: `unless the caller is a member`.
    const first = tokens.find(({ start }) => start >= end);
    const isWho = first !== undefined && lexicon.findMeaning(first.word)?.isRole === true;
    const last = stop < 0 ? raw.length : end + stop;
    return { start: end, from: isWho ? first.end : end, end: last, isMain: false };
  });
  const { signs, denied, negated } = readContent(
    draft,
    [...listScopes(draft), ...scopes],
    isInstruction,
  );
  return { ...plain, forces, signs, denied, negated };
}

const ORDERING: ReadonlySet<Force> = new Set(['always', 'obliges', 'limits']);
const DENYING: ReadonlySet<Force> = new Set(['forbids', 'negates']);
const LIMITING: ReadonlySet<Force> = new Set(['limits']);
const EXCEPTING: ReadonlySet<Force> = new Set(['without', 'excepts']);
/** Forces of a prohibition with an exception, which together are none. */
const LIFTED: ReadonlySet<string> = new Set([
  'forbids',
  'forbids if',
  'without',
  'excepts',
  'excepts if',
]);

/** A stretch of a sentence that a negation is about. */
type Scope = {
  readonly start: number;
  /** The end of its negation. What stands before it in its clause is denied only where nothing follows. */
  readonly from: number;
  readonly end: number;
  readonly isMain: boolean;
};

function listScopes({ raw, markers, over, lexicon: { language } }: Draft): readonly Scope[] {
  const { ends, roles, or, echoes, predicates, joined } = compileRules(language);
  // A comma ends what a negation is about where somebody or something new to do follows, unless that is one of a list.
  const isBreak = (next: string, rest: string) =>
    roles.has(next) || (language.meaning.isOrder(next) && !or.test(rest));
  const ending = matchesIn(raw, ends).flatMap(({ index, groups: { next } = {} }) =>
    next === undefined || isBreak(fold(next), raw.slice(index)) ? [index] : [],
  );
  // Another prohibition begins: `never name a price, and do not promise one`.
  const other = markers.flatMap(({ force, isCondition, start }) =>
    force === 'forbids' && !isCondition && joined.test(raw.slice(Math.max(0, start - 24), start))
      ? [start]
      : [],
  );
  const breaks = [...ending, ...other].sort((a, b) => a - b);
  const starts = matchesIn(raw, CLAUSE).map(({ 0: own, index }) => index + own.length);
  const negating = markers.filter(({ force }) => NEGATING.has(force));
  const edges = [...breaks, ...starts].sort((a, b) => a - b);
  const isEcho = (one: Marker, at: number) => {
    const before = negating[at - 1];
    const isOne = echoes.test(raw.slice(one.start, one.end)) && before !== undefined;
    return isOne && (breaks[countBelow(breaks, before.end)] ?? raw.length) >= one.start;
  };
  const scopes = negating
    .filter((one, at) => !isEcho(one, at))
    .map(({ start, end, isCondition }): Scope => {
      const isAround = !isCondition && predicates.test(raw.slice(Math.max(0, start - 8), end));
      return {
        start: isAround ? (edges[countBelow(edges, start + 1) - 1] ?? 0) : end,
        from: end,
        end: breaks[countBelow(breaks, end)] ?? raw.length,
        isMain: !isCondition,
      };
    });
  const isBelow = over.some((one) => nameForce(one) === 'forbids');
  return isBelow ? [...scopes, { start: 0, from: 0, end: raw.length, isMain: true }] : scopes;
}

/** Returns the conditions in a sentence: each goes up to a comma, or to its end. */
function listConditions({ raw, markers }: Draft): readonly Span[] {
  let last = 0;
  return markers.flatMap(({ force, start }) => {
    if (force !== 'condition' || start < last) return [];
    const stop = raw.slice(start).search(/[,;.!?]/);
    last = stop < 0 ? raw.length : start + stop;
    return [{ start, end: last }];
  });
}

/** How many of some places, which ascend, are below another. */
function countBelow(places: readonly number[], place: number): number {
  let [low, high] = [0, places.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((places[middle] ?? 0) < place) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** No negation reaches back over these. */
const CLAUSE = /[,:;.!?–—]/gu;

const NEGATING: ReadonlySet<Force> = new Set(['forbids', 'negates', 'turns', 'without']);

/** Reads the content words of a sentence, and which of them are negated. */
function readContent(
  draft: Draft,
  scopes: readonly Scope[],
  isInstruction: boolean,
): Pick<Sentence, 'content' | 'conditions' | 'handed' | 'light' | 'spoken'> &
  Pick<Reading, 'signs' | 'denied' | 'negated' | 'order'> {
  const { raw, facts, markers, isStated, lexicon } = draft;
  const isOut = outsideFinder(draft);
  const transfers = facts.filter(({ mark }) => mark === 'transfer');
  const handsOver = new Set(transfers.map(({ from }) => from));
  const isHanded = spanFinder(transfers.map(({ from, start }) => ({ start: from, end: start })));
  const handed = new Set<string>();
  const isMarker = spanFinder(markers.filter(({ force }) => force !== 'condition'));
  const content = new Map<string, string>();
  const conditions = new Set<string>();
  const order = new Map<string, 'before' | 'after'>();
  const again = new Set<string>();
  const orders = [...matchesIn(raw, compileRules(lexicon.language).sequence)];
  const isInCondition = spanFinder(listConditions(draft));
  const light = new Set<string>();
  const spoken = new Set<string>();
  const signs = new Map<string, Sign>();
  const denied = new Set<string>();
  const negated = new Set<string>();
  const open = new Set(scopes.filter(({ isMain }) => isMain));
  const ahead = new Map<Scope, string>();
  const acted = new Set<Scope>();
  const step = findStep(draft);
  const [earlier, later] = [new Set<string>(), new Set<string>()];
  for (const { word, start, end } of tokensIn(raw, lexicon)) {
    const meaning = lexicon.findMeaning(word);
    if (meaning === undefined || isMarker(start) || isStated(start) || isOut.quoted(start))
      continue;
    for (const one of wordsIn(raw.slice(start, end))) spoken.add(one);
    const over = scopes.filter((scope) => scope.start <= start && start < scope.end);
    const sign: Sign = (over.length % 2 === 1) !== meaning.isOpposite ? 'no' : 'yes';
    const isAhead = over.some((scope) => start < scope.from);
    addSign(signs, meaning.word, isAhead ? 'both' : sign);
    if (!isAhead && over.some((scope) => scope.isMain)) negated.add(meaning.word);
    if (meaning.isLight) {
      light.add(meaning.word);
      for (const scope of over) if (scope.from <= start) acted.add(scope);
      continue;
    }
    // `Do not let callers do it` does not say who they are.
    const isFirst = over.some(
      (scope) => open.has(scope) && scope.from <= start && !(meaning.isRole && acted.has(scope)),
    );
    // `closed` is the opposite of `open`, and forbids nothing outside of an instruction.
    if (
      sign === 'no' &&
      (isFirst || (meaning.isOpposite && isInstruction && !isInCondition(start)))
    )
      denied.add(meaning.word);
    // `Do not ask callers` denies the act; `the vet, not you` denies the person.
    const isWho = meaning.isRole && !raw.slice(0, start).trimEnd().endsWith(',');
    if (!isWho)
      for (const scope of over)
        if (scope.from <= start) open.delete(scope);
        else if (!meaning.isRole) ahead.set(scope, meaning.word);
    if (meaning.isRole || isOut.reason(start) || handsOver.has(start)) continue;
    if (content.has(meaning.word)) again.add(meaning.word);
    content.set(meaning.word, word);
    while ((orders[0]?.index ?? raw.length) < start) {
      const side = orders.shift()?.groups?.before === undefined ? 'after' : 'before';
      if ((orders[0]?.index ?? raw.length) > start) order.set(meaning.word, side);
    }
    if (start < step) earlier.add(meaning.word);
    else later.add(meaning.word);
    if (isInCondition(start)) conditions.add(meaning.word);
    if (isHanded(start)) handed.add(meaning.word);
  }
  for (const [scope, word] of ahead) if (open.has(scope)) denied.add(word);
  // Two words of one meaning stand in no order.
  for (const word of again) order.delete(word);
  const isFirst = earlier.size > 0 || facts.some(({ start }) => start < step);
  if (step < raw.length && isFirst) {
    for (const word of earlier) if (!later.has(word)) order.set(word, 'after');
    for (const word of later) if (!earlier.has(word)) order.set(word, 'before');
  }
  return { content, conditions, handed, light, spoken, signs, denied, negated, order };
}

/**
 * Returns the start of a second step, as in `ask for the name, then book`; the end of the sentence if there is none.
 */
function findStep({ raw, lexicon }: Draft): number {
  const { nextStep, step } = compileRules(lexicon.language);
  const at = nextStep.exec(raw)?.index;
  if (at === undefined) return raw.length;
  const from = Math.max(0, at - MOST_STEP);
  const joint = matchesIn(raw.slice(from, at), step).at(-1);
  return joint === undefined ? at : from + joint.index;
}

/** Characters of a step before the word that says that it comes later. */
const MOST_STEP = 60;

export function addSign(signs: Map<string, Sign>, word: string, sign: Sign): void {
  const known = signs.get(word) ?? sign;
  signs.set(word, known === sign ? sign : 'both');
}

/** Cuts off the reasons in an instruction, and the words that it quotes, which other words may replace. */
function outsideFinder({ raw, markers, lexicon }: Draft) {
  const reason = compileRules(lexicon.language).reason.exec(raw);
  const reasons =
    reason === null ? [] : [{ start: reason.index, end: reason.index + reason[0].length }];
  const isForbidden = markers.some(({ force }) => force === 'forbids');
  return { reason: spanFinder(reasons), quoted: spanFinder(isForbidden ? [] : quotesIn(raw)) };
}

const QUOTED = /"[^"\n]{12,400}"|“[^”\n]{12,400}”|«[^»\n]{12,400}»/gu;

function quotesIn(text: string): readonly Span[] {
  return matchesIn(text, QUOTED).map(({ 0: own, index }) => ({
    start: index,
    end: index + own.length,
  }));
}

function wordsIn(text: string): readonly string[] {
  return fold(text).match(/[\p{L}\p{N}]+/gu) ?? [];
}

const SPOKEN = /[\p{L}\p{M}\p{N}]+(?:[.,:'’/_-][\p{L}\p{M}\p{N}]+)*|[$€£¥%+{}]/gu;

/** Tells whether a sentence or a clause of it begins with what is to be done. */
function findOrder({ raw, lexicon: { language } }: Draft): boolean {
  const { order, later, notOrdered, states } = compileRules(language);
  const bare = raw.replace(/["“”«»*_]/g, ' ').trim();
  const has = (pattern: RegExp, isNoun: (rest: string) => boolean) =>
    matchesIn(bare, pattern).some(({ groups = {} }) => {
      const word = fold(groups.order ?? '');
      if (!language.meaning.isOrder(word)) return false;
      return !notOrdered.has(word) || !isNoun(groups.rest ?? '');
    });
  return has(order, (rest) => states.test(rest)) || has(later, () => true);
}

/** Words of a sentence that says nothing beside. */
const SHORT = 12;

/** How to speak is a matter of style, and no rule. */
function isStyle({ raw, lexicon }: Draft, isOrder: boolean): boolean {
  const { styles, styleNouns, styleVerbs, styleStems } = compileRules(lexicon.language);
  const { stem, irregular } = lexicon.language.meaning;
  const said = wordsIn(raw);
  const isVerb = (word: string) => styleStems.has(stem(irregular[word] ?? word));
  const has = (list: ReadonlySet<string>) => said.some((word) => list.has(word));
  const isSpoken = has(styleVerbs) || (isOrder && said.some(isVerb));
  if (has(styles)) return has(styleNouns) || ((isOrder || said.length < SHORT) && isSpoken);
  return has(styleVerbs) && has(styleNouns);
}

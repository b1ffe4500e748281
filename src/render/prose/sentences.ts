import { countEach } from '../../core/value.ts';
import { type Fact, factsIn } from './facts.ts';

/** Sentences of a paragraph, what they state, and what they forbid, demand or limit. */

/** What a word does to its sentence. */
type Force = 'forbids' | 'demands' | 'limits' | 'excepts' | 'without';

export type Sentence = {
  /** Without the sign of a list item and without emphasis, blanks as one. */
  readonly text: string;
  /** The same for sentences that only differ in case, signs and emphasis. */
  readonly key: string;
  /** Where it begins in its paragraph. */
  readonly start: number;
  readonly facts: readonly Fact[];
  /** Its words in lower case. */
  readonly words: readonly string[];
  /** What the words of instruction in it do, also where these alone make no instruction. */
  readonly forces: ReadonlySet<string>;
  /** It tells the agent what never, always or only to do. */
  readonly isInstruction: boolean;
  /** What it is about: its words but for those that any sentence has, for instructions and for facts. */
  readonly content: ReadonlySet<string>;
};

/** Where a word begins and ends. */
const START = String.raw`(?<![\p{L}\p{N}_])`;
const END = String.raw`(?![\p{L}\p{N}_])`;

type Words = {
  readonly force: Force;
  /** Also a sentence that came or went as a whole is an instruction for it; the others count where one changed. */
  readonly isStrong: boolean;
  readonly words: string;
};

/**
 * English, German, French, Spanish, Italian, Portuguese and Dutch in one list: a word that means something else in
 * another language is at worst called out when it changes. The longer phrase comes first.
 */
const MARKERS: readonly Words[] = [
  {
    force: 'forbids',
    isStrong: true,
    words: `under no circumstances|in no case|on no account|at no time|no exceptions|must not|mustn['’]t|must never|may not|shall not|should not|should never|shouldn['’]t|do not ever|do not|don['’]t|cannot|can not|can['’]t|will not|won['’]t|not allowed|not permitted|not to|never|forbidden|prohibited|refuse|avoid|refrain`,
  },
  {
    force: 'forbids',
    isStrong: true,
    words:
      'auf keinen fall|unter keinen umständen|keinesfalls|niemals|nie|nicht|kein(?:e[nmrs]?)?|verboten|untersagt|' +
      'en aucun cas|sous aucun prétexte|jamais|interdite?s?|ne|pas|' +
      'bajo ninguna circunstancia|en ningún caso|nunca|jamás|prohibid[oa]|ningun[oa]?|ningún|' +
      'non(?!-)|mai|vietato|não|nunca|proibido|niet|nooit|geen',
  },
  {
    force: 'forbids',
    isStrong: false,
    words: String.raw`not|no|none|nobody|no one|nothing|neither|nor|(?:are|is|was|were|do|does|did|has|have|had|could|would|need)n['’]t|n['’](?=\p{L})|nichts|niemand|rien|personne|aucune?|nada|nadie|tampoco|nessun[oa]?|niente|nenhum|ninguém|niets`,
  },
  {
    force: 'demands',
    isStrong: true,
    words:
      'must|always|at all times|(?:have|has) to|(?:is|are) required to|mandatory|obligatory|' +
      'immer|stets|unbedingt|müssen|muss|musst|toujours|doit|doivent|devez|obligatoire|' +
      'siempre|deben?|debes|tienen? que|obligatorio|sempre|deve|devono|devem|altijd|moet(?:en)?',
  },
  { force: 'demands', isStrong: false, words: 'needs? to|required' },
  {
    force: 'limits',
    isStrong: true,
    words:
      '(?<!not )only|solely|exclusively|nur|ausschließlich|lediglich|seulement|uniquement|exclusivement|' +
      'solo|sólo|solamente|únicamente|soltanto|somente|alleen|uitsluitend',
  },
  {
    force: 'excepts',
    isStrong: true,
    words:
      'unless|except(?:ions?)?|excluding|es sei denn|außer|ausser|ausgenommen|sauf|à moins|' +
      'salvo|excepto|a menos que|tranne|exceto|behalve',
  },
  {
    force: 'without',
    isStrong: false,
    words: 'without|other than|ohne|sans|sin|senza|sem|zonder',
  },
];

const MARKER = new RegExp(
  `${START}(?:${MARKERS.map(({ words }, at) => `(?<m${at}>${words})`).join('|')})(?:${END}|(?<=['’]))`,
  'giu',
);
/** What a number begins with is no prohibition. */
const COMPARISON = new RegExp(
  `${START}(?:no|not) (?:more|less|fewer|later|earlier|longer) than${END}`,
  'giu',
);
/** Spanish `no` is `not`, and not `none`. */
const SPANISH = new RegExp(
  `${START}(?:el|la|los|las|de|que|una?|por|para|le|su|dé|es)${END}`,
  'iu',
);
/** A condition that something is not so forbids nothing. */
const CONDITION = new RegExp(
  `${START}(?:if|when|whenever|where|whether|while|because|since|who|wenn|falls|weil|si|quand|lorsque|parce que|cuando|porque|se|quando|als)${END}[^,;:.–—]{0,120}$`,
  'iu',
);

/** Words of instruction in a text, with what they do and where. */
type Marker = Pick<Words, 'force' | 'isStrong'> & {
  readonly isCondition: boolean;
  readonly start: number;
  readonly end: number;
};

export function markersIn(text: string): readonly Marker[] {
  const comparisons = Array.from(text.matchAll(COMPARISON), ({ index }) => index);
  return Array.from(text.matchAll(MARKER)).flatMap((match) => {
    const at = MARKERS.findIndex((_, index) => match.groups?.[`m${index}`] !== undefined);
    const marker = MARKERS[at];
    if (marker === undefined || comparisons.includes(match.index)) return [];
    const { force, isStrong } = marker;
    const isCondition = CONDITION.test(text.slice(Math.max(0, match.index - 140), match.index));
    const isSpanish = /^no$/i.test(match[0]) && SPANISH.test(text);
    const end = match.index + match[0].length;
    return [{ force, isStrong: isStrong || isSpanish, isCondition, start: match.index, end }];
  });
}

/** What begins an item of a list, a quotation or a heading, or numbers a step. */
const OPENING =
  /^(?:\s*(?:[-*+•–>#|]+\s|\d{1,3}[.)]\s|[a-z][.)]\s|step \d{1,3}\s?[:.–-]\s|schritt \d{1,3}\s?[:.–-]\s))+/iu;
/** A full stop behind them ends no sentence. */
const ABBREVIATION =
  /(?:^|[\s("'])(?:\p{L}|dr|mr|mrs|ms|prof|st|no|nr|approx|ca|e\.g|i\.e|etc|vs|min|max|tel|ext|incl|excl|bzw|z\. ?b|usw|d\. ?h|str|[ap]\.m|mme|mlle|sra?|srta|p\. ?ej|jan|feb|aug|sept?|oct|nov|dec|mon|tues?|wed|thu|fri|sat|sun|inc|ltd|dept)\.$/iu;
const STOP = /[.!?…]+["'”’»)\]*_`]*(?=\s)|[。！？]/gu;

/**
 * A paragraph taken apart at the ends of its sentences. `heading` is the one above it: below `What you never do`
 * each item is an instruction.
 */
export function splitSentences(paragraph: string, heading: string | null): readonly Sentence[] {
  const above = markersIn(heading ?? '').filter((one) => one.isStrong && !one.isCondition);
  const facts = factsIn(paragraph);
  const sentences: Sentence[] = [];
  const add = (from: number, to: number) => {
    const sentence = readSentence(paragraph, from, to, facts, above);
    if (sentence.key !== '') sentences.push(sentence);
  };
  let start = OPENING.exec(paragraph)?.[0].length ?? 0;
  for (const match of paragraph.matchAll(STOP)) {
    const end = match.index + match[0].length;
    if (end <= start || !endsSentence(paragraph, start, match, facts)) continue;
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
): boolean {
  const end = index + stop.length;
  const next = /\S/u.exec(text.slice(end, end + 40))?.[0] ?? '';
  if (/\p{Ll}/u.test(next)) return false;
  if (!stop.startsWith('.')) return true;
  if (facts.some((fact) => fact.start < end && end < fact.end)) return false;
  const isTime = /[ap]\.m\.$/i.test(text.slice(start, end));
  return isTime
    ? /\p{Lu}/u.test(next)
    : !ABBREVIATION.test(text.slice(Math.max(start, end - 16), end));
}

function readSentence(
  paragraph: string,
  from: number,
  to: number,
  all: readonly Fact[],
  above: readonly Marker[],
): Sentence {
  const raw = paragraph.slice(from, to);
  const start = from + (raw.length - raw.trimStart().length);
  const text = raw
    .replace(/\*\*|(?<!\p{L})__|__(?!\p{L})|<\/?[a-z][\w-]{0,60}>/giu, '')
    .replace(/\s+/g, ' ')
    .trim();
  const facts = all.filter((fact) => fact.start >= from && fact.end <= to);
  const markers = markersIn(raw).filter(
    (marker) => !facts.some((fact) => covers(fact, marker.start + from)),
  );
  const spans = [
    ...facts,
    ...markers.map((one) => ({ start: one.start + from, end: one.end + from })),
  ];
  const words = Array.from(raw.matchAll(WORD), ([word]) => word.toLowerCase());
  const content = Array.from(
    raw.replace(REASON, (reason) => ' '.repeat(reason.length)).matchAll(WORD),
  ).flatMap(({ 0: word, index }) =>
    spans.some((span) => covers(span, index + from)) ? [] : (findMeaning(word) ?? []),
  );
  return {
    text,
    key: (text.toLowerCase().match(SPOKEN) ?? []).join(' '),
    start,
    facts,
    words,
    forces: new Set([
      ...markers.map(({ force, isCondition }) => (isCondition ? `${force} if` : force)),
      ...above.map(({ force }) => `${force} above`),
    ]),
    isInstruction:
      above.length > 0 || markers.some(({ isStrong, isCondition }) => isStrong && !isCondition),
    content: new Set(content),
  };
}

/** Why something is so is no part of it. */
const REASON = new RegExp(
  `,? ${START}(?:because|so that|weil|da|damit|parce que|car|porque|ya que)${END}[^.;:!?]{0,200}(?=[.;:!?]|$)`,
  'iu',
);

function covers(span: { readonly start: number; readonly end: number }, at: number): boolean {
  return span.start <= at && at < span.end;
}

const SPOKEN = /[\p{L}\p{M}\p{N}]+(?:[.,:'’/_-][\p{L}\p{M}\p{N}]+)*|[$€£¥%+{}]/gu;
const WORD = /[\p{L}\p{N}][\p{L}\p{M}\p{N}]*/gu;

/** Words that say little about what a sentence is about; who is on the phone is known. */
const PLAIN: ReadonlySet<string> = new Set(
  (
    'a an the this that these those there here it its they them their he him his she her you your yours we us our i me my ' +
    'and or but so as than then too also just even still please kindly really very simply clearly again ever ' +
    'to of in on at by for from with into onto about over through up out off ' +
    'is are was were be been being am do does did done has have had having can could may might shall should will would must ' +
    'if when whenever where while before after until because since who whom whose which what how ' +
    'any all each every some one ones anyone anybody someone anything something other others else ' +
    's t d ll re ve don caller callers customer customers patient patients client clients guest guests person people user users ' +
    'make sure ensure certain able allowed permitted circumstance circumstances case ' +
    'der die das den dem des ein eine einen einem einer und oder aber sie ihr ihre ihnen ist sind zu mit von für auf bitte ' +
    'le la les un une des du de et ou vous votre est sont à au aux dans par pour que qui s’il plaît ' +
    'el los las una y o su sus es son con por para que al en lo'
  ).split(' '),
);

/** Words that prompts use for the same. */
const SAME: readonly string[] = [
  'give tell say provide offer share mention state quote reveal disclose name',
  'discuss talk speak',
  'ask request',
  'confirm verify check',
  'price cost fee charge',
  'appointment visit booking',
  'book schedule',
  'transfer forward connect route',
  'phone telephone',
  'end finish close',
];
const MEANINGS: ReadonlyMap<string, string> = new Map(
  SAME.flatMap((list) => {
    const words = list.split(' ');
    return words.map((word) => [stem(word), words[0] ?? word] as const);
  }),
);

function stem(word: string): string {
  return word
    .replace(/(?:ies|y)$/, 'i')
    .replace(/(?:ings?|ed|es|s|e)$/, '')
    .replace(/(.)\1$/, '$1');
}

/** What a word stands for, or undefined where it says nothing by itself. */
function findMeaning(word: string): string | undefined {
  const low = word.toLowerCase();
  if (PLAIN.has(low)) return undefined;
  const own = low.length > 4 ? stem(low) : low.replace(/s$/, '');
  return MEANINGS.get(own) ?? MEANINGS.get(stem(low)) ?? own;
}

/** Share of the words of two sentences that both have, from 0 to 1 (Dice's coefficient). */
export function compareSentences(a: Sentence, b: Sentence): number {
  const counts = countEach(a.words);
  let common = 0;
  for (const word of b.words) {
    const left = counts.get(word) ?? 0;
    if (left > 0) common += 1;
    counts.set(word, left - 1);
  }
  const all = a.words.length + b.words.length;
  return all === 0 ? 0 : (2 * common) / all;
}

/** Whether two sentences, or several that became one, are about the same. A mistyped word is the same word. */
export function isAboutSame(before: ReadonlySet<string>, after: ReadonlySet<string>): boolean {
  const gone = [...before].filter((word) => !after.has(word));
  const fresh = [...after].filter((word) => !before.has(word));
  if (gone.length !== fresh.length) return false;
  return gone.every((word) => fresh.some((other) => isMistyped(word, other)));
}

/** Shorter words may differ in a letter and mean something else. */
const LEAST_TYPED = 6;

function isMistyped(a: string, b: string): boolean {
  const shorter = Math.min(a.length, b.length);
  if (shorter < LEAST_TYPED || a.slice(0, 2) !== b.slice(0, 2)) return false;
  return distance(a, b) <= (shorter > 7 ? 2 : 1);
}

/** Letters to put in, take out or replace (Levenshtein). */
function distance(a: string, b: string): number {
  if (a.length > 40 || b.length > 40) return Number.POSITIVE_INFINITY;
  let row = Array.from({ length: b.length + 1 }, (_, at) => at);
  for (const [i, letter] of [...a].entries()) {
    const next = [i + 1];
    for (const [j, other] of [...b].entries()) {
      const replaced = (row[j] ?? 0) + (letter === other ? 0 : 1);
      next.push(Math.min(replaced, (row[j + 1] ?? 0) + 1, (next[j] ?? 0) + 1));
    }
    row = next;
  }
  return row.at(-1) ?? 0;
}

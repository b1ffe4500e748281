/** What a text states that can be right or wrong by itself: numbers with their unit, times, addresses, names. */

export type FactMark = 'token' | 'tool' | 'phone' | 'link' | 'transfer' | 'number';

export type Fact = {
  readonly mark: FactMark;
  /** As the text has it. */
  readonly text: string;
  /** The same for what means the same: `24 hours` and `twenty-four hours`. */
  readonly key: string;
  /** The word before that tells its direction, as in `before 5 pm`. */
  readonly lead: Lead | undefined;
  /** What it counts or how it is written: those of one unit take each other's place. */
  readonly unit: string;
  readonly start: number;
  readonly end: number;
};

type Lead = { readonly text: string; readonly side: 'below' | 'above' };

// Numbers as people write them, in digits and in words, and what they are worth.

function listed(list: string): readonly string[] {
  return list.split(' ');
}

/** Words from a value on, one more each. */
function counted(first: number, list: string): readonly (readonly [word: string, value: number])[] {
  return listed(list).map((word, at) => [word, first + at]);
}

/** Tens in order, from 20 on. */
function tens(list: string): readonly (readonly [word: string, value: number])[] {
  return listed(list).map((word, at) => [word, 20 + 10 * at]);
}

const UNITS = {
  en: 'one two three four five six seven eight nine',
  de: 'ein zwei drei vier fünf sechs sieben acht neun',
  fr: 'un deux trois quatre cinq six sept huit neuf',
  es: 'un dos tres cuatro cinco seis siete ocho nueve',
} as const;
const TEENS = {
  en: 'ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen',
  de: 'zehn elf zwölf dreizehn vierzehn fünfzehn sechzehn siebzehn achtzehn neunzehn',
  fr: 'dix onze douze treize quatorze quinze seize',
  es: 'diez once doce trece catorce quince',
} as const;
const TENS = {
  en: 'twenty thirty forty fifty sixty seventy eighty ninety',
  de: 'zwanzig dreißig vierzig fünfzig sechzig siebzig achtzig neunzig',
  fr: 'vingt trente quarante cinquante soixante septante quatrevingt nonante',
  es: 'veinte treinta cuarenta cincuenta sesenta setenta ochenta noventa',
} as const;

const VALUES: ReadonlyMap<string, number> = new Map([
  ...(['es', 'fr', 'de', 'en'] as const).flatMap((language) => [
    ...counted(1, UNITS[language]),
    ...counted(10, TEENS[language]),
    ...tens(TENS[language]),
  ]),
  ...counted(22, 'veintidós veintitrés veinticuatro veinticinco veintiséis veintisiete veintiocho'),
  ['veintiún', 21],
  ['veintinueve', 29],
  ['zero', 0],
  ['a', 1],
  ['an', 1],
  ['half', 0.5],
  ['quarter', 0.25],
  ['einhalb', 0.5],
  ['anderthalb', 1.5],
]);
const FACTORS: ReadonlyMap<string, number> = new Map([
  ['dozen', 12],
  ['hundred', 100],
  ['hundert', 100],
  ['cent', 100],
  ['cents', 100],
  ['thousand', 1000],
  ['tausend', 1000],
  ['mille', 1000],
  ['mil', 1000],
  ['million', 1_000_000],
]);

const anyOf = (list: string) => `(?:${listed(list).join('|')})`;
/** Where no longer word may begin or end. */
const START = String.raw`(?<![\p{L}\p{N}_])`;
const END = String.raw`(?![\p{L}\p{N}_])`;

const EN_SMALL = `(?:${anyOf(TENS.en)}(?:[- ]${anyOf(UNITS.en)}${END})?|${anyOf(TEENS.en)}|${anyOf(UNITS.en)}|zero)${END}`;
const EN_HUNDRED = `(?:(?:a |${EN_SMALL} )(?:hundred|dozen)${END}(?: (?:and )?${EN_SMALL})?|${EN_SMALL})`;
/** `twenty-four`, `a hundred and fifty`, `two and a half`, `half a dozen`. */
const ENGLISH = `(?:half a dozen|(?:(?:a|${EN_HUNDRED}) (?:thousand|million)${END}(?: (?:and )?${EN_HUNDRED})?|${EN_HUNDRED})(?: and a (?:half|quarter))?)${END}`;

const DE_SMALL = `(?:(?:${anyOf(UNITS.de)}und)?(?:${anyOf(TENS.de)}|dreissig)|${anyOf(TEENS.de)}|${anyOf(UNITS.de).replace('ein|', '')}(?:einhalb)?)`;
const GERMAN = `(?:anderthalb|${anyOf(UNITS.de)}?hundert(?:und)?(?:${DE_SMALL})?|${DE_SMALL})${END}`;
const FR_SMALL = `(?:(?:quatre-vingts?|${anyOf(TENS.fr)})(?:[- ](?:et[- ])?(?:${anyOf(TEENS.fr)}|${anyOf(UNITS.fr)}))?|${anyOf(TEENS.fr)}|${anyOf(UNITS.fr).replace('un|', '')})`;
const FRENCH = `(?:${FR_SMALL} cents?(?: ${FR_SMALL})?|${FR_SMALL})${END}`;
const SPANISH = `(?:veinti[a-zóéú]{2,7}|${anyOf(TENS.es)}(?: y ${anyOf(UNITS.es)}${END})?|${anyOf(TEENS.es)}|${anyOf(UNITS.es).replace('un|', '')})${END}`;

/** Digits, with the separators of either side of the Channel: `1,200.50`, `1.200,50`, `1 200,50`, `1'200`. */
const DIGITS = String.raw`(?:\d{1,3}(?:[.,'’ \u00a0\u202f]\d{3}){1,6}(?!\d)(?:[.,]\d{1,2}(?!\d))?|\d{1,40}(?:[.,]\d{1,20})?)[½¼¾]?`;

const NUMBER_PATTERNS = {
  /** In digits or English words. A word of another language is a number only before what it counts. */
  plain: `(?:${DIGITS}(?: (?:thousand|million))?|${ENGLISH})`,
  foreign: `(?:${GERMAN}|${FRENCH}|${SPANISH})`,
  digit: anyOf(UNITS.en.replace('one', 'zero oh one')),
} as const;

/** What a number that one of the patterns found is worth. */
function numberValue(text: string): number {
  const parts = /^(?<digits>\d[\d.,'’ \u00a0\u202f]*)?(?<part>[½¼¾])?(?<words>.*)$/u.exec(text);
  const { digits, part, words = '' } = parts?.groups ?? {};
  const factor = (word: string) => FACTORS.get(word.trim()) ?? 1;
  if (digits === undefined) return wordsValue(words);
  const piece = part === undefined ? 0 : { '½': 0.5, '¼': 0.25, '¾': 0.75 }[part];
  return (digitsValue(digits.trim()) + (piece ?? 0)) * factor(words);
}

/** A separator before three digits groups them; before fewer or more it begins the fraction. */
function digitsValue(text: string): number {
  const [, whole = '', fraction = ''] = /^(.*?)(?:[.,](\d{1,2}|\d{4,}))?$/.exec(text) ?? [];
  if (/^0[.,]\d+$/.test(text)) return Number(text.replace(',', '.'));
  return Number(`${whole.replace(/\D/g, '')}.${fraction || '0'}`);
}

function wordsValue(text: string): number {
  const words = text
    .toLowerCase()
    .replace('half a dozen', 'six')
    .replace(/quatre-vingts?/, 'quatrevingt')
    .replaceAll('dreissig', 'dreißig')
    .replace(/hundert(?:und)?/, ' hundert ')
    .replace(/und(?=\p{L}*zig|dreißig)/u, ' ')
    .replace('einhalb', ' einhalb')
    .split(/[\s-]+/);
  let [sum, group] = [0, 0];
  for (const word of words) {
    const factor = FACTORS.get(word);
    if (factor === undefined) {
      const isOne = (word === 'a' || word === 'an') && group > 0;
      group += isOne ? 0 : (VALUES.get(word) ?? 0);
    } else if (factor >= 1000) {
      sum += Math.max(group, 1) * factor;
      group = 0;
    } else group = Math.max(group, 1) * factor;
  }
  return sum + group;
}

/** Names must exist somewhere: each of them is named wherever it comes or goes. */
export const NAMES: readonly FactMark[] = ['token', 'tool', 'phone', 'link'];

const MONTH =
  '(?:jan(?:uary)?|feb(?:ruary)?|march|april|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?|januar|februar|märz|mai|juni|juli|oktober|dezember|janvier|février|mars|avril|juin|juillet|août|septembre|octobre|novembre|décembre|enero|febrero|marzo|abril|mayo|junio|julio|agosto|septiembre|octubre|noviembre|diciembre)';
/** In order from Monday; a short form is one only before a range, a colon or a number. */
const DAYS: readonly string[] = [
  'mondays?|montags?|lundis?|lunes',
  'tuesdays?|dienstags?|mardis?|martes',
  'wednesdays?|mittwochs?|mercredis?|miércoles',
  'thursdays?|donnerstags?|jeudis?|jueves',
  'fridays?|freitags?|vendredis?|viernes',
  'saturdays?|samstags?|sonnabends?|samedis?|sábados?',
  'sundays?|sonntags?|dimanches?|domingos?',
];
const SHORT_FORMS: readonly string[] = [
  'mon?',
  'tues?|di',
  'wed|mi',
  'thu(?:rs?)?|do',
  'fri?',
  'sat?',
  'sun|so',
];
const SHORT_DAY = 'mon|tues?|wed|thu(?:rs?)?|fri|sat|sun';
/** German ones are words of other languages: they are days only within a range. */
const TWO_LETTERS = '(?:mo|di|mi|do|fr|sa|so)';
const DAY = String.raw`(?:(?:${DAYS.join('|')})${END}|(?:${SHORT_DAY})\.?(?= ?[-–:&/] ?[\p{L}\d]| \d| to (?:${SHORT_DAY})${END})|(?<=\p{L}\.?(?: ?[-–&/] ?| to ))(?:${SHORT_DAY})${END}|${TWO_LETTERS}(?=[-–]${TWO_LETTERS}${END})|(?<=${START}${TWO_LETTERS}[-–])${TWO_LETTERS}${END})`;

const CURRENCIES: readonly (readonly [code: string, forms: string])[] = [
  ['usd', String.raw`us\$|\$|usd|dollars?|dólares`],
  ['eur', 'eur|euros?|€'],
  ['gbp', 'gbp|£|pounds?|quid'],
  ['chf', String.raw`chf|francs?|franken|fr\.`],
  ['jpy', 'jpy|¥|yen'],
  ['cent', 'cents?|pence|rappen'],
  ['%', '%|percent|per cent|prozent|pour cent|por ciento'],
];
const CURRENCY = CURRENCIES.map(([, forms]) => forms).join('|');

const CLOCK = String.raw`(?:\d{1,2}(?:[:.]\d{2})?\s?(?:[ap]\.m\.|[ap]m${END}|uhr${END})|\d{1,2} ?h(?: ?\d{2})?${END}|\d{1,2}:\d{2}(?::\d{2})?|(?:noon|midday|midnight|mittag|mitternacht|midi|minuit|mediodía|medianoche)${END})`;
const DATE = String.raw`(?:\d{4}-\d{2}-\d{2}|\d{1,2}[./]\d{1,2}[./](?:\d{4}|\d{2})|${MONTH}\.? \d{1,2}(?:st|nd|rd|th)?(?!:|\d)(?:,? \d{4})?|\d{1,2}(?:st|nd|rd|th|er|\.)? (?:of |de )?${MONTH}${END}(?: \d{4})?)`;

/** What is counted or measured on the phone; anything else in the plural is taken for it, too. */
const UNIT_WORD =
  '(?:sec(?:ond)?s?|min(?:ute)?s?|hours?|hrs?|days?|weeks?|months?|years?|times?|attempts?|calls?|rings?|tries|visits?|nights?|people|persons?|children|words?|sentences?|digits?|guests?|mg|ml|kg|km|cm|mm|lbs?|miles?|kilomet(?:er|re)s?|met(?:er|re)s?|feet|inch(?:es)?|degrees?|litres?|liters?|' +
  'sekunden?|minuten?|stunden?|tage?n?|wochen?|monate?n?|jahre?n?|mal|personen?|versuche?n?|werktage?n?|' +
  'secondes?|heures?|jours?|semaines?|mois|ans|années?|fois|personnes?|' +
  'segundos?|minutos?|horas?|días?|semanas?|mes(?:es)?|años?|veces|personas?|intentos?)';
const ADJECTIVE =
  '(?:business|working|calendar|consecutive|full|open|free|available|different|more|extra|additional|further|separate|failed|unsuccessful|alternative|other|short|long|possible|appointment|time|square|cubic|jours|offene|freie|weitere|días)';
/** Words in -s that are no plural. */
const NO_PLURAL =
  '(?:is|was|has|does|goes|this|its|as|us|his|plus|unless|always|perhaps|besides|times|across|ours|yours|pas|les|des|las|los|dans|sans|es|das|was|bis|aus)';
const PLURAL = String.raw`(?!${NO_PLURAL}${END})\p{L}{2,20}s`;
const RATE =
  '(?: (?:a|an|per|each|every|pro|par|por|al?) (?:second|minute|hour|day|night|week|month|year|person|guest|head|call|caller|visit|item|parcel|order|tag|stunde|woche|monat|jahr|person|jour|heure|semaine|mois|an|personne|día|hora|semana|mes|año|persona)|/(?:h|day|month|year|week))?';
const UNIT = `(?:-(?:${UNIT_WORD}|\\p{L}{3,20})${END}|[ \\u00a0\\u202f](?:${ADJECTIVE} ){0,2}(?:${UNIT_WORD}|${PLURAL})${END})`;

const ATLEAST =
  'at least|no less than|not less than|no fewer than|a minimum of|minimum|mindestens|au moins|al menos|como mínimo';
const ATMOST =
  'at most|up to|no more than|not more than|a maximum of|maximum|höchstens|maximal|bis zu|au plus|au maximum|jusqu’à|como máximo|hasta';
const MORE = 'more than|over|above|mehr als|über|plus de|más de';
const LESS = 'less than|fewer than|under|below|weniger als|unter|moins de|menos de';
const BEYOND = '(?: or (?:more|older|over|above|later|longer|less|fewer|younger|under|earlier))';
const LABEL = String.raw`(?:extension|ext\.?|option|room|suite|floor|gate|line|platform|durchwahl|zimmer|poste|extensión)`;
const BELOW = 'before|until|till|by|no later than|not later than|within|vor|bis|avant|antes de';
const ABOVE = 'after|from|since|no earlier than|not before|past|nach|ab|après|después de';

/** `half an hour`, `an hour and a half`, `within a day`. */
const ARTICLE = `(?:half an? (?=${UNIT_WORD}${END})|an? (?=${UNIT_WORD} and a half${END})|(?<=(?:within|in|for|after|before|than|about|least|most|until|over|under|calls|takes|lasts|half) )(?:an?|one) (?=(?:hour|minute|day|week|month|year)${END})|one (?=(?:${ADJECTIVE} )?${UNIT_WORD}${END}))(?:${ADJECTIVE} )?${UNIT_WORD}(?: and a half)?${END}`;
const TIMES = `(?:once(?= (?:a|per|every|more)${END})|twice|thrice)${END}`;

const flags = 'giu';
/** What a quantity is made around. What stands before and behind it is read for each one that is found. */
const POINT = new RegExp(
  `${START}(?<![.,](?=\\d))(?<!\\\\u\\{)(?:24/7|(?<times>${TIMES})|(?<article>${ARTICLE})|(?<date>${DATE})|(?<clock>${CLOCK})|(?<day>${DAY})|(?<plain>${NUMBER_PATTERNS.plain})(?:st|nd|rd|th)?|(?<foreign>${NUMBER_PATTERNS.foreign}))(?![\\p{Script=Latin}\\p{N}_])`,
  flags,
);
/** Read right behind a point. */
const BEHIND = {
  clock: / ?(?:o['’]clock|[ap]\.m\.|[ap]m|uhr)(?!\p{L})/iuy,
  money: new RegExp(`[ \\u00a0\\u202f]?[€$£%]|[ -](?:${CURRENCY})${END}`, 'iuy'),
  unit: new RegExp(UNIT, 'iuy'),
  rate: new RegExp(RATE, 'iuy'),
  beyond: new RegExp(`${BEYOND}${END}`, 'iuy'),
  range: / ?[-–—] ?| (?:to|until|till|through|bis|à|a|hasta|al?|au) /iuy,
  and: / and /iuy,
  or: / or /iuy,
} as const;
/** Read right before one, in a few characters. */
const AHEAD = {
  money: /(?:us\$|[$€£¥]|(?<!\p{L})(?:chf|usd|eur|gbp) )$/iu,
  past: /(?<!\p{L})(?:half past|quarter past|quarter to) $/iu,
  between: /(?<!\p{L})between $/iu,
  label: new RegExp(`${START}${LABEL} $`, 'iu'),
  bound: new RegExp(`${START}(?:${[ATLEAST, ATMOST, MORE, LESS].join('|')}) $`, 'iu'),
} as const;
/** As long as the longest of these. */
const MOST_AHEAD = 20;

const TOKEN = /\{\{[^{}\n]{0,200}\}\}|\$\{[^{}\n]{1,200}\}/gu;
const LINK =
  /https?:\/\/[^\s<>()"'`]{1,300}|www\.[^\s<>()"'`]{1,300}|[\w.+-]{1,64}@[\w-]{1,64}\.[\w.-]{1,64}/gu;
const PHONE = new RegExp(
  [
    String.raw`\+\d[\d ()./-]{5,20}\d`,
    String.raw`(?<![\d.,-])(?:1[ .-])?(?:\(\d{2,4}\) ?|\d{3}[ .-])\d{3,4}[ .-]\d{3,4}(?![\d-])`,
    String.raw`(?<![\d.,-])\d{3}[.-]\d{4}(?![\d-])`,
    String.raw`(?<!\d)0\d{1,4}(?: |\/)\d[\d ]{3,14}\d(?!\d)`,
    `${START}(?:${NUMBER_PATTERNS.digit}[ -]){2,20}${NUMBER_PATTERNS.digit}${END}`,
  ].join('|'),
  flags,
);
const TOOL =
  /`[\w.-]{2,80}`|\b[a-z][a-z0-9]{0,60}(?:_[a-z0-9]{1,60}){1,9}\b|\b[a-z]{2,40}(?:[A-Z][a-z0-9]{1,40}){1,9}\b/gu;

/** Who is handed over: a target stands behind it. */
const WHO =
  '(?:the |this |that |your |any |all |every |these )?(?:[\\p{L}]{1,20} )?(?:callers?|calls?|patients?|customers?|guests?|clients?|them|him|her|it|everyone|people)(?: (?:about|with|who|from|for|regarding) [^.,;:!?\\n]{1,50}?)?';
const TRANSFER = new RegExp(
  [
    `${START}(?:(?:(?:warm|cold|blind)[- ])?(?:transfer(?:s|red|ring)?|forward(?:s|ed|ing)?|connect(?:s|ed|ing)?|rout(?:e|es|ed|ing)|redirect(?:s|ed)?|escalat(?:e|es|ed|ing)|hand(?:s|ed)? (?:over|off))(?: ${WHO})?|(?:put|hand|pass|send|direct|refer)(?: ${WHO})(?: (?:through|over|on|off))?)(?: (?:directly|straight|immediately|at once|through|over))? (?:in)?to `,
    String.raw`|${START}(?:verbinden?|leiten?)(?: sie)? [^.,;:!?\n]{0,40}?(?:mit|an|zu[rm]?) (?:de[rmn]|die|das) `,
    String.raw`|${START}(?:transférez|transférer|passez)(?: l[’']appel| l[’']appelant| [\p{L}’']{2,20}){0,3} (?:à|au|aux) `,
    String.raw`|${START}(?:transfiera|transferir|pase)(?: la llamada| [\p{L}]{2,20}){0,2} (?:a|al) `,
  ].join(''),
  flags,
);
const TARGET =
  /^(?<article>(?:the|a|an|our|your|la|le|les|el|los|die|der|den|das)\s)?(?<target>[\p{L}\p{N}][\p{L}\p{N}'’&/-]*(?:\.(?=\s\p{Lu}))?(?:\s(?!(?:if|when|whenever|after|before|and|or|for|with|at|on|in|who|whose|that|which|immediately|directly|without|unless|only|right|by|via|using|as|so|until|once|during|instead|because|wenn|und|oder|weiter|si|et|ou|y|o|cuando)(?![\p{L}]))[\p{L}\p{N}'’&/-]+){0,3})/iu;

/** The facts of a text in order; none of them overlap. */
export function factsIn(text: string): readonly Fact[] {
  const claimed: Fact[] = [];
  const isFree = (start: number, end: number) =>
    claimed.every((one) => one.end <= start || end <= one.start);
  const claim = (mark: FactMark, pattern: RegExp, keyOf: (text: string) => string) => {
    const found = Array.from(text.matchAll(pattern), (match): Fact => {
      const own = mark === 'link' ? match[0].replace(/[.,;:!?*_]+$/, '') : match[0];
      const start = match.index;
      return {
        mark,
        text: own,
        key: `${mark} ${keyOf(own)}`,
        lead: undefined,
        unit: mark,
        start,
        end: start + own.length,
      };
    });
    claimed.push(...keepFree(found, claimed));
  };
  claim('token', TOKEN, (own) => own.replace(/\s+/g, ''));
  claim('link', LINK, (own) => own.toLowerCase().replace(/\/$/, ''));
  claim('tool', TOOL, (own) => own.replaceAll('`', ''));
  claim('phone', PHONE, phoneKey);
  claimed.push(...keepFree(quantitiesIn(text), claimed));
  for (const match of text.matchAll(TRANSFER)) {
    const fact = transfer(text, match);
    if (fact !== undefined && isFree(fact.start, fact.start + 1))
      claimed.push(cutAt(fact, claimed));
  }
  return claimed.sort((a, b) => a.start - b.start);
}

/** Those that overlap none of `taken`; both ascend within themselves. */
function keepFree(found: readonly Fact[], taken: readonly Fact[]): readonly Fact[] {
  const ordered = [...taken].sort((a, b) => a.start - b.start);
  let at = 0;
  return found.filter(({ start, end }) => {
    while ((ordered[at]?.end ?? Number.POSITIVE_INFINITY) <= start) at += 1;
    return (ordered[at]?.start ?? Number.POSITIVE_INFINITY) >= end;
  });
}

/** Written with signs or without, it is the same number. */
function phoneKey(text: string): string {
  const words = 'zero one two three four five six seven eight nine'.split(' ');
  const spoken = text.toLowerCase().replace(/[a-z]+/g, (word) => {
    return String(word === 'oh' ? 0 : words.indexOf(word));
  });
  return spoken.replace(/\D/g, '');
}

function transfer(text: string, match: RegExpExecArray): Fact | undefined {
  const from = match.index + match[0].length;
  const found = TARGET.exec(text.slice(from, from + 120));
  const { article = '', target } = found?.groups ?? {};
  if (target === undefined) return undefined;
  return {
    mark: 'transfer',
    text: article + target,
    key: `transfer ${target.toLowerCase()}`,
    lead: undefined,
    unit: 'transfer',
    start: from,
    end: from + article.length + target.length,
  };
}

/** A target ends where something else begins: `Dr. Weber at +1 …`. */
function cutAt(fact: Fact, claimed: readonly Fact[]): Fact {
  const next = Math.min(
    ...claimed.filter(({ start }) => start > fact.start).map(({ start }) => start),
    fact.end,
  );
  if (next === fact.end) return fact;
  const text = fact.text.slice(0, next - fact.start).trimEnd();
  const key = `transfer ${text.toLowerCase().replace(/^(?:the|an?|our|your) /, '')}`;
  return { ...fact, text, key, end: fact.start + text.length };
}

/** A number, a time, a day or an amount of money by itself. */
type Point = {
  readonly start: number;
  readonly end: number;
  readonly value: string;
  /** What it is, as `number`, `clock` or `day`, or the currency. */
  readonly kind: string;
  readonly isForeign: boolean;
  /** Of `half an hour`, which holds its unit. */
  readonly unit?: string;
};

function quantitiesIn(text: string): readonly Fact[] {
  const points = Array.from(text.matchAll(POINT), (match) => pointAt(text, match));
  const found: Fact[] = [];
  for (let at = 0; at < points.length; at += 1) {
    const point = points[at];
    if (point === undefined) continue;
    const next = points[at + 1];
    const isBetween = endsWith(AHEAD.between, text, point.start) !== '';
    const joint = readAt(isBetween ? BEHIND.and : BEHIND.range, text, point.end);
    const isRange = joint !== '' && next?.start === point.end + joint.length;
    const isChoice = !isRange && isOneChoice(text, point, next);
    const isPair = next !== undefined && (isRange || isChoice);
    const joins: Joins = { isBetween: isRange && isBetween, isChoice };
    const claim = quantity(text, isPair ? [point, next] : [point], joins);
    if (claim !== undefined) found.push(claim);
    if (isPair) at += 1;
  }
  return found;
}

/** `one or two` before what is counted: both are numbers and nothing else. */
function isOneChoice(text: string, point: Point, next: Point | undefined): boolean {
  const isNumber = ({ kind, unit }: Point) => kind === 'number' && unit === undefined;
  const joint = readAt(BEHIND.or, text, point.end);
  return (
    joint !== '' && next?.start === point.end + joint.length && isNumber(point) && isNumber(next)
  );
}

/** How two points belong together: `between 9 and 5`, `one or two`; else as a range. */
type Joins = { readonly isBetween: boolean; readonly isChoice: boolean };

function readAt(pattern: RegExp, text: string, at: number): string {
  pattern.lastIndex = at;
  return pattern.exec(text)?.[0] ?? '';
}

function endsWith(pattern: RegExp, text: string, end: number): string {
  return pattern.exec(text.slice(Math.max(0, end - MOST_AHEAD), end))?.[0] ?? '';
}

function pointAt(text: string, { 0: own, index, groups = {} }: RegExpExecArray): Point {
  const { times, article, date, clock, day, foreign } = groups;
  const low = own.toLowerCase();
  const point = (value: string | number, kind: string, more: Partial<Point> = {}): Point => {
    const end = index + own.length;
    return { start: index, end, value: String(value), kind, isForeign: false, ...more };
  };
  if (low === '24/7') return point(low, 'always');
  if (times !== undefined) return point({ once: 1, twice: 2 }[low] ?? 3, 'time');
  if (article !== undefined) {
    const value = low.startsWith('half') ? 0.5 : low.endsWith('and a half') ? 1.5 : 1;
    return point(value, 'number', {
      unit: low.replace(/^(?:half an?|an?|one) | and a half$/g, ''),
    });
  }
  if (date !== undefined) return point(low.replace(/(\d)(?:st|nd|rd|th)|,| of/g, '$1'), 'date');
  if (clock !== undefined) return point(toMinutes(low), 'clock');
  if (day !== undefined)
    return point(
      DAY_FORMS.findIndex((form) => form.test(low)),
      'day',
    );
  const value = numberValue(low.replace(/(?<=\d)(?:st|nd|rd|th)$/, ''));
  const end = index + own.length;
  const money = endsWith(AHEAD.money, text, index);
  if (money !== '') {
    return point(value, findCurrency(money), { start: index - money.length });
  }
  const after = readAt(BEHIND.money, text, end);
  if (after !== '') return point(value, findCurrency(after), { end: end + after.length });
  const half = readAt(BEHIND.clock, text, end);
  const past = endsWith(AHEAD.past, text, index);
  if (half !== '' || past !== '') {
    const minutes = toMinutes(`${value}${half.toLowerCase()}`) + (PAST[past.toLowerCase()] ?? 0);
    return point(minutes, 'clock', { start: index - past.length, end: end + half.length });
  }
  return point(value, 'number', { isForeign: foreign !== undefined });
}

const PAST: Readonly<Record<string, number>> = {
  'half past ': 30,
  'quarter past ': 15,
  'quarter to ': -15,
};

/** One point or a range of two, with what belongs to it. Undefined where a word is no number after all. */
function quantity(
  text: string,
  points: readonly Point[],
  { isBetween, isChoice }: Joins,
): Fact | undefined {
  const [first, last] = [points[0], points.at(-1)];
  if (first === undefined || last === undefined) return undefined;
  const isPlain = last.kind === 'number' && last.unit === undefined;
  const unit = isPlain ? readAt(BEHIND.unit, text, last.end) : '';
  if (last.isForeign && unit === '') return undefined;
  const rate = readAt(BEHIND.rate, text, last.end + unit.length);
  const beyond = readAt(BEHIND.beyond, text, last.end + unit.length + rate.length);
  const label = isBetween ? 'between ' : endsWith(AHEAD.label, text, first.start);
  const bound = label === '' ? endsWith(AHEAD.bound, text, first.start) : '';
  const start = first.start - label.length - bound.length;
  const end = last.end + unit.length + rate.length + beyond.length;
  const kinds = points.map(({ kind }) => kind);
  const kind = kinds.find((one) => one !== 'number') ?? 'number';
  const counted = kind === 'number' ? unitKey(last.unit ?? unit) : kind;
  const named = `${isBetween ? '' : label.toLowerCase()}${counted}${rateKey(rate)}`;
  // `9 to 5 pm` is from nine on, in hours as the other one.
  const values = points.map((one) =>
    kind === 'clock' && one.kind === 'number' ? String(60 * Number(one.value)) : one.value,
  );
  return {
    mark: 'number',
    text: text.slice(start, end),
    key: `number ${boundKey(bound, beyond)}${values.join(isChoice ? '|' : '–')} ${named}`,
    lead: findLead(text, start),
    unit: named,
    start,
    end,
  };
}

const LEAD = new RegExp(`${START}(?:(?<below>${BELOW})|(?:${ABOVE})) $`, 'iu');

/** The word right before a number, where it says on which side of it something is. */
function findLead(text: string, start: number): Lead | undefined {
  const found = LEAD.exec(text.slice(Math.max(0, start - 20), start));
  if (found === null) return undefined;
  return { text: found[0], side: found.groups?.below === undefined ? 'above' : 'below' };
}

const BOUND_FORMS = [ATLEAST, ATMOST, MORE, LESS].map(
  (forms) => new RegExp(`^(?:${forms}) $`, 'iu'),
);

function boundKey(bound: string, beyond: string): string {
  if (/more|older|over|above|later|longer/i.test(beyond)) return '≥';
  if (beyond !== '') return '≤';
  if (bound === '') return '';
  const at = BOUND_FORMS.findIndex((form) => form.test(bound));
  return ['≥', '≤', '>', '<'][at] ?? '';
}

function rateKey(rate: string): string {
  const last = rate.trim().split(/[ /]/).at(-1);
  return last === undefined || last === '' ? '' : `/${last.toLowerCase()}`;
}

function unitKey(unit: string): string {
  return unit
    .trim()
    .toLowerCase()
    .replace(/^-/, '')
    .replace(/^(?:mins?|minutes?)$/, 'minute')
    .replace(/^(?:secs?|seconds?)$/, 'second')
    .replace(/^hrs?$/, 'hour')
    .replace(/s$/, '');
}

const DAY_FORMS = DAYS.map(
  (forms, at) => new RegExp(`^(?:${forms}|(?:${SHORT_FORMS[at]})\\.?)$`, 'iu'),
);

const CURRENCY_FORMS = CURRENCIES.map(
  ([code, forms]) => [code, new RegExp(`(?<!\\p{L})(?:${forms})(?!\\p{L})`, 'iu')] as const,
);

function findCurrency(text: string): string {
  return CURRENCY_FORMS.find(([, form]) => form.test(text))?.[0] ?? 'money';
}

/** Minutes since midnight. */
function toMinutes(text: string): number {
  if (/^(?:noon|midday|mittag|midi|mediodía)$/u.test(text)) return 720;
  const time =
    /^(?<hour>\d{1,2})(?:[:.](?<minute>\d{2}))?(?::\d{2})?\s?(?:(?<half>[ap])\.?m\.?|uhr|o['’]clock|h ?(?<after>\d{2})?)?$/u;
  const { hour = '0', minute, half, after } = time.exec(text)?.groups ?? {};
  const hours = Number(hour);
  const shift = half === 'p' && hours < 12 ? 12 : half === 'a' && hours === 12 ? -12 : 0;
  return 60 * (hours + shift) + Number(minute ?? after ?? 0);
}

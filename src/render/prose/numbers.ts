/** Numbers as people write them, in digits and in words, and what they are worth. */

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
/** Where a word ends. */
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

export const NUMBER_PATTERNS = {
  /** In digits or English words. A word of another language is a number only before what it counts. */
  plain: `(?:${DIGITS}(?: (?:thousand|million))?|${ENGLISH})`,
  foreign: `(?:${GERMAN}|${FRENCH}|${SPANISH})`,
  digit: anyOf(UNITS.en.replace('one', 'zero oh one')),
} as const;

/** What a number that one of the patterns found is worth. */
export function numberValue(text: string): number {
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

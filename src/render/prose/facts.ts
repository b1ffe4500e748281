import { NUMBER_PATTERNS, numberValue } from './numbers.ts';

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

/** Names must exist somewhere: each of them is named wherever it comes or goes. */
export const NAMES: readonly FactMark[] = ['token', 'tool', 'phone', 'link'];

/** Where no longer word may begin or end. */
const START = String.raw`(?<![\p{L}\p{N}_])`;
const END = String.raw`(?![\p{L}\p{N}_])`;

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

const NUMBER = NUMBER_PATTERNS.plain;
const MONEY = `(?:(?:us\\$|[$€£¥]|(?:chf|usd|eur|gbp) )${NUMBER}|${NUMBER}(?:[ \\u00a0\\u202f]?[€$£%]|[ -](?:${CURRENCY})${END}))`;
const CLOCK = String.raw`(?:\d{1,2}(?:[:.]\d{2})?\s?(?:[ap]\.m\.|[ap]m${END}|uhr${END}|o['’]clock${END})|\d{1,2} ?h(?: ?\d{2})?${END}|\d{1,2}:\d{2}(?::\d{2})?|(?:half past|quarter past|quarter to) ${NUMBER}|${NUMBER} (?:o['’]clock|[ap]\.m\.|[ap]m${END})|(?:noon|midday|midnight|mittag|mitternacht|midi|minuit|mediodía|medianoche)${END})`;
const DATE =
  String.raw`(?:\d{4}-\d{2}-\d{2}|\d{1,2}([./])\d{1,2}\1(?:\d{4}|\d{2})|${MONTH}\.? \d{1,2}(?:st|nd|rd|th)?(?!:|\d)(?:,? \d{4})?|\d{1,2}(?:st|nd|rd|th|er|\.)? (?:of |de )?${MONTH}${END}(?: \d{4})?)`.replace(
    /\(\[\.\/\]\)|\\1/g,
    '[./]',
  );
const POINT = `(?:${DATE}|${CLOCK}|${MONEY}|${DAY}|${NUMBER}(?:st|nd|rd|th)?)`;
const RANGE = String.raw`(?:between ${POINT} and ${POINT}|${POINT}(?:(?: ?[-–—] ?| (?:to|until|till|through|bis|à|a|hasta|al?|au) )${POINT})?)`;

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
const BOUND = `(?:${[ATLEAST, ATMOST, MORE, LESS].join('|')}) `;
const BEYOND = '(?: or (?:more|older|over|above|later|longer|less|fewer|younger|under|earlier))';
const LABEL = String.raw`(?:(?:extension|ext\.?|option|room|suite|floor|gate|line|platform|durchwahl|zimmer|poste|extensión) )`;
const BELOW = 'before|until|till|by|no later than|not later than|within|vor|bis|avant|antes de';
const ABOVE = 'after|from|since|no earlier than|not before|past|nach|ab|après|después de';

/** `half an hour`, `an hour and a half`, `within a day`. */
const ARTICLE = String.raw`(?:half an? (?=${UNIT_WORD}${END})|an? (?=${UNIT_WORD} and a half${END}))|(?<=(?:within|in|for|after|before|than|about|least|most|until|over|under|calls|takes|lasts|half) )(?:an?|one) (?=(?:hour|minute|day|week|month|year)${END})|one (?=(?:${ADJECTIVE} )?${UNIT_WORD}${END})`;

const flags = 'giu';
const QUANTITY = new RegExp(
  [
    `${START}(?<![.,](?=\\d))(?:`,
    `(?<times>once(?= (?:a|per|every|more)${END})|twice|thrice)${END}(?<timesRate>${RATE})`,
    `|(?<bound>${BOUND})?(?:(?<article>${ARTICLE})(?<articleUnit>${UNIT_WORD}(?: and a half)?)`,
    `|(?<foreign>${NUMBER_PATTERNS.foreign})(?= (?:${UNIT_WORD}|${PLURAL}|(?:${CURRENCY}))${END})(?<foreignUnit> (?:${UNIT_WORD}|${PLURAL}|(?:${CURRENCY}))${END})`,
    `|(?<label>${LABEL})?(?<range>24/7|${RANGE})(?<unit>${UNIT})?)(?<rate>${RATE})(?<beyond>${BEYOND}${END})?`,
    `)(?![\\p{Script=Latin}\\p{N}_])`,
  ].join(''),
  flags,
);

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
  '(?:the |this |that |your |any |all |every |these )?(?:[\\p{L}]{1,20} )?(?:callers?|calls?|patients?|customers?|guests?|clients?|them|him|her|it|everyone|people)';
const TRANSFER = new RegExp(
  [
    String.raw`${START}(?:(?:(?:warm|cold|blind)[- ])?(?:transfer(?:s|red|ring)?|forward(?:s|ed|ing)?|connect(?:s|ed|ing)?|rout(?:e|es|ed|ing)|redirect(?:s|ed)?|escalat(?:e|es|ed|ing)|hand(?:s|ed)? (?:over|off))(?: ${WHO})?|(?:put|hand|pass|send|direct|refer)(?: ${WHO})(?: (?:through|over|on|off))?)(?: (?:directly|straight|immediately|at once|through|over))? (?:in)?to `,
    String.raw`|${START}(?:verbinden?|leiten?)(?: sie)? [^.,;:!?\n]{0,40}?(?:mit|an|zu[rm]?) (?:de[rmn]|die|das) `,
    String.raw`|${START}(?:transférez|transférer|passez)(?: l[’']appel| l[’']appelant| [\p{L}’']{2,20}){0,3} (?:à|au|aux) `,
    String.raw`|${START}(?:transfiera|transferir|pase)(?: la llamada| [\p{L}]{2,20}){0,2} (?:a|al) `,
  ].join(''),
  flags,
);
const TARGET =
  /^(?<article>(?:the|a|an|our|your|la|le|les|el|los|die|der|den|das)\s)?(?<target>[\p{L}\p{N}][\p{L}\p{N}'’&/-]*(?:\.(?=\s\p{Lu}))?(?:\s(?!(?:if|when|whenever|after|before|and|or|for|with|at|on|in|who|whose|that|which|immediately|directly|without|unless|only|right|by|via|using|as|so|until|once|during|instead|because|wenn|und|oder|weiter|si|et|ou|y|o|cuando)(?![\p{L}]))[\p{L}\p{N}'’&/-]+){0,3})/iu;

type Claim = Omit<Fact, 'start' | 'end'> & { readonly start: number; readonly end: number };

/** The facts of a text in order; none of them overlap. `tools`: names that are tools though they do not look it. */
export function factsIn(text: string, tools: ReadonlySet<string>): readonly Fact[] {
  const claimed: Claim[] = [];
  const isFree = (start: number, end: number) =>
    claimed.every((one) => one.end <= start || end <= one.start);
  const claim = (mark: FactMark, pattern: RegExp, keyOf: (text: string) => string) => {
    const found = Array.from(text.matchAll(pattern), (match): Claim => {
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
  if (tools.size > 0) claim('tool', namesPattern(tools), (own) => own);
  claim('phone', PHONE, phoneKey);
  claimed.push(...keepFree(Array.from(text.matchAll(QUANTITY), quantity), claimed));
  for (const match of text.matchAll(TRANSFER)) {
    const fact = transfer(text, match);
    if (fact !== undefined && isFree(fact.start, fact.start + 1))
      claimed.push(cutAt(fact, claimed));
  }
  return claimed.sort((a, b) => a.start - b.start);
}

/** Those that overlap none of `taken`; both ascend within themselves. */
function keepFree(found: readonly Claim[], taken: readonly Claim[]): readonly Claim[] {
  const ordered = [...taken].sort((a, b) => a.start - b.start);
  let at = 0;
  return found.filter(({ start, end }) => {
    while ((ordered[at]?.end ?? Number.POSITIVE_INFINITY) <= start) at += 1;
    return (ordered[at]?.start ?? Number.POSITIVE_INFINITY) >= end;
  });
}

function namesPattern(names: ReadonlySet<string>): RegExp {
  const escaped = [...names].map((name) => name.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'));
  return new RegExp(`${START}(?:${escaped.join('|')})${END}`, 'gu');
}

/** Written with signs or without, it is the same number. */
function phoneKey(text: string): string {
  const words = 'zero one two three four five six seven eight nine'.split(' ');
  const spoken = text.toLowerCase().replace(/[a-z]+/g, (word) => {
    return String(word === 'oh' ? 0 : words.indexOf(word));
  });
  return spoken.replace(/\D/g, '');
}

function transfer(text: string, match: RegExpExecArray): Claim | undefined {
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
function cutAt(fact: Claim, claimed: readonly Claim[]): Claim {
  const next = Math.min(
    ...claimed.filter(({ start }) => start > fact.start).map(({ start }) => start),
    fact.end,
  );
  if (next === fact.end) return fact;
  const text = fact.text.slice(0, next - fact.start).trimEnd();
  const key = `transfer ${text.toLowerCase().replace(/^(?:the|an?|our|your) /, '')}`;
  return { ...fact, text, key, end: fact.start + text.length };
}

function quantity(match: RegExpExecArray): Claim {
  const { groups = {} } = match;
  const { bound, times, timesRate, article, articleUnit, foreign, foreignUnit } = groups;
  const { label = '', range = '', unit: counted = '', rate, beyond = '' } = groups;
  const text = match[0];
  const start = match.index;
  const limit = boundKey(bound, beyond);
  const [value, unit] =
    times !== undefined
      ? [String({ once: 1, twice: 2, thrice: 3 }[times.toLowerCase()]), `time${rateKey(timesRate)}`]
      : article !== undefined
        ? [articleValue(article, articleUnit), unitKey(articleUnit) + rateKey(rate)]
        : foreign !== undefined
          ? [
              String(numberValue(foreign)),
              (currencyOf(foreignUnit) ?? unitKey(foreignUnit)) + rateKey(rate),
            ]
          : rangeKey(label, range, counted, rate);
  return {
    mark: 'number',
    text,
    key: `number ${limit}${value} ${unit}`,
    lead: leadOf(match.input, start),
    unit,
    start,
    end: start + text.length,
  };
}

const LEAD = new RegExp(`${START}(?:(?<below>${BELOW})|(?:${ABOVE})) $`, 'iu');

/** The word right before a number, where it says on which side of it something is. */
function leadOf(text: string, start: number): Lead | undefined {
  const found = LEAD.exec(text.slice(Math.max(0, start - 20), start));
  if (found === null) return undefined;
  return { text: found[0], side: found.groups?.below === undefined ? 'above' : 'below' };
}

const BOUND_FORMS = [ATLEAST, ATMOST, MORE, LESS].map(
  (forms) => new RegExp(`^(?:${forms}) $`, 'iu'),
);

function boundKey(bound: string | undefined, beyond: string): string {
  if (/more|older|over|above|later|longer/i.test(beyond)) return '≥';
  if (beyond !== '') return '≤';
  if (bound === undefined) return '';
  const at = BOUND_FORMS.findIndex((form) => form.test(bound));
  return ['≥', '≤', '>', '<'][at] ?? '';
}

function articleValue(article: string, unit: string | undefined): string {
  if (/^half/i.test(article)) return '0.5';
  return /and a half$/i.test(unit ?? '') ? '1.5' : '1';
}

function rateKey(rate: string | undefined): string {
  const last = rate?.trim().split(/[ /]/).at(-1);
  return last === undefined || last === '' ? '' : `/${last.toLowerCase()}`;
}

function unitKey(unit: string | undefined): string {
  return (unit ?? '')
    .trim()
    .toLowerCase()
    .replace(/ and a half$/, '')
    .replace(/^-/, '')
    .replace(/^(?:mins?|minutes?)$/, 'minute')
    .replace(/^(?:secs?|seconds?)$/, 'second')
    .replace(/^hrs?$/, 'hour')
    .replace(/s$/, '');
}

/** Points in their own form, so that `9 am to 5 pm` and `9:00–17:00` are the same. */
function rangeKey(
  label: string,
  range: string,
  counted: string,
  rate: string | undefined,
): readonly [value: string, unit: string] {
  const points = Array.from(range.matchAll(POINTS), ([point]) => pointKey(point));
  const currency = points.find(
    ({ kind }) => kind !== 'number' && kind !== 'clock' && kind !== 'day',
  );
  const kinds = new Set(points.map(({ kind }) => kind));
  const kind = currency?.kind ?? (kinds.has('clock') ? 'clock' : (points[0]?.kind ?? 'number'));
  const unit = kind === 'number' ? unitKey(counted) : kind;
  const named = label.trim().toLowerCase();
  return [
    points.map(({ value }) => value).join('–'),
    `${named === '' ? '' : `${named} `}${unit}${rateKey(rate)}`,
  ];
}

const POINTS = new RegExp(`24/7|${POINT}`, flags);
const DAY_FORMS = DAYS.map(
  (forms, at) => new RegExp(`^(?:${forms}|(?:${SHORT_FORMS[at]})\\.?)$`, 'iu'),
);
const DATE_FORM = new RegExp(`^(?:${DATE})$`, 'iu');

function pointKey(point: string): { readonly value: string; readonly kind: string } {
  const low = point.toLowerCase();
  const currency = currencyOf(low);
  if (currency !== undefined)
    return { value: String(numberValue(bareNumber(low))), kind: currency };
  const day = DAY_FORMS.findIndex((form) => form.test(low));
  if (day >= 0) return { value: `d${day}`, kind: 'day' };
  if (DATE_FORM.test(low)) {
    return { value: low.replace(/(\d)(?:st|nd|rd|th)|,| of/g, '$1'), kind: 'date' };
  }
  const minutes = minutesOf(low);
  if (minutes !== undefined) return { value: String(minutes), kind: 'clock' };
  if (low === '24/7') return { value: low, kind: 'clock' };
  return { value: String(numberValue(low.replace(/(?<=\d)(?:st|nd|rd|th)$/, ''))), kind: 'number' };
}

const CURRENCY_FORMS = CURRENCIES.map(
  ([code, forms]) => [code, new RegExp(`(?<!\\p{L})(?:${forms})(?!\\p{L})`, 'iu')] as const,
);

function currencyOf(text: string | undefined): string | undefined {
  if (text === undefined) return undefined;
  return CURRENCY_FORMS.find(([, form]) => form.test(text))?.[0];
}

function bareNumber(text: string): string {
  return text.replace(AROUND_NUMBER, '').trim();
}

const AROUND_NUMBER = new RegExp(
  `^(?:us\\$|[$€£¥]|(?:chf|usd|eur|gbp) )|[ \\u00a0\\u202f-]{0,3}(?:${CURRENCY})$`,
  'giu',
);

/** Minutes since midnight, or undefined where it is no time of day. */
function minutesOf(text: string): number | undefined {
  if (/^(?:noon|midday|mittag|midi|mediodía)$/.test(text)) return 720;
  if (/^(?:midnight|mitternacht|minuit|medianoche)$/.test(text)) return 0;
  const past = /^(half past|quarter past|quarter to) (.+)$/.exec(text);
  if (past !== null) {
    const more = { 'half past': 30, 'quarter past': 15, 'quarter to': -15 }[past[1] ?? ''] ?? 0;
    return 60 * numberValue(past[2] ?? '') + more;
  }
  const time =
    /^(.+?)(?:[:.](\d{2}))?(?::\d{2})?\s?(?:([ap])\.?m\.?|uhr|o['’]clock|h(?: ?(\d{2}))?)?$/u.exec(
      text,
    );
  const isTime =
    /:\d|[ap]\.?m\.?$|uhr$|clock$|\dh?$|h$/.test(text) && !/^\d+(?:[.,]\d+)?$/.test(text);
  if (time === null || !isTime || !/[:a-z]/.test(text)) return undefined;
  const [, whole = '', minutes = '0', half, after = '0'] = time;
  const hour = numberValue(whole);
  if (!/^\d{1,2}$/.test(whole) && !/^\p{L}/u.test(whole)) return undefined;
  const shift = half === 'p' && hour < 12 ? 12 : half === 'a' && hour === 12 ? -12 : 0;
  return 60 * (hour + shift) + Number(minutes) + Number(after);
}

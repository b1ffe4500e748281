import { type Fact, type Lead, SHORT_PHONE, shown } from './fact.ts';
import {
  compile,
  END,
  fold,
  gather,
  inAny,
  LANGUAGES,
  matchAny,
  matchesIn,
  readAt,
  START,
  wordSet,
} from './patterns.ts';

/** Numbers, times, days and money, with what they count and what bounds them. */

// Numbers in digits and in words, and what they are worth.

/** One of the patterns that a table has values of. */
function anyPattern(table: { readonly [pattern: string]: unknown }): string {
  return Object.keys(table).join('|');
}

/** Digits, with the separators of either country: `1,200.50`, `1.200,50`, `1 200,50`, `1'200`. */
const DIGITS = String.raw`(?:\d{1,3}(?:[.,'’\u0020\u00a0\u202f]\d{3}){1,6}(?!\d)(?:[.,]\d{1,2}(?!\d))?|\d{1,40}(?:[.,]\d{1,20})?)[½¼¾]?`;

/** Numbers in words of one language: `twenty-four`, `a hundred and fifty`, `treinta y cinco`. */
const NUMBER_WORDS = LANGUAGES.map(({ numbers }) => {
  const units = matchAny(numbers.units);
  const small = `(?:${matchAny(numbers.tens)}(?:${numbers.joint}${units}${END})?|${matchAny(numbers.teens)}|${units}|${numbers.zero})${END}`;
  const forms = numbers.hundreds.replaceAll('{small}', small).replaceAll('{vague}', numbers.vague);
  const hundreds = `(?:${forms})${END}`;
  const thousands = numbers.thousands
    .replaceAll('{hundreds}', hundreds)
    .replaceAll('{large}', numbers.large);
  return `(?:${thousands})${END}(?:${numbers.half}${END})?`;
});

const NUMBER = `(?:${DIGITS}(?: ${inAny(({ numbers }) => numbers.large)})?|${NUMBER_WORDS.join('|')})`;

const VALUES: ReadonlyMap<string, number> = new Map(
  LANGUAGES.flatMap(({ numbers: { units, teens, tens, others } }) => [
    ...units.split(' ').map((word, at) => [fold(word), 1 + at] as const),
    ...teens.split(' ').map((word, at) => [fold(word), 10 + at] as const),
    ...tens.split(' ').map((word, at) => [fold(word), 20 + 10 * at] as const),
    ...Object.entries(others),
  ]),
);
const FACTORS: ReadonlyMap<string, number> = new Map(gather(({ numbers }) => numbers.factors));
const VAGUE = compile(`^(?:${inAny(({ numbers }) => numbers.vague)})$`, 'iu');
const UNSURE = compile(`^${inAny(({ numbers }) => matchAny(numbers.unsure))}$`, 'iu');

/** Gives the value of a word for a number. */
export function wordValue(word: string): number | undefined {
  return VALUES.get(word);
}

/** Gives the value of a number in digits or words. */
function numberValue(text: string): number {
  const parts = /^(?<digits>\d[\d.,'’\s]*)?(?<part>[½¼¾])?(?<words>.*)$/su.exec(text);
  const { digits, part, words: rest = '' } = parts?.groups ?? {};
  if (digits === undefined) return wordsValue(rest);
  const piece = part === undefined ? 0 : { '½': 0.5, '¼': 0.25, '¾': 0.75 }[part];
  return (digitsValue(digits.trim()) + (piece ?? 0)) * (FACTORS.get(rest.trim()) ?? 1);
}

/** A separator before three digits groups them; before fewer or more it begins the fraction. */
function digitsValue(text: string): number {
  const [, whole = '', fraction = ''] = /^(.*?)(?:[.,](\d{1,2}|\d{4,}))?$/s.exec(text) ?? [];
  if (/^0[.,]\d+$/.test(text)) return Number(text.replace(',', '.'));
  return Number(`${whole.replace(/\D/g, '')}.${fraction || '0'}`);
}

function wordsValue(text: string): number {
  let [sum, group] = [0, 0];
  for (const word of fold(text).split(/[^\p{L}]+/u)) {
    const factor = FACTORS.get(word);
    if (factor === undefined) group += VALUES.get(word) ?? 0;
    else if (factor >= 1000) {
      sum += Math.max(group, 1) * factor;
      group = 0;
    } else group = factor * (group === 0.5 ? 0.5 : Math.max(group, 1));
  }
  return sum + group;
}

// Days and times.

const MONTH = `(?:${LANGUAGES.flatMap(({ times }) => times.months).join('|')})`;
const DATE = `(?:${String.raw`\d{4}-\d{2}-\d{2}|\d{1,2}[./]\d{1,2}[./](?:\d{4}|\d{2})`}|${inAny(
  ({ times }) => times.dates.join('|').replaceAll('{month}', MONTH),
)})`;

/** Words for days. `isWeak`: it is not reported when it comes or goes. */
type DayForm = {
  readonly value: string;
  readonly sort: string;
  readonly isWeak: boolean;
  readonly form: string;
};

const DAYS: readonly DayForm[] = LANGUAGES.flatMap(({ times }) => [
  ...times.days.map((form, at) => ({ value: String(at), sort: 'day', isWeak: false, form })),
  ...Object.entries(times.groups).map(([value, form]) => ({
    value,
    sort: 'day',
    isWeak: false,
    form,
  })),
  ...Object.entries(times.parts).flatMap(([sort, forms]) =>
    forms.map((form, at) => ({ value: String(at), sort, isWeak: true, form })),
  ),
]);
const SHORT_DAYS = LANGUAGES.flatMap(({ times }) =>
  times.shortDays.map((form, at) => ({ value: String(at), sort: 'day', isWeak: false, form })),
);
const DAY_FORMS = [...DAYS, ...SHORT_DAYS].map((day) => ({
  ...day,
  pattern: compile(`^(?:${day.form})\\.?$`, 'iu'),
}));
const SHORT_DAY = `(?:${SHORT_DAYS.map(({ form }) => form).join('|')})`;
/** A short form is a day only before a range, a colon or a number, and behind another one. */
const DAYS_JOINED = `(?:\\s?[/&,]\\s?|${inAny(({ measures }) => measures.range)}|${inAny(({ measures }) => measures.between[1])})`;
const DAY = `(?:(?:${DAYS.map(({ form }) => form).join('|')})${END}|${SHORT_DAY}\\.?(?=${DAYS_JOINED}${SHORT_DAY}${END}|:?\\s?\\d)|(?<=${START}${SHORT_DAY}\\.?${DAYS_JOINED})${SHORT_DAY}${END})`;

const CLOCK_BEHIND = inAny(({ times }) => times.clock);
const PART_OF_DAY = compile(`${inAny(({ times }) => times.partOfDay)}$`, 'iu');
const NAMED_TIMES = gather(({ times }) => times.named).map(
  ([form, minutes]) => [compile(`^(?:${form})$`, 'iu'), minutes] as const,
);
const CLOCK = String.raw`(?:\d{1,2}:\d{2}(?::\d{2})?${CLOCK_BEHIND}?|\d{1,2}(?:\.\d{2})?${CLOCK_BEHIND}|${inAny(
  ({ times }) => Object.keys(times.named).join('|'),
)}${END})`;
const PAST = gather(({ times }) => times.past).map(
  ([form, minutes]) => [compile(`(?<!\\p{L})(?:${form}) $`, 'iu'), minutes] as const,
);
const TO = gather(({ times }) => times.to).map(
  ([form, minutes]) => [compile(`${form}${END}`, 'iuy'), minutes] as const,
);
const AFTERNOON = compile(
  inAny(({ times }) => times.afternoon),
  'iu',
);
const NIGHT = compile(
  inAny(({ times }) => times.night),
  'iu',
);
const MORNING = compile(
  inAny(({ times }) => times.morning),
  'iu',
);

// The noun that is counted.

const UNITS = gather(({ measures }) => measures.units);
const KNOWN_UNIT = `(?:${UNITS.map(([, form]) => form).join('|')})`;
const UNIT_FORMS = UNITS.map(([name, form]) => [name, compile(`^(?:${form})$`, 'iu')] as const);
const ADJECTIVE = inAny(({ measures }) => measures.adjectives);
const FUNCTION = wordSet(LANGUAGES.map(({ meaning }) => meaning.function).join(' '));
const PLURAL = String.raw`(?!${inAny(({ measures }) => measures.noPlural)}${END})\p{L}{2,20}s`;
const UNIT = `(?:\\s?[°º]\\s?[fc]?${END}|-(?:${KNOWN_UNIT}|\\p{L}{3,20})${END}|(?: ${ADJECTIVE}){0,2} ${KNOWN_UNIT}${END}|(?: (?<other>\\p{L}{3,20})) ${KNOWN_UNIT}${END}|(?: ${ADJECTIVE}){0,2} ${PLURAL}${END})`;
const RATE = `(?: ${inAny(({ measures }) => measures.perAny)} \\p{L}{2,20}${END}| ${inAny(({ measures }) => measures.per)} ${inAny(({ measures }) => measures.rated)}${END}|\\/(?:h|day|month|year|week|día|mes|año)${END})`;
/** Units of time, with what each is worth in the smallest that it is exact in: `two weeks` are `14 days`. */
const SPANS: { readonly [unit: string]: readonly [base: string, worth: number] } = {
  second: ['second', 1],
  minute: ['second', 60],
  hour: ['second', 3600],
  day: ['day', 1],
  night: ['night', 1],
  week: ['day', 7],
  fortnight: ['day', 14],
  month: ['month', 1],
  year: ['month', 12],
};
const SPAN_UNIT = `(?:${UNITS.filter(([name]) => name in SPANS)
  .map(([, form]) => form)
  .join('|')})`;

const bounds = (side: 0 | 1, only?: 'least' | 'most' | 'more' | 'less') =>
  inAny(({ measures }) =>
    Object.entries(measures.bounds)
      .filter(([name]) => only === undefined || name === only)
      .map(([, forms]) => forms[side])
      .filter((form) => form !== '')
      .join('|'),
  );
/** Behind a bound an article counts: `more than an acre`. */
const COUNTING = bounds(0);

const ONE = inAny(({ times: { one } }) =>
  [
    `(?:${anyPattern(one.parts)})(?: |(?<= )|-)(?=${SPAN_UNIT}${END})`,
    `(?:(?:${one.article}) )?(?=${SPAN_UNIT}(?:${anyPattern(one.andParts)})${END})`,
    `(?<=(?:${one.behind}) )(?:${one.article}) (?=(?:${ADJECTIVE} )?${SPAN_UNIT}${END})`,
    `(?:${one.article}) (?=${SPAN_UNIT} (?:${one.ahead})${END})`,
    `(?<=${COUNTING} )(?:${one.article}) (?=(?:${ADJECTIVE} )?${KNOWN_UNIT}${END})`,
  ].join('|'),
);
const AND_PART = `(?:${inAny(({ times }) => anyPattern(times.one.andParts))}${END})`;
const BEGINS_PART = gather(({ times }) => times.one.parts).map(
  ([form, value]) => [compile(`^(?:${form})[\\s-]?(?=\\p{L})`, 'iu'), value] as const,
);
const ENDS_PART = gather(({ times }) => times.one.andParts).map(
  ([form, value]) => [compile(`(?:${form})$`, 'iu'), value] as const,
);
const ARTICLE = compile(`^${inAny(({ times: { one } }) => one.article)} `, 'iu');
const ALWAYS = inAny(({ times }) => times.always);
/** The number and the bound of people of some age. */
const AGES = gather(({ measures }) =>
  Object.fromEntries(Object.entries(measures.ages).map(([age, form]) => [`${age} `, form])),
);
const AGE_FORMS = AGES.map(([age, form]) => {
  const [, bound = '', years = ''] = /^(\D*)(\d+)/.exec(age) ?? [];
  return { form: compile(`^(?:${form})$`, 'iu'), bound, years };
});
const HYPHENED = inAny(({ measures }) => measures.hyphened);
const OFTEN = gather(({ times }) => times.often);
const OFTEN_FORMS = OFTEN.map(
  ([form, times]) => [compile(`^(?:${form.replace(/\(\?=.*/, '')})`, 'iu'), times] as const,
);
const ORDINAL = inAny(
  ({ numbers }) =>
    `(?:${matchAny(numbers.ordinals)}|\\d{1,2}(?:st|nd|rd|th|[ºª])) (?:${numbers.ordered})${END}`,
);
const ORDINALS = LANGUAGES.flatMap(({ numbers }) => [
  ...numbers.ordinals.split(' ').map((form, at) => [compile(`^${form} `, 'iu'), at + 1] as const),
]);

/** The core of a quantity. The words before and behind it are read for each match. */
const POINT = compile(
  `${START}(?<![.,](?=\\d))(?<!\\\\u\\{)(?:(?<always>(?:${ALWAYS})${END})|(?<often>(?:${OFTEN.map(([form]) => form).join('|')})${END})|(?<one>${ONE}(?:${ADJECTIVE} )?${KNOWN_UNIT}${AND_PART}?${END})|(?<age>${AGES.map(([, form]) => form).join('|')})|(?<date>${DATE})|(?<clock>${CLOCK})|(?<ordinal>${ORDINAL})|(?<day>${DAY})|(?:(?<!\\p{L}-)|(?<=${HYPHENED}-))(?<plain>${NUMBER})(?:st|nd|rd|th|[ºª]|(?<=${HYPHENED}[-\\s]\\d{1,3})s)?)(?![\\p{Script=Latin}\\p{N}_])`,
);

const BOUND_SIGNS = { least: '≥', most: '≤', more: '>', less: '<' } as const;

/** Read right behind a point. */
const BEHIND = {
  clock: compile(`${CLOCK_BEHIND}(?!\\p{L})`, 'iuy'),
  money: compile(
    `\\s?[€$£%]|[-\\s](?:${gather(({ measures }) => measures.currencies)
      .map(([, form]) => form)
      .join('|')})${END}`,
    'iuy',
  ),
  unit: compile(UNIT, 'iuy'),
  rate: compile(RATE, 'iuy'),
  bound: compile(`\\+|,? ${bounds(1)}${END}`, 'iuy'),
  range: compile(
    inAny(({ measures }) => measures.range),
    'iuy',
  ),
  and: compile(
    inAny(({ measures }) => measures.between[1]),
    'iuy',
  ),
  or: compile(
    inAny(({ measures }) => measures.or),
    'iuy',
  ),
} as const;
/** Read right before one, in a few characters. */
const AHEAD = {
  money: /(?:us\$|[$€£¥]|(?<!\p{L})(?:usd|eur|gbp|mxn) )$/iu,
  between: compile(`${START}${inAny(({ measures }) => measures.between[0])}$`, 'iu'),
  label: compile(`${START}${inAny(({ measures }) => measures.labels)}\\s?$`, 'iu'),
  numbered: compile(`${START}${inAny(({ measures }) => measures.numbered)}\\s?$`, 'iu'),
  /** Not at the beginning of a sentence, where any word has a capital. */
  named: /(?<=[\p{Ll}\p{N},;:(]\s)(?<name>\p{Lu}[\p{L}'’-]{1,20}) $/u,
  first:
    /(?:^|[.!?:]\s+|^\s*(?:[-*•]|\d{1,3}[.)])\s+|\n\s*(?:[-*•]|\d{1,3}[.)])?\s*)(?<name>\p{Lu}[\p{L}'’-]{1,20}) $/u,
  bound: compile(`${START}(?:${bounds(0)} |${HYPHENED}-)$`, 'iu'),
  dial: compile(`${START}${inAny(({ measures }) => measures.dial)} $`, 'iu'),
  lead: compile(
    `${START}(?:(?<below>${inAny(({ measures }) => measures.below)})|${inAny(({ measures }) => measures.above)}) $`,
    'iu',
  ),
} as const;
/** As long as the longest of these. */
const MOST_AHEAD = 40;

/** A number, a time, a day or an amount of money by itself. */
type Point = {
  readonly start: number;
  readonly end: number;
  readonly value: string;
  /** `number`, `clock`, `day`, or the currency. */
  readonly kind: string;
  readonly isWeak: boolean;
  /** The bound that a word has in itself: `minors` are under 18. */
  readonly bound?: Fact['bound'];
  /** The unit that a match has in itself, as `half an hour`. */
  readonly unit?: string;
};

export function quantitiesIn(text: string): readonly Fact[] {
  const points = matchesIn(text, POINT).map((match) => pointAt(text, match));
  const found: Fact[] = [];
  for (let at = 0; at < points.length; at += 1) {
    const point = points[at];
    if (point === undefined || point.start < (found.at(-1)?.end ?? 0)) continue;
    const next = points[at + 1];
    const isBetween = endsWith(AHEAD.between, text, point.start) !== '';
    const joint = readAt(isBetween ? BEHIND.and : BEHIND.range, text, point.end);
    const isJoined = joint !== '' && next?.start === point.end + joint.length;
    const isRange = isJoined && !point.isWeak && areEnds(point, next);
    const isChoice = !isRange && isOneChoice(text, point, next);
    const isPair = next !== undefined && (isRange || isChoice);
    const joins: Joins = { isBetween: isRange && isBetween, isChoice };
    const claim = quantity(text, isPair ? [point, next] : [point], joins);
    const last = found.at(-1);
    const whole = claim && last && joinPart(text, last, claim);
    if (whole !== undefined) found[found.length - 1] = whole;
    else if (claim !== undefined) found.push(claim);
    if (isPair) at += 1;
  }
  return found;
}

const PART_JOINTS = gather(({ measures }) => measures.parts).map(
  ([form, needs]) => [compile(`^${form}$`, 'iu'), needs] as const,
);
/** Characters between a number and a smaller part of it. */
const MOST_JOINT = 8;

/** `3 dollars and 50 cents`, `2 hours 15 minutes`: one amount with its smaller part. Undefined where they are two. */
function joinPart(text: string, whole: Fact, part: Fact): Fact | undefined {
  const joint = text.slice(whole.end, Math.min(part.start, whole.end + MOST_JOINT));
  const needs = PART_JOINTS.find(([form]) => form.test(joint))?.[1];
  const areAmounts = [whole, part].every(({ value }) => /^\d[\d.]*$/.test(value));
  if (needs === undefined || !areAmounts || part.bound !== '' || part.lead !== undefined)
    return undefined;
  const [base = '', rate = ''] = part.unit.split(/(?=\/)/);
  const isSpan = whole.family === 'span' && part.family === 'span' && whole.unit === base;
  const isMoney = whole.family === 'money' && whole.unit !== 'cent';
  const isBare = base === '' && needs === 'any' && Number(part.value) < 100;
  const isSmaller = isSpan
    ? Number(part.value) < Number(whole.value) && getUnit(whole) !== getUnit(part)
    : isMoney && (base === 'cent' || (isBare && /\p{L}$/u.test(whole.text)));
  if (!isSmaller) return undefined;
  const sum = Number(whole.value) + Number(part.value) / (isSpan ? 1 : 100);
  const own = shown(text.slice(whole.start, part.end));
  const cut = part.text.length - (part.brief ?? part.text).length;
  return {
    ...whole,
    text: own,
    brief: own.slice(0, own.length - cut),
    value: String(Number(sum.toFixed(4))),
    unit: whole.unit + rate,
    end: part.end,
  };
}

function getUnit({ text }: Fact): string {
  return unitKey(/\p{L}+$/u.exec(text)?.[0] ?? '');
}

/** Returns true if two may be the ends of one range, unlike those of `Saturdays until 10 pm`. */
function areEnds({ kind: from }: Point, { kind: to, isWeak }: Point): boolean {
  if (isWeak || (from === 'day' && to === 'number')) return false;
  return from === to || from === 'number' || to === 'number' || !WHEN.has(from) || !WHEN.has(to);
}

const WHEN = new Set(['clock', 'day', 'date']);

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

/** Finds the noun that a number counts. Any word may stand before a unit that is known: `3 paid days`. */
function readUnit(text: string, at: number): string {
  BEHIND.unit.lastIndex = at;
  const found = BEHIND.unit.exec(text);
  return found === null || FUNCTION.has(fold(found.groups?.other ?? '')) ? '' : found[0];
}

function endsWith(pattern: RegExp, text: string, end: number): string {
  return pattern.exec(text.slice(Math.max(0, end - MOST_AHEAD), end))?.[0] ?? '';
}

function pointAt(text: string, { 0: own, index, groups = {} }: RegExpExecArray): Point {
  const { always, often, one, age, date, clock, ordinal, day } = groups;
  const low = fold(own);
  const point = (value: string | number, kind: string, more: Partial<Point> = {}): Point => {
    const end = index + own.length;
    return { start: index, end, value: String(value), kind, isWeak: false, ...more };
  };
  if (always !== undefined) return point('', 'always');
  if (often !== undefined) {
    const value = OFTEN_FORMS.find(([form]) => form.test(own))?.[1] ?? 1;
    return point(value, 'number', { unit: 'time' });
  }
  if (one !== undefined) {
    const [begin, part = 1] = BEGINS_PART.find(([form]) => form.test(own)) ?? [ARTICLE];
    const [end, more = 0] = ENDS_PART.find(([form]) => form.test(own)) ?? [/$^/];
    const unit = own.replace(begin, '').replace(end, '');
    return point(part + more, 'number', { unit });
  }
  if (age !== undefined) {
    const known = AGE_FORMS.find(({ form }) => form.test(own));
    const bound = Object.values(BOUND_SIGNS).find((sign) => sign === known?.bound) ?? '';
    return point(known?.years ?? '', 'number', { unit: '', bound, isWeak: true });
  }
  if (date !== undefined) return point(dateValue(low), 'date');
  if (clock !== undefined) return point(toMinutes(own), 'clock');
  if (ordinal !== undefined) {
    const digits = /^\d+/.exec(own)?.[0];
    const value = digits ?? ORDINALS.find(([form]) => form.test(own))?.[1] ?? 0;
    return point(value, 'ordinal', { isWeak: true });
  }
  if (day !== undefined) {
    const found = DAY_FORMS.find(({ pattern }) => pattern.test(own));
    return point(found?.value ?? low, found?.sort ?? 'day', { isWeak: found?.isWeak ?? false });
  }
  const value = numberValue(low.replace(/(?<=\d)(?:st|nd|rd|th|[ºª]|s)$/, ''));
  const end = index + own.length;
  const money = endsWith(AHEAD.money, text, index);
  if (money !== '') return point(value, findCurrency(money), { start: index - money.length });
  const after = readAt(BEHIND.money, text, end);
  if (after !== '') return point(value, findCurrency(after), { end: end + after.length });
  const half = readAt(BEHIND.clock, text, end);
  const past = PAST.find(([form]) => endsWith(form, text, index) !== '');
  const to = TO.find(([form]) => readAt(form, text, end) !== '');
  if (to !== undefined) {
    const behind = readAt(to[0], text, end);
    const part = readAt(BEHIND.clock, text, end + behind.length);
    const minutes = toMinutes(`${value}${part}`) + to[1];
    return point(minutes, 'clock', { end: end + behind.length + part.length });
  }
  if (half !== '' || past !== undefined) {
    const ahead = past === undefined ? '' : endsWith(past[0], text, index);
    const whole = Math.floor(value);
    const minutes = toMinutes(`${whole}${half}`) + 60 * (value - whole) + (past?.[1] ?? 0);
    return point(minutes, 'clock', { start: index - ahead.length, end: end + half.length });
  }
  return point(value, 'number', { isWeak: VAGUE.test(own) });
}

/** One point or a range of two, with what belongs to it. Undefined where a word is no number after all. */
function quantity(
  text: string,
  points: readonly Point[],
  { isBetween, isChoice }: Joins,
): Fact | undefined {
  const [first, last] = [points[0], points.at(-1)];
  if (first === undefined || last === undefined) return undefined;
  const kind = points.find((one) => one.kind !== 'number')?.kind ?? 'number';
  const between = isBetween ? endsWith(AHEAD.between, text, first.start) : '';
  const name = kind === 'number' && between === '' ? findName(text, first, last) : undefined;
  const isPlain = last.kind === 'number' && last.unit === undefined && name === undefined;
  const unit = isPlain ? readUnit(text, last.end) : '';
  const rate = readAt(BEHIND.rate, text, last.end + unit.length);
  const behind = readAt(BEHIND.bound, text, last.end + unit.length + rate.length);
  const isBound = between === '' && name === undefined;
  const ahead = isBound ? endsWith(AHEAD.bound, text, first.start) : '';
  const start = first.start - between.length - ahead.length - (name?.text.length ?? 0);
  const end = last.end + unit.length + rate.length + behind.length;
  // `once` by itself is no number of anything.
  const isRated = behind === '' && rate !== '' && last.unit !== 'time';
  const cutOff = isRated ? rate : endsWith(PART_OF_DAY, text, end);
  const counted = kind === 'number' ? unitKey(last.unit ?? unit) : kind;
  const isAlone = points.length === 1 && unit === '' && ahead + behind === '';
  if (isPlain && isAlone && UNSURE.test(text.slice(first.start, last.end))) return undefined;
  // `More than one acre` may be `more than an acre`.
  const isVagueOne =
    isPlain && points.length === 1 && unit === '' && UNSURE.test(text.slice(first.start, last.end));
  // `Ask three things:` counts what follows.
  const isCount = counted !== '' && kind === 'number' && text.startsWith(':', end);
  const isDialled = isPlain && isAlone && endsWith(AHEAD.dial, text, start) !== '';
  const isPhone = isDialled && /^\d{3,6}$/.test(text.slice(start, end));
  const values = points.map((one) =>
    kind === 'clock' && one.kind === 'number' ? toClock(one.value, last.value) : one.value,
  );
  const [base, worth] =
    kind === 'number' && name === undefined ? (SPANS[counted] ?? [counted, 1]) : [counted, 1];
  const value = values
    .map((one) => (worth === 1 ? one : String(Number(one) * worth)))
    .join(isChoice ? '|' : '–');
  return {
    mark: isPhone ? 'phone' : 'number',
    text: shown(text.slice(start, end)),
    brief: shown(text.slice(start, end - cutOff.length)),
    value: kind === 'day' ? (WHOLE_WEEKS[value] ?? value) : value,
    unit: isPhone ? SHORT_PHONE : `${name?.key ?? base}${rateKey(rate)}`,
    family: name?.key ?? findFamily(kind, counted),
    bound: first.bound ?? findBound(ahead, behind),
    lead: findLead(text, start),
    isWeak: first.isWeak || name?.isWeak === true || isVagueOne || isCount,
    start,
    from: start,
    end,
  };
}

/** The hour that begins a time which ends later: `9 to 5 pm` is from nine in the morning on, `4 to 6 pm` from four. */
function toClock(hour: string, end: string): string {
  const minutes = 60 * Number(hour);
  const isLate = Number(end) >= 13 * 60 && minutes + 12 * 60 < Number(end);
  return String(isLate ? minutes + 12 * 60 : minutes);
}

/** Days that have a name together. */
const WHOLE_WEEKS: { readonly [days: string]: string } = { '0–4': 'weekday', '5–6': 'weekend' };

/** `June 1`, `1st of June` and `1 de junio` are one day. */
function dateValue(text: string): string {
  const month = MONTHS.findIndex((form) => form.test(text));
  const numbers = text.match(/\d+/g) ?? [];
  return month < 0 ? numbers.join('-') : [month % 12, ...numbers].join('-');
}

const MONTHS = LANGUAGES.flatMap(({ times }) =>
  times.months.map((form) => compile(`${START}(?:${form})${END}`, 'iu')),
);

/** The name that a number is part of: `extension 204`, `Clinic 1`. It counts nothing then. */
function findName(text: string, first: Point, last: Point) {
  const label = endsWith(AHEAD.label, text, first.start);
  if (label !== '') return { text: label, key: fold(label).trim(), isWeak: false };
  const numbered = endsWith(AHEAD.numbered, text, first.start);
  const known = KNOWN.test(readUnit(text, last.end));
  if (known || !/^\d/.test(text.slice(first.start, last.end))) return undefined;
  if (numbered !== '') return { text: numbered, key: fold(numbered).trim(), isWeak: true };
  const ahead = text.slice(Math.max(0, first.start - MOST_AHEAD), first.start);
  const found = AHEAD.named.exec(ahead) ?? AHEAD.first.exec(ahead);
  const name = fold(found?.groups?.name ?? '');
  const isOrder = LANGUAGES.some(
    ({ meaning: { orders } }) => orders.has(name) || FUNCTION.has(name),
  );
  return name === '' || isOrder
    ? undefined
    : { text: `${found?.groups?.name} `, key: name, isWeak: true };
}

const KNOWN = compile(`${KNOWN_UNIT}$`, 'iu');

function findFamily(kind: string, unit: string): string {
  if (kind === 'clock' || kind === 'day' || kind === 'date' || kind === 'always') return 'when';
  if (kind !== 'number') return GROUPED.has(kind) ? kind : 'money';
  return (unit.split(' ')[0] ?? '') in SPANS ? 'span' : unit === '' ? 'bare' : 'count';
}

const GROUPED = new Set(['ordinal', ...DAYS.map(({ sort }) => sort)]);

/** The word right before a number, where it says on which side of it something is. */
function findLead(text: string, start: number): Lead | undefined {
  const found = AHEAD.lead.exec(text.slice(Math.max(0, start - MOST_AHEAD), start));
  if (found === null) return undefined;
  return { text: shown(found[0]), side: found.groups?.below === undefined ? 'above' : 'below' };
}

const BOUND_FORMS = (['least', 'most', 'more', 'less'] as const).map(
  (name) =>
    [
      BOUND_SIGNS[name],
      compile(`^(?:${bounds(0, name)})[\\s-]$`, 'iu'),
      name === 'least' || name === 'most' ? compile(`^,? (?:${bounds(1, name)})$`, 'iu') : /^\b$/,
    ] as const,
);

function findBound(ahead: string, behind: string): Fact['bound'] {
  if (behind === '+') return '≥';
  const found = BOUND_FORMS.find(
    ([, before, after]) =>
      (ahead !== '' && before.test(ahead)) || (behind !== '' && after.test(behind)),
  );
  return found?.[0] ?? '';
}

function rateKey(rate: string): string {
  const last = rate.trim().split(/[\s/]/).at(-1);
  return last === undefined || last === '' ? '' : `/${unitKey(last)}`;
}

/** Gives the unit, named alike in all languages, with the word that narrows it: `day business`. */
function unitKey(text: string): string {
  const whole = UNIT_FORMS.find(([, form]) => form.test(fold(text).trim()))?.[0];
  if (whole !== undefined) return whole;
  const [last = '', ...before] = fold(text).trim().replace(/^-/, '').split(/\s+/).reverse();
  const known = UNIT_FORMS.find(([, form]) => form.test(last))?.[0];
  return [known ?? last.replace(/(?:s|es)$/, ''), ...before].join(' ');
}

const CURRENCY_FORMS = gather(({ measures }) => measures.currencies).map(
  ([code, forms]) => [code, compile(`(?<!\\p{L})(?:${forms})(?!\\p{L})`, 'iu')] as const,
);

function findCurrency(text: string): string {
  return CURRENCY_FORMS.find(([, form]) => form.test(text))?.[0] ?? 'money';
}

const MINUTES_OF_DAY = 1440;

/** Minutes since midnight: 24:00 is 0:00. */
function toMinutes(text: string): number {
  const named = NAMED_TIMES.find(([form]) => form.test(text));
  if (named !== undefined) return named[1];
  const {
    hour = '0',
    minute = '0',
    half = '',
  } = /^(?<hour>\d{1,2})(?:[:.](?<minute>\d{2}))?(?::\d{2})?(?<half>.*)$/su.exec(text)?.groups ??
  {};
  const hours = Number(hour);
  const isLate = AFTERNOON.test(half) && hours < 12 && !(NIGHT.test(half) && hours < 5);
  const isEarly =
    hours === 12 && (NIGHT.test(half) || (MORNING.test(half) && !AFTERNOON.test(half)));
  const minutes = 60 * (hours + (isLate ? 12 : isEarly ? -12 : 0)) + Number(minute);
  return minutes % MINUTES_OF_DAY;
}

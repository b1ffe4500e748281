import { type Fact, type FactMark, PLAIN, shown } from './fact.ts';
import {
  compile,
  END,
  fold,
  LANGUAGES,
  matchAny,
  matchesIn,
  readAt,
  START,
  source,
  wordSet,
} from './patterns.ts';
import { quantitiesIn, wordValue } from './quantities.ts';

/** The facts of a text: names by their form, targets of transfers, and quantities. */

const TOKEN = /\{\{[^{}\n]{0,200}\}\}|\$\{[^{}\n]{1,200}\}/gu;
const LINK =
  /https?:\/\/[^\s<>()"'`]{1,300}|www\.[^\s<>()"'`]{1,300}|[\w.+-]{1,64}@[\w-]{1,64}\.[\w.-]{1,64}|(?<![\w@./-])(?:[a-z0-9-]{2,40}\.){1,4}(?:com|org|net|info|biz|app|gov|edu|health|clinic|dental|example|test|io|co|us|es|mx)(?![\w-])(?:\/[^\s<>()"'`]{0,300})?/giu;
const PHONE = compile(
  [
    String.raw`\+\d[\d\u0020()./-]{5,20}\d`,
    String.raw`(?<![\d.,-])(?:1[\u0020.-])?(?:\(\d{2,4}\)\s?|\d{3}[\u0020.-])\d{3,4}[\u0020.-]\d{3,4}(?![\d-])`,
    String.raw`(?<![\d.,-])\d{3}[.-]\d{4}(?![\d-])`,
    String.raw`(?<![\d.,-])\d{2,3}(?:[\u0020.]\d{2,3}){3}(?![\d-])`,
    String.raw`(?<!\d)0\d{1,4}(?:\s|\/)\d[\d\u0020]{3,14}\d(?!\d)`,
    ...LANGUAGES.map(
      ({ numbers: { digit } }) =>
        `${START}(?:${matchAny(digit)}[-\\s]){2,20}${matchAny(digit)}${END}`,
    ),
  ].join('|'),
);
const TOOL =
  /`[\w.-]{2,80}`|\b[a-z][a-z0-9]{0,60}(?:_[a-z0-9]{1,60}){1,9}\b|\b[a-z]{2,40}(?:[A-Z][a-z0-9]{1,40}){1,9}\b/gu;
const ADDRESS = new RegExp(
  source(`${START}(?:${LANGUAGES.flatMap(({ measures }) => measures.addresses).join('|')})`),
  'gu',
);
/** Somebody is handed over to a target, in each language. */
const TRANSFERS = LANGUAGES.flatMap(({ transfers, meaning }) => {
  const { verbs, titles, manner, articles, stops, pronouns } = transfers;
  const word = String.raw`[\p{L}\p{N}][\p{L}\p{N}'’&/-]*`;
  const goesOn = `(?!(?:${stops})(?![-\\p{L}\\p{N}]))`;
  const target = compile(
    `^(?<article>(?:${articles}) )?(?<target>${goesOn}(?<first>(?:(?:${titles})\\. )?${word})(?: ${goesOn}${word}){0,4})`,
    'iu',
  );
  const known = wordSet(`${meaning.roles} ${[...meaning.orders].join(' ')}`);
  const nobody = wordSet(pronouns);
  return verbs.map(({ verb, object, to }) => ({
    verb: compile(`${START}${verb}${object === undefined ? '' : ` ${object}`}${END}`),
    to: compile(`[^.,;:!?\\n]*?(?: (?:${manner}))? (?:${to}) `, 'iuy'),
    on: compile(` (?:${to}) `, 'iuy'),
    target,
    /** `a person who wants to cancel to the retention team`, `al cliente a facturación` */
    isOther: (first: string) => known.has(first),
    isNobody: (whole: string) => nobody.has(whole),
  }));
});

/** The facts of a text in order; none of them overlap. */
export function factsIn(text: string): readonly Fact[] {
  const claimed: Fact[] = [];
  const claim = (
    mark: FactMark,
    pattern: RegExp,
    readValue: (text: string) => string,
    unit = '',
  ) => {
    const found = matchesIn(text, pattern).map(({ 0: whole, index }): Fact => {
      const own = mark === 'link' ? whole.replace(/[.,;:!?*_]+$/, '') : whole;
      return {
        ...PLAIN,
        mark,
        text: shown(mark === 'tool' ? own.replaceAll('`', '') : own),
        value: readValue(own),
        unit,
        family: mark,
        start: index,
        from: index,
        end: index + own.length,
      };
    });
    claimed.push(...keepFree(found, claimed));
  };
  claim('token', TOKEN, (own) => own.replace(/\s+/g, ''));
  claim('link', LINK, (own) => own.toLowerCase().replace(/^https?:\/\/|\/$/g, ''));
  claim('tool', TOOL, (own) => own.replaceAll('`', ''));
  claim('phone', PHONE, phoneValue);
  claim('number', ADDRESS, (own) => fold(own).replaceAll(',', ''), 'address');
  claimed.push(...keepFree(quantitiesIn(text), claimed));
  claimed.sort((a, b) => a.start - b.start);
  const transfers = transfersIn(text, claimed);
  return [...keepFree(claimed, transfers), ...transfers].sort((a, b) => a.start - b.start);
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
function phoneValue(text: string): string {
  const digits = fold(text).replace(/[a-z]+/g, (word) =>
    String(word === 'oh' ? 0 : (wordValue(word) ?? '')),
  );
  return digits.replace(/\D/g, '');
}

function transfersIn(text: string, claimed: readonly Fact[]): readonly Fact[] {
  const found = TRANSFERS.flatMap((form) =>
    matchesIn(text, form.verb).flatMap(({ 0: verb, index }) => {
      const fact = transferAt(text, index, index + verb.length, form, claimed);
      return fact === undefined ? [] : [fact];
    }),
  ).sort((a, b) => a.start - b.start || a.from - b.from);
  return found.filter(({ start }, at) => start >= (found[at - 1]?.end ?? 0));
}

/** Characters from a verb to its target, and of the target. */
const MOST_BETWEEN = 90;
const MOST_TARGET = 120;

function transferAt(
  text: string,
  from: number,
  end: number,
  { to, on, target, isOther, isNobody }: (typeof TRANSFERS)[number],
  claimed: readonly Fact[],
): Fact | undefined {
  const room = text.slice(end, end + MOST_BETWEEN);
  let found:
    | { readonly start: number; readonly article: string; readonly name: string }
    | undefined;
  for (let at = 0; ; at -= 1) {
    const way = readAt(to, room, at);
    if (way === '') break;
    at += way.length;
    const start = end + at;
    const groups = target.exec(text.slice(start, start + MOST_TARGET))?.groups;
    const { article = '', target: name = '', first = '' } = groups ?? {};
    if (name !== '') found = { start, article, name };
    // Who is handed over stands before whom to, in the same form: `a los vecinos a la oficina`.
    const next = readAt(on, room, at + article.length + name.length).length;
    const behind = start + article.length + name.length + next;
    const goesOn = next > 0 && !claimed.some((one) => one.end > behind && one.start < behind + 4);
    if (name !== '' && !isOther(fold(first)) && !goesOn) break;
  }
  if (found === undefined || isNobody(fold(found.name))) return undefined;
  const { start, article, name } = found;
  // A target ends where something else begins: `Dr. Weber at +1 …`, unless it is one that has a number: `extension 204`.
  const next = claimed.find((one) => one.end > start && !one.isWeak);
  const isNumbered =
    next?.start === start + article.length &&
    next.mark === 'number' &&
    next.bound === '' &&
    /^\p{L}.*\d/u.test(next.text);
  const named = start + article.length + name.length;
  const until = isNumbered ? next.end : Math.min(next?.start ?? text.length, named);
  const own = text.slice(start, until).trimEnd();
  if (own === '' || own === article.trimEnd()) return undefined;
  const value = fold(own.slice(article.length));
  const place = { start, end: start + own.length, from };
  return {
    ...PLAIN,
    ...place,
    mark: 'transfer',
    text: shown(own),
    value,
    unit: '',
    family: 'transfer',
  };
}

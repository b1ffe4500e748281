import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { PlanDocument } from '../../src/core/plan-document.ts';
import type { Json } from '../../src/core/value.ts';
import { unifiedDiff } from '../../src/features/writing/pull/render.ts';
import { listUnseenInField, viewFields } from '../../src/render/fields.ts';
import { renderPlanMarkdown } from '../../src/render/markdown.ts';
import { recordedSides } from '../../src/render/runs.ts';
import { renderPlanText } from '../../src/render/text.ts';
import { listUnseen } from '../../src/render/unseen.ts';
import { sanitiseLine } from '../../src/render/untrusted.ts';
import { inlineValue, shortSides } from '../../src/render/value-text.ts';
import { runs, timeFor } from '../long.ts';
import { lookalikes, looksOf } from './looks.ts';
import { changeOf, fieldOf, planOf } from './sample.ts';

test.each<[string, Json, Json, readonly string[]]>([
  ['equal values', 'a', 'a', []],
  ['an edit that is seen', 'call back', 'ring back', []],
  ['what goes', 'a b', null, []],
  // Letters
  [
    'a decomposed letter',
    'Café',
    'Cafe\u0301',
    ['Cafe\u0301: decomposed (e U+0301), was composed (U+00E9)'],
  ],
  [
    'a composed letter',
    'Cafe\u0301',
    'Café',
    ['Café: composed (U+00E9), was decomposed (e U+0301)'],
  ],
  [
    'a decomposed syllable',
    '한',
    '\u1112\u1161\u11ab',
    ['\u1112\u1161\u11ab: decomposed (U+1112 U+1161 U+11AB), was composed (U+D55C)'],
  ],
  ['a sign for a letter', '\u00c5', '\u212b', ['\u212b: U+212B (Latin) instead of U+00C5 (Latin)']],
  ['a Cyrillic letter', 'paypal', 'pаypal', ['pаypal: U+0430 (Cyrillic) instead of "a"']],
  ['a letter put right', 'pаypal', 'paypal', ['paypal: "a" instead of U+0430 (Cyrillic)']],
  [
    'a look-alike beside an edit',
    'Call paypal now.',
    'Ring pаypal later.',
    ['pаypal: U+0430 (Cyrillic) instead of "a"'],
  ],
  [
    'one of Japanese',
    'ヘルプ',
    'へルプ',
    ['へルプ: U+3078 (Hiragana) instead of U+30D8 (Katakana)'],
  ],
  ['one of ASCII', 'paypal', 'paypaI', ['paypaI: "I" (capital i) instead of "l" (small L)']],
  ['two letters for one', 'modern', 'modem', ['modem: "m" instead of "rn"']],
  [
    'the same in many words',
    "don't, isn't, can't",
    'don’t, isn’t, can’t',
    ['don’t: U+2019 (’) instead of "\'", and in 2 more words'],
  ],
  ['signs alone', 'wait…', 'wait...', ['wait: "..." instead of U+2026 (…)']],
  ['another style of a picture', '☎', '☎\ufe0f', ['U+260E (☎) U+FE0F instead of U+260E (☎)']],
  ['what no font has', '\ue000', '\ue001', ['U+E001 instead of U+E000']],
  ['words by chance', 'wait 1 hour', 'I wait', []],
  // Escapes and signs that the text holds itself.
  ['a line break and its name', 'a\nb', 'a\\nb', ['"\\n" instead of a line break']],
  ['a control and its escape', 'a\u001bb', 'a\\x1bb', ['a\\x1bb: "\\x1b" instead of U+001B']],
  ['a space and a sign for it', 'a b', 'a␣b', ['U+2423 (␣) instead of a space']],
  // New words
  [
    'a new word of two scripts',
    null,
    'See pаypal',
    ['pаypal: Latin and Cyrillic letters in one word, U+0430 (Cyrillic)'],
  ],
  ['a new word that is none', null, 'Say сор', ['сор: Cyrillic letters that look like "cop"']],
  ['a new text in that script', null, 'Скажите: сор, OK', []],
  ['words of Japanese', null, 'お名前は AI です', []],
  ['a Greek letter before a word', null, 'α-helix, 5 μm, Ωmega', []],
  [
    'a new host',
    null,
    { url: 'https://user@pаypal.com:8443/a' },
    [
      'the host pаypal.com is xn--pypal-4ve.com',
      'pаypal: Latin and Cyrillic letters in one word, U+0430 (Cyrillic)',
    ],
  ],
  [
    'a host with accents',
    'https://a.test',
    'https://café.test',
    ['the host café.test is xn--caf-dma.test'],
  ],
  // White space
  [
    'line breaks at the end',
    'a',
    'a\n\n\n',
    ['only white space differs: 3 line breaks added at the end'],
  ],
  ['a final line break', 'a\n', 'a', ['only white space differs: a line break removed at the end']],
  ['blanks at the start', '  a', 'a', ['only white space differs: 2 spaces removed at the start']],
  [
    'a no-break space',
    'a b',
    'a\u00a0b',
    ['only white space differs: a space became a no-break space'],
  ],
  [
    'many of them',
    'a b c\nd e f',
    'a\u00a0b\u00a0c\nd\u00a0e f',
    ['only white space differs: 3 spaces became no-break spaces'],
  ],
  [
    'line ends',
    'a\nb\nc\n',
    'a\r\nb\r\nc\r\n',
    ['only white space differs: 3 line breaks became CR LF line breaks'],
  ],
  [
    'spaces at the end of lines',
    'a\nb\nc',
    'a \nb \nc',
    ['only white space differs: 2 spaces added at the end of 2 lines'],
  ],
  [
    'a tab for spaces',
    'a:\n    b',
    'a:\n\tb',
    ['only white space differs: 4 spaces became a tab at the start of line 2'],
  ],
  [
    'a place in a text',
    'one\ntwo three\nfour',
    'one\ntwo  three\nfour',
    ['only white space differs: a space added in line 2'],
  ],
  [
    'a space before a sign',
    'the price , then',
    'the price, then',
    ['only white space differs: a space removed'],
  ],
  [
    'a blank without a usual name',
    'a b',
    'a\u2004b',
    ['only white space differs: a space became a U+2004'],
  ],
  [
    'white space and look-alikes',
    'a paypal',
    'a\u00a0pаypal',
    [
      'pаypal: U+0430 (Cyrillic) instead of "a"',
      'white space differs: a space became a no-break space',
    ],
  ],
  [
    'white space beside an edit',
    'one\r\ntwo\r\n',
    'one\ntwo or three',
    ['white space differs: a CR LF line break removed at the end and a CR LF line break removed'],
  ],
  // Lists and objects
  [
    'an item of a list',
    ['a', 'b c'],
    ['a', 'b\u00a0c', 'd'],
    ['white space differs: a space became a no-break space'],
  ],
  [
    'a member of an object',
    { a: ['Café'] },
    { a: ['Cafe\u0301'] },
    ['Cafe\u0301: decomposed (e U+0301), was composed (U+00E9)'],
  ],
  ['a name in an object', { name: 1 }, { nаme: 1 }, ['nаme: U+0430 (Cyrillic) instead of "a"']],
])('says what cannot be seen: %s', (_, before, after, notes) => {
  expect(listUnseen(before, after)).toEqual(notes);
});

test('more than a few sorts of differences are counted', () => {
  const before = 'a b c d e o p s x y';
  const after = 'а b с d е о р ѕ х у';
  expect(listUnseen(before, after).slice(-1)).toEqual(['4 more differences that cannot be seen']);
});

test('a conflict says how the live value differs from the one last written, where that cannot be seen', () => {
  const field = fieldOf('t', 'Cafe\u0301', 'Tea', { cause: 'conflict', base: 'Café' });
  const [view] = viewFields(changeOf({ fields: [field] }), { purpose: 'apply' }, false);
  expect(view && listUnseenInField(view)).toEqual([
    'live now, against last written: Cafe\u0301: decomposed (e U+0301), was composed (U+00E9)',
  ]);
});

test('the name of a new resource is shown as a field where it passes for another', () => {
  const named = (name: string) => {
    const change = changeOf({ action: 'create', name, fields: [fieldOf('name', null, name)] });
    return viewFields(change, { purpose: 'apply' }, false).map(({ path }) => path);
  };
  expect([named('Front desk'), named('Frоnt desk')]).toEqual([[], ['name']]);
});

// What no view may leave out.

const PATH = 'greeting_message';

const planWith = (before: Json, after: Json, purpose: PlanDocument['purpose'] = 'apply') =>
  planOf([changeOf({ fields: [fieldOf(PATH, before, after)] })], { purpose });

/** All views of a difference. The page shows the sentences of a field above its values. */
const VIEWS: { readonly [name: string]: (before: Json, after: Json) => string } = {
  ...Object.fromEntries(
    [60, 120].flatMap((width) =>
      [false, true].map((verbose) => [
        `text at ${width} columns${verbose ? ', verbose' : ''}`,
        (before: Json, after: Json) =>
          renderPlanText(planWith(before, after), { width, color: false, verbose }),
      ]),
    ),
  ),
  drift: (before, after) =>
    renderPlanText(planWith(before, after, 'drift'), { width: 80, color: false, verbose: false }),
  Markdown: (before, after) => renderPlanMarkdown(planWith(before, after)),
  'drift as Markdown': (before, after) => renderPlanMarkdown(planWith(before, after, 'drift')),
  page: (before, after) =>
    viewFields(changeOf({ fields: [fieldOf(PATH, before, after)] }), { purpose: 'apply' }, false)
      .flatMap(listUnseenInField)
      .join('\n'),
  log: (before, after) => {
    const field = { path: PATH, before, after, secret: false, kept: { before: true, after: true } };
    const lines = recordedSides(field, 80, 4);
    return lines.map((line) => line.map(({ text }) => text).join('')).join('\n');
  },
  'a question': (before, after) => shortSides(before, after, 60).unseen.join('\n'),
  'the difference of a file': (before, after) => {
    const [old, fresh] = [before, after].map((value) =>
      typeof value === 'string' ? value : JSON.stringify(value),
    );
    const shown = unifiedDiff({ file: 'a', before: old, after: fresh ?? '' });
    // A line of its own is seen to come or go, whatever it holds.
    return shown.replace(/^[+-]\s*$/gm, 'a line break added or removed');
  },
};

const SAYS =
  /U\+[0-9A-F]{4}|(?:space|tab|line break|feed|return|U\+\w+)s? (?:added|removed|became)|instead of|" (?:added|removed)|No newline at end of file/;

/** Text of a view as it is read: without line breaks, entities and what is not seen. */
function asRead(text: string): string {
  return text
    .replace(/&#(\d+);/g, (_, code: string) => String.fromCodePoint(Number(code)))
    .replace(/[\u200b\u200e\u2066-\u2069]/g, '')
    .replace(/\s+/g, ' ');
}

const BLANKS = [' ', '\u00a0', '\u2003', '\u202f', '\t', '  ', '\n', '\n\n', '\r\n', ' \n'];

const word = fc.constantFrom(
  ...'hello paypal modern Café naïve 10 o I’ll "call" [-no-] {+yes+} a\\nb https://paypal.com/x שלום عربي ヘルプ 日本 한국 привет α β ... don\'t'.split(
    ' ',
  ),
);
const words = fc.array(fc.tuple(word, fc.constantFrom(...BLANKS)), { minLength: 1, maxLength: 12 });
const sentence = words.map((all) => all.flat().join(''));

/** Another text that a reader cannot tell from the one given; the same one where there is none. */
const disguised = (text: string) =>
  fc
    .tuple(fc.nat(), fc.nat(), fc.constantFrom('blank', 'letter', 'form', 'escape', 'end'))
    .map(([place, choice, way]) => {
      const chars = Array.from(text);
      const pick = <T>(all: readonly T[], at: number) => all[at % Math.max(1, all.length)];
      if (way === 'end') return `${text}${pick(['\n', ' ', '\n\n\n', '\t'], choice)}`;
      if (way === 'escape') return text.replace('\n', '\\n');
      if (way === 'form')
        return text === text.normalize('NFD') ? text.normalize('NFC') : text.normalize('NFD');
      const othersOf = (one: string) =>
        way === 'letter' ? lookalikes(one) : /\s/.test(one) ? BLANKS : [];
      const places = chars.flatMap((one, at) => (othersOf(one).length > 0 ? at : []));
      const at = pick(places, place);
      if (at === undefined) return text;
      return chars.with(at, pick(othersOf(chars[at] ?? ''), choice) ?? '').join('');
    });

const shape = fc.constantFrom<(text: string) => Json>(
  (text) => text,
  (text) => `# Rules\n\n${'Be kind to whoever calls, and brief. '.repeat(12)}\n\n${text}\n\n# End`,
  (text) => [text, 'other'],
  (text) => ({ a: { b: [{ c: text }] } }),
  (text) => ({ [text]: 1 }),
);

test(
  'two values that look alike never pass for the same in any view',
  () => {
    const pairs = sentence.chain((text) => fc.tuple(fc.constant(text), disguised(text)));
    fc.assert(
      fc.property(pairs, shape, ([one, other], made) => {
        const [before, after] = [made(one), made(other)];
        fc.pre(one !== other && looksOf(sanitiseLine(one)) === looksOf(sanitiseLine(other)));
        for (const [name, view] of Object.entries(VIEWS))
          expect(asRead(view(before, after)), name).toMatch(SAYS);
      }),
      { numRuns: runs(500) },
    );
  },
  timeFor(runs(500)),
);

test('no two values have the same line', () => {
  const text = fc.string({
    unit: fc.constantFrom(
      '\\',
      '"',
      'n',
      'x',
      '1',
      'b',
      'u',
      '{',
      '}',
      '\n',
      '\u001b',
      ',',
      ' ',
      ':',
      'a',
    ),
    maxLength: 8,
  });
  const value = fc.oneof(
    text,
    fc.array(text, { maxLength: 3 }),
    fc.dictionary(text, text, { maxKeys: 2 }),
  );
  fc.assert(
    fc.property(value, value, (one, other) => {
      fc.pre(JSON.stringify(one) !== JSON.stringify(other));
      expect(inlineValue(one)).not.toBe(inlineValue(other));
    }),
    { numRuns: runs(20_000) },
  );
});

// Marks that are not the text's own.

/** What a reader makes of a row: the words before and those after. */
function readRow(
  row: string,
  marks: readonly (readonly [string, string])[],
): readonly [string, string] {
  let [before, after, rest] = ['', '', row];
  for (;;) {
    const [removed = -1, added = -1] = marks.map(([start]) => rest.indexOf(start));
    const isRemoved = removed >= 0 && (added < 0 || removed < added);
    const at = isRemoved ? removed : added;
    const [start, end] = marks[isRemoved ? 0 : 1] ?? ['', ''];
    const same = at < 0 ? rest : rest.slice(0, at);
    before += same;
    after += same;
    if (at < 0) return [before, after];
    const until = rest.indexOf(end, at + start.length);
    const own = rest.slice(at + start.length, until);
    if (isRemoved) before += own;
    else after += own;
    rest = rest.slice(until + end.length);
  }
}

const LEGEND = /(\S+)removed(\S+) and (\S+)added(\S+) mark the changes/;

/** The marks that a view names, or the usual ones. */
function marksOf(view: string): readonly (readonly [string, string])[] {
  const [, removed, endRemoved, added, endAdded] = LEGEND.exec(view) ?? [
    '',
    '[-',
    '-]',
    '{+',
    '+}',
  ];
  return [
    [removed ?? '', endRemoved ?? ''],
    [added ?? '', endAdded ?? ''],
  ];
}

const bare = (text: string) => text.replace(/[\s␣⇥⏎]+/g, '');

const marked = fc.constantFrom(
  ...'[- -] {+ +} [-x-] {+y+} [1- -1] {1+ +1} [2-no-2] [ ] - + { } ] x- -y [[- +}} [1-2] {2+1} [-1] call them back at once please שלום 日本'.split(
    ' ',
  ),
);

test(
  'from a row of changed words, both texts can be told',
  () => {
    const texts = fc.array(marked, { minLength: 6, maxLength: 14 });
    const edits = fc.array(fc.tuple(fc.nat(13), marked), { minLength: 1, maxLength: 3 });
    fc.assert(
      fc.property(texts, edits, (old, changes) => {
        const fresh = changes.reduce((all, [at, own]) => all.with(at % all.length, own), old);
        const [before, after] = [old.join(' '), fresh.join(' ')];
        const view = renderPlanText(planWith(before, after), {
          width: 5000,
          color: false,
          verbose: true,
        });
        const rows = view.match(/^ {8}[-+] .*$/gm) ?? [];
        fc.pre(rows.length === 2);
        const [was, now] = rows.map((row) => asRead(row.slice('        - '.length)));
        // Each row has the words of its own side alone, so that brackets do where the words have none.
        const none = ['\0', '\0'] as const;
        const [removed = none, added = none] = /[[\]]/.test(before + after)
          ? marksOf(view)
          : ([
              ['[', ']'],
              ['[', ']'],
            ] as const);
        expect(bare(readRow(was ?? '', [removed, none])[0] ?? '')).toBe(bare(before));
        expect(bare(readRow(now ?? '', [none, added])[1] ?? '')).toBe(bare(after));
      }),
      { numRuns: runs(1000) },
    );
  },
  timeFor(runs(1000)),
);

test('many marks of its own do not make those of a text long', () => {
  const own = Array.from({ length: 5000 }, (_, at) => `[${at || ''}- `).join('');
  const text = renderPlanText(planWith(`Call ${own}`, `Ring ${own}`), {
    width: 120,
    color: false,
    verbose: false,
  });
  expect(text).toMatch(/\[5000-Call-5000\][\s\S]*\{5000\+Ring\+5000\}/);
});

// Text that runs from right to left.

const RIGHT_TO_LEFT = /[\p{Script=Hebrew}\p{Script=Arabic}]/u;

/** Parts of a line that stand in no isolate; undefined where isolates are not closed in it. */
function outsideIsolates(line: string): string | undefined {
  let [depth, outside] = [0, ''];
  for (const one of line) {
    if (/[\u2066\u2067]/.test(one)) depth += 1;
    else if (one === '\u2069') depth -= 1;
    else if (depth === 0) outside += one;
    if (depth < 0) return undefined;
  }
  return depth === 0 ? outside : undefined;
}

test(
  'text from right to left is isolated in every line of a terminal and of a fence, and nothing else is',
  () => {
    const pair = fc.tuple(sentence, sentence);
    fc.assert(
      fc.property(pair, shape, fc.integer({ min: 40, max: 130 }), ([one, other], made, width) => {
        const plan = planWith(made(one), made(other));
        const fences = renderPlanMarkdown(plan).match(/^`{3,}diff\n[\s\S]*?^`{3,}$/gm) ?? [];
        const text = renderPlanText(plan, { width, color: false, verbose: false });
        for (const line of [text, ...fences].join('\n').split('\n')) {
          const outside = outsideIsolates(line);
          expect(outside).not.toMatch(RIGHT_TO_LEFT);
          expect(outside).toBeDefined();
        }
        if (!RIGHT_TO_LEFT.test(text)) expect(text).not.toMatch(/[\u200e\u2066-\u2069]/);
      }),
      { numRuns: runs(500) },
    );
  },
  timeFor(runs(500)),
);

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Block, Piece } from '../../../src/render/prose/blocks.ts';
import { countWords, diffProse } from '../../../src/render/prose/diff.ts';

const SIGNS = { same: '', removed: '-', added: '+' } as const;

function wordsOf(pieces: readonly Piece[]): string {
  const shown = pieces.map(({ text, change }) => {
    const sign = SIGNS[change];
    return sign === '' ? text : `[${sign}${text}${sign}]`;
  });
  return shown.join('').replaceAll('-][-', '').replaceAll('+][+', '').replaceAll('\n', '⏎');
}

function show(block: Block): string {
  switch (block.type) {
    case 'same':
      return `  ${block.text.trimEnd().replaceAll('\n', '⏎')}`;
    case 'fold':
      return `(${[block.paragraphs, ...block.headings].join(', ')})`;
    case 'edited':
      return `~ ${wordsOf(block.words).replace(/⏎+$/, '')}`;
    case 'moved':
      return `> ${wordsOf(block.words).replace(/⏎+$/, '')}`;
    case 'left':
      return `< ${block.paragraphs}`;
    case 'removed':
    case 'added': {
      const text = block.words.map((word) => word.text).join('');
      return `${SIGNS[block.type]} ${text.trimEnd().replaceAll('\n', '⏎')}`;
    }
    default:
      return block satisfies never;
  }
}

function blocksOf(
  before: string,
  after: string,
  options?: Parameters<typeof diffProse>[2],
): readonly string[] {
  return diffProse(before, after, options).blocks.map(show);
}

const text = (...paragraphs: readonly string[]) => paragraphs.join('\n\n');

test.each<[string, string, string, readonly string[]]>([
  ['a word', 'Offer two times.', 'Offer three times.', ['~ Offer[- two-][+ three+] times.']],
  ['a word more', 'Call me', 'Call me back', ['~ Call me[+ back+]']],
  [
    'a token as one word',
    'Hi {{name|there}}, bye',
    'Hi {{first name|there}}, bye',
    ['~ Hi[- {{name|there}}-][+ {{first name|there}}+], bye'],
  ],
  [
    'a phone number as one word',
    'Call +1 (555) 010-0200 at once, please',
    'Call +1 (555) 010-0299 at once, please',
    ['~ Call[- +1 (555) 010-0200-][+ +1 (555) 010-0299+] at once, please'],
  ],
  [
    'a date, whole',
    'Closed from 2026-12-24 to 24-12-2026, in 2026-27',
    'Closed from 2026-12-25 to 25-12-2026, in 2026-28',
    [
      '~ Closed from[- 2026-12-24-][+ 2026-12-25+] to[- 24-12-2026-][+ 25-12-2026+], in 2026-[-27-][+28+]',
    ],
  ],
  [
    'a script without blanks, character by character',
    '我们上午九点开门。',
    '我们上午八点开门。',
    ['~ 我们上午[-九-][+八+]点开门。'],
  ],
  [
    'a combined letter and a joined picture as one',
    'Cafe\u0301 👩‍👩‍👧 today',
    'Cafe 👩‍👩‍👦 today',
    ['~ [-Cafe\u0301 👩‍👩‍👧-][+Cafe 👩‍👩‍👦+] today'],
  ],
  [
    'a sentence that was written anew as one change',
    'Tell the caller that we do not open on Sundays and holidays.',
    'Tell the caller when a visit is free and holidays.',
    ['~ Tell the caller[- that we do not open on Sundays-][+ when a visit is free+] and holidays.'],
  ],
  [
    'little in common',
    'Never quote prices.',
    'Be kind to us.',
    ['- Never quote prices.', '+ Be kind to us.'],
  ],
  ['a paragraph more', text('a', 'b'), text('a', 'x', 'b'), ['  a', '+ x', '  b']],
  ['a paragraph less', text('a', 'x', 'b'), text('a', 'b'), ['  a', '- x', '  b']],
  [
    'a paragraph that moved',
    text('Say who you are.', 'Ask for the name of the caller.', 'Book the visit now.'),
    text('Ask for the name of the caller.', 'Book the visit now.', 'Say who you are.'),
    ['< 1', '  Ask for the name of the caller.', '  Book the visit now.', '> Say who you are.'],
  ],
  [
    'a paragraph that moved and was edited',
    text(
      'Say who you are and that this call is being recorded.',
      'Ask for the name of the caller.',
      'Book the visit now.',
    ),
    text(
      'Ask for the name of the caller.',
      'Book the visit now.',
      'Say who you are and that this call is not recorded.',
    ),
    [
      '< 1',
      '  Ask for the name of the caller.',
      '  Book the visit now.',
      '> Say who you are and that this call is[- being-][+ not+] recorded.',
    ],
  ],
  [
    'a part that moved with its heading, as one',
    '# A\n\nOne two three.\n\n## Hours\n\nOpen from nine.\n\n## Prices\n\nAsk the front desk.\n\nThen go on as before.\n\nAnd end.',
    '# A\n\nOne two three.\n\n## Prices\n\nAsk the front desk.\n\nThen go on as before.\n\nAnd end.\n\n## Hours\n\nOpen from nine.',
    [
      '  # A',
      '  One two three.',
      '< 2',
      '  ## Prices',
      '(2)',
      '  And end.',
      '> ## Hours⏎⏎Open from nine.',
    ],
  ],
  ['blanks alone', 'a  b c', 'a b c', ['~ a[-  -][+ +]b c']],
  [
    'a paragraph broken anew',
    `Tell the caller about the opening hours of the whole practice, \nand then say goodbye to them.`,
    'Tell the caller about the opening hours of the whole practice, and then say goodbye to them.',
    [
      '~ Tell the caller about the opening hours of the whole practice,[- ⏎-][+ +]and then say goodbye to them.',
    ],
  ],
  ['an empty line between two paragraphs', 'a\nb', 'a\n\nb', ['~ a[+⏎+]', '  b']],
  ['a final line break', 'a\nb\n', 'a\nb', ['  a', '~ b[-⏎-]']],
])('%s', (_, before, after, blocks) => {
  expect(blocksOf(before, after)).toEqual(blocks);
});

describe('what is unchanged', () => {
  const part = (name: string, count: number) => [
    `## ${name}`,
    ...Array.from({ length: count }, (_, at) => `The rule number ${at} of ${name}.`),
  ];
  const before = text(
    ...part('Hours', 3),
    ...part('Prices', 5),
    'Offer two times.',
    ...part('End', 4),
  );
  const after = before.replace('two', 'three');

  test('is folded but for the heading above a change and what is next to it', () => {
    expect(blocksOf(before, after)).toEqual([
      '(4, Hours)',
      '  ## Prices',
      '(4)',
      '  The rule number 4 of Prices.',
      '~ Offer[- two-][+ three+] times.',
      '  ## End',
      '(4)',
    ]);
  });

  test('stays with an endless context', () => {
    const blocks = blocksOf(before, after, { context: Infinity });
    expect(blocks).toHaveLength(16);
    expect(blocks.filter((block) => block.startsWith('('))).toEqual([]);
  });

  test('has no heading in code', () => {
    const code = [
      '```sh',
      '# not a heading',
      ...Array.from({ length: 4 }, (_, at) => `run ${at}`),
      '```',
    ];
    const old = [...code, '', 'Offer two times.'].join('\n');
    expect(diffProse(old, old.replace('two', 'three')).blocks.at(-1)?.heading).toBeNull();
  });
});

test.each<[string, string, string, boolean]>([
  ['blanks', 'a b', 'a  b', true],
  ['a final line break', 'a', 'a\n', true],
  ['line ends', 'a\r\nb\r\n', 'a\nb\n', true],
  ['a blank after a sign', 'a,b', 'a, b', true],
  ['nothing', 'a b', 'a b', false],
  ['a word that falls apart', 'nowhere', 'now here', false],
])('only white space differs: %s', (_, before, after, is) => {
  expect(diffProse(before, after).whitespaceOnly).toBe(is);
});

describe('texts that are long and have little in common', () => {
  test.each<[string, string, string]>([
    ['one line', 'a b '.repeat(30_000), 'b c '.repeat(30_000)],
    ['open braces', '{{'.repeat(60_000), '{{x'.repeat(40_000)],
    ['digits', '1'.repeat(100_000), '1('.repeat(50_000)],
    ['blanks', ' '.repeat(100_000), `${' '.repeat(100_000)}x`],
  ])('%s are compared in bounded time', (_, before, after) => {
    const { blocks } = diffProse(before, after);
    expect(blocks.length).toBeGreaterThan(0);
  });

  const book = (word: string, changed = word) =>
    Array.from({ length: 12_000 }, (_, at) =>
      at === 6000
        ? `# Hours\n\n${changed} opens at 8 am.\n\n`
        : `${word} ${'x'.repeat(50)} ${at}.\n\n`,
    ).join('');

  test('are compared as wholes where too much differs, and as ever where little does', () => {
    const old = book('One');
    const edited = diffProse(old, book('One', 'Two'));
    expect(edited).toMatchObject({
      limited: false,
      counts: { paragraphs: { edited: 1, same: 12_000 } },
    });
    expect(edited.blocks.find(({ type }) => type === 'edited')).toMatchObject({
      heading: 'Hours',
      line: 12_003,
    });
    const { limited, blocks } = diffProse(old, `# Hours\n\n${book('Two')}`);
    expect([limited, blocks.map(({ type }) => type)]).toEqual([true, ['removed', 'added']]);
  });

  test('say that words were not compared everywhere', () => {
    const words = (start: number) => Array.from({ length: 4000 }, (_, at) => `w${start + at * 2}`);
    const [old, fresh] = [words(0), words(1)];
    const mixed = old.map((word, at) => (at % 2 === 0 ? word : (fresh[at] ?? '')));
    expect(diffProse(old.join(' '), mixed.join(' ')).limited).toBe(true);
    expect(diffProse(old.join(' '), `${old.join(' ')} more`).limited).toBe(false);
  });
});

test('words are counted as far as is asked, also in a word of megabytes', () => {
  fc.assert(
    fc.property(fc.string({ unit: fc.constantFrom(...'ab é1-.\n ') }), fc.nat(5), (text, most) => {
      const all = text.split(/\s+/).filter((word) => /[\p{L}\p{N}]/u.test(word)).length;
      expect(countWords(text)).toBe(all);
      expect(countWords(text, most)).toBe(Math.min(all, most));
    }),
  );
  expect(countWords('x'.repeat(10_000_000))).toBe(1);
});

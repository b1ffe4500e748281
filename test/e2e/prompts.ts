/**
 * Prompts in the style of those that teams have: with examples in JSON, tables, code, line endings of Windows, blanks
 * at the ends of lines, emoji and lines of a whole page. Each has a line `MARK …`, which somebody edits.
 */
const lines = (...all: readonly string[]): string => `${all.join('\n')}\n`;

const DENTAL = lines(
  'You are Mia, the receptionist of a dental clinic.',
  '',
  '## Opening hours',
  '',
  '| day | from | to |',
  '|-----|-----:|---:|',
  '| Mon | 08:00 | 18:00 |',
  '| Fri | 08:00 | 14:00 |',
  '',
  'MARK Offer the next free slot first.',
);

/** The five with doubled braces. */
const BRACES: readonly string[] = [
  lines(
    'Classify the caller. Answer with JSON only:',
    '{{"intent": "book", "slots": {{"day": "mon", "time": "09:00"}}}}',
    'MARK Never add a comment.',
  ),
  lines('Use {{', '  caller_name', '}} once in the first sentence.', 'MARK Then use none.'),
  lines('Context: {context}', 'Question: {{question}', 'MARK Answer in one sentence.'),
  lines(
    '{% if vip %}Be {{ tone | default("warm") }}.{% endif %}',
    'MARK {{#tags}}{{{raw}}}{{/tags}}',
  ),
  lines('Write totals as $\\frac{{a}}{{b}}$ or as }} alone.', 'MARK A rate is {{'),
];

const PLAIN: readonly string[] = [
  DENTAL,
  lines(
    'Reply as JSON:',
    '```json',
    '{ "a": { "b": { "c": [1, 2] } } }',
    '```',
    'MARK No prose around it.',
  ),
  'Line one.\r\nMARK Line two.\r\n\r\nLine four.\r\n',
  'Trailing blanks.   \nMARK More of them. \t \n\t\nEnd.  \n',
  lines('👋 Hello 👩‍⚕️ and 🇩🇪', 'MARK Be 😊 and brief', 'café, cafe\u0301, naïve'),
  lines('\tIndented with a tab', '\t\tMARK twice', 'col1\tcol2\tcol3'),
  lines(`MARK ${'Never give medical advice. '.repeat(400)}`),
  'No final line break. MARK here',
  lines('', '', 'MARK Begins with empty lines.', '', '', ''),
  lines('# Rolle', 'Du bist höflich – „immer“.', 'MARK Straße, Größe, ß.'),
  lines('你是一位接待员。', 'MARK 请简短回答。'),
  lines('أنت موظف استقبال.', 'MARK كن مهذبا.'),
  lines('---', 'title: Not front matter', '---', 'MARK Body', '...'),
  lines(
    'Say "yes", \'no\' or `maybe`; 50% off & <b>bold</b>.',
    'MARK \\n is no line break, \\\\ is a backslash.',
  ),
  lines('Costs ${price} or $5; ${var.none} is no variable in a file.', 'MARK $${twice}'),
  lines('- [ ] step one', '- [x] step two', '  1. sub', '     MARK sub-sub', '* end'),
  lines('> quoted', '>> MARK twice', '', '    code by four spaces'),
  lines('Use tool `book` with (day, time).', 'MARK Then transfer_call("front").'),
  lines('[link](https://x.test/a?b=c&d=e#f) and <https://y.test>', 'MARK ![alt](i.png)'),
  lines('~~~ts', 'const f = (a: number) => `${a}`;', '~~~', 'MARK after code'),
  lines('Zero\u200bwidth, non\u00a0breaking, soft\u00adhyphen.', 'MARK \u2028 is a separator'),
  lines(
    ...Array.from({ length: 300 }, (_, at) => `${at + 1}. Rule number ${at + 1}.`),
    'MARK The last rule.',
  ),
  lines('<system>', '  <role>receptionist</role>', '  MARK <rule id="1"/>', '</system>'),
  lines('key: value', 'list: [a, b]', 'MARK *anchor &anchor !tag'),
  lines('A line that ends in a colon:', 'MARK # not a comment'),
];

export const PROMPTS: readonly string[] = [...BRACES, ...PLAIN];
/** The prompts of `npm test`: the doubled braces, a table, line endings of Windows, blanks, emoji and no last line break. */
export const SHORT: readonly string[] = [
  ...BRACES,
  ...[DENTAL, '\r\n', 'blanks', '👋', 'No final'].flatMap(
    (part) => PLAIN.find((one) => one.includes(part)) ?? [],
  ),
];

/** The prompt after somebody edited one line. */
export function edited(prompt: string, word = 'EDITED'): string {
  return prompt.replace('MARK', word);
}

import { expect, test } from 'vitest';
import { findCallouts } from '../../../src/render/prose/callouts.ts';
import { cutPieces, viewProse } from '../../../src/render/prose/view.ts';

const viewTexts = (before: string, after: string, verbose = false) =>
  viewProse(before, after, findCallouts(before, after), { verbose });

/** The changed rows, words marked as on a terminal. */
function rowsOf(before: string, after: string): readonly string[] {
  return viewTexts(before, after).rows.flatMap((row) => {
    if (row.type === 'fold' || row.type === 'same') return [];
    const marks = { same: ['', ''], removed: ['[-', '-]'], added: ['{+', '+}'] } as const;
    return row.pieces.map(({ text, change }) => marks[change].join(text)).join('');
  });
}

test.each<[string, string, string, string]>([
  ['blanks at the end of a line', 'a b\n\nc', 'a b  \n\nc', 'a b{+␣␣+}'],
  ['a paragraph that comes nearer', '# a\n\nb', '# a\nb', '# a[-⏎-]'],
  ['a paragraph that moves away', '- a\n- b', '- a\n\n- b', '- a{+⏎+}'],
  ['blanks between words', 'a b\n\nc', 'a  b\n\nc', 'a[-␣-]{+␣␣+}b'],
  [
    'a blank that looks like another',
    'a b\n\nc\n\nd',
    'a\u00a0b\u3000\n\nc\n\nd',
    'a[-␣-]{+\\xa0+}b{+\\u{3000}+}',
  ],
  [
    'a blank less beside a word',
    'tell them the price , then ask',
    'tell them the price, then wait',
    'tell them the price[-␣-], then[- ask-]{+ wait+}',
  ],
  [
    'a blank more beside a word',
    'you are kind',
    'you  are not kind',
    'you[-␣-]{+␣␣+}are{+ not+} kind',
  ],
  ['a word before all others', 'be kind', 'please be kind', '{+please+} be kind'],
])('white space, as what came and went: %s', (_, before, after, row) => {
  expect(rowsOf(before, after)).toEqual([row]);
});

test('the place of a callout is told alike under every heading', () => {
  const text = (hours: number) =>
    `# Safety first\n\nCall back within ${hours} hours.\n\n${'More of it. '.repeat(40)}`;
  const { callouts } = viewTexts(text(24), text(48));
  expect(callouts.map(({ place }) => place)).toEqual(['under Safety first, line 3']);
});

test('the place of what changed alike in several places is the first', () => {
  const text = (hours: number) =>
    `# Safety\n\nWithin ${hours} hours.\n\n${'More of it. '.repeat(40)}\n\nOr ${hours} hours later.`;
  const { callouts } = viewTexts(text(24), text(48));
  expect(callouts.map(({ place }) => place)).toEqual(['2 times, first under Safety, line 3']);
});

test('that only white space differs is not told twice on the line of a field', () => {
  const long = 'Some words that go on. '.repeat(30);
  expect(viewTexts(`${long}\n\na`, `${long}\n\na  b`.replace('  b', '\n')).summary).not.toContain(
    'white space',
  );
});

const REWRITTEN = [
  `You answer the phone of Harbor Dental and find out what callers need.

## Voice
- One or two short sentences at a time; then let the caller answer.
- Say dates the way people say them, and read names back.
- Let people finish, and ask once more what they mean before you go on.

## What not to do
- Give no advice that needs a professional; offer a call back instead.
- Keep each answer below 20 words, and send forms with {{form_link}} or send_form.
`,
  `Your job at the desk is to greet, to listen, and to solve it or hand over.

## Manner
- Be brief and warm: 3 sentences at most. Section 7 of the handbook has examples, see https://harbor.example.test/h.
- Spell addresses slowly.

## Hand over
- Severe pain or swelling: transfer to the emergency dentist.
- Never diagnose. Use book_visit for visits.
`,
] as const;

test('of a text that is rewritten, only what weighs is called out, and it is said to be rewritten', () => {
  const view = viewTexts(...REWRITTEN);
  expect(view.summary).toMatch(/^rewritten: /);
  expect(
    view.callouts.map(({ lead, before, after }) => `${lead} ${before ?? ''} ${after ?? ''}`.trim()),
  ).toMatchInlineSnapshot(`
    [
      "instruction added:  "Severe pain or swelling: transfer to the emergency dentist."",
      "instruction removed: "Say dates the way people say them, and read names back."",
      "instruction removed: "Let people finish, and ask once more what they mean before you go on."",
      "instruction removed: "Give no advice that needs a professional; offer a call back instead."",
      "instruction removed: "Keep each answer below 20 words, and send forms with {{form_link}} or send_form."",
      "instruction added:  "Spell addresses slowly."",
      "instruction added:  "Never diagnose."",
      "instruction added:  "Use book_visit for visits."",
    ]
  `);
  const whole = viewTexts(...REWRITTEN, true);
  expect(whole.callouts.length).toBe(view.callouts.length + view.moreCallouts);
});

test('a text to which much is added, or of which much is taken away, is not rewritten', () => {
  const [before, after] = REWRITTEN;
  expect(viewTexts(before, before + after).summary).not.toContain('rewritten');
  expect(viewTexts(before + after, before).summary).not.toContain('rewritten');
});

test('of too many call-outs, whom calls go to is left out last', () => {
  const rules = Array.from(
    { length: 12 },
    (_, at) => `- Never mention topic ${'abcdefghijkl'[at]}ish.`,
  );
  const { callouts } = viewTexts(
    `# A\n\n${'Stay calm and kind. '.repeat(30)}`,
    `# A\n\n${'Stay calm and kind. '.repeat(30)}\n\n${rules.join('\n')}\n- Transfer to the night desk.\n`,
  );
  expect(callouts).toHaveLength(8);
  expect(callouts.map(({ after }) => after)).toContain('"Transfer to the night desk."');
});

test.each([
  [9, ['ab', 'c📞', 'de'], 0],
  [6, ['ab', 'c📞', 'd'], 1],
  // Never half of a character: a telephone has two units.
  [4, ['ab', 'c'], 4],
  [2, ['ab'], 5],
])('pieces cut to %i characters are %j, without %i', (most, texts, rest) => {
  const { shown, rest: left } = cutPieces([{ text: 'ab' }, { text: 'c📞' }, { text: 'de' }], most);
  expect([shown.map(({ text }) => text), left]).toEqual([texts, rest]);
});

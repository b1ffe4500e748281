import { expect, test } from 'vitest';
import type { PlanDocument } from '../../../src/core/plan-document.ts';
import { findCallouts } from '../../../src/features/review/callouts/callouts.ts';
import { renderPlanMarkdown } from '../../../src/render/markdown.ts';
import { escapeText } from '../../../src/render/markdown-text.ts';
import { calloutRow } from '../../../src/render/prose/callout-words.ts';
import { viewProse } from '../../../src/render/prose/view.ts';
import { renderPlanText } from '../../../src/render/text.ts';
import { documents } from '../../render/documents.ts';
import { changeOf, fieldOf, planOf } from '../../render/sample.ts';

const PROMPT = [
  '# Rules',
  '- Do not diagnose.',
  '- Transfer emergencies to the dentist on call.',
  '- Call back within 30 minutes, as https://harbor.example.test/y has it.',
  '- Greet {{name}} and look it up with crm_lookup.',
  '',
  'Never:',
  '- Give out <b>addresses</b> & phone numbers.',
  'Always:',
  '- Ask for the name.',
].join('\n');
const EDITED = [
  '# Rules',
  '- You may diagnose.',
  '- Transfer emergencies to the front desk.',
  '- Call back within 60 minutes, as https://harbor.example.test/z has it.',
  '- Greet {{first}} and look it up with crm_search.',
  '- Offer the *first* slot, at https://harbor.example.test/x.',
  'Never:',
  '- Ask for the name.',
].join('\n');

const samples: { readonly [name: string]: PlanDocument } = {
  ...documents,
  sorts: planOf([changeOf({ fields: [fieldOf('system_prompt', PROMPT, EDITED)] })]),
  drift: planOf([changeOf({ fields: [fieldOf('system_prompt', PROMPT, EDITED)] })], {
    purpose: 'drift',
  }),
};

test('the sample has call-outs of most sorts', () => {
  const sorts = samples.sorts?.changes[0]?.callouts?.map(({ sort }) => sort);
  expect(sorts?.slice(0, 2)).toEqual(['reversed', 'transfer']);
  expect(new Set(sorts)).toEqual(
    new Set([
      'reversed',
      'transfer',
      'removed',
      'added',
      'moved',
      'number',
      'link',
      'token',
      'tool',
    ]),
  );
});

/** A comment has no room for more of one text. */
const MOST_IN_MARKDOWN = 8;

const flat = (text: string) => text.replace(/\s+/g, ' ');

test.each(Object.keys(samples))('text and Markdown of `%s` say what the document does', (name) => {
  const plan = samples[name] ?? planOf([]);
  const text = flat(renderPlanText(plan, { width: 120, color: false, verbose: true }));
  const markdown = flat(renderPlanMarkdown(plan));
  // Those of one text stand in the order of the document.
  let [inText, inMarkdown, count, last] = [0, 0, 0, ''];
  const all = plan.changes.flatMap(({ address, callouts = [] }) =>
    callouts.map((one) => ({ ...calloutRow(one), text: `${address} ${one.path}` })),
  );
  for (const { lead, before, after, isSentence, place, text: own } of all) {
    if (own !== last) [inText, inMarkdown, count, last] = [0, 0, 0, own];
    count += 1;
    const sides = [before, after].filter((side) => side !== null);
    const start = lead === '' ? '' : `${lead} `;
    const line = `${start}${sides.join(' → ')} ${place}`;
    inText = text.indexOf(flat(line), inText);
    expect(inText, line).toBeGreaterThan(0);
    if (count > MOST_IN_MARKDOWN) {
      expect(markdown).toMatch(/- \d+ more call-outs?/);
      continue;
    }
    const code = (side: string) =>
      isSentence ? escapeText(side) : `<code>${escapeText(side)}</code>`;
    const item = `- ${start}${sides.map(code).join(' → ')}, ${escapeText(place)}`;
    inMarkdown = markdown.indexOf(flat(item), inMarkdown);
    expect(inMarkdown, item).toBeGreaterThan(0);
  }
});

const viewTexts = (before: string, after: string, verbose = false) =>
  viewProse(before, after, findCallouts(before, after), { verbose });

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

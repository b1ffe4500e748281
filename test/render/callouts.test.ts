import { expect, test } from 'vitest';
import type { PlanDocument } from '../../src/core/plan-document.ts';
import { renderPlanMarkdown } from '../../src/render/markdown.ts';
import { escapeText } from '../../src/render/markdown-text.ts';
import { calloutRow } from '../../src/render/prose/callout-words.ts';
import { renderPlanText } from '../../src/render/text.ts';
import { documents } from './documents.ts';
import { changeOf, fieldOf, planOf } from './sample.ts';

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

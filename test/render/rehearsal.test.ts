import { describe, expect, test } from 'vitest';
import { renderPlanMarkdown } from '../../src/render/markdown.ts';
import { renderPlanText, renderRehearsalText } from '../../src/render/text.ts';
import { expectGolden } from './golden.ts';
import { rehearsals } from './rehearsals.ts';

const OPTIONS = { width: 80, color: false, verbose: false };

describe.each(Object.entries(rehearsals))('a rehearsal that came to `%s`', (name, plan) => {
  test('as text', () => {
    const text = renderRehearsalText(plan, OPTIONS);
    expectGolden(`rehearsal-${name}.80.txt`, text);
    // Whoever sees the plan sees the same.
    expect(renderPlanText(plan, OPTIONS)).toContain(text.trimEnd());
  });

  test('as a comment', () => {
    expectGolden(`rehearsal-${name}.md`, renderPlanMarkdown(plan));
  });
});

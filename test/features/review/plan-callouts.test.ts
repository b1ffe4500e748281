import { expect, test } from 'vitest';
import type { Change, FindCallouts } from '../../../src/core/plan-document.ts';
import { createCalloutFinder } from '../../../src/features/review/callouts/callouts.ts';
import { parsePlan, planDigest } from '../../../src/plan/document.ts';
import { keepDrift } from '../../../src/plan/drift.ts';
import { renderPlanJson } from '../../../src/render/json.ts';
import { world } from '../../world.ts';

const RULES = '# Rules\n\n- Do not diagnose.\n- Call back within 30 minutes.\n';
const EDITED = '# Rules\n\n- You may diagnose.\n- Call back within 60 minutes.\n';

/** An agent that has the rules, and is to have the edited ones. */
const edited = world()
  .desired({ 'agent.desk': { name: 'Desk', greeting_message: 'Good day', system_prompt: EDITED } })
  .live({ agent: [{ id: 'a1', name: 'Desk', greeting_message: 'Hello', system_prompt: RULES }] })
  .applied({
    'agent.desk': { id: 'a1', name: 'Desk', greeting_message: 'Hello', system_prompt: RULES },
  });

const REVERSED = {
  path: 'system_prompt',
  sort: 'reversed',
  before: 'Do not diagnose.',
  after: 'You may diagnose.',
  heading: 'Rules',
  line: 3,
  times: 1,
};
const MINUTES = {
  path: 'system_prompt',
  sort: 'number',
  before: '30 minutes',
  after: '60 minutes',
  heading: 'Rules',
  line: 4,
  times: 1,
};

test('a plan has the call-outs of its texts, a reversed rule first, and of short values none', async () => {
  const { plan } = await edited.plan();
  expect(plan.changes[0]?.callouts).toEqual([REVERSED, MINUTES]);
});

test('a change without any has no member for them', async () => {
  const { plan } = await edited
    .desired({ 'agent.desk': { name: 'Desk', greeting_message: 'Bye' } })
    .plan();
  expect(plan.changes[0]).not.toHaveProperty('callouts');
});

test('what is masked, or written nowhere, is not looked at', async () => {
  const seen: string[] = [];
  const findCallouts: FindCallouts = (before, after) => {
    seen.push(before, after);
    return [];
  };
  const tools = (token: string) => ({
    tools: [
      {
        type: 'webhook',
        name: 'crm',
        url: 'https://crm.example.test',
        headers: { Authorization: `${token}\n${'x'.repeat(500)}` },
      },
    ],
  });
  await world()
    .desired({ 'agent.desk': { name: 'Desk', extensions: tools('new'), system_prompt: EDITED } })
    .live({ agent: [{ id: 'a1', name: 'Desk', extensions: tools('old'), system_prompt: RULES }] })
    .plan({ findCallouts });
  expect(seen).toEqual([RULES, EDITED]);
});

test('in drift they say what was changed on the platform', async () => {
  const drifted = world()
    .desired({ 'agent.desk': { name: 'Desk', system_prompt: RULES } })
    .live({ agent: [{ id: 'a1', name: 'Desk', system_prompt: EDITED }] })
    .applied({ 'agent.desk': { id: 'a1', name: 'Desk', system_prompt: RULES } });
  const { plan } = await drifted.plan();
  expect(plan.changes[0]?.callouts?.[0]).toMatchObject({ after: 'Do not diagnose.' });
  const drift = keepDrift(plan, createCalloutFinder());
  expect(drift.changes[0]?.callouts).toEqual([REVERSED, MINUTES]);
});

test('a plan file in which one was edited is refused', async () => {
  const { plan } = await edited.plan();
  const text = renderPlanJson(plan);
  expect(parsePlan(text, 'plan.json')).toEqual(plan);
  const forged = text.replace('"sort": "reversed"', '"sort": "changed"');
  expect(() => parsePlan(forged, 'plan.json')).toThrow(/changed after it was made/);
  const [change] = plan.changes;
  const { callouts: _, ...without }: Partial<Change> = change ?? {};
  expect(planDigest({ ...plan, changes: [without as Change] })).not.toBe(plan.digest);
});

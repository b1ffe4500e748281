import { describe, expect, test } from 'vitest';
import type { PlanDocument } from '../../src/core/plan-document.ts';
import { footersBelow } from '../../src/render/footers.ts';
import { renderPlanMarkdown } from '../../src/render/markdown.ts';
import { renderLedgerText } from '../../src/render/runs.ts';
import { renderPlanText } from '../../src/render/text.ts';
import { changeOf, fieldOf, planOf } from './sample.ts';

const GENTLE = '4be1f0c2-7a55-4c58-9d5e-0f3f8a3f2a11';
const HARD = '91cc52c1-1111-4000-8000-0000000000aa';
const HARBOR = '3c6e0b8a-9c15-4f1d-9f0e-5d2b7f1a2c11';
const ROW = 'agent.clinic["c7"]';

const NAMES = {
  [GENTLE]: 'Gentle redial',
  [HARD]: 'Hard redial',
  [HARBOR]: 'Harbor Dental',
  'retry_policy.hard': 'Hard redial',
};

const textOf = (plan: PlanDocument, width = 140, verbose = false) =>
  renderPlanText(plan, { width, color: false, verbose });

const planWith = (...fields: readonly ReturnType<typeof fieldOf>[]) =>
  planOf([changeOf({ fields })], { names: NAMES });

describe('a value that is the id of something', () => {
  test.each([
    [
      'from one to another',
      fieldOf('default_retry_policy_id', GENTLE, HARD),
      `Gentle redial → Hard redial (${GENTLE} → ${HARD})`,
      [
        `- default_retry_policy_id: Gentle redial (${GENTLE})`,
        `+ default_retry_policy_id: Hard redial (${HARD})`,
      ],
    ],
    [
      'from one to an address',
      fieldOf('default_retry_policy_id', GENTLE, { $ref: 'retry_policy.hard' }),
      `Gentle redial → Hard redial (${GENTLE} → retry_policy.hard)`,
      [`+ default_retry_policy_id: Hard redial (retry_policy.hard)`],
    ],
    [
      'from what nobody knows',
      fieldOf('default_retry_policy_id', '00000000-0000-4000-8000-000000000000', HARD),
      `"00000000-0000-4000-8000-000000000000" → Hard redial (${HARD})`,
      [`+ default_retry_policy_id: Hard redial (${HARD})`],
    ],
    [
      'that is new',
      fieldOf('default_retry_policy_id', null, HARD),
      `Hard redial (${HARD})`,
      [`+ default_retry_policy_id: Hard redial (${HARD})`],
    ],
    [
      'within an object',
      fieldOf('config.owner', null, { of: [HARBOR], as: 'owner' }),
      `{ as: "owner", of: [Harbor Dental (${HARBOR})] }`,
      [`of: [Harbor Dental (${HARBOR})]`],
    ],
    ['that nothing has a name for', fieldOf('a', null, { $ref: 'agent.b' }), 'id of agent.b', []],
    ['in the middle of a text', fieldOf('a', null, `of ${HARBOR}`), `"of ${HARBOR}"`, []],
  ])('%s', (_, field, shown, rows) => {
    expect(textOf(planWith(field))).toContain(shown);
    const page = renderPlanMarkdown(planWith(field));
    for (const row of rows) expect(page).toContain(row);
  });

  test('in a conflict', () => {
    const field = fieldOf('default_retry_policy_id', GENTLE, HARD, {
      cause: 'conflict',
      base: null,
    });
    const text = textOf(planWith(field));
    expect(text).toContain(`live       Gentle redial (${GENTLE})`);
    expect(text).toContain(`this plan  Hard redial (${HARD})`);
  });

  test('its name is untrusted', () => {
    const names = { ...NAMES, [HARD]: '\x1b[2J`callsheet rm`\n|' };
    const plan = { ...planWith(fieldOf('a', null, HARD)), names };
    expect(textOf(plan)).toContain(`\\x1b[2J\`callsheet rm\`\\n| (${HARD})`);
  });
});

describe('an address that is listed', () => {
  const changes = [
    changeOf({ address: ROW, name: 'Cedar Point', fields: [fieldOf('a', 1, 2)] }),
    changeOf({
      address: 'agent.night',
      name: 'Night line',
      verdict: 'held',
      reason: `it waits for ${ROW}`,
      fields: [fieldOf('a', 1, 2)],
    }),
  ];
  const plan = planOf(changes, {
    names: { 'agent.quiet': 'Quiet desk' },
    notes: [
      { severity: 'info', address: 'agent.quiet', message: 'agent.quiet is not recorded yet' },
      { severity: 'info', address: 'agent.unknown', message: 'it has no name' },
      ...[ROW, 'agent.night'].map((address) => ({
        severity: 'warning' as const,
        address,
        message: 'its value stays',
      })),
    ],
    refusals: [
      {
        guard: 'hold',
        message: `${ROW} greeting_message was rolled back`,
        until: null,
        advice: `Run \`callsheet pull '${ROW}'\`.`,
      },
    ],
  });

  test('has the name of its resource before it, in a terminal', () => {
    const text = textOf(plan);
    expect(text).toContain(
      'Night line (agent.night)  it waits for Cedar Point (agent.clinic["c7"])',
    );
    expect(text).toContain('Quiet desk (agent.quiet)  agent.quiet is not recorded yet');
    expect(text).toContain('agent.unknown  it has no name');
    expect(text).toContain(
      'Cedar Point (agent.clinic["c7"]), Night line (agent.night)  its value stays',
    );
    expect(text).toContain('Cedar Point (agent.clinic["c7"]) greeting_message was rolled back');
    expect(text).toContain(`\`callsheet pull '${ROW}'\``);
  });

  test('and in a comment', () => {
    const page = renderPlanMarkdown(plan);
    expect(page).toContain(
      '- Night line <code>agent.night</code> it waits for Cedar Point (agent.clinic',
    );
    expect(page).toContain('- Quiet desk <code>agent.quiet</code> ');
    expect(page).toContain('- <code>agent.unknown</code> it has no name');
  });

  test('and in what became of a run', () => {
    const line = { action: 'update', id: null, message: null, fields: [], history: null } as const;
    const text = renderLedgerText(
      [
        { ...line, address: ROW, name: 'Cedar Point', status: 'done' },
        { ...line, address: 'agent.a', status: 'failed', message: 'no' },
      ],
      { width: 80, color: false, verbose: false },
    );
    expect(text).toContain('  ✓ updated        Cedar Point  agent.clinic["c7"]\n');
    expect(text).toContain('  ✗ failed         agent.a  (update)\n');
  });

  test('with a name that is no longer than a line', () => {
    const [first = changeOf({})] = changes;
    const long = planOf([{ ...first, name: 'x'.repeat(500), verdict: 'held' }]);
    const [item] = footersBelow(long).flatMap(({ items }) => items);
    expect(item?.name?.length).toBeLessThan(90);
  });
});

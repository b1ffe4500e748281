import { expect, test } from 'vitest';
import type { Change, FieldCause, PlannedOperation } from '../../src/core/plan-document.ts';
import { planSelfHealing, whyNotHealed } from '../../src/plan/drift.ts';

type Given = {
  readonly action?: Change['action'];
  readonly causes?: readonly FieldCause[];
  readonly steps?: readonly PlannedOperation['step'][];
  readonly missing?: string;
  readonly path?: string;
};

function change(given: Given) {
  const { action = 'update', causes = [], steps = ['update'], missing, path = 'x' } = given;
  return {
    address: 'agent.desk',
    kind: 'agent',
    action,
    missing_id: missing ?? null,
    fields: causes.map((cause) => ({ path, before: 1, after: 2, secret: false, cause })),
    operations: steps.map((step) => ({ step, fields: [] })),
  } as unknown as Change;
}

const UNAPPLIED = /not applied yet/;

test.each<readonly [string, Given, RegExp | undefined]>([
  ['drift', { causes: ['drifted'] }, undefined],
  ['drift of a facet', { causes: ['drifted'], steps: ['update', 'facet'] }, undefined],
  ['drift beside a secret that nobody knows', { causes: ['drifted', 'unknown_secret'] }, undefined],
  [
    'drift beside a content that nobody knows',
    { causes: ['unknown_content', 'drifted'] },
    undefined,
  ],
  ['a change', { causes: ['changed'] }, UNAPPLIED],
  ['drift beside a change', { causes: ['drifted', 'changed'] }, UNAPPLIED],
  ['drift beside a field that is cleared', { causes: ['drifted', 'cleared'] }, UNAPPLIED],
  ['drift beside a field that is let go of', { causes: ['drifted', 'released'] }, UNAPPLIED],
  ['a conflict', { causes: ['conflict'] }, /the configuration changed too/],
  ['drift beside a conflict', { causes: ['drifted', 'conflict'] }, /the configuration changed too/],
  ['drift beside a secret that changed', { causes: ['drifted', 'secret_changed'] }, /a secret/],
  ['drift beside a secret sent again', { causes: ['drifted', 'secret_resent'] }, /a secret/],
  ['drift of its name', { causes: ['drifted'], path: 'name' }, /by which it is recognised/],
  ['a revert', { causes: ['drifted'], steps: ['revert'] }, /more than its fields/],
  ['what is due again', { causes: [], steps: ['again'] }, /more than its fields/],
  ['what is gone', { action: 'create', missing: 'id', steps: ['create'] }, /it was deleted/],
  ['what has the place of one that is gone', { causes: ['drifted'], missing: 'id' }, undefined],
  [
    'drift that is written along with more',
    { causes: ['drifted'], steps: ['update', 'again'] },
    /more than its fields/,
  ],
  ['what was never there', { action: 'create', steps: ['create'] }, /would create the/],
  ['a delete', { action: 'delete', steps: ['delete'] }, /would delete the/],
  ['a replacement', { action: 'replace', causes: ['drifted'] }, /would replace the/],
  ['an adoption', { action: 'adopt', steps: [] }, /would adopt the/],
  ['forgetting', { action: 'forget', steps: [] }, /would forget the/],
])('healing %s', (_, given, why) => {
  const said = whyNotHealed(change(given));
  if (why === undefined) expect(said).toBeUndefined();
  else expect(said).toMatch(why);
});

test('only what drifted and is marked is judged at all', () => {
  const drifted = change({ causes: ['drifted'] });
  const changes = [drifted, { ...drifted, address: 'agent.other' }, change({ action: 'delete' })];
  const plan = { changes } as unknown as Parameters<typeof planSelfHealing>[0];
  const both = new Set(['agent.desk', 'agent.other']);
  expect(planSelfHealing(plan, both, (address) => address === 'agent.other', 'undo')).toEqual({
    heal: ['agent.other'],
    left: [],
  });
  expect(planSelfHealing(plan, new Set(), () => true, 'undo')).toEqual({ heal: [], left: [] });
  expect(planSelfHealing(plan, new Set(['agent.desk']), () => true, 'undo')).toEqual({
    heal: ['agent.desk'],
    left: [
      { address: 'agent.desk', why: 'it would delete the resource, and self-heal only updates' },
    ],
  });
  for (const policy of ['keep', 'refuse'] as const)
    expect(planSelfHealing(plan, new Set(['agent.other']), () => true, policy)).toEqual({
      heal: [],
      left: [{ address: 'agent.other', why: `guards.drift: ${policy} lets no edit be healed` }],
    });
});

import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { writeNamedFile } from '../../src/console/named-file.ts';
import { readPlanFile } from '../../src/console/plan.ts';
import { CallsheetError } from '../../src/core/errors.ts';
import type { PlanDocument } from '../../src/core/plan-document.ts';
import { parsePlan, parsePlanLines } from '../../src/plan/document.ts';
import { planJsonPieces, renderPlanJson } from '../../src/render/json.ts';
import { temporaryFolder } from '../temporary.ts';
import { world } from '../world.ts';

const { plan } = await world()
  .desired({
    'agent.desk': {
      name: 'Desk “Grüße”',
      system_prompt: 'Be kind.\n{{caller}}\n',
      integrations: { smsProvider: { auth_token: { $secret: 'env:TOKEN' } } },
    },
  })
  .secrets({ 'env:TOKEN': 'canary' })
  .plan();
const text = renderPlanJson(plan);

function failureOf(given: string): CallsheetError {
  try {
    parsePlan(given, 'plan.json');
  } catch (error) {
    if (error instanceof CallsheetError) return error;
    throw error;
  }
  throw new Error('it was read');
}

const edited = (more: Partial<Record<keyof PlanDocument, unknown>>) =>
  JSON.stringify({ ...plan, ...more });
const [change] = plan.changes;

const AGAIN = /^Make a new one with: callsheet plan --out plan\.json$/;
const NEWER = /^Apply it with the callsheet that made it/;

describe('a plan file', () => {
  test('is read back as it was made, whatever its layout', () => {
    const same = JSON.parse(text);
    expect(parsePlan(text, 'plan.json')).toEqual(same);
    expect(parsePlan(JSON.stringify(plan), 'plan.json')).toEqual(same);
    expect(text).not.toContain('canary');
  });

  test('is read line by line where it is longer than a string', async () => {
    const dir = temporaryFolder();
    const file = join(dir, 'plan.json');
    await writeNamedFile('--out', file, planJsonPieces(plan));
    expect(await readFile(file, 'utf8')).toBe(text);
    expect(await readPlanFile(file, 0)).toEqual(JSON.parse(text));
    const bent = text.replace('Be kind', 'Be rude');
    await writeFile(file, bent);
    await expect(readPlanFile(file, 0)).rejects.toThrow('its digest does not match');
    await writeFile(file, JSON.stringify(plan));
    await expect(readPlanFile(file, 0)).rejects.toThrow('is not a plan that callsheet wrote');
  });

  test.each([
    ['is empty', '', 'usage', 'not JSON'],
    ['is no JSON', 'callsheet: 1', 'usage', 'not JSON'],
    ['is cut short', text.slice(0, -20), 'usage', 'not JSON'],
    ['is null', 'null', 'usage', 'not a plan that callsheet wrote'],
    ['is a number', '1', 'usage', 'not a plan that callsheet wrote'],
    [
      'is a newer version of something else',
      '{"format":"callsheet-state","version":2}',
      'usage',
      'not a plan that callsheet wrote',
    ],
    ['is a list', '[]', 'usage', 'not a plan that callsheet wrote'],
    [
      'is something else',
      '{"format":"callsheet-state","version":1}',
      'usage',
      'not a plan that callsheet wrote',
    ],
    ['has no digest', edited({ digest: undefined }), 'usage', 'not a plan that callsheet wrote'],
    ['has no changes', edited({ changes: undefined }), 'usage', 'not a plan that callsheet wrote'],
    [
      'has an unknown kind',
      edited({ changes: [{ ...change, kind: 'widget' }] }),
      'usage',
      'not a plan that callsheet wrote',
    ],
    ['is of no version', edited({ version: '1' }), 'usage', 'not a plan that callsheet wrote'],
    [
      'is of a newer version in a text',
      edited({ version: '2' }),
      'usage',
      'not a plan that callsheet wrote',
    ],
    [
      'has a change of another shape',
      edited({ changes: [{ kind: 'agent' }] }),
      'usage',
      'not a plan that callsheet wrote',
    ],
    [
      'has a change that is nothing',
      edited({ changes: [null] }),
      'usage',
      'not a plan that callsheet wrote',
    ],
    [
      'has a change without fields',
      edited({ changes: [{ ...change, fields: undefined }] }),
      'usage',
      'not a plan that callsheet wrote',
    ],
    [
      'has a change without operations',
      edited({ changes: [{ ...change, operations: undefined }] }),
      'usage',
      'not a plan that callsheet wrote',
    ],
    [
      'is of a newer version',
      edited({ version: 2 }),
      'usage',
      'version 2; this callsheet reads version 1',
    ],
    [
      'is of a newer version with a kind that this one does not know',
      edited({ version: 2, changes: [{ ...change, kind: 'widget' }] }),
      'usage',
      'version 2; this callsheet reads version 1',
    ],
    [
      'is of a newer version with another shape',
      '{"format":"callsheet-plan","version":3,"steps":[]}',
      'usage',
      'version 3; this callsheet reads version 1',
    ],
    [
      'has another digest',
      edited({ digest: `sha256:${'0'.repeat(64)}` }),
      'stale',
      'its digest does not match',
    ],
    [
      'has a change more',
      edited({ changes: [...plan.changes, change] }),
      'stale',
      'its digest does not match',
    ],
    ['has a change less', edited({ changes: [] }), 'stale', 'its digest does not match'],
    [
      'allows more',
      edited({ options: { ...plan.options, allow_delete: true } }),
      'stale',
      'its digest does not match',
    ],
    [
      'is for another account',
      edited({ platform: { ...plan.platform, account_id: 'other' } }),
      'stale',
      'its digest does not match',
    ],
    [
      'has another verdict',
      edited({ changes: [{ ...change, verdict: 'held' }] }),
      'stale',
      'its digest does not match',
    ],
    [
      'is made from another state',
      edited({ state: { ...plan.state, serial: 9 } }),
      'stale',
      'its digest does not match',
    ],
  ] as const)('that %s is not applied', (_title, given, code, message) => {
    const failure = failureOf(given);
    expect(failure.code).toBe(code);
    expect(failure.message).toContain(message);
    expect(failure.message).toContain('plan.json');
    expect(failure.hint).toMatch(message.includes('version') ? NEWER : AGAIN);
  });

  test('may be reworded, which changes nothing that is done', () => {
    const reworded = { ...change, reason: 'because', source: 'elsewhere.yaml:1' };
    expect(parsePlan(edited({ changes: [reworded], created_at: 'later' }), 'p').digest).toBe(
      plan.digest,
    );
  });
});

describe('the verdict of a rehearsal', () => {
  const step = { step: 'apply', outcome: 'held', message: 'all of it is there', details: ['one'] };
  const rehearsal = {
    digest: plan.digest,
    at: '2026-03-02T08:31:00.000Z',
    verdict: 'passed',
    source: { type: 'platform' },
    copied: { agent: 1 },
    steps: [step, { ...step, step: 'again' }],
    differences: [],
    differing: 0,
    faults: ['a lost answer'],
    filled: [],
    assumptions: [],
  };

  test.each(['passed', 'partial', 'failed', 'refused', 'empty'])(
    'that is %s is read',
    (verdict) => {
      const given = { ...rehearsal, verdict };
      expect(parsePlan(edited({ rehearsal: given }), 'plan.json').rehearsal).toEqual(given);
    },
  );

  test('may have no steps, as that of a plan without changes', () => {
    const given = { ...rehearsal, steps: [] };
    expect(parsePlan(edited({ rehearsal: given }), 'plan.json').rehearsal).toEqual(given);
  });

  test.each<[string, unknown]>([
    ['nothing', null],
    ['a text', 'passed'],
    ['without a digest', { ...rehearsal, digest: undefined }],
    ['of a digest that is no text', { ...rehearsal, digest: 1 }],
    ['without its time', { ...rehearsal, at: undefined }],
    ['of an unknown outcome', { ...rehearsal, verdict: 'splendid' }],
    ['without an outcome', { ...rehearsal, verdict: undefined }],
    ['without what was copied from', { ...rehearsal, source: undefined }],
    ['copied from a text', { ...rehearsal, source: 'platform' }],
    ['copied from nothing', { ...rehearsal, source: null }],
    ['without steps', { ...rehearsal, steps: undefined }],
    ['without differences', { ...rehearsal, differences: undefined }],
    ['without faults', { ...rehearsal, faults: undefined }],
    ['without what was filled in', { ...rehearsal, filled: undefined }],
    ['without assumptions', { ...rehearsal, assumptions: undefined }],
    ['of steps that are no list', { ...rehearsal, steps: { apply: step } }],
    ['with a step that is nothing', { ...rehearsal, steps: [step, null] }],
    ['with a step without details', { ...rehearsal, steps: [{ ...step, details: 'one' }, step] }],
  ])('that is %s is not shown: the file is no plan', (_title, given) => {
    const failure = failureOf(edited({ rehearsal: given }));
    expect(failure.code).toBe('usage');
    expect(failure.message).toBe('plan.json is not a plan that callsheet wrote');
  });
});

describe('lines of a plan file', () => {
  const lines = (given: string) => given.split('\n').map((line) => ({ text: line }));

  test('are read as the whole text is', async () => {
    expect(await parsePlanLines(lines(text), 'plan.json')).toEqual(JSON.parse(text));
  });

  test.each<[string, string, string]>([
    ['none at all', '', 'is not a plan that callsheet wrote'],
    ['lines of something else', 'callsheet: 1\n  agents: {}', 'is not a plan that callsheet wrote'],
    ['a member that is no JSON', '{\n  "format": callsheet-plan\n}', 'it is not JSON'],
    [
      'a list that does not end',
      '{\n  "format": "callsheet-plan",\n  "version": 1,\n  "changes": [',
      'is not a plan that callsheet wrote',
    ],
    [
      'a version that is newer',
      '{\n  "format": "callsheet-plan",\n  "version": 2\n}',
      'version 2; this callsheet reads version 1',
    ],
  ])('that are %s are refused', async (_title, given, message) => {
    await expect(parsePlanLines(lines(given), 'plan.json')).rejects.toThrow(message);
  });
});

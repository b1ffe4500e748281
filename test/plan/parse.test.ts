import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, test, vi } from 'vitest';
import { writeNamedFile } from '../../src/console/named-file.ts';
import { readPlanFile } from '../../src/console/plan.ts';
import { CallsheetError } from '../../src/core/errors.ts';
import type { PlanDocument } from '../../src/core/plan-document.ts';
import type { Json } from '../../src/core/value.ts';
import { parsePlan, parsePlanLines, withDigest } from '../../src/plan/document.ts';
import { planFilePieces, renderPlanJson } from '../../src/render/json.ts';
import { runs } from '../long.ts';
import { deep } from '../state/sample.ts';
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

const linesOf = (given: string) => given.split('\n').map((line) => ({ text: line }));

const edited = (more: Partial<Record<keyof PlanDocument, unknown>>) =>
  JSON.stringify({ ...plan, ...more });
const [change] = plan.changes;
const counted = withDigest({
  ...plan,
  changes: plan.changes.map((one) => ({ ...one, calls: 12 })),
});

const AGAIN = /^Make a new one with: `callsheet plan --out plan\.json`$/;
const NEWER = /^Apply it with the callsheet that made it/;

describe('a plan file', () => {
  test('is read back as it was made, whatever its layout', () => {
    const same = JSON.parse(text);
    expect(parsePlan(text, 'plan.json')).toEqual(same);
    expect(parsePlan(JSON.stringify(plan), 'plan.json')).toEqual(same);
    expect(text).not.toContain('canary');
  });

  test('is read with its calls', () => {
    expect(parsePlan(renderPlanJson(counted), 'plan.json')).toEqual(counted);
    expect(counted.digest).toBe(plan.digest);
  });

  test.each(['\u2028', '\u2029', '\u0085', '\ufeff'])(
    'is read line by line where texts hold %j',
    async (odd) => {
      const { digest: _, ...own } = plan;
      const changes = own.changes.map((one) => ({ ...one, reason: `a${odd}b` }));
      const odds = { ...own, environment: `a${odd}b`, changes };
      const document = withDigest(odds);
      const lines = linesOf([...planFilePieces(document)].join(''));
      expect(await parsePlanLines(lines, 'plan.json')).toEqual(document);
    },
  );

  test('is read line by line where it is longer than a string', async () => {
    const dir = temporaryFolder();
    const file = join(dir, 'plan.json');
    await writeNamedFile('--out', file, planFilePieces(plan));
    const written = await readFile(file, 'utf8');
    expect(await readPlanFile(file)).toEqual(JSON.parse(text));
    expect(await readPlanFile(file, 0)).toEqual(JSON.parse(text));
    const bent = written.replace('Be kind', 'Be rude');
    expect(bent).not.toBe(written);
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
    [
      'has a member that no plan of its version has',
      JSON.stringify({ ...plan, deadline: 'tomorrow' }),
      'usage',
      'plan.json has deadline, which this callsheet does not know',
    ],
    [
      'has members of an object',
      text.replace('{', '{ "__proto__": { "digest": "x" }, "constructor": 1,'),
      'usage',
      'plan.json has __proto__ and constructor, which this callsheet does not know',
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
      '{"format":"callsheet-plan","version":2,"steps":[]}',
      'usage',
      'version 2; this callsheet reads version 1',
    ],
    [
      'is of an older version',
      edited({ version: 0 }),
      'usage',
      'plan.json is a plan of version 0; this callsheet reads version 1',
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
      'has calls that are no number',
      edited({ changes: [{ ...change, calls: '\u001b[2J12' }] }),
      'usage',
      'not a plan that callsheet wrote',
    ],
    [
      'has calls that were not counted',
      edited({ changes: [{ ...change, calls: 12 }] }),
      'stale',
      '(edited: calls)',
    ],
    [
      'has other calls',
      JSON.stringify({ ...counted, changes: [{ ...change, calls: 2 }] }),
      'stale',
      '(edited: calls)',
    ],
    [
      'has lost its calls',
      JSON.stringify({ ...counted, changes: plan.changes }),
      'stale',
      '(edited: calls)',
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
    expect(failure.hint).toMatch(/version|does not know/.test(message) ? NEWER : AGAIN);
  });

  test.each<[string, Partial<Record<keyof PlanDocument, unknown>>]>([
    ['reasons', { changes: [{ ...change, reason: 'because' }] }],
    ['summary', { summary: { ...plan.summary, delete: 9 } }],
    ['organizations', { organizations: { 'org-1': 'another' } }],
    ['notes', { notes: [{ severity: 'info', address: null, message: 'All is well.' }] }],
    ['notes of here', { notes: [...plan.notes, { message: 'x', varies: true }] }],
    [
      'groups, places',
      { groups: [{ kind: 'agent', action: 'update', addresses: [], fields: [] }] },
    ],
    ['refusals', { refusals: [{ message: 'a freeze', advice: 'wait' }] }],
    ['requests', { requests: { ...plan.requests, writes: 0 } }],
    ['places', { changes: [{ ...change, source: 'elsewhere.yaml:1' }] }],
    ['assumptions', { assumptions: ['agent.delete'] }],
  ])('whose %s were edited is refused by name', (part, more) => {
    expect(() => parsePlan(edited(more), 'plan.json')).toThrow(`(edited: ${part})`);
  });

  test('may be of another moment, which changes nothing that is done', () => {
    expect(parsePlan(edited({ created_at: 'later' }), 'p').digest).toBe(plan.digest);
  });
});

const LONG = 'Be kind. '.repeat(40);

/** A plan that changes a prompt of each of so many agents. */
async function changedPrompts(count: number, promptOf: (agent: number, word: string) => string) {
  const agents = (word: string) =>
    Array.from({ length: count }, (_, index) => ({
      id: `id-${index}`,
      name: `Agent ${index}`,
      system_prompt: promptOf(index, word),
    }));
  const byAddress = <T>(documents: readonly T[]) =>
    Object.fromEntries(documents.map((document, index) => [`agent.a${index}`, document]));
  const { plan } = await world()
    .desired(byAddress(agents('later').map(({ id: _, ...document }) => document)))
    .live({ agent: agents('today') })
    .applied(byAddress(agents('today')))
    .plan();
  return plan;
}

const fileOf = (given: PlanDocument) => [...planFilePieces(given)].join('');

describe('long texts of a plan file', () => {
  test('are in it once, and short ones in their places', async () => {
    const one = await changedPrompts(1, (_, word) => `${LONG}Call ${word}.`);
    const written = fileOf(one);
    expect(written.split('Call later.')).toHaveLength(2);
    expect(JSON.parse(written)).toMatchObject({
      texts: [`${LONG}Call today.`, `${LONG}Call later.`],
      changes: [
        {
          name: 'Agent 0',
          before: { system_prompt: '$text:0' },
          after: { system_prompt: '$text:1' },
          fields: [{ path: 'system_prompt', before: '$text:0', after: '$text:1' }],
        },
      ],
    });
    expect(parsePlan(written, 'plan.json')).toEqual(JSON.parse(renderPlanJson(one)));
  });

  test('that many resources share are in it once', async () => {
    const written = fileOf(await changedPrompts(5, (_, word) => `${LONG}Call ${word}.`));
    expect(JSON.parse(written).texts).toHaveLength(2);
  });

  test('of changed prompts of 16 KB come to less than 40 KB a change', async () => {
    const rest = 'Ask what it is about, and listen.\n'.repeat(481);
    const many = await changedPrompts(50, (index, word) => `Station ${index}, ${word}.\n${rest}`);
    let bytes = 0;
    for (const piece of planFilePieces(many)) bytes += Buffer.byteLength(piece);
    expect(Buffer.byteLength(rest)).toBeGreaterThan(16 * 1024 - 100);
    expect(bytes).toBeLessThan(50 * 40e3);
  });

  test('are read as they were written, whatever they are', async () => {
    const one = await changedPrompts(1, (_, word) => `${LONG}Call ${word}.`);
    const [first] = one.changes;
    if (first === undefined) throw new Error('nothing changes');
    const texts = fc.oneof(
      fc.string({ unit: 'binary', maxLength: 300 }),
      fc.constantFrom(LONG, `${LONG}\n`, '$text:0', '$text:1', '$text:', '$text:00', '$text:x'),
      fc.constantFrom('a', 'b').map((end) => `${'x'.repeat(17_000)}${end}`),
    );
    // What it draws is JSON; its own type of that is not read-only.
    const values = fc.jsonValue({ maxDepth: 3, stringUnit: 'binary' }) as fc.Arbitrary<Json>;
    const documents = fc.dictionary(fc.string(), fc.oneof(texts, values), { maxKeys: 6 });
    const shown = fc.record({ before: documents, after: documents, name: texts });
    await fc.assert(
      fc.asyncProperty(fc.array(shown, { maxLength: 4 }), async (drawn) => {
        const changes = drawn.map(({ before, after, name }) => {
          const field = { path: 'x', before, after, secret: false, cause: 'changed' } as const;
          return { ...first, name, before, after, fields: [field] };
        });
        const { digest: _, ...bare } = { ...one, changes };
        const whole = withDigest(bare);
        const written = fileOf(whole);
        const same = JSON.parse(renderPlanJson(whole));
        expect(parsePlan(written, 'plan.json')).toEqual(same);
        expect(await parsePlanLines(linesOf(written), 'plan.json')).toEqual(same);
      }),
      { numRuns: runs(100) },
    );
  });

  describe('and a file whose list was changed', async () => {
    const one = await changedPrompts(2, (index, word) => `${LONG}${index}: call ${word}.`);
    const { texts, ...rest } = JSON.parse(fileOf(one));
    const changed = 'was changed after it was made: its digest does not match';
    const noPlan = 'is not a plan that callsheet wrote';

    test.each<[string, unknown, string]>([
      ['a text is another', texts.with(1, `${texts[1]} And rudely.`), changed],
      ['a text is shorter', texts.with(1, ''), changed],
      ['two texts are exchanged', [texts[1], texts[0], ...texts.slice(2)], changed],
      ['a text is gone from the middle', texts.toSpliced(1, 1), noPlan],
      ['a text is more at the beginning', ['Be rude.', ...texts], changed],
      ['the last text is gone', texts.slice(0, -1), noPlan],
      ['no text is left', [], noPlan],
      ['the list is none', { ...texts }, noPlan],
      ['the list is gone', undefined, changed],
      ['a text is nothing', texts.with(1, null), noPlan],
      ['a text is a number', texts.with(1, 1), noPlan],
      ['a text is a list', texts.with(1, [texts[1]]), noPlan],
      ['a text is a mark of another', texts.with(1, '$text:0'), changed],
    ])('so that %s is not applied', (_title, given, message) => {
      expect(failureOf(JSON.stringify({ ...rest, texts: given })).message).toContain(message);
    });

    test.each([
      ['another text', '$text:1', changed],
      ['one too many', '$text:9', noPlan],
      ['none', '$text:', noPlan],
      ['a number that is not written so', '$text:01', noPlan],
      ['less than nothing', '$text:-1', noPlan],
      ['what every list has', '$text:length', noPlan],
    ])('so that a mark names %s is not applied', (_title, mark, message) => {
      const [one, ...others] = rest.changes;
      const bent = { ...one, before: { ...one.before, system_prompt: mark } };
      const given = { ...rest, changes: [bent, ...others], texts };
      expect(failureOf(JSON.stringify(given)).message).toContain(message);
    });
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

const DEEP = text.replace('"fields":', `"fields": ${deep(10_000)}, "was":`);
const TOO_DEEP = 'is not a plan: it has JSON of more than 128 levels';

test('a plan of more levels than one has is refused as none', () => {
  expect(() => parsePlan(DEEP, 'plan.json')).toThrow(TOO_DEEP);
});

describe('lines of a plan file', () => {
  test('are read as the whole text is', async () => {
    expect(await parsePlanLines(linesOf(text), 'plan.json')).toEqual(JSON.parse(text));
  });

  test('are made sense of one element at a time, since all of them may be longer than a string', async () => {
    const { digest: _, ...own } = plan;
    const some = Array.from({ length: 50 }, () => change).filter((one) => one !== undefined);
    const many = { ...own, changes: some };
    const document = JSON.stringify(withDigest(many), null, 2);
    const parse = vi.spyOn(JSON, 'parse');
    const read = await parsePlanLines(linesOf(document), 'plan.json');
    const longest = Math.max(...parse.mock.calls.map(([part]) => part.length));
    parse.mockRestore();
    expect(read.changes).toHaveLength(50);
    expect(longest).toBeLessThan(document.length / 25);
  });

  test.each<[string, string, string]>([
    ['none at all', '', 'is not a plan that callsheet wrote'],
    ['lines of something else', 'callsheet: 1\n  agents: {}', 'is not a plan that callsheet wrote'],
    ['a member that is no JSON', '{\n  "format": callsheet-plan\n}', 'it is not JSON'],
    ['a member of 10,000 levels', DEEP, TOO_DEEP],
    ['a text that goes on in the next line', '{\n  "a": {\n    "b": "c\nd"\n  }\n}', 'not JSON'],
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
    await expect(parsePlanLines(linesOf(given), 'plan.json')).rejects.toThrow(message);
  });
});

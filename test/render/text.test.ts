import { expect, test } from 'vitest';
import type { Change, FieldChange } from '../../src/core/plan-document.ts';
import { renderPlanMarkdown } from '../../src/render/markdown.ts';
import { inlineCode } from '../../src/render/markdown-text.ts';
import { renderPlanText } from '../../src/render/text.ts';
import { documents } from './documents.ts';
import { linesBeyond } from './fit.ts';
import { expectGolden } from './golden.ts';
import { changeOf, fieldOf, planOf } from './sample.ts';

const PLAIN = { width: 80, color: false, verbose: false };

const names = Object.keys(documents);
const documentOf = (name: string) => documents[name] ?? planOf([]);

test.each([
  ['everything', 60],
  ['everything', 80],
  ['everything', 120],
  ['rollback', 80],
  ['drift', 80],
  ['hostile', 80],
  ['unseen', 60],
  ['unseen', 120],
  ['empty', 80],
  ['adopted', 80],
])('the plan `%s` at %i columns', (name, width) => {
  expectGolden(`${name}.${width}.txt`, renderPlanText(documentOf(name), { ...PLAIN, width }));
});

test('verbose shows every field, whole texts, ids and steps', () => {
  const text = renderPlanText(documentOf('everything'), { ...PLAIN, width: 100, verbose: true });
  expectGolden('everything.verbose.txt', text);
});

test('colour marks actions, values and changed words', () => {
  const text = renderPlanText(documentOf('everything'), { ...PLAIN, color: true });
  expectGolden('everything.color.txt', text.replaceAll('\x1b', '␛'));
});

test.each(names.flatMap((name) => [40, 60, 80, 121].map((width) => [name, width] as const)))(
  'no line of `%s` is wider than %i columns, but for a long word',
  (name, width) => {
    for (const verbose of [false, true]) {
      const text = renderPlanText(documentOf(name), { width, color: false, verbose });
      expect(linesBeyond(text, width)).toEqual([]);
    }
  },
);

test.each([
  [changeOf({ calls: 1412 }), '  ~ Front desk  agent.reception  1,412 calls in 7 days'],
  [
    changeOf({ calls: 0, action: 'delete', verdict: 'held', name: 'agent.reception' }),
    '  - agent.reception  no calls in 7 days  held',
  ],
  [changeOf(), '  ~ Front desk  agent.reception  agents/reception.yaml:4'],
])('%#: the calls of an agent stand behind its name', (change, line) => {
  const lines = renderPlanText(planOf([change]), PLAIN).split('\n');
  expect(lines.find((one) => one.startsWith(line))).toBeDefined();
});

test('no control character of live text reaches the terminal', () => {
  const text = renderPlanText(documentOf('hostile'), PLAIN);
  expect(text.replaceAll('\n', '')).not.toMatch(/[\p{Cc}\p{Cf}]/u);
  const colored = renderPlanText(documentOf('hostile'), { ...PLAIN, color: true });
  expect(colored.replaceAll('\x1b', '␛')).not.toMatch(/␛(?!\[[\d;]*m)/);
});

const words = (count: number, word: string) =>
  Array.from({ length: count }, (_, at) => `${word}${at}`);

test.each([
  [
    '5,000 changed fields',
    words(5000, 'config.k').map((path) => fieldOf(path, 1, 2)),
    'and 4,700 more; --verbose shows them',
  ],
  [
    'a rewritten text of 4,000 lines',
    [fieldOf('system_prompt', words(4000, 'a').join('\n'), words(4000, 'b').join('\n'))],
    'more changed paragraphs; --verbose',
  ],
  [
    'a rewritten line of 1 MB',
    [fieldOf('system_prompt', 'a'.repeat(1e6), 'b'.repeat(1e6))],
    '999,136 more characters; --verbose',
  ],
])('%s stays readable', (_, fields, told) => {
  const text = renderPlanText(planOf([changeOf({ fields })]), PLAIN);
  expect(text.length).toBeLessThan(12_000);
  expect(text.replace(/\s+/g, ' ')).toContain(told);
});

test('a secret that was not masked is masked all the same', () => {
  const secret = { secret: true };
  const fields = [
    fieldOf('a', 'hunter2', 'hunter3', secret),
    fieldOf('b', null, 'hunter4', secret),
    fieldOf('c', 'hunter5', 'hunter6', { ...secret, cause: 'conflict', base: 'hunter9' }),
    fieldOf('d', 'hunter7', null, { ...secret, cause: 'conflict' }),
    fieldOf('tools[x].key', null, 'hunter8', secret),
  ];
  for (const action of ['update', 'create'] as const) {
    expect(renderPlanText(planOf([changeOf({ action, fields })]), PLAIN)).not.toContain('hunter');
  }
});

test.each([
  [
    'what is held is not refused',
    { allow_delete: false },
    'held',
    'Held: apply leaves out 1 change.',
  ],
  [
    'what is refused stops the run',
    {},
    'refused',
    'Refused: apply does not run this plan because of 1 change.',
  ],
  [
    'what is skipped does not',
    { skip_refused: true },
    'refused',
    'Refused: apply leaves out 1 change, as --skip-refused asks.',
  ],
  [
    'what has no endpoint is left out',
    {},
    'unsupported',
    'Unsupported: apply leaves out 1 change that the platform has no endpoint for.',
  ],
] as const)('%s', (_, options, verdict, footer) => {
  const plan = planOf([changeOf({ verdict })]);
  const text = renderPlanText(
    { ...plan, options: { ...plan.options, ...options } },
    { ...PLAIN, width: 100 },
  );
  expect(text).toContain(footer);
});

test('an accepted conflict says that what is live is overwritten', () => {
  const [, conflicting] = twice[0] ?? [];
  const fields = [fieldOf('model', 'a', 'b', { cause: 'conflict' })];
  const refused = { ...(conflicting ?? changeOf({})), fields };
  const overwritten = 'model  both changed: live is overwritten';
  expect(renderPlanText(planOf([refused]), PLAIN)).not.toContain(overwritten);
  expect(renderPlanText(planOf([{ ...refused, verdict: 'ok' }]), PLAIN)).toContain(overwritten);
});

const prose = (...lines: readonly string[]) => lines.join('\n\n');
const SIDES = {
  base: prose('# Night', 'Call back in 30 minutes.', 'Say good night.', 'We open at 8.'),
  before: prose('# Night', 'Call back in 45 minutes.', 'Say goodbye.', 'We open at 8.'),
  after: prose('# Night', 'Call back in 20 minutes.', 'Say good night.', 'We open at 9.'),
};

test('a conflict shows what both sides made of each place, those first that both changed', () => {
  const { base, before, after } = SIDES;
  const field = fieldOf('system_prompt', before, after, { cause: 'conflict', base });
  const plan = planOf([
    changeOf({ verdict: 'refused', lifted_by: 'accept_conflicts', fields: [field] }),
  ]);
  const words = renderPlanText(plan, PLAIN).split('\n').slice(5, 20);
  expect(words.map((line) => line.trimEnd())).toEqual([
    '    ! system_prompt  both changed',
    '        both changed: decide',
    '          Night, line 3',
    '            applied    Call back in [30] minutes.',
    '            live       Call back in [45] minutes.',
    '            this plan  Call back in [20] minutes.',
    '        live alone: would be lost',
    '          Night, line 5',
    '            applied    Say [good night].',
    '            live       Say [goodbye].',
    '        this plan alone',
    '          Night, line 7',
    '            applied    We open at [8].',
    '            this plan  We open at [9].',
    '',
  ]);
  const comment = renderPlanMarkdown(plan);
  for (const side of ['<ins>45</ins>', '<ins>20</ins>', '<del>30</del>', 'would be lost'])
    expect(comment).toContain(side);
});

test('a conflict says what both sides came from, where that is known', () => {
  const conflict = (more: Partial<FieldChange>) =>
    renderPlanText(
      planOf([changeOf({ fields: [fieldOf('speed', 2, 3, { cause: 'conflict', ...more })] })]),
      PLAIN,
    );
  expect(conflict({ base: 1 })).toContain(
    ['        applied    1', '        live       2', '        this plan  3'].join('\n'),
  );
  expect(conflict({})).not.toContain('applied');
});

test('what writes nothing is left to the notes', () => {
  const fields = (['released', 'unknown_secret', 'unknown_content'] as const).map((cause) =>
    fieldOf(`field_${cause}`, 'a', null, { cause }),
  );
  expect(renderPlanText(planOf([changeOf({ fields })]), PLAIN)).not.toContain('field_');
});

test.each([
  [3, 4],
  [4, 1],
])('why %i changes are refused is said %i times', (count, times) => {
  const reason = 'the plan touches 2 of 5 resources';
  const plan = planOf(
    Array.from({ length: count }, (_, at) =>
      changeOf({ address: `agent.a${at}`, verdict: 'refused', reason }),
    ),
  );
  const told = (verbose: boolean) =>
    renderPlanText(plan, { width: 200, color: false, verbose }).split(reason).length - 1;
  expect([told(false), told(true)]).toEqual([times, count + 1]);
});

const driftOf = (...changes: Parameters<typeof planOf>[0]) =>
  renderPlanText(planOf(changes, { purpose: 'drift' }), PLAIN);

test('no drift is one sentence and what was compared', () => {
  expect(driftOf()).toBe('No drift. Nothing changed outside Callsheet.\n12 resources compared.\n');
});

test.each([
  ['a value', fieldOf('speed', 1, 2, { cause: 'drifted' }), '~ speed  1 → 2'],
  ['a value added', fieldOf('description', null, 'x', { cause: 'drifted' }), '+ description  "x"'],
  [
    'a value removed',
    fieldOf('description', 'x', null, { cause: 'drifted' }),
    '- description  "x"',
  ],
  [
    'a masked value',
    fieldOf('key', '(secret)', '(secret)', { cause: 'drifted', secret: true }),
    '~ key  (secret)  changed',
  ],
  [
    'both sides',
    fieldOf('speed', 1, 2, { cause: 'conflict' }),
    '~ speed  1 → 2  conflict: the files changed too; shown against the files',
  ],
  [
    'both sides, of which the last value is known',
    fieldOf('speed', 1, 2, { cause: 'conflict', base: 1 }),
    '~ speed  1 → 2  conflict: the files changed too',
  ],
  [
    'both sides, and what the files have',
    fieldOf('speed', 1, 2, { cause: 'conflict', base: 1, configured: 3 }),
    '~ speed  1 → 2  conflict: the files have 3',
  ],
  [
    'both sides of what the files no longer have',
    fieldOf('speed', 1, 2, { cause: 'conflict', base: 1, configured: null }),
    '~ speed  1 → 2  conflict: the files no longer have it',
  ],
  [
    'a masked value that the files changed too',
    fieldOf('key', '(secret)', '(secret)', {
      cause: 'conflict',
      secret: true,
      configured: '(secret)',
    }),
    '~ key  (secret)  conflict: the files changed too',
  ],
])('shows %s', (_, field, line) => {
  expect(driftOf(changeOf({ fields: [field] }))).toContain(`    ${line}\n`);
});

const edited = changeOf({ fields: [fieldOf('speed', 1, 2, { cause: 'drifted' })] });
const conflict = changeOf({ fields: [fieldOf('speed', 1, 2, { cause: 'conflict' })] });
const deleted = changeOf({ action: 'create', missing_id: '5d2b', fields: [] });
const sharing = (...flags: NonNullable<FieldChange['pull_flags']>) =>
  changeOf({ fields: [fieldOf('speed', 1, 2, { cause: 'drifted', pull_flags: flags })] });
const successor = changeOf({ adopted: true, missing_id: '5d2b', fields: edited.fields });

test.each([
  ['edits', [edited], ['callsheet apply`', 'callsheet pull --dry-run`']],
  [
    'conflicts',
    [conflict],
    ['callsheet apply --accept-conflicts`', 'callsheet pull agent.reception --theirs --dry-run`'],
  ],
  [
    'edits of what others share',
    [sharing('--override', '--change-shared')],
    [
      'To keep it in these resources alone: `callsheet pull --override --dry-run`',
      'To keep it for all that share the value: `callsheet pull --change-shared --dry-run`',
    ],
  ],
  [
    'edits of which pull cannot write one',
    [edited, sharing()],
    ['callsheet pull --skip-refused --dry-run`'],
  ],
  ['deleted resources', [deleted], ['callsheet apply`', 'remove their blocks']],
  ['resources in the place of others', [successor], ['callsheet plan`']],
  [
    'edits beside deleted resources',
    [edited, deleted],
    ['callsheet apply --skip-refused`', 'callsheet pull --skip-refused --dry-run`'],
  ],
])('drift of %s offers commands that do not refuse it', (_, changes, says) => {
  const text = renderPlanText(planOf(changes, { purpose: 'drift' }), { ...PLAIN, width: 300 });
  const [, advice = ''] = text.split('resources compared.');
  for (const said of says) expect(advice).toContain(said);
  expect(advice.match(/callsheet pull(?=`)/)).toBeNull();
});

test('a resource that is gone is shown as gone', () => {
  const reason = 'it is no longer on the platform (id 5d2b)';
  const text = driftOf(changeOf({ action: 'create', reason, missing_id: '5d2b', fields: [] }));
  expect(text).toContain(
    `  - Front desk  agent.reception  agents/reception.yaml:4\n    ${reason}\n`,
  );
});

test('a key of a row ends no code in the Markdown of what drift advises', () => {
  const row = changeOf({
    address: 'agent.clinic["a`<b>"]',
    fields: [fieldOf('speed', 1, 2, { cause: 'conflict' })],
  });
  const [, advice = ''] = renderPlanMarkdown(planOf([row], { purpose: 'drift' })).split(
    'compared.',
  );
  expect(advice).toContain('--theirs');
  expect(advice).not.toContain('`<b>');
});

const BOTH = 'both changed (last by user:anna)';
const OUTSIDE = 'changed outside Callsheet (last by user:anna)';
const twice: readonly (readonly [string, Change, string])[] = [
  [
    'a conflict that is refused',
    changeOf({
      address: 'agent.a',
      verdict: 'refused',
      lifted_by: 'accept_conflicts',
      reason: BOTH,
      fields: [fieldOf('speed', 1, 2, { cause: 'conflict' })],
    }),
    BOTH,
  ],
  [
    'an edit that would be undone',
    changeOf({
      address: 'agent.a',
      reason: OUTSIDE,
      fields: [fieldOf('speed', 1, 2, { cause: 'drifted' })],
    }),
    OUTSIDE,
  ],
];

test.each(twice)('the reason of %s is told once', (_, change, reason) => {
  const plan = planOf([change, changeOf({ address: 'agent.b' })]);
  for (const text of [
    renderPlanText(plan, { ...PLAIN, width: 300 }),
    renderPlanMarkdown(plan).replaceAll('&#58;', ':'),
  ]) {
    expect(text.split('last by user').length - 1, text).toBe(1);
  }
  expect(reason).toContain('last by user');
});

/** Whose values are in conflict, and the ways on that help there: `merge` needs what both sides came from. */
const WAYS: readonly (readonly [string, FieldChange, readonly string[]])[] = [
  [
    'a text with what both came from',
    fieldOf('system_prompt', SIDES.before, SIDES.after, { cause: 'conflict', base: SIDES.base }),
    ['pull A --merge', 'pull A --merge --theirs', 'plan --accept-conflicts'],
  ],
  [
    'a text without',
    fieldOf('system_prompt', SIDES.before, SIDES.after, { cause: 'conflict' }),
    ['pull A --theirs', 'plan --accept-conflicts'],
  ],
  [
    'a number',
    fieldOf('speed', 1, 2, { cause: 'conflict', base: 3 }),
    ['pull A --merge --theirs', 'plan --accept-conflicts'],
  ],
  [
    'a secret',
    fieldOf('key', null, null, { cause: 'conflict', secret: true }),
    ['plan --accept-conflicts'],
  ],
];

test.each(WAYS)('a conflict of %s is told with commands to paste', (_, field, ways) => {
  const address = 'agent.clinic["harbor"]';
  const change = changeOf({
    address,
    fields: [field],
    verdict: 'refused',
    lifted_by: 'accept_conflicts',
  });
  const plan = planOf([change], { environment: 'staging' });
  const lines = renderPlanText(plan, { ...PLAIN, width: 60 }).split('\n');
  const typed = ways.map(
    (way) => `callsheet ${way.replace('A', `'agent.clinic["harbor"]'`)} --env staging`,
  );
  expect(
    lines.filter((line) => line.startsWith('    callsheet')).map((line) => line.trim()),
  ).toEqual(typed);
  const comment = renderPlanMarkdown(plan);
  for (const command of typed) expect(comment).toContain(`:\n\n${inlineCode(command)}\n`);
});

test('what a plan rests on is shown to those who ask, and what was moved to everybody', () => {
  const plan = planOf([changeOf({})], {
    assumptions: ['agents.delete'],
    endpoints: [
      {
        operation: 'updateSmsTemplate',
        method: 'PUT',
        path: '/v2/texts/{id}',
        instead_of: { method: 'PATCH', path: '/v1/sms-templates/{id}' },
      },
    ],
  });
  const text = (verbose: boolean) => renderPlanText(plan, { ...PLAIN, verbose });
  for (const one of [plan, { ...plan, purpose: 'drift' as const }]) {
    expect(renderPlanText(one, PLAIN)).not.toContain('assumption');
    expect(renderPlanText(one, { ...PLAIN, verbose: true })).toContain(
      '1 assumption: agents.delete',
    );
    // Whoever opens the fold of a comment sees it.
    expect(renderPlanMarkdown(one)).toMatch(
      /<details><summary>About this plan<\/summary>\n\n[^<]*1 assumption: agents\.delete/,
    );
  }
  expect(text(false)).toContain('updateSmsTemplate is called at PUT /v2/texts/{id}');
});

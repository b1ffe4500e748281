import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  groupOutcomes,
  renderLedgerText,
  renderRunsText,
  renderRunText,
} from '../../src/render/runs.ts';
import { type JournalEntry, type LedgerLine, listLedger } from '../../src/state/journal.ts';
import { summarise } from '../../src/state/runs.ts';
import type { RunSummary } from '../../src/state/store.ts';
import { began, ended } from '../state/sample.ts';
import { expectGolden } from './golden.ts';

test('a receipt says which guards were overridden and why, in full', () => {
  const frozen = 'guards.freeze is in force until Fri 2026-11-20 18:00 America/New_York';
  const overrides = [
    { guard: 'freeze', message: frozen, reason: 'INC-4711: \u001b[31mthe greeting is wrong' },
    { guard: 'hold', message: 'this configuration was rolled back', reason: null },
  ] as const;
  const options = { width: 60, color: false, verbose: false };
  const text = renderRunText([{ ...began('r1'), overrides }, ended()], options);
  expect(text.split('\n').filter((line) => line.length > 60)).toEqual([]);
  expect(text.replace(/\s+/g, ' ')).toContain(
    `overrode ${frozen}; reason: INC-4711: \\x1b[31mthe greeting is wrong overrode this configuration`,
  );
  expect(text).not.toContain('\u001b');
});

test('a receipt has all of a digest and a pipeline, however narrow the terminal is', () => {
  const digest = `sha256:${'0123456789abcdef'.repeat(4)}`;
  const pipeline = `https://gitlab.example.test/${'group/'.repeat(12)}-/pipelines/4711`;
  const run = began('r1');
  const entry = { ...run, plan_digest: digest, actor: { ...run.actor, pipeline } };
  const text = renderRunText([entry, ended()], { width: 80, color: false, verbose: false });
  expect(text.replace(/\n +/g, '')).toContain(digest);
  expect(text.replace(/\n +/g, '')).toContain(pipeline);
});

test('a receipt names the pull request, who approved it, and whose edits the run undid', () => {
  const run = began('r1');
  const actor = { ...run.actor, pull_request: '412', approved_by: ['jo', 'mi\u001bna'] };
  const edit = { entry: 61, actor: 'user:maria', source: 'dashboard', at: '2026-11-21T10:12:03Z' };
  const undid = { fields: ['greeting_message'], edits: [edit] };
  const end = ended();
  if (end.type !== 'ended') throw new Error('this is an end');
  const text = renderRunText(
    [
      { ...run, actor },
      { ...end, ledger: [lineOf('agent.a', { undid })] },
    ],
    AT_80,
  );
  expect(text).toMatch(/^pull request +412$/m);
  expect(text).toMatch(/^approved by +jo, mi\\x1bna$/m);
  expect(text.replace(/\s+/g, ' ')).toContain(
    'undid the edit of greeting_message by user:maria via dashboard at 2026-11-21T10:12:03Z',
  );
});

test('a run that ended before it died has the status in its receipt that it has in the list', () => {
  const [own, settled] = [ended(['agent.a']), ended()];
  if (own.type !== 'ended' || settled.type !== 'ended') throw new Error('these are ends');
  const left = [{ address: 'agent.b', path: 'voice', why: 'it cannot be cleared', advice: '' }];
  const unsure = lineOf('agent.b', { status: 'failed', message: 'no answer' });
  const found = lineOf('agent.b', { message: 'was written' });
  const entries: JournalEntry[] = [
    began('r1'),
    { ...own, status: 'partial', verified: false, ledger: [...own.ledger, unsure], left },
    { ...settled, status: 'settled', ledger: [lineOf('agent.a'), found] },
  ];
  const text = renderRunText(entries, { ...AT_80, verbose: true });
  expect(text).toMatch(/^status +partial$/m);
  expect(text).toContain('Done: 2 updated\n');
  expect(text).toContain('history entry 7 → 8');
  expect(text).toContain('it cannot be cleared');
  const open = { run: 'r1', path: '', entries, began: undefined, isIdle: false, torn: false };
  // Whoever counts what was tried counts each change once.
  expect(listLedger(entries).map(({ address, message }) => [address, message])).toEqual([
    ['agent.a', null],
    ['agent.b', 'was written'],
  ]);
  expect(summarise(open).summary).toMatchObject({ status: 'partial', changes: 2 });
});

const PLAIN = { width: 100, color: false, verbose: false };
const COMMIT = '1f3a9c2d5e6f708192a3b4c5d6e7f8091a2b3c4d';
const NOW = new Date('2026-03-02T09:30:00.000Z');
const updated = { kind: 'agent', action: 'update', status: 'done' } as const;
const runOf = (run: string, more: Partial<RunSummary> = {}): RunSummary => ({
  run,
  at: '2026-03-02T08:30:00.000Z',
  ended: '2026-03-02T08:30:04.000Z',
  purpose: 'apply',
  status: 'done',
  changes: 3,
  outcomes: [{ ...updated, count: 3, name: null }],
  user: 'kim',
  commit: COMMIT,
  ...more,
});

const RUNS: readonly RunSummary[] = [
  runOf('20260302t083300z-2bf8b9', {
    at: '2026-03-02T08:33:00.000Z',
    ended: null,
    purpose: 'rollback',
    undoes: '20260302t083000z-00aa17',
    status: 'partial',
    outcomes: [
      { ...updated, count: 52, name: null },
      { ...updated, action: 'delete', count: 1, name: 'Old front desk' },
      { ...updated, status: 'failed', count: 9, name: null },
    ],
  }),
  runOf('20260302t083000z-00aa17'),
  runOf('20260222t081512z-00aa17', {
    at: '2026-02-22T08:15:12.000Z',
    ended: '2026-02-22T08:15:16.000Z',
    outcomes: [],
  }),
];

test('what a run made of many kinds is counted together, and what it deleted is not', () => {
  const outcomes = ['agent', 'sms_template', 'custom_voice'].flatMap((kind) =>
    ['create', 'delete'].map((action) => ({ ...updated, kind, action, count: 2, name: null })),
  ) as RunSummary['outcomes'];
  expect(
    renderRunsText(
      [runOf('20260302t083000z-00aa17', { outcomes })],
      { ...PLAIN, isPiped: true },
      NOW,
    ),
  ).toContain(
    'apply: 2 agents deleted, 2 sms templates deleted, 2 custom voices deleted, 6 resources created',
  );
});

test('runs are listed by when and what, with the id last and whole', () => {
  const piped = renderRunsText(RUNS, { ...PLAIN, isPiped: true }, NOW);
  expect(piped.split('\n').map((line) => line.replaceAll(/ {2,}/g, ' | '))).toEqual([
    'what | when | began | outcome | took | who | commit | run',
    'rollback: Old front desk deleted, 52 agents updated; 9 failed; of 00aa17 | 57 min ago | 2026-03-02T08:33:00Z | partial | – | kim | 1f3a9c2 | 20260302t083300z-2bf8b9',
    'apply: 3 agents updated | 1 h ago | 2026-03-02T08:30:00Z | done | 4 s | kim | 1f3a9c2 | 20260302t083000z-00aa17',
    'apply: nothing | 8 days 1 h ago | 2026-02-22T08:15:12Z | done | 4 s | kim | 1f3a9c2 | 20260222t081512z-00aa17',
    '',
  ]);
});

test.each([60, 80, 120])(
  'the id of a run is whole at %d columns, and what is alike is said once',
  (width) => {
    const text = renderRunsText(RUNS, { ...PLAIN, width }, NOW);
    for (const { run } of RUNS) expect(text).toMatch(new RegExp(`  ${run}$`, 'm'));
    expect(text).toContain('In every row: who kim, commit 1f3a9c2');
    expect(text.split('\n').filter((line) => line.length > width)).toEqual([]);
  },
);

test('a run is one line at 80 columns, also where it undid another', () => {
  const [, first, second] = RUNS;
  const undoes = first?.run ?? '';
  const undone = runOf('20260302t083300z-2bf8b9', { purpose: 'rollback', undoes });
  const runs = [undone, first, second].flatMap((run) => run ?? []);
  const text = renderRunsText(runs, { ...PLAIN, width: 80 }, NOW);
  expect(text).toMatch(/^rollback: 3 agents updated; of 00aa17 .* 20260302t083300z-2bf8b9$/m);
});

const AT_80 = { width: 80, color: false, verbose: false };

function lineOf(address: string, more: Partial<LedgerLine> = {}): LedgerLine {
  return {
    address,
    action: 'update',
    status: 'done',
    id: 'id-1',
    message: null,
    fields: [],
    history: null,
    ...more,
  };
}

const MIXED: readonly LedgerLine[] = [
  lineOf('custom_voice.harbor', {
    action: 'create',
    status: 'failed',
    id: null,
    message:
      'POST https://voice.example.test/v1/custom-voices answered 502: cloning failed upstream; the platform could not clone the recording',
  }),
  lineOf('retry_policy.gentle', { fields: ['rules'], history: null }),
  lineOf('agent.reception', {
    fields: ['system_prompt', 'model'],
    history: { before: 41, after: 43 },
  }),
  lineOf('agent.recall["uptown"]', {
    action: 'create',
    status: 'blocked',
    id: null,
    message: 'custom_voice.harbor failed',
  }),
  lineOf('sms_template.old', {
    action: 'delete',
    status: 'not_attempted',
    message: 'the run was interrupted',
  }),
  lineOf('email_template.hello', { action: 'create', id: 'id-2', fields: ['name'] }),
];

test.each([
  ['ledger.txt', false],
  ['ledger.verbose.txt', true],
])('%s', (name, verbose) => {
  expectGolden(name, renderLedgerText(MIXED, { ...AT_80, verbose }));
});

test('what an interrupt left is said once, with every address', () => {
  const left = Array.from({ length: 14 }, (_, index) =>
    lineOf(`agent.a${index}`, { status: 'not_attempted', message: 'the run was stopped' }),
  );
  const text = renderLedgerText(left, AT_80);
  expect(text.match(/agent\.a\d+/g)).toHaveLength(14);
  expect(text.match(/the run was stopped/g)).toHaveLength(1);
  const whole = renderLedgerText(left, { ...AT_80, verbose: true });
  expect(whole.match(/the run was stopped/g)).toHaveLength(14);
});

const TOWNS = ['alder-bay', 'birch-falls', 'cedar-point', 'dune-harbor', 'elm-crossing'];
const PLACES = ['lakeside', 'main-street', 'market-square', 'northgate', 'old-mill', 'southgate'];
const ROWS = [...TOWNS, 'fox-hill', 'gull-rock'].flatMap((town) =>
  PLACES.map((place) => `agent.clinic["${town}-${place}"]`),
);

/** An answer as the client words it. */
const refusedBy = (address: string, at: number) =>
  lineOf(address, {
    id: `id-${at}`,
    status: 'failed',
    message: `PUT https://voice.example.test/v1/agents/id-${at} answered 500: internal_error (request req-${2816 + at}). It may have been written all the same: the next plan reads it.`,
  });

const shared = [{ group: 0, path: 'system_prompt', source: 'prompts/front-desk.md' }];

const FLEET: readonly LedgerLine[] = [
  ...ROWS.slice(9).map((address) => lineOf(address, { fields: ['system_prompt'], shared })),
  ...ROWS.slice(0, 9).map(refusedBy),
  lineOf('agent.own', { fields: ['system_prompt'] }),
  lineOf('agent.night', { fields: ['extensions.tools[page].headers[Authorization].value'] }),
  lineOf('agent.old_front', { action: 'delete' }),
  lineOf('agent.new_front', { action: 'create', fields: ['name'] }),
];

test('equal failures are told once with every address, and what is distinct stands by itself', () => {
  const text = renderLedgerText(FLEET, AT_80);
  expect(text).toBe(
    [
      'Partly done: 35 updated, 1 deleted, 1 created; 9 failed',
      '',
      '  ✗ failed         9 agents  (update)',
      '    PUT https://voice.example.test/v1/agents/… answered 500: internal_error. It',
      '    may have been written all the same: the next plan reads it.',
      '    agent.clinic["…"]: alder-bay-lakeside, alder-bay-main-street,',
      '      alder-bay-market-square, alder-bay-northgate, alder-bay-old-mill,',
      '      alder-bay-southgate, birch-falls-lakeside, birch-falls-main-street,',
      '      birch-falls-market-square',
      '    requests req-2816 to req-2824',
      '  ✓ deleted        agent.old_front',
      '  ✓ created        agent.new_front',
      '  ✓ updated        agent.own: system_prompt',
      '  ✓ updated        agent.night:',
      '    extensions.tools[page].headers[Authorization].value',
      '  ✓ updated        33 agents: system_prompt (prompts/front-desk.md)',
      '    agent.clinic["…"], 5 × 6: cedar-point, dune-harbor, elm-crossing, fox-hill,',
      '      gull-rock; each with lakeside, main-street, market-square, northgate,',
      '      old-mill, southgate',
      '    agent.clinic["…"]: birch-falls-northgate, birch-falls-old-mill,',
      '      birch-falls-southgate',
      '',
    ].join('\n'),
  );
});

test('a receipt reads as the result did', () => {
  const end = ended();
  if (end.type !== 'ended') throw new Error('this is an end');
  const receipt = renderRunText([began('r1'), { ...end, ledger: FLEET }], AT_80);
  expect(receipt).toContain(renderLedgerText(FLEET, AT_80).split('\n').slice(1).join('\n'));
});

test('every outcome is in one group, and a group has one action and one cause', () => {
  const statuses = ['done', 'failed', 'blocked', 'not_attempted'] as const;
  const line = fc.record({
    at: fc.nat(40),
    action: fc.constantFrom('create', 'update', 'delete'),
    status: fc.constantFrom(...statuses),
    cause: fc.constantFrom(null, 'it is locked', 'no answer', 'the answer was 500 (request r-1)'),
    fields: fc.constantFrom<readonly string[]>([], ['model'], ['model', 'status']),
  });
  fc.assert(
    fc.property(fc.uniqueArray(line, { selector: ({ at }) => at }), (drawn) => {
      const lines = drawn.map(({ at, cause, ...rest }) =>
        lineOf(`agent.c["n${at}"]`, { ...rest, id: `id-${at}`, message: cause }),
      );
      const groups = groupOutcomes(lines);
      expect(groups.flatMap((group) => group.lines).toSorted(byName)).toEqual(
        lines.toSorted(byName),
      );
      for (const group of groups)
        for (const { action, status } of group.lines)
          expect([action, status]).toEqual([group.action, group.status]);
      const text = renderLedgerText(lines, { ...AT_80, width: 10_000 });
      for (const { address } of lines) {
        const key = /"(.*)"/.exec(address)?.[1] ?? '';
        expect(text.match(new RegExp(`\\b${key}\\b`, 'g'))).toHaveLength(1);
      }
    }),
  );
});

const byName = (a: LedgerLine, b: LedgerLine) => (a.address < b.address ? -1 : 1);

const OTHERS = { entry: 42, action: null, actor: null, source: null, at: null };

test('that somebody else wrote in between is said last', () => {
  const lines = [
    lineOf('agent.a', { interleaved: [{ ...OTHERS, order: 'before' }] }),
    lineOf('agent.b', { interleaved: [{ ...OTHERS, order: 'after' }] }),
  ];
  expect(renderLedgerText(lines, { ...AT_80, width: 200 })).toMatch(
    /^Done: 2 updated\n[\s\S]*\n1 resource was edited by another author at the same moment\. .*\n$/,
  );
});

const heldLine = (address: string, action: LedgerLine['action']) =>
  lineOf(address, {
    action,
    status: 'not_attempted',
    verdict: 'held',
    lifted_by: 'allow_delete',
  });

test.each<[string, readonly LedgerLine[], string]>([
  ['nothing', [], 'Nothing was written\n'],
  [
    'all done',
    [lineOf('agent.a'), lineOf('agent.b'), lineOf('agent.c', { action: 'delete' })],
    'Done: 2 updated, 1 deleted\n',
  ],
  [
    'all done but what the plan left out',
    [
      lineOf('agent.a'),
      lineOf('agent.b', { status: 'not_attempted', verdict: 'refused', message: 'it is locked' }),
      lineOf('agent.c', { status: 'not_attempted', verdict: 'held' }),
    ],
    '◦ left out       agent.b  (update)\n    it is locked\n',
  ],
  [
    'the counts of what was left out',
    [
      lineOf('agent.a'),
      lineOf('agent.b', { status: 'not_attempted', verdict: 'refused' }),
      lineOf('agent.c', { status: 'not_attempted', verdict: 'held' }),
    ],
    'Done: 1 updated; 1 change waits; left out: 1 refused\n',
  ],
  [
    'the deletes that wait, with the flag that they wait for',
    [
      lineOf('agent.a'),
      ...['agent.b', 'agent.c'].map((address) => heldLine(address, 'delete')),
      heldLine('agent.d', 'replace'),
    ],
    'Done: 1 updated; 2 deletes and 1 replacement wait for --allow-delete\n',
  ],
  [
    'that all of it waits',
    [heldLine('agent.b', 'delete')],
    'Nothing was written; 1 delete waits for --allow-delete\n',
  ],
  ['all failed', [lineOf('agent.a', { status: 'failed' })], 'Not done: 1 failed\n'],
  [
    'live text',
    [lineOf('agent.a', { status: 'failed', message: 'bad \u001b[2Jname' })],
    '\n    bad \\x1b[2Jname\n',
  ],
])('%s', (_, lines, end) => {
  expect(renderLedgerText(lines, AT_80)).toContain(end);
});

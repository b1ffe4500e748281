import { describe, expect, test } from 'vitest';
import {
  countReading,
  type Filter,
  filterEntries,
  findExample,
  getCardId,
  groupsWith,
  groupTitle,
  hasList,
  listEdits,
  listOffsets,
  listRows,
  NO_FILTER,
  omitGroupedFields,
  ROW_HEIGHT,
  readPlan,
  rowAt,
} from '../../../src/features/page/browser/model/plan.ts';
import {
  follow,
  type LiveEvent,
  type RunNow,
  valuesOfRun,
} from '../../../src/features/page/live.ts';
import { packDocument } from '../../../src/features/page/pack.ts';
import { kindNamed } from '../../../src/kinds/index.ts';
import { groupAlike } from '../../../src/plan/groups.ts';
import type { JournalEntry } from '../../../src/state/journal.ts';
import { planOf } from '../../render/sample.ts';
import { editedTable } from '../../render/situations.ts';
import { crowdedPlan, driftPlan, fleetPlan, groupedPlan, mixedPlan, reviewPlan } from './plans.ts';

const review = readPlan(packDocument(reviewPlan()));
const fleet = readPlan(packDocument(fleetPlan(400, 60)));

describe('a filter', () => {
  const cases: readonly (readonly [string, Partial<Filter>, readonly string[]])[] = [
    [
      'nothing',
      {},
      [
        'retry_policy.gentle',
        'custom_voice.harbor',
        'agent.reception',
        'agent.billing',
        'agent.night',
        'agent.overflow',
        'sms_template.old_reminder',
      ],
    ],
    [
      'an action',
      { actions: new Set(['delete', 'create']) },
      ['retry_policy.gentle', 'sms_template.old_reminder'],
    ],
    ['a verdict', { verdicts: new Set(['refused']) }, ['agent.night']],
    ['a kind', { kind: 'custom_voice' }, ['custom_voice.harbor']],
    ['an organization', { owner: 'uptown' }, ['agent.night', 'agent.overflow']],
    ['the account itself', { owner: '' }, ['retry_policy.gentle']],
    [
      'a text that is shared',
      { words: 'Price_List', owner: 'harbor' },
      ['agent.reception', 'agent.billing'],
    ],
    ['a name', { words: 'night LINE' }, ['agent.night']],
    ['what would be a pattern', { words: '{{day}}.' }, ['sms_template.old_reminder']],
    ['what is nowhere', { words: '.*' }, []],
  ];

  test.each(cases)('by %s', (_, more, addresses) => {
    const found = filterEntries(review, { ...NO_FILTER, ...more });
    expect(found.map(({ address }) => address)).toEqual(addresses);
  });
});

test('the edit of two columns in 1,000 rows is shown with the values of the columns', () => {
  const { changes: made, findSource, pairs, odd } = editedTable(1000, 17);
  const { changes } = planOf(made);
  const configured = changes.map(({ address }) => address);
  const plan = planOf(changes, { groups: groupAlike(changes, findSource, configured) });
  const { groups, alone } = packDocument(plan).overview;
  expect(alone).toEqual([changes.findIndex(({ fields }) => fields[0]?.after === odd)]);
  const text = groups.flatMap(({ reasons }) => reasons).join('\n');
  for (const [before, after] of pairs) expect(text).toContain(`"${before}" → "${after}"`);
  expect(text).toContain('"Welcome to clinic number <n>, how can we help?"');
});

describe('what changes alike', () => {
  const grouped = readPlan(packDocument(groupedPlan()));
  const [speeds, prompts] = grouped.overview.groups;
  const addresses = (filter: Partial<Filter>) =>
    filterEntries(grouped, { ...NO_FILTER, ...filter }).map(({ address }) => address);

  test('is in groups, with an example that has their fields alone', () => {
    expect(grouped.overview.groups.map((group) => [groupTitle(group), group.sources])).toEqual([
      ['30 agents alike', ['bases.yaml:14']],
      ['60 agents alike', ['prompts/front-desk.md']],
    ]);
    if (prompts === undefined || speeds === undefined) throw new Error('there is no group');
    expect(findExample(grouped, speeds)?.fields.map(({ path }) => path)).toEqual([
      'voice_settings.speed',
    ]);
    const one = (address: string) =>
      grouped.entries
        .filter((entry) => entry.address === address)
        .flatMap((entry) => groupsWith(grouped, entry));
    expect(one('agent.clinic["c-002"]')).toEqual([speeds, prompts]);
    expect(one('agent.clinic["c-003"]')).toEqual([prompts]);
    expect(one('agent.reception')).toEqual([]);
  });

  test('is filtered by its group, and so is what is left', () => {
    if (speeds === undefined) throw new Error('there is no group');
    expect(addresses({ alike: speeds })).toHaveLength(30);
    expect(addresses({ alike: speeds, owner: 'uptown' })).toEqual([]);
    expect(addresses({ alike: 'left' })).toEqual([
      'agent.clinic["c-007"]',
      'agent.reception',
      'sms_template.old_reminder',
    ]);
  });

  test('is read after what stands alone, the weightiest first', () => {
    const alone = [...grouped.overview.alone];
    expect(alone.map(({ address }) => address)).toEqual([
      'sms_template.old_reminder',
      'agent.reception',
      'agent.clinic["c-007"]',
    ]);
    const [, , both] = alone;
    if (both === undefined) throw new Error('there are fewer');
    expect(omitGroupedFields(grouped, both).fields.map(({ path }) => path)).not.toContain(
      'system_prompt',
    );
    expect(hasList(grouped)).toBe(false);
    expect(hasList(readPlan(packDocument(crowdedPlan())))).toBe(true);
  });

  test('has a card for each, and is counted once', () => {
    const [gone] = grouped.overview.alone;
    const alike = grouped.entries.find(({ address }) => address === 'agent.clinic["c-000"]');
    if (gone === undefined || alike === undefined) throw new Error('there are fewer');
    expect([getCardId(grouped, gone), getCardId(grouped, alike)]).toEqual([
      gone.address,
      'group-1',
    ]);
    expect(countReading(grouped)).toEqual({ gone: 1, single: 2, alike: 59, calls: undefined });
    const mixed = readPlan(packDocument(mixedPlan()));
    expect(countReading(mixed)).toEqual({ gone: 1, single: 1, alike: 60, calls: 11_220 });
  });
});

describe('the rows of a list', () => {
  const rows = listRows(fleet.entries);
  const offsets = listOffsets(rows);

  test('are every entry once, below the heading of its organization and kind', () => {
    const entries = rows.flatMap((row) => (row.type === 'entry' ? [row.entry] : []));
    expect(new Set(entries).size).toBe(fleet.entries.length);
    expect(rows.flatMap((row) => (row.type === 'heading' ? [[row.title, row.count]] : []))).toEqual(
      [
        ['retry policies', 1],
        ['harbor · agents', 200],
        ['uptown · agents', 200],
      ],
    );
  });

  test('are found by their height', () => {
    for (const [at, row] of rows.entries()) {
      expect(rowAt(offsets, offsets[at] ?? 0)).toBe(at);
      expect(rowAt(offsets, (offsets[at] ?? 0) + ROW_HEIGHT[row.type] - 1)).toBe(at);
    }
    expect(rowAt(offsets, 1e9)).toBe(rows.length - 1);
    expect(rowAt([0], 0)).toBe(0);
  });
});

test('the time line has the newest edit first, and says what it is sure of', () => {
  const edits = listEdits(readPlan(packDocument(driftPlan())));
  const times = edits.map(({ at }) => at ?? '');
  expect(times).toEqual([...times].sort().reverse());
  const first = edits.find(({ entry }) => entry.address === 'agent.reception');
  expect([first?.changed, first?.maybe]).toEqual([['greeting_message'], []]);
  expect(edits.filter(({ changed, maybe }) => changed.length + maybe.length !== 1)).toEqual([]);
});

test('the values of a run are told as far as its journal keeps them', () => {
  const address = 'agent.desk';
  const resource = {
    kind: 'agent',
    id: 'a1',
    scope: {},
    name: 'Desk',
    pin: null,
    protect: false,
    leaves: {
      name: { value: 'Desk' },
      system_prompt: { digest: 'd' },
      'integrations.smsProvider.auth_token': { fingerprint: 'f' },
    },
  };
  const fields = ['name', 'system_prompt', 'integrations.smsProvider.auth_token', 'voicemail'];
  const line = { address, action: 'update', id: 'a1', message: null, fields, history: null };
  const schemaOf = () => kindNamed('agent').schema;
  const journalOf = (status: 'done' | 'failed'): readonly JournalEntry[] => [
    {
      type: 'snapshot',
      address,
      kind: 'agent',
      id: 'a1',
      document: { name: 'Old desk', system_prompt: 'Say hello.' },
      pin: null,
      resource,
      withheld: [],
      intended: null,
    },
    { type: 'resource', address, resource },
    { type: 'ended', at: '', status: 'done', verified: true, ledger: [{ ...line, status }] },
  ];
  expect(
    valuesOfRun(journalOf('done'), schemaOf)[address]?.map(({ before, after }) => [before, after]),
  ).toEqual([
    [{ value: 'Old desk' }, { value: 'Desk' }],
    [{ value: 'Say hello.' }, { hidden: 'digest' }],
    [{ hidden: 'secret' }, { hidden: 'secret' }],
    [{ value: null }, { value: null }],
  ]);
  expect(valuesOfRun(journalOf('failed'), schemaOf)).toEqual({});
});

test('a run at work is followed by its journal, also when some of it comes twice', () => {
  const began = {
    type: 'began',
    run: 'r1',
    at: '',
    purpose: 'apply',
    user: null,
    plan_digest: '',
  } as const;
  const intent = (seq: number): LiveEvent => ({
    type: 'intent',
    seq,
    at: '',
    address: `agent.a${seq}`,
    step: 'update',
  });
  const outcome = (seq: number, error: string | null): LiveEvent => ({
    type: 'outcome',
    seq,
    at: '',
    ok: error === null,
    error,
  });
  const events: readonly LiveEvent[] = [
    began,
    intent(1),
    intent(2),
    outcome(1, null),
    began,
    outcome(1, null),
    outcome(2, 'no'),
    intent(3),
  ];
  const run = events.reduce<RunNow | undefined>(follow, undefined);
  expect(run).toMatchObject({
    sent: 3,
    answered: 2,
    failures: [{ address: 'agent.a2', error: 'no' }],
  });
  expect([...(run?.waiting.keys() ?? [])]).toEqual([3]);
  expect(follow(run, { type: 'gone', run: 'r1' })).toBeUndefined();
});

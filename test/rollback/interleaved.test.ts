import { describe, expect, test } from 'vitest';
import { kindNamed } from '../../src/kinds/index.ts';
import type { HistoryEntry } from '../../src/plan/reader.ts';
import {
  afterRollbacks,
  deletedSince,
  type EditsReader,
  findInterleaved,
  replacedSince,
} from '../../src/rollback/edits.ts';
import { type Undo, undoRun } from '../../src/rollback/undo.ts';
import type { Interleaved } from '../../src/state/journal.ts';
import { memoryReader } from '../memory-reader.ts';
import { resource } from '../state/sample.ts';
import { type Deed, journalOf } from './runs.ts';

const deed = (id: string, more: Partial<Deed> = {}): Deed => ({
  address: `agent.${id}`,
  action: 'update',
  id,
  before: { name: id },
  fields: ['name'],
  history: { before: 40, after: 42 },
  ...more,
});
const undo = undoRun(journalOf([deed('one'), deed('two')]));

const entry = (id: number, more: Partial<HistoryEntry> = {}): HistoryEntry => ({
  id,
  action: 'updated',
  actor: 'user:kim',
  source: 'dashboard',
  at: '2026-03-02T09:00:00Z',
  reverted_from_id: null,
  ...more,
});

const OURS = '20261121t101202z-0a1b2c';
/** Runs by the entry that they made. */
const RUNS: Readonly<Record<number, string>> = {
  45: '20261121t101203z-7f3a19',
  46: OURS,
  47: '20261121t101204z-1b2c3d',
  48: '20261121t101205z-2c3d4e',
};

function interleaved(
  history: Readonly<Record<string, readonly HistoryEntry[]>>,
  of: Undo = undo,
  pin: EditsReader['pin'] = async () => undefined,
) {
  const { history: read } = memoryReader({ history });
  return findInterleaved(of, {
    history: (_address, id, limit) => read(kindNamed('agent'), id, limit),
    isOwn: ({ actor }) => actor === 'api:own',
    pin,
    findEntryRun: async (_address, id) => RUNS[id],
    ours: new Set([OURS]),
    undone: new Map([[String(RUNS[47]), String(RUNS[48])]]),
    later: new Map([
      ['agent.one', 'a later run'],
      ['retry_policy.old', 'a later run'],
    ]),
  });
}

describe('an edit since the run', () => {
  test.each<[string, readonly HistoryEntry[], readonly string[]]>([
    ['is none where the newest entry is its own', [entry(42), entry(40)], []],
    ['is none where the history is gone', [], []],
    ['is none where only older entries are left', [entry(12)], []],
    [
      'is told with who, through what and when',
      [entry(42), entry(43), entry(44, { actor: 'user:lee' })],
      [
        'agent.one was edited since the run, last by user:lee via dashboard at 2026-03-02T09:00:00Z',
      ],
    ],
    [
      'is told with the run, where it was one of this stack',
      [entry(42), entry(45, { actor: 'api:account' })],
      ['agent.one was edited since the run, last by run 20261121t101203z-7f3a19'],
    ],
    ['is none where the run itself made it, and saw it too late', [entry(46), entry(42)], []],
    [
      'is told below one that the run made itself',
      [entry(46), entry(45), entry(42)],
      ['agent.one was edited since the run, last by run 20261121t101203z-7f3a19'],
    ],
    [
      'is told as perhaps a run, where the account signs it and no record of it is left',
      [entry(42), entry(49, { actor: 'api:own' })],
      [
        'agent.one was edited since the run, last by api:own via dashboard at 2026-03-02T09:00:00Z, with the key of this account: by a run that this state does not know, or by another program',
      ],
    ],
    [
      'is told on one line whatever its author is called',
      [entry(43, { actor: 'user:kim\nagent.two is fine', source: 'a\r\nb', at: null })],
      ['agent.one was edited since the run, last by user:kim agent.two is fine via a b'],
    ],
    [
      'is told though it',
      [entry(50, { actor: null, source: null, at: null })],
      ['agent.one was edited since the run, last by someone'],
    ],
  ])('%s', async (_title, one, expected) => {
    const found = await interleaved({ one, two: [entry(42)] });
    expect(found.map(({ message }) => message)).toEqual(expected);
  });

  test('is none where nothing is put back, as of a secret', async () => {
    const secret = deed('one', {
      fields: ['integrations.smsProvider.auth_token'],
      interleaved: [
        {
          entry: 41,
          action: 'updated',
          actor: 'user:kim',
          source: null,
          at: null,
          order: 'before',
        },
      ],
    });
    const found = undoRun(journalOf([secret]));
    expect(await interleaved({ one: [entry(43)] }, found)).toEqual([]);
  });

  test('is told for every resource', async () => {
    expect(await interleaved({ one: [entry(43)], two: [entry(43)] })).toHaveLength(2);
  });
});

describe('entries of a later run that was rolled back', () => {
  const own = (id: number) => entry(id, { actor: 'api:own' });
  const runs: Readonly<Record<number, string>> = { 45: 'run-5', 46: 'run-6', 47: 'run-7' };
  const told = async (one: readonly HistoryEntry[], undone: EditsReader['undone']) => {
    const asked: number[] = [];
    const found = await findInterleaved(undoRun(journalOf([deed('one')])), {
      history: async () => one,
      isOwn: ({ actor }) => actor === 'api:own',
      pin: async () => undefined,
      findEntryRun: async (_address, id) => {
        asked.push(id);
        return runs[id];
      },
      ours: new Set(),
      undone,
      later: new Map(),
    });
    return { asked, messages: found.map(({ message }) => message.split(', last by ')[1]) };
  };
  const pairs = new Map([
    ['run-5', 'run-6'],
    ['run-1', 'run-2'],
  ]);
  const KIM = 'user:kim via dashboard at 2026-03-02T09:00:00Z';

  test.each<[string, readonly HistoryEntry[], readonly string[]]>([
    ['are no edits, nor are those of its rollback', [own(46), own(45), own(42)], []],
    ['leave an edit after both', [entry(50), own(46), own(45)], [KIM]],
    ['leave another run', [own(47), own(46), own(45)], ['run run-7']],
    ['are edits where the rollback did not write there', [own(45), own(42)], ['run run-5']],
    ['are those of our own account alone', [own(46), entry(45)], ['run run-6']],
  ])('%s', async (_title, one, expected) => {
    expect((await told(one, pairs)).messages).toEqual(expected);
  });

  test('are not looked for where no run was rolled back', async () => {
    const { asked, messages } = await told([own(46), own(45)], new Map());
    expect({ asked, messages }).toEqual({ asked: [46], messages: ['run run-6'] });
  });
});

test('a resource that was deleted since the run is told as gone', () => {
  expect(deletedSince('agent.one')).toEqual({
    address: 'agent.one',
    message: 'agent.one was deleted since the run',
    isGone: true,
  });
});

test('another resource at the address of one that the run wrote is told with both ids', () => {
  expect(replacedSince('agent.one', 'a1', 'b2', true)).toEqual({
    address: 'agent.one',
    message: 'agent.one is another resource since the run: b2; the run wrote a1',
    isMade: true,
  });
});

describe('an edit while the run wrote', () => {
  const theirs = (at: string | null, actor: string): Interleaved => ({
    entry: 41,
    action: 'updated',
    actor,
    source: null,
    at,
    order: 'before',
  });
  const during = [
    theirs(null, 'user:kim'),
    theirs(null, 'user:max'),
    theirs('2026-03-02T09:00:00.250Z', 'user:lee'),
  ];
  const disturbed = undoRun(journalOf([deed('one', { interleaved: during }), deed('two')]));

  test('is told with who made the newest one', async () => {
    expect(await interleaved({ one: [entry(42)], two: [entry(42)] }, disturbed)).toEqual([
      {
        address: 'agent.one',
        message:
          'agent.one was edited while the run wrote it, last by user:lee at 2026-03-02T09:00:00Z',
      },
    ]);
  });

  test('is not told where there is one since', async () => {
    const found = await interleaved({ one: [entry(43)] }, disturbed);
    expect(found.map(({ message }) => message)).toEqual([
      'agent.one was edited since the run, last by user:kim via dashboard at 2026-03-02T09:00:00Z',
    ]);
  });
});

const OWN = { actor: 'api:own' };

describe('what has no history', () => {
  const policy = (more: Partial<Deed>): Deed => ({
    address: 'retry_policy.old',
    action: 'update',
    id: 'p1',
    before: { id: 'p1', name: 'Old' },
    fields: ['name'],
    ...more,
  });
  test.each<[string, Partial<Deed>, readonly string[]]>([
    [
      'was edited where a later run wrote it',
      {},
      ['retry_policy.old was edited since the run, last by run a later run'],
    ],
    ['was not where none did', { address: 'retry_policy.other' }, []],
    ['is not asked for where nothing is put back', { fields: [] }, []],
  ])('%s', async (_, more, expected) => {
    const found = await interleaved({}, undoRun(journalOf([policy(more)])));
    expect(found.map(({ message }) => message)).toEqual(expected);
  });
});

describe('an entry after a run that died', () => {
  const dead = undoRun(journalOf([deed('one')], { died: true }));
  test.each<[string, readonly HistoryEntry[], boolean]>([
    ['is no edit where our own account made it', [entry(41, { actor: 'api:own' })], false],
    ['is an edit where somebody else did', [entry(41, { actor: 'user:kim' })], true],
    [
      'is an edit below one that our own account made',
      [entry(43, { actor: 'api:own' }), entry(41, { actor: 'user:kim' })],
      true,
    ],
    ['is no edit where it was there before', [entry(40)], false],
    ['is no edit where the run itself, or its rollback, made it', [entry(46, OWN)], false],
    ['is an edit where another run made it', [entry(45, OWN)], true],
    ['is no edit where that was rolled back', [entry(48, OWN), entry(47, OWN)], false],
    ['is no edit where that could not be taken back', [entry(47, OWN)], false],
  ])('%s', async (_title, one, isEdit) => {
    expect(await interleaved({ one }, dead)).toHaveLength(isEdit ? 1 : 0);
  });

  test('is an edit where the run said which one was its own, whoever made it', async () => {
    const found = await interleaved({ one: [entry(43, { actor: 'api:own' })] });
    expect(found).toHaveLength(1);
  });
});

describe('what the run made and a rollback deletes', () => {
  const made = (digest: string | null) => {
    const pin = digest === null ? null : { digest, updated_at: null, history_id: null };
    const recorded = resource('p1', { kind: 'retry_policy', pin });
    return undoRun(journalOf([{ address: 'retry_policy.new', action: 'create', recorded }]));
  };
  const now = (digest: string, at: string | null = null) => ({
    digest,
    updated_at: at,
    history_id: null,
  });

  test.each<[string, Undo, Awaited<ReturnType<EditsReader['pin']>>, readonly string[]]>([
    ['is as the run left it', made('sha256:made'), now('sha256:made'), []],
    ['is gone already', made('sha256:made'), undefined, []],
    ['was never read', made(null), now('sha256:edited'), []],
    [
      'was edited',
      made('sha256:made'),
      now('sha256:edited'),
      [
        'retry_policy.new was edited since the run created it, by an unrecorded author; it would be deleted',
      ],
    ],
    [
      'was edited at a time that the platform tells',
      made('sha256:made'),
      now('sha256:edited', '2026-03-02T09:00:00.250Z'),
      [
        'retry_policy.new was edited since the run created it at 2026-03-02T09:00:00Z, by an unrecorded author; it would be deleted',
      ],
    ],
  ])('%s', async (_title, undone, pin, messages) => {
    const found = await interleaved({}, undone, async () => pin);
    expect(found).toEqual(messages.map((message) => ({ address: 'retry_policy.new', message })));
  });

  test('is told by its history where it has one', async () => {
    const pin = { digest: 'sha256:made', updated_at: null, history_id: 42 };
    const history = { before: 41, after: 42 };
    const recorded = resource('one', { pin });
    const undone = undoRun(
      journalOf([{ address: 'agent.one', action: 'create', id: 'one', history, recorded }]),
    );
    const edited = async () => now('sha256:edited');
    expect(await interleaved({ one: [entry(42)] }, undone, edited)).toEqual([]);
  });
});

describe('once a part of the run was rolled back', () => {
  const back = (id: string, after: number): Deed => deed(id, { history: { before: 42, after } });

  test('the entries that this made are nobody’s edits', () => {
    const { produced } = afterRollbacks(undo, [journalOf([back('one', 50)])]);
    expect([...produced]).toEqual([
      ['agent.one', { id: 'one', entry: 50 }],
      ['agent.two', { id: 'two', entry: 42 }],
    ]);
  });

  test('the newest rollback is the one that counts', () => {
    const rollbacks = [[back('one', 60), back('two', 61)], [back('one', 50)]];
    const { produced } = afterRollbacks(
      undo,
      rollbacks.map((deeds) => journalOf(deeds)),
    );
    expect([...produced.values()].map(({ entry: id }) => id)).toEqual([60, 61]);
  });

  test('none of our own account is an edit where the rollback died', () => {
    const { produced } = afterRollbacks(undo, [journalOf([back('one', 50)], { died: true })]);
    expect(produced.get('agent.one')).toEqual({ id: 'one', entry: 42, isBefore: true });
    expect(produced.get('agent.two')).toEqual({ id: 'two', entry: 42 });
  });

  test('none of our own account is an edit where the rollback died and was settled', () => {
    const settled = journalOf([back('one', 50)]).map((one) =>
      one.type === 'ended' ? { ...one, status: 'settled' as const } : one,
    );
    const { produced } = afterRollbacks(undo, [settled]);
    expect(produced.get('agent.one')).toEqual({ id: 'one', entry: 50, isBefore: true });
  });

  test('none of our own account is an edit where the run itself died and was settled', () => {
    const settled = journalOf([deed('one')]).map((one) =>
      one.type === 'ended' ? { ...one, status: 'settled' as const } : one,
    );
    expect(undoRun(settled).produced.get('agent.one')).toEqual({
      id: 'one',
      entry: 42,
      isBefore: true,
    });
  });

  test.each<[string, Deed, Partial<Deed>]>([
    ['the run', { ...deed('one'), steps: ['update', 'facet'] }, { steps: [] }],
    ['the rollback', deed('one'), { steps: ['revert', 'update'] }],
  ])(
    'none of our own account is an edit where %s wrote by several requests, whose entries come one by one',
    (_who, run, rollback) => {
      const journal = journalOf([{ ...back('one', 50), ...rollback }]);
      const { produced } = afterRollbacks(undoRun(journalOf([run])), [journal]);
      expect(produced.get('agent.one')).toMatchObject({ id: 'one', isBefore: true });
    },
  );

  test('none of our own account is an edit where the rollback saw no entry of its own', () => {
    const { history: _, ...unseen } = back('one', 50);
    const { produced } = afterRollbacks(undo, [journalOf([unseen, back('two', 51)])]);
    expect(produced.get('agent.one')).toEqual({ id: 'one', entry: 42, isBefore: true });
  });

  test('what it did not write, and what the run did not, is as before', () => {
    const deeds = [deed('one', { history: { before: 42, after: 50 }, steps: [] }), back('six', 52)];
    expect([...afterRollbacks(undo, [journalOf(deeds)]).produced]).toEqual([...undo.produced]);
  });

  test('the rest of the undo is the same', () => {
    const { produced: _, ...rest } = afterRollbacks(undo, [journalOf([back('one', 50)])]);
    expect(undo).toMatchObject(rest);
    expect(rest.addresses).toEqual(['agent.one', 'agent.two']);
  });
});

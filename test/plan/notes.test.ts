import { describe, expect, test } from 'vitest';
import { Blob } from '../../src/core/value.ts';
import { kinds } from '../../src/kinds/index.ts';
import { attributeDrift, withAuthor } from '../../src/plan/messages.ts';
import type { HistoryEntry } from '../../src/plan/reader.ts';
import { emptyState } from '../../src/state/replay.ts';
import {
  BAY,
  type Documents,
  desiredResource,
  LINEAGE,
  type WorldBuilder,
  type Written,
  world,
} from '../world.ts';

const TOKEN = { integrations: { smsProvider: { auth_token: { $secret: 'env:TOKEN' } } } };

describe('a note', () => {
  test('says that a value stays, as a warning', async () => {
    const { plan } = await world()
      .desired({ 'agent.desk': { name: 'Desk' } })
      .live({ agent: [{ id: 'a1', name: 'Desk', model: 'alpha-4o' }] })
      .applied({ 'agent.desk': { id: 'a1', name: 'Desk', model: 'alpha-4o' } })
      .plan();
    expect(plan.notes).toMatchObject([{ severity: 'warning', address: 'agent.desk' }]);
    expect(plan.notes[0]?.message).toMatch(/^model is no longer configured;.* value stays/);
  });

  test('says that a secret is unknown, and how to write it', async () => {
    const { plan } = await world()
      .desired({ 'agent.desk': { name: 'Desk', ...TOKEN } })
      .live({ agent: [{ id: 'a1', name: 'Desk', integrations: { smsProvider: {} } }] })
      .secrets({ 'env:TOKEN': 'canary' })
      .plan();
    expect(plan.notes).toMatchObject([{ severity: 'info', address: null }]);
    expect(plan.notes[0]?.message).toContain('1 secret is set here and cannot be compared');
    expect(plan.notes[0]?.message).toContain('--resend-secrets');
    expect(JSON.stringify(plan)).not.toContain('canary');
  });

  test("says that a file's content is taken on trust", async () => {
    const file = new Blob('docs/prices.pdf', 'aa', 9, 'application/pdf');
    const source = { knowledge_base_id: 'kb1', name: 'prices.pdf' };
    const { plan } = await world()
      .desired({ 'knowledge_source.kb.prices': { ...source, file } })
      .live({ knowledge_source: [{ id: 's1', ...source, status: 'active', chunk_count: 1 }] })
      .plan();
    expect(plan.notes).toMatchObject([{ severity: 'info', address: 'knowledge_source.kb.prices' }]);
    expect(plan.notes[0]?.message).toContain('assumes that it is this file');
  });

  test('says that what cannot be read is taken to be what was written', async () => {
    const template = { id: 't1', name: 'Hi', subject: 'Hi' };
    const made = world()
      .live({ email_template: [template] })
      .applied({ 'email_template.hi': template })
      .lacking({ getEmailTemplate: 'absent', listEmailTemplates: 'absent' });
    const same = await made.desired({ 'email_template.hi': { name: 'Hi', subject: 'Hi' } }).plan();
    expect(same.plan.notes).toEqual([
      {
        severity: 'info',
        address: 'email_template.hi',
        message: 'it cannot be read; Callsheet assumes that it still has the values last written',
      },
    ]);
    const unread = await made
      .run()
      .desired({ 'email_template.hi': { name: 'Hi', subject: 'Hi' } })
      .plan();
    expect(unread.plan.notes[0]?.known).toBeUndefined();
    const other = await made.desired({ 'email_template.hi': { name: 'Hi', subject: 'Ho' } }).plan();
    expect([other.plan.changes[0]?.verdict, other.plan.notes]).toEqual(['unsupported', []]);
  });

  describe('on what the platform does not return while a flag is off', () => {
    const given = { tool_enabled: false, success_url: 'https://pay.example.test' };
    const desk = (payments: Written, more: Written = {}): Documents => ({
      'agent.desk': { name: 'Desk', payments, ...more },
    });
    const live = { id: 'a1', name: 'Desk' };
    const made = world()
      .live({ agent: [live] })
      .facets({ a1: { payment_tool_enabled: false } })
      .applied({ 'agent.desk': { ...live, payments: given } });
    const changed = desk(given, { status: 'inactive' });

    test.each<[string, WorldBuilder, boolean | undefined]>([
      ['is known beside another change', made.run().desired(changed), true],
      ['is news where no run told of it', made.desired(changed), undefined],
      [
        'is news where the value is',
        made
          .run()
          .desired(
            desk({ ...given, success_url: 'https://b.example.test' }, { status: 'inactive' }),
          ),
        undefined,
      ],
      [
        'is news where the flag was on',
        made
          .run()
          .applied({ 'agent.desk': { ...live, payments: { ...given, tool_enabled: true } } })
          .facets({ a1: { payment_tool_enabled: true } })
          .desired(desk(given)),
        undefined,
      ],
    ])('%s', async (_title, world, known) => {
      const { notes } = (await world.plan()).plan;
      const [note] = notes.filter(({ message }) =>
        message.includes('payments.tool_enabled is not on'),
      );
      expect(note?.message).toMatch(/^payments\.success_url: /);
      expect(note?.known).toBe(known);
    });
  });

  describe('on a protection', () => {
    const BEGINS =
      'lifecycle.protect is not recorded yet: the next apply records it, and until then it protects only while it is configured';
    const ENDS = 'it is no longer protected; the next apply records that';
    const desk = (protect: boolean, more: object = {}) => ({
      'agent.desk': { id: 'a1', name: 'Desk', lifecycle: { protect }, ...more },
    });
    const made = world().live({ agent: [{ id: 'a1', name: 'Desk' }] });
    const wanted = (protect: boolean, more: object = {}) =>
      desk(protect, { id: undefined, ...more });

    test.each<[string, typeof made, readonly string[]]>([
      ['begins', made.applied(desk(false)).desired(wanted(true)), [BEGINS]],
      ['ends', made.applied(desk(true)).desired(wanted(false)), [ENDS]],
      ['stays', made.applied(desk(true)).desired(wanted(true)), []],
      [
        'begins with a change that is written, too,',
        made.applied(desk(false)).desired(wanted(true, { status: 'inactive' })),
        [],
      ],
      [
        'ends with a change that is written, too,',
        made.applied(desk(true)).desired(wanted(false, { status: 'inactive' })),
        [ENDS],
      ],
      ['begins with what is taken over', made.desired(wanted(true)), []],
      ['ends with its resource', made.applied(desk(true)), []],
    ])('that %s says what the next apply does about it', async (_title, given, messages) => {
      expect((await given.plan()).plan.notes).toEqual(
        messages.map((message) => ({ severity: 'info', address: 'agent.desk', message })),
      );
    });
  });

  describe('on what lifecycle.ignore lets go of', () => {
    const written = { name: 'Desk', status: 'active', voice_settings: { speed: 1, voice_id: 'v' } };
    const live = { id: 'a1', ...written };
    const made = world()
      .live({ agent: [live] })
      .applied({ 'agent.desk': live });
    const ignoring = (ignore: readonly string[], more: object = {}) =>
      made.desired({ 'agent.desk': { ...written, ...more, lifecycle: { ignore } } });
    const note = (text: string) => ({
      severity: 'info',
      address: 'agent.desk',
      message: `${text} (stack.yaml:3): lifecycle.ignore leaves it to the dashboard from now on; it is neither compared nor written any more`,
    });

    test.each<[string, WorldBuilder, readonly object[]]>([
      ['a field', ignoring(['status']), [note('status')]],
      ['beside a change', ignoring(['status'], { name: 'Front desk' }), [note('status')]],
      [
        'all that is in an object, said once',
        ignoring(['voice_settings']),
        [note('voice_settings')],
      ],
      [
        'two, each by itself',
        ignoring(['status', 'voice_settings.speed']),
        [note('status'), note('voice_settings.speed')],
      ],
      [
        'one that is taken out of the files as well',
        made.desired({
          'agent.desk': {
            name: 'Desk',
            voice_settings: written.voice_settings,
            lifecycle: { ignore: ['status'] },
          },
        }),
        [note('status')],
      ],
      ['nothing that was never written', ignoring(['greeting_message']), []],
      [
        'nothing of what a rollback leaves alone',
        made.wanting(
          Object.entries({ 'agent.desk': { ...written, lifecycle: { ignore: ['status'] } } }).map(
            ([at, one]) => ({ ...desiredResource(at, one), isPartial: true }),
          ),
        ),
        [],
      ],
      [
        'nothing of what is new',
        world().desired({ 'agent.desk': { ...written, lifecycle: { ignore: ['status'] } } }),
        [],
      ],
      [
        'nothing that it ignored before',
        ignoring(['status']).applied({
          'agent.desk': { ...live, lifecycle: { ignore: ['status'] } },
        }),
        [],
      ],
    ])('%s', async (_title, given, notes) => {
      expect((await given.plan()).plan.notes).toEqual(notes);
    });
  });

  describe('on a field that is newer than the schema and is not returned', () => {
    const made = world().live({ agent: [{ id: 'a1', name: 'Desk' }] });
    const mood = { 'agent.desk': { name: 'Desk', mood: 'calm' } };
    const applied = (more: object) => ({ 'agent.desk': { id: 'a1', name: 'Desk', ...more } });

    test('says that it is not compared where nobody knows what was written', async () => {
      const { plan } = await made.desired(mood).plan();
      expect(plan.notes).toEqual([
        {
          severity: 'info',
          address: 'agent.desk',
          message:
            'mood: the platform does not return it, so Callsheet cannot compare it. It will not be changed.',
        },
      ]);
    });

    test('says so once: a run records that it is not known', async () => {
      const known = async (given: WorldBuilder) => {
        const { refresh } = await given.desired(mood).plan();
        const resources = Object.fromEntries(refresh);
        const state = { ...emptyState(LINEAGE), serial: 1, resources };
        const next = (lastRun: string | null) =>
          given.desired(mood).plan({ state: { ...state, last_run: lastRun } });
        return Promise.all(
          [null, 'run'].map(async (run) => (await next(run)).plan.notes.map((one) => one.known)),
        );
      };
      expect(await known(made)).toEqual([[undefined], [true]]);
    });

    test('says that nobody can verify it where it was written before', async () => {
      const { plan } = await made
        .desired(mood)
        .applied(applied({ mood: 'brisk' }))
        .plan();
      expect(plan.changes).toMatchObject([{ action: 'update' }]);
      expect(plan.notes).toEqual([
        {
          severity: 'warning',
          address: 'agent.desk',
          message: 'mood: the platform does not return it, so Callsheet cannot verify the write',
        },
      ]);
    });

    test('says that the run will tell where it is written for the first time', async () => {
      const { plan } = await made.desired(mood).applied(applied({})).plan();
      expect(plan.changes).toMatchObject([{ action: 'update' }]);
      expect(plan.notes).toEqual([
        {
          severity: 'info',
          address: 'agent.desk',
          message:
            'mood: Callsheet does not know this field, and the platform returns no field of this name now. The run reports whether it could be verified.',
        },
      ]);
    });

    test('says nothing where what was written is wanted still', async () => {
      const { plan } = await made
        .desired(mood)
        .applied(applied({ mood: 'calm' }))
        .plan();
      expect([plan.changes, plan.notes]).toEqual([[], []]);
    });
  });

  test('is not made of what is written', async () => {
    const { plan } = await world()
      .desired({ 'agent.desk': { name: 'Desk', status: 'inactive' } })
      .live({ agent: [{ id: 'a1', name: 'Desk', status: 'active' }] })
      .plan();
    expect(plan.notes).toEqual([]);
  });
});

function entry(id: number, more: Partial<HistoryEntry> = {}): HistoryEntry {
  return {
    id,
    action: 'updated',
    actor: 'user:kim',
    source: 'dashboard',
    at: '2026-03-01T10:00:00Z',
    reverted_from_id: null,
    ...more,
  };
}

test.each([
  [
    'the last one',
    [entry(43), entry(41)],
    41,
    'last by user:kim via dashboard at 2026-03-01T10:00:00Z, history entry 43',
  ],
  [
    'how many there are',
    [entry(44), entry(43), entry(42), entry(41)],
    41,
    'last by user:kim via dashboard at 2026-03-01T10:00:00Z, history entry 44, 2 earlier',
  ],
  [
    'what is known of it',
    [entry(43, { actor: null, source: null, at: null })],
    41,
    'last by someone, history entry 43',
  ],
  [
    'that it may have been a run whose record is gone',
    [entry(43, { actor: 'api:own' }), entry(41)],
    41,
    'last by api:own via dashboard at 2026-03-01T10:00:00Z, history entry 43, with the key of this account: by a run that this state does not know, or by another program',
  ],
  ['that there is none', [entry(41)], 41, 'the author is unknown: its history has no newer entry'],
  [
    'that it does not know where to begin',
    [entry(43), entry(41)],
    null,
    'the author is unknown: no history entry of the last apply is known',
  ],
  [
    'that there never was a beginning',
    [entry(43), entry(41)],
    undefined,
    'the author is unknown: no history entry of the last apply is known',
  ],
] as const)('who made it drift: %s', (_title, history, since, expected) => {
  expect(attributeDrift(history, since, 'api:own')).toBe(expected);
});

test.each([
  [
    '2026-03-01T10:00:00Z',
    'changed outside Callsheet (last changed at 2026-03-01T10:00:00Z, by an unrecorded author)',
  ],
  [null, 'changed outside Callsheet'],
])('what has no history says when it was changed last (%s)', async (updated_at, expected) => {
  const policy = { id: 'p1', name: 'Gentle', on_exhausted: 'end' };
  const changes = await world()
    .desired({ 'retry_policy.p': { name: 'Gentle', on_exhausted: 'end' } })
    .live({ retry_policy: [{ ...policy, on_exhausted: 'voicemail', updated_at }] })
    .applied({ 'retry_policy.p': policy })
    .changes();
  expect(changes.get('retry_policy.p')?.reason).toBe(expected);
});

test('who edited a resource is said of the edit, not of the configuration', () => {
  const who = 'last by user:anna via dashboard';
  expect(withAuthor('changed outside Callsheet; the configuration changed', who)).toBe(
    `changed outside Callsheet (${who}); the configuration changed`,
  );
  expect(withAuthor('changed outside Callsheet', who)).toBe(`changed outside Callsheet (${who})`);
});

describe('a live namesake of a managed resource', () => {
  const named = kinds.filter(({ tie }) => tie === 'error');
  test.each(named.map(({ name }) => name))(
    '%s: is named in each plan, whatever else is in it',
    async (kind) => {
      const address = `${kind}.desk`;
      const own = { id: 'one', name: 'Desk' };
      const made = world()
        .desired({ [address]: { name: 'Desk' } })
        .live({ [kind]: [own, { id: 'two', name: 'Desk' }, { id: 'three', name: 'Other' }] })
        .applied({ [address]: own });
      for (const refresh of ['fast', 'full'] as const) {
        const { plan } = await made.plan({ refresh });
        const notes = plan.notes.filter(({ message }) => message.includes('another live'));
        expect(notes).toEqual([
          {
            severity: 'warning',
            address,
            message: expect.stringMatching(
              /^another live [a-z ]+ has the name "Desk"( in the organization .+)?: two$/,
            ),
            varies: true,
          },
        ]);
      }
    },
  );

  test('is none where another address stands for it, or where it is elsewhere', async () => {
    const { plan } = await world()
      .desired({ 'agent.a': { name: 'Desk' }, 'agent.b': { name: 'Line' } })
      .live({
        agent: [
          { id: 'a1', name: 'Desk' },
          { id: 'b1', name: 'Desk' },
          { id: 'c1', name: 'Desk', organization_id: BAY },
        ],
      })
      .applied({ 'agent.a': { id: 'a1', name: 'Desk' }, 'agent.b': { id: 'b1', name: 'Line' } })
      .plan();
    expect(plan.notes.filter(({ message }) => message.includes('another live'))).toEqual([]);
  });
});

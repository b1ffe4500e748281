import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../../src/core/value.ts';
import {
  type Kept,
  type Now,
  type SnapshotUndo,
  undoToSnapshot,
} from '../../src/rollback/target.ts';
import type { AppliedLeaf, ResourceState } from '../../src/state/model.ts';
import { emptyState } from '../../src/state/replay.ts';

const ORGANIZATION = { organization_id: 'harbor' };

function stateOf(
  kind: string,
  id: string,
  leaves: Readonly<Record<string, AppliedLeaf>> = {},
): ResourceState {
  return { kind, id, scope: ORGANIZATION, name: id, leaves, pin: null, protect: false };
}

function kept(kind: string, id: string, document: JsonObject, more: Partial<Kept> = {}): Kept {
  const whole = { id, ...ORGANIZATION, name: id, ...document };
  const unknown = { address: null, version: null, updatedAt: null, state: null };
  const given = { ...unknown, withheld: [], files: {}, ...more };
  return { kind, id, document: whole, ...given };
}

function since(
  snapshot: readonly Kept[],
  resources: Readonly<Record<string, ResourceState>>,
  now: Partial<Now> = {},
): SnapshotUndo {
  const state = { ...emptyState('lineage'), resources };
  return undoToSnapshot(snapshot, {
    state,
    isMissing: () => false,
    covers: () => true,
    fileFor: () => undefined,
    namesakes: () => [],
    typed: (command) => `\`callsheet ${command}\``,
    ...now,
  });
}

const takenBy = (id: string) => ({ 'custom_voice.harbor': stateOf('custom_voice', id) });

const SECRET = 'integrations.smsProvider.auth_token';
const OLD = { fingerprint: 'hmac:1:old' };
const NEW = { fingerprint: 'hmac:1:new' };

describe('what the stack manages', () => {
  test('is found by its id, whatever it is called by now', () => {
    const { undo, foreign } = since(
      [kept('agent', 'a1', { status: 'active' }, { address: 'agent.old', version: 7 })],
      { 'agent.new': stateOf('agent', 'a1') },
    );
    expect(undo.addresses).toEqual(['agent.new']);
    expect(undo.versions.get('agent.new')).toBe(7);
    expect(undo.desired[0]).toMatchObject({ isExact: true, document: { status: 'active' } });
    expect(foreign).toBe(0);
  });

  test('is found by its address where the state has let go of it', () => {
    const { undo } = since([kept('agent', 'a1', {}, { address: 'agent.desk', version: 7 })], {});
    expect(undo.addresses).toEqual(['agent.desk']);
    expect(undo.desired[0]?.lifecycle.adopt).toBe('a1');
  });

  test('is found by its address where another took its place, whose history is another one', () => {
    const { undo } = since([kept('agent', 'a1', {}, { address: 'agent.desk', version: 7 })], {
      'agent.desk': stateOf('agent', 'a2'),
    });
    expect(undo.desired.map(({ address }) => address)).toEqual(['agent.desk']);
    expect(undo.versions.size).toBe(0);
  });

  test('is not what no state and no address tells of', () => {
    const { undo, foreign } = since([kept('agent', 'a1', {})], {});
    expect(undo.addresses).toEqual([]);
    expect(foreign).toBe(1);
  });

  test('is not what has its address and is of another kind', () => {
    const { undo, foreign } = since([kept('agent', 'a1', {}, { address: 'agent.desk' })], {
      'agent.desk': stateOf('retry_policy', 'p1'),
    });
    expect(undo.desired).toEqual([]);
    expect(foreign).toBe(1);
  });

  test('keeps ids of each other as references', () => {
    const { undo } = since(
      [kept('retry_policy', 'p1', {}), kept('agent', 'a1', { default_retry_policy_id: 'p1' })],
      {
        'retry_policy.gentle': stateOf('retry_policy', 'p1'),
        'agent.desk': stateOf('agent', 'a1'),
      },
    );
    const desk = undo.desired.find(({ address }) => address === 'agent.desk');
    expect(desk?.references).toEqual(['retry_policy.gentle']);
  });

  test('keeps to itself what no schema knows and what was left out', () => {
    const { undo } = since(
      [
        kept(
          'agent',
          'a1',
          { brand_new: 1 },
          { withheld: ['extensions.tools[x].headers[y].value'] },
        ),
      ],
      { 'agent.desk': stateOf('agent', 'a1') },
    );
    expect(undo.desired[0]?.lifecycle.ignore).toEqual([
      'extensions.tools[x].headers[y].value',
      'brand_new',
    ]);
  });
});

describe('what is not in the snapshot', () => {
  test('was made since where its list was read to the end', () => {
    const { undo, uncovered } = since([], { 'agent.night': stateOf('agent', 'a9') });
    expect(undo.addresses).toEqual(['agent.night']);
    expect(undo.desired).toEqual([]);
    expect(undo.impossible).toEqual([]);
    expect(undo.wanted.get('agent.night')).toMatchObject({ document: null, withheld: [] });
    expect(uncovered).toEqual([]);
  });

  test('is left alone where it was not', () => {
    const resources = { 'agent.night': stateOf('agent', 'a9') };
    const { undo, uncovered } = since([], resources, { covers: () => false });
    expect(undo.addresses).toEqual([]);
    expect(uncovered).toEqual(['agent.night']);
  });

  test('stays where the platform cannot delete it, and is named', () => {
    const { undo } = since([], { 'custom_voice.harbor': stateOf('custom_voice', 'v1') });
    expect(undo.impossible).toMatchObject([
      {
        address: 'custom_voice.harbor',
        why: 'it was created since the snapshot, and the platform has no endpoint that deletes a custom_voice',
        advice: 'Delete it in the dashboard.',
      },
    ]);
  });
});

describe('what is gone', () => {
  const gone = { isMissing: () => true };
  const rows: readonly (readonly [string, string, JsonObject, boolean])[] = [
    ['a recording', 'custom_voice', { language: 'en' }, false],
    ['a document', 'knowledge_source', { source_type: 'file' }, false],
    ['a page', 'knowledge_source', { url: 'https://harbor.example.test/faq' }, true],
    ['a template', 'sms_template', { message_type: 'sms', body: 'Hello' }, true],
    ['a template whose type was not told', 'sms_template', { body: 'Hello' }, true],
    ['an agent', 'agent', {}, true],
  ];
  test.each(rows)('%s', (_what, kind, document, isMade) => {
    const { undo } = since(
      [kept(kind, 'x1', document)],
      { [`${kind}.x`]: stateOf(kind, 'x1') },
      gone,
    );
    expect(undo.desired).toHaveLength(isMade ? 1 : 0);
    expect(undo.impossible.map(({ why }) => why)).toEqual(
      isMade
        ? []
        : [expect.stringMatching(/^it was deleted, and the snapshot does not hold its bytes/)],
    );
    for (const { advice } of undo.impossible)
      expect(advice).toContain('and apply: `callsheet apply`');
  });

  test('comes back without fields that no schema knows', () => {
    const { undo } = since(
      [kept('agent', 'a1', { brand_new: 1 })],
      { 'agent.desk': stateOf('agent', 'a1') },
      gone,
    );
    expect(undo.impossible).toEqual([
      {
        address: 'agent.desk',
        path: 'brand_new',
        why: 'is a field that no schema knows; the resource is restored without it',
        advice: 'Set it in the dashboard.',
      },
    ]);
  });

  const VOICE = { address: 'custom_voice.harbor' };
  test.each<[string, Readonly<Record<string, ResourceState>>, readonly string[], boolean]>([
    ['is not what is there, though no state has it', {}, [], false],
    ['is what the platform no longer has, and no state either', {}, ['v1'], true],
    ['is what another one of another name took the place of', takenBy('v2'), ['v1'], true],
    [
      'is what another one took the place of that is gone as well',
      takenBy('v2'),
      ['v1', 'v2'],
      true,
    ],
  ])('%s', (_title, resources, missing, isLost) => {
    const { undo } = since([kept('custom_voice', 'v1', { language: 'en' }, VOICE)], resources, {
      isMissing: (_kind, id) => missing.includes(id),
    });
    expect(undo.desired).toHaveLength(isLost ? 0 : 1);
    expect(undo.impossible).toHaveLength(isLost ? 1 : 0);
  });

  test('comes back without its secrets, which the next apply writes', () => {
    const state = stateOf('agent', 'a1', { name: { value: 'a1' }, [SECRET]: OLD });
    const { undo } = since(
      [kept('agent', 'a1', {}, { state })],
      { 'agent.desk': stateOf('agent', 'a1', { [SECRET]: NEW }) },
      gone,
    );
    expect(undo.impossible.map(({ path, why }) => `${path} ${why}`)).toEqual([
      `${SECRET} is secret, so no snapshot holds it; the resource is restored without it, until an apply writes it`,
    ]);
    expect(undo.restored.get('agent.desk')?.leaves).toEqual({
      name: { value: 'a1' },
      [SECRET]: { unsettled: true },
    });
  });
});

describe('the state afterwards', () => {
  test('says what it said then, but for secrets, which stay as they are', () => {
    const then = stateOf('agent', 'a1', { status: { value: 'active' }, [SECRET]: OLD });
    const { undo } = since([kept('agent', 'a1', {}, { state: then })], {
      'agent.desk': stateOf('agent', 'a1', { status: { value: 'inactive' }, [SECRET]: NEW }),
    });
    expect(undo.restored.get('agent.desk')?.leaves).toEqual({
      status: { value: 'active' },
      [SECRET]: NEW,
    });
    expect(undo.impossible).toEqual([]);
  });

  test('says what it says now where the snapshot was made outside of the stack', () => {
    const leaves = { status: { value: 'inactive' } };
    const { undo } = since([kept('agent', 'a1', {})], {
      'agent.desk': stateOf('agent', 'a1', leaves),
    });
    expect(undo.restored.get('agent.desk')?.leaves).toEqual(leaves);
  });

  test.each<[string, Kept, ResourceState]>([
    [
      'an agent',
      kept('agent', 'a1', { name: 'Desk' }, { address: 'agent.desk' }),
      { ...stateOf('agent', 'a1'), name: 'Desk' },
    ],
    [
      'a resource without a name, which is called by its address',
      kept('agent', 'a1', { name: null }, { address: 'agent.desk' }),
      { ...stateOf('agent', 'a1'), name: 'agent.desk' },
    ],
    [
      'a resource whose scope was not told',
      kept('agent', 'a1', { organization_id: null }, { address: 'agent.desk' }),
      { ...stateOf('agent', 'a1'), scope: { organization_id: '' } },
    ],
  ])('says where it is of what no state ever said anything: %s', (_what, one, expected) => {
    const { undo } = since([one], {});
    expect(undo.restored.get('agent.desk')).toEqual(expected);
  });
});

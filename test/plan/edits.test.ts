import { describe, expect, test } from 'vitest';
import type { Doubt, HistoryEntry } from '../../src/core/plan-document.ts';
import {
  attributeChange,
  type Edits,
  editsSince,
  isAhead,
  type Since,
} from '../../src/plan/drift.ts';
import { changeOf, fieldOf } from '../render/sample.ts';

const OWN = 'api:account';

/** An entry at `10:00:SS`; without seconds it has no time. */
function entry(id: number, seconds?: number, more: Partial<HistoryEntry> = {}): HistoryEntry {
  return {
    id,
    action: 'updated',
    actor: 'user:maria',
    source: 'dashboard',
    at: seconds === undefined ? null : moment(seconds),
    reverted_from_id: null,
    ...more,
  };
}

function moment(seconds: number): string {
  return new Date(Date.parse('2026-11-21T10:00:00Z') + seconds * 1000).toISOString();
}

const own = (id: number, seconds?: number) => entry(id, seconds, { actor: OWN });

describe('the edits since a run', () => {
  const at10 = (history_id: number | null): Since => ({ history_id, updated_at: moment(10) });
  const rows: readonly (readonly [
    string,
    readonly HistoryEntry[],
    Since,
    readonly number[],
    Doubt | null,
  ])[] = [
    [
      'are those above the entry of the run',
      [entry(3, 30), entry(2, 20), own(1, 10)],
      at10(1),
      [3, 2],
      null,
    ],
    ['are none where there is none', [own(1, 10)], at10(1), [], null],
    ['need no times', [entry(2), own(1)], { history_id: 1, updated_at: null }, [2], null],
    ['need not be all where the run is not among them', [entry(9, 90)], at10(1), [9], 'retention'],
    ['are all where an older one than the run is', [entry(9, 90), entry(5, 5)], at10(1), [9], null],
    ['cannot be told without a history', [], at10(null), [], 'no_beginning'],
    ['cannot be told without a pin', [entry(2, 20), own(1, 10)], undefined, [], 'no_beginning'],
    [
      'cannot be told without an entry or a time',
      [entry(2)],
      { history_id: null, updated_at: moment(10) },
      [],
      'no_beginning',
    ],
    [
      'are told by time where the pin has no entry',
      [entry(3, 30), entry(2, 10)],
      at10(null),
      [3],
      null,
    ],
    ['are told by the last one before that', [entry(3, 30), entry(2, 5)], at10(null), [3], null],
    ['may not be all where none is as old', [entry(3, 30)], at10(null), [3], 'retention'],
    [
      'leave out one that was seen, but came late',
      [entry(3, 30), entry(2, 9), own(1, 8)],
      at10(1),
      [3],
      null,
    ],
    [
      "leave out the run's own that came late",
      [entry(3, 30), own(2, 10.1), entry(1, 5)],
      at10(1),
      [3],
      null,
    ],
    [
      "leave out the run's own below others that came since",
      [entry(4, 40), entry(3, 30), own(2, 10.1), entry(1, 5)],
      at10(1),
      [4, 3],
      null,
    ],
    ["keep another's that came with the run", [entry(2, 10.1), entry(1, 5)], at10(1), [2], null],
    [
      'keep another of the account below others that came since',
      [entry(4, 40), own(3, 10.4), own(2, 10.1), entry(1, 5)],
      at10(2),
      [4, 3],
      null,
    ],
    ['keep one of the very moment of the run', [entry(2, 10), own(1, 9.9)], at10(1), [2], null],
    [
      'cannot be told by time where any has none',
      [entry(3, 30), entry(2), entry(1, 5)],
      at10(null),
      [],
      'no_beginning',
    ],
    ['keep another of the account', [own(3, 10.4), own(2, 10.1), entry(1, 5)], at10(2), [3], null],
    ['keep an edit right after the run', [entry(2, 10.4), own(1, 10.1)], at10(1), [2], null],
  ];
  test.each(rows)('%s', (_, history, since, ids, doubt) => {
    const edits = editsSince(history, since, OWN);
    expect(edits.entries.map(({ id }) => id)).toEqual(ids);
    expect(edits.doubt).toBe(doubt);
  });
});

describe('a change is ahead of its history', () => {
  test.each([
    ['when it is younger than the newest entry', moment(20), [entry(1, 10)], true],
    ['not when the entry was stamped with it', moment(20), [entry(1, 20)], false],
    ['not when the entry was stamped a moment before', moment(20), [entry(1, 19.5)], false],
    ['not when there are no times', moment(20), [entry(1)], false],
    ['not when there is no entry', moment(20), [], false],
    ['not when the resource has no time', null, [entry(1, 10)], false],
  ] as const)('%s', (_, updated, history, expected) => {
    expect(isAhead(updated, history)).toBe(expected);
  });
});

describe('an attribution', () => {
  const revert = (id: number, from: number | null) =>
    entry(id, id, { action: 'reverted', reverted_from_id: from, actor: 'user:jo' });
  const edits = (entries: readonly HistoryEntry[], doubt: Doubt | null = null): Edits => ({
    entries,
    base: 1,
    doubt,
  });
  const by = (actor: string | null, id: number) => entry(id, id, { actor });
  test.each([
    ['one edit', edits([by('a', 2)]), 'entry', [2]],
    ['one edit by nobody known', edits([by(null, 2)]), 'entry', [2]],
    ['several by one actor', edits([by('a', 3), by('a', 2)]), 'actor', [3, 2]],
    ['several by several', edits([by('b', 3), by('a', 2)]), 'one_of', [3, 2]],
    ['several by nobody known', edits([by(null, 3), by(null, 2)]), 'one_of', [3, 2]],
    ['no edit', edits([]), 'no_entry', []],
    ['edits that need not be all', edits([by('a', 2)], 'retention'), 'retention', [2]],
    ['a change without an entry', edits([by('a', 2)], 'late'), 'late', [2]],
    ['a revert to an edit', edits([revert(4, 2), by('b', 3), by('a', 2)]), 'entry', [4]],
    [
      'a revert to what the run wrote, then an edit',
      edits([by('a', 4), revert(3, 1), by('b', 2)]),
      'entry',
      [4],
    ],
    [
      'a revert to what the run wrote, then nothing',
      edits([revert(3, 1), by('b', 2)]),
      'no_entry',
      [],
    ],
    [
      'a revert to before the run, then an edit',
      edits([by('a', 4), revert(3, 0), by('b', 2)]),
      'one_of',
      [4, 3],
    ],
    ['a revert that says not to what', edits([revert(3, null), by('b', 2)]), 'entry', [3]],
    [
      'a revert after which all is known',
      edits([revert(3, 2), by('b', 2)], 'retention'),
      'entry',
      [3],
    ],
    ['a revert before a change without an entry', edits([revert(3, 2)], 'late'), 'late', [3]],
  ] as const)('of %s', (_, given, expected, entries) => {
    const change = changeOf({
      fields: [fieldOf('greeting_message', 'a', 'b', { cause: 'drifted' })],
    });
    const [field] = attributeChange(change, given).fields;
    const { certainty, because } = field?.attribution ?? {};
    expect(because ?? certainty).toBe(expected);
    expect(field?.attribution?.entries).toEqual(entries);
  });

  test.each([
    ['status', 'not_recorded'],
    ['sip.registration_enabled', 'not_recorded'],
    ['extensions.tools[crm_lookup].url', 'not_recorded'],
    ['integrations.smsProvider.fromNumber', 'not_recorded'],
    ['web_transfer_enabled', 'not_recorded'],
    ['voice_settings.speed', 'entry'],
    ['transfer_enabled', 'entry'],
  ])('of %s', (path, expected) => {
    const change = changeOf({ fields: [fieldOf(path, 'a', 'b', { cause: 'drifted' })] });
    const [field] = attributeChange(change, edits([by('a', 2)])).fields;
    expect(field?.attribution?.because ?? field?.attribution?.certainty).toBe(expected);
  });

  test('of a kind without a history', () => {
    const change = changeOf({
      kind: 'retry_policy',
      fields: [fieldOf('on_exhausted', 'end', 'notify', { cause: 'drifted' })],
    });
    const { fields } = attributeChange(change, edits([]));
    expect(fields[0]?.attribution?.because).toBe('no_history');
  });

  test('of what is gone', () => {
    const change = changeOf({ action: 'create', missing_id: '5d2b', fields: [] });
    const { attribution } = attributeChange(change, edits([by('a', 2)]));
    expect(attribution).toEqual({ certainty: 'unknown', because: 'gone', entries: [2] });
  });
});

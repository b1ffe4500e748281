import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { type RollbackFlags, rollback } from '../../src/cli/commands/rollback.ts';
import type { JsonObject } from '../../src/core/value.ts';
import type { Dialect } from '../../src/simulator/index.ts';
import type { JournalEntry } from '../../src/state/journal.ts';
import { journalPieces, linesIn, readJournal } from '../../src/state/journal-text.ts';
import type { ResourceState } from '../../src/state/model.ts';
import { HARBOR, refreshStage, type Stack } from '../refresh/stage.ts';
import { forge, stateIn } from './state-stage.ts';

/** The record of a run is text that others can write: what the platform tells is not taken from it. */

const UNSEALED = { env: { CALLSHEET_FINGERPRINT_KEY: undefined } };

const OTHER = {
  name: 'Emergency line',
  organization_id: HARBOR,
  created_at: '2026-01-05T09:00:00.000Z',
};

const saying = (greeting_message: string): Stack => ({
  agents: { ann: { name: 'ann', greeting_message, status: 'active' } },
});

/** A run that changed a greeting, and its record. */
async function afterAChange(dialect: Partial<Dialect> = {}, edit?: JsonObject) {
  const seed = { organizations: [{ id: HARBOR, name: 'Harbor' }], agents: [OTHER] };
  const stage = await refreshStage(saying('Hi'), dialect, { ...UNSEALED, seed });
  await stage.apply();
  await stage.configure(saying('Hello'));
  await stage.settle();
  await stage.configure(saying('Good day'));
  if (edit !== undefined) stage.alter('ann', edit);
  await stage.apply({ acceptConflicts: true }, { exit: edit === undefined ? 0 : 'any' });
  const { last_run: run } = await stateIn(stage);
  const file = `.callsheet/runs/${run}.jsonl`;
  const roll = async (exit: number, more: Partial<RollbackFlags> = {}) => {
    const flags = { dir: stage.folder, autoApprove: true, format: 'json', ...more } as const;
    const { out, err } = await stage.run((to) => rollback(flags, to), { exit });
    return { err, ...(out === '' ? {} : JSON.parse(out)) };
  };
  return {
    ...stage,
    roll,
    other: stage.record('Emergency line').id,
    async rewrite(change: (entries: readonly JournalEntry[]) => readonly JournalEntry[]) {
      const entries: JournalEntry[] = [];
      const text = await readFile(join(stage.folder, file), 'utf8');
      await readJournal(linesIn([text]), file, (entry) => entries.push(entry));
      await stage.write(file, [...journalPieces(change(entries))].join(''));
    },
  };
}

const withCopy =
  (document: JsonObject, fields: readonly string[], span?: { before: number; after: number }) =>
  (entries: readonly JournalEntry[]): readonly JournalEntry[] =>
    entries.map((entry) => {
      if (entry.type === 'snapshot')
        return {
          ...entry,
          document: { ...entry.document, ...document },
          pin: entry.pin && { ...entry.pin, history_id: span?.before ?? entry.pin.history_id },
        };
      if (entry.type !== 'ended') return entry;
      const ledger = entry.ledger.map((line) => ({
        ...line,
        fields: [...line.fields, ...fields],
        history: span ?? line.history,
      }));
      return { ...entry, ledger };
    });

describe('a copy that is not what the history has', () => {
  test.each<[string, JsonObject, readonly string[], boolean]>([
    ['of what the run changed', { greeting_message: 'Invented' }, [], false],
    [
      'of a field that the run is said to have changed',
      { system_prompt: 'Invented' },
      ['system_prompt'],
      false,
    ],
    ['beside the number of an older entry', { greeting_message: 'Invented' }, [], true],
  ])(
    '%s is never written, and the rollback does not say that it is verified',
    async (_name, copy, fields, isOlder) => {
      const stage = await afterAChange();
      const entries = stage.sim.store.history.get(stage.record('ann').id) ?? [];
      const [before = 0, , after = 0] = entries.map(({ id }) => id);
      await stage.rewrite(withCopy(copy, fields, isOlder ? { before, after } : undefined));
      const { ledger, verification } = await stage.roll(3);
      expect(stage.record('ann').greeting_message).toBe(isOlder ? 'Hi' : 'Hello');
      expect(JSON.stringify(stage.sim.dump())).not.toContain('Invented');
      expect(ledger).toMatchObject([{ address: 'agent.ann', status: 'failed' }]);
      expect(ledger[0].message).toContain('in the copy');
      expect(verification.differs).toHaveLength(1);
    },
  );
});

test.each([true, false])(
  'an edit whose entry came late is in the copy and in no entry before, and is put back: times %s',
  async (historyCreatedAt) => {
    const stage = await afterAChange(
      { historyLagMs: 1_000, historyCreatedAt },
      { greeting_message: 'By hand' },
    );
    stage.sim.advance(60_000);
    await stage.roll(0, { undoEdited: true });
    expect(stage.record('ann').greeting_message).toBe('By hand');
  },
);

describe('what the run is said to have created', () => {
  const made = (stage: Awaited<ReturnType<typeof afterAChange>>, more: Partial<ResourceState>) => {
    const resource: ResourceState = {
      kind: 'agent',
      id: stage.other,
      scope: { organization_id: HARBOR },
      name: OTHER.name,
      leaves: {},
      pin: null,
      protect: false,
      ...more,
    };
    const address = 'agent.old_desk';
    return { address, resource };
  };
  const creation = (
    { address, resource }: ReturnType<typeof made>,
    entries: readonly JournalEntry[],
  ): readonly JournalEntry[] =>
    entries.flatMap((entry): readonly JournalEntry[] => {
      if (entry.type === 'ended') {
        const [line] = entry.ledger;
        if (line === undefined) throw new Error('nothing was done');
        const own = {
          ...line,
          address,
          action: 'create',
          id: resource.id,
          fields: ['name'],
          history: null,
        };
        return [{ ...entry, ledger: [...entry.ledger, own] }];
      }
      if (entry.type !== 'began') return [entry];
      const { kind, id } = resource;
      const { at } = entry;
      return [
        entry,
        {
          type: 'snapshot',
          address,
          kind,
          id: null,
          document: null,
          pin: null,
          resource: null,
          withheld: [],
          intended: null,
        },
        {
          type: 'intent',
          seq: 90,
          at,
          address,
          step: 'create',
          operation: 'createAgent',
          id: null,
          fields: ['name'],
        },
        { type: 'outcome', seq: 90, at, ok: true, id, error: null },
        { type: 'resource', address, resource },
      ];
    });

  test.each<[string, Partial<ResourceState>]>([
    ['under its live name', {}],
    ['under another name', { name: 'Old desk' }],
  ])('is not deleted where it is older than the run: %s', async (_name, more) => {
    const stage = await afterAChange();
    const invented = made(stage, more);
    await forge(stage, (resources) => ({ ...resources, [invented.address]: invented.resource }));
    await stage.rewrite((entries) => creation(invented, entries));
    const { ledger } = await stage.roll(4);
    expect(ledger).toContainEqual(
      expect.objectContaining({ address: invented.address, name: OTHER.name, verdict: 'refused' }),
    );
    expect(stage.record('Emergency line').id).toBe(stage.other);
    expect(stage.sim.requests.filter(({ operation }) => operation === 'deleteAgent')).toEqual([]);
  });
});

import { join } from 'node:path';
import { expect } from 'vitest';
import { rollback } from '../../src/cli/commands/rollback.ts';
import { history } from '../../src/features/reading/history.ts';
import type { JournalEntry } from '../../src/state/journal.ts';
import { openKeyed } from '../state/keyed.ts';
import { longStaged, type Stage, staged } from './stage.ts';

/** The journals of a stack's runs, newest first. */
async function journals({ folder }: Stage): Promise<readonly (readonly JournalEntry[])[]> {
  const store = openKeyed(join(folder, '.callsheet', 'state.json'));
  const runs = await store.runs();
  return Promise.all(runs.map(async ({ run }) => (await store.run(run)) ?? []));
}

staged('every write stands in the journal: its intent, then its outcome', async (stage) => {
  await stage.apply();
  const [entries = []] = await journals(stage);
  const intents = entries.filter((entry) => entry.type === 'intent');
  expect(intents.map(({ operation }) => operation).sort()).toEqual(
    stage
      .writes()
      .map(({ operation }) => operation)
      .sort(),
  );
  for (const { seq } of intents) {
    const at = entries.findIndex((entry) => entry.type === 'intent' && entry.seq === seq);
    const outcome = entries.findIndex((entry) => entry.type === 'outcome' && entry.seq === seq);
    expect(outcome).toBeGreaterThan(at);
  }
  expect(entries.at(0)?.type).toBe('began');
  expect(entries.at(-1)?.type).toBe('ended');
});

staged(
  'a journal has no credential of an address, and what it says of one is enough to find it',
  async (stage) => {
    const page = 'https://desk:hush-password@harbor.example.test/faq?token=hush-token';
    await stage.edit('resources.yaml', 'https://harbor.example.test/faq', page);
    stage.sim.faults.add({ operation: 'createKnowledgeSource', reset: 'after' });
    await stage.apply();
    const pages = [...stage.sim.store.sources.values()].filter(({ record }) => record.url === page);
    expect(pages).toHaveLength(1);
    const written = JSON.stringify(await journals(stage));
    expect(written).toContain('desk:(secret)@harbor.example.test');
    expect(written).not.toContain('hush');
  },
);

staged('a snapshot comes before the first write to its resource', async (stage) => {
  await stage.apply();
  await stage.edit('agents.yaml', 'how can I help?', 'good day!');
  await stage.apply();
  const [entries = []] = await journals(stage);
  const order = entries.filter((entry) => 'address' in entry).map((entry) => entry.type);
  expect(order).toEqual(['snapshot', 'intent', 'resource']);
  const snapshot = entries.find((entry) => entry.type === 'snapshot');
  expect(snapshot?.document?.greeting_message).toBe('Harbor Dental, how can I help?');
});

longStaged('what is only taken over has no snapshot: there is nothing to undo', async (stage) => {
  await stage.apply();
  await stage.forget();
  const adopted = (change: { readonly action: string }) => change.action === 'adopt';
  const ledger = await stage.apply({}, { leaves: adopted });
  const [entries = []] = await journals(stage);
  const taken = ledger.filter(adopted).map(({ address }) => address);
  expect(taken.length).toBeGreaterThan(3);
  const kept = entries.flatMap((entry) => (entry.type === 'snapshot' ? entry.address : []));
  const written = entries.flatMap((entry) => (entry.type === 'intent' ? entry.address : []));
  expect(kept.filter((address) => taken.includes(address))).toEqual(
    taken.filter((address) => written.includes(address)),
  );
  const said = await stage.run(
    (to) => rollback({ dir: stage.folder, autoApprove: true, format: 'text' }, to),
    {
      exit: 'any',
    },
  );
  expect(said.err).toContain('nothing to roll back');
});

for (const [title, dialect] of [
  ['by their times', {}],
  ['by their times, which come late', { historyLagMs: 120 }],
  ['as it read them, where entries have no times', { historyCreatedAt: false }],
] as const) {
  staged(
    `which versions were newest before and after a run is found ${title}`,
    async (stage) => {
      await stage.apply();
      stage.sim.advance(60_000);
      await stage.edit('agents.yaml', 'how can I help?', 'good day!');
      const [line] = await stage.apply();
      expect(line?.history === null).toBe(!('historyCreatedAt' in dialect));
      stage.sim.advance(60_000);
      const [newest, before] = (stage.sim.store.history.get(line?.id ?? '') ?? []).toReversed();
      const out = await stage.run((to) =>
        history('agent.desk', { dir: stage.folder, format: 'json', limit: 20 }, to),
      );
      const { runs } = JSON.parse(out.out);
      expect(runs[0]).toMatchObject({ entry: newest?.id, purpose: 'apply' });
      await stage.rollback();
      const reverted = stage.sim.store.history.get(line?.id ?? '')?.at(-1);
      expect(reverted).toMatchObject({ action: 'reverted', revertedFrom: before?.id });
    },
    { dialect },
  );
}

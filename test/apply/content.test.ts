import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'vitest';
import { rm } from '../../src/cli/commands/state.ts';
import type { ResourceState } from '../../src/state/model.ts';
import { stateIn } from '../cli/state-stage.ts';
import { coveringRows } from '../long.ts';
import { type Stage, stagedBothWays } from './stage.ts';

/**
 * A file's content is never returned, so what the state says of it must be what was sent, or what the platform confirmed:
 * of every way in which a resource comes to be managed again, and every edit of its file meanwhile.
 */

/** The ways in which an address lets go of its resource, and comes back to it. */
const LEAVES = {
  'removed from the files': async (stage: Stage, without: () => Promise<void>) => {
    await without();
    await stage.apply();
  },
  'listed under forget': async (stage: Stage, without: () => Promise<void>) => {
    await without();
    await stage.write('forget.yaml', 'forget: [knowledge_source.clinic.one, custom_voice.one]\n');
    await stage.apply();
    await stage.remove('forget.yaml');
  },
  'removed from the state': async (stage: Stage) => {
    const flags = { dir: stage.folder, format: 'json' } as const;
    for (const { address } of Object.values(KINDS))
      await stage.run((to) => rm([address], flags, to), { exit: 'any' });
  },
  'lost with the state': async (stage: Stage) => stage.forget(),
  'never let go of': async () => undefined,
} as const;
type Leave = keyof typeof LEAVES;

const KINDS = {
  knowledge_source: {
    address: 'knowledge_source.clinic.one',
    path: 'file',
    yaml: `knowledge_bases:
  clinic:
    id: 7c346549-f8c6-406a-809e-72392ed69b41
    sources: { one: { file: documents/one.csv } }
`,
    file: 'documents/one.csv',
  },
  custom_voice: {
    address: 'custom_voice.one',
    path: 'clip',
    yaml: 'custom_voices: { one: { name: One, clip: voices/harbor.wav, language: en, consent: true } }\n',
    file: 'voices/harbor.wav',
  },
} as const;
type KindName = keyof typeof KINDS;

type Row = { readonly kind: KindName; readonly leave: Leave; readonly isEdited: boolean };

const ROWS: readonly Row[] = (Object.keys(KINDS) as KindName[]).flatMap((kind) =>
  (Object.keys(LEAVES) as Leave[]).flatMap((leave) =>
    [true, false].map((isEdited) => ({ kind, leave, isEdited })),
  ),
);

async function edit({ folder }: Stage, { file }: (typeof KINDS)[KindName]): Promise<void> {
  const bytes = await readFile(join(folder, file)).catch(() => Buffer.from('cleaning,80\n'));
  await writeFile(join(folder, file), Buffer.concat([bytes, Buffer.from('crown,900\n')]));
}

const uploads = ({ sim }: Stage) =>
  sim.requests.filter(({ operation, method }) =>
    ['createKnowledgeSource', 'createCustomVoice'].includes(operation ?? method),
  ).length;

for (const row of coveringRows(ROWS, ({ kind, leave, isEdited }) => [kind, leave, isEdited], 2)) {
  const { kind, leave, isEdited } = row;
  const sample = KINDS[kind];
  stagedBothWays(
    `a ${kind} that is ${leave}, ${isEdited ? 'and its file edited' : 'its file as it was'}`,
    async (stage) => {
      await stage.remove('agents.yaml');
      await stage.write('resources.yaml', 'retry_policies: {}\n');
      await stage.write('documents/one.csv', 'cleaning,80\n');
      await stage.write('one.yaml', sample.yaml);
      await stage.apply();
      const sent = contentIn(await stateIn(stage), sample);
      expect(sent).toEqual({ digest: expect.any(String) });
      const before = uploads(stage);

      await LEAVES[leave](stage, () => stage.remove('one.yaml'));
      if (isEdited) await edit(stage, sample);
      await stage.write('one.yaml', sample.yaml);
      const { changes, notes } = await stage.plan();
      await stage.apply({}, { exit: 'any', leaves: () => true });
      const after = contentIn(await stateIn(stage), sample);

      const isLost = leave === 'lost with the state';
      if (isLost) {
        // Nothing tells any more what was sent: that is said, and is no fact of the state.
        expect(uploads(stage)).toBe(before);
        expect(notes.map(({ message }) => message).join()).toContain(
          'assumes that it is this file',
        );
        expect(after).toEqual({ digest: expect.any(String), assumed: true });
        await edit(stage, sample);
        const second = await stage.plan();
        expect(second.changes.map(({ address }) => address)).toEqual([sample.address]);
      } else if (!isEdited) {
        expect(uploads(stage)).toBe(before);
        expect(after).toEqual(sent);
      } else if (kind === 'knowledge_source') {
        expect(changes).toMatchObject([{ action: 'update', fields: [{ path: sample.path }] }]);
        expect(uploads(stage)).toBe(before + 1);
        expect(after).toEqual({ digest: expect.any(String) });
        expect(after).not.toEqual(sent);
      } else {
        // The platform neither changes nor deletes a voice: the plan says so, and the state says nothing new.
        expect(changes).toMatchObject([{ action: 'replace', verdict: 'unsupported' }]);
        expect(uploads(stage)).toBe(before);
        if (after !== undefined) expect(after).toEqual(sent);
      }
    },
  );
}

stagedBothWays('a document whose upload is rolled back, and its file put back', async (stage) => {
  const sample = KINDS.knowledge_source;
  await stage.remove('agents.yaml');
  await stage.write('resources.yaml', 'retry_policies: {}\n');
  await stage.write('documents/one.csv', 'cleaning,80\n');
  await stage.write('one.yaml', sample.yaml);
  await stage.apply();
  await edit(stage, sample);
  await stage.apply();
  const before = uploads(stage);
  const sent = contentIn(await stateIn(stage), sample);
  await stage.rollback({}, { exit: 'any' });
  // No rollback uploads a file: what was sent last is still there.
  expect(contentIn(await stateIn(stage), sample)).toEqual(sent);
  await stage.write('documents/one.csv', 'cleaning,80\n');
  await stage.apply({}, { leaves: () => true });
  expect(uploads(stage)).toBe(before + 1);
});

function contentIn(
  { resources }: { readonly resources: Readonly<Record<string, ResourceState>> },
  { address, path }: (typeof KINDS)[KindName],
) {
  return resources[address]?.leaves[path];
}

stagedBothWays(
  'a document costs as many requests as its making has, and none to adopt',
  async (stage) => {
    const sample = KINDS.knowledge_source;
    let seen = stage.sim.requests.length;
    const counts = () => {
      const asked = stage.sim.requests
        .slice(seen)
        .filter(({ operation }) => operation !== 'createToken');
      seen = stage.sim.requests.length;
      const lists = asked.filter(({ operation }) => operation === 'listKnowledgeSources').length;
      return { lists, writes: asked.filter(({ method }) => method !== 'GET').length };
    };
    await stage.remove('agents.yaml');
    await stage.write('resources.yaml', sample.yaml);
    await stage.write('documents/one.csv', 'cleaning,80\n');
    const apply = async () => {
      counts();
      await stage.apply();
      return counts();
    };
    const made = await apply();
    await edit(stage, sample);
    const changed = await apply();
    await stage.forget();
    const adopted = await apply();
    expect([made.writes, changed.writes, adopted.writes]).toEqual([3, 3, 0]);
    // The plan after each is among them; a plan file is held against the list before its first write.
    for (const [at, { lists }] of [made, changed, adopted].entries())
      expect(lists).toBeLessThanOrEqual([4, 5, 3][at] ?? 0);
  },
);

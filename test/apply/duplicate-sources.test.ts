import { expect } from 'vitest';
import { drift } from '../../src/cli/commands/drift.ts';
import { validate } from '../../src/console/validate.ts';
import type { PlanDocument } from '../../src/core/plan-document.ts';
import type { State } from '../../src/state/model.ts';
import { parseKeyed } from '../state/keyed.ts';
import { type Stage, staged } from './stage.ts';

/** Puts a second document into the stack, with the bytes of the first. */
async function addTwin(stage: Stage): Promise<void> {
  await stage.write('documents/rates.csv', await stage.read('documents/prices.csv'));
  const first = 'prices: { file: documents/prices.csv }';
  await stage.edit('resources.yaml', first, `${first}\n      ${RATES}`);
}

const names = ({ sim }: Stage) => [...sim.store.sources.values()].map(({ record }) => record.name);
const TWIN = 'knowledge_source.clinic.rates';
const RATES = 'rates: { file: documents/rates.csv }';
const PAGE = 'https://harbor.example.test/faq';

staged('a document whose content is there under another name is taken over', async (stage) => {
  await stage.apply();
  // Nobody knows any more who made it.
  await stage.forget();
  await stage.write('documents/rates.csv', await stage.read('documents/prices.csv'));
  await stage.edit('resources.yaml', 'prices: { file: documents/prices.csv }', RATES);
  const line = (await stage.apply()).find(({ address }) => address === TWIN);
  expect(line).toMatchObject({ status: 'done' });
  expect(line?.message).toMatch(/already has its content, as prices\.csv/);
  expect(names(stage)).toEqual([PAGE, 'prices.csv']);

  await stage.write('documents/rates.csv', 'crown,900\n');
  await stage.apply();
  expect(names(stage)).toEqual([PAGE, 'prices.csv', 'rates.csv']);
});

staged('a document twice in one base is refused before anything is planned', async (stage) => {
  await addTwin(stage);
  const said = await stage.run((to) => validate({ dir: stage.folder, format: 'text' }, to), {
    exit: 1,
  });
  expect(said.out + said.err).toContain('content/duplicate');
  expect(stage.sim.requests).toEqual([]);
});

/** What becomes of a document that is forced beside its duplicate. */
const FORCED = ['added', 'replaced'] as const;

async function stateOf(stage: Stage): Promise<State> {
  return parseKeyed(await stage.read('.callsheet/state.json'));
}

/** The ids of the sources that the state knows. */
async function owners(stage: Stage): Promise<readonly string[]> {
  const { resources } = await stateOf(stage);
  return Object.values(resources).flatMap(({ kind, id }) =>
    kind === 'knowledge_source' ? [id] : [],
  );
}

for (const reingestedFile of FORCED) {
  const dialect = { reingestedFile };
  staged(
    `what another address has had until now is not taken from it (forced: ${reingestedFile})`,
    async (stage) => {
      await stage.apply();
      // The new address has what the old one had until this run.
      await addTwin(stage);
      await stage.write('documents/prices.csv', 'crown,900\n');
      await stage.apply({}, { exit: [0, 3], leaves: () => true });
      await stage.apply();
      const ids = await owners(stage);
      expect(ids).toHaveLength(3);
      expect(new Set(ids).size).toBe(3);
    },
    { dialect },
  );

  staged(
    `a document that nobody manages any more is taken over by one address (forced: ${reingestedFile})`,
    async (stage) => {
      await stage.apply();
      await stage.edit('resources.yaml', 'prices: { file: documents/prices.csv }', RATES);
      await stage.write('documents/rates.csv', await stage.read('documents/prices.csv'));
      await stage.apply({}, { exit: [0, 3], leaves: () => true });
      await stage.apply();
      const ids = await owners(stage);
      expect(new Set(ids).size).toBe(ids.length);
    },
    { dialect },
  );
}

staged('an id that the platform gives out twice belongs to one address', async (stage) => {
  await stage.apply();
  const [faq] = [...stage.sim.store.sources.values()].filter(({ record }) => record.url === PAGE);
  stage.sim.faults.add({
    operation: 'createKnowledgeSource',
    status: 201,
    body: { data: { sourceId: faq?.id ?? '', jobId: 'job-1' } },
  });
  const first = 'prices: { file: documents/prices.csv }';
  await stage.edit('resources.yaml', first, `${first}\n      news: { url: "${PAGE}/news" }`);
  const before = await stateOf(stage);
  const [line] = await stage.apply({}, { exit: 3 });
  expect(line?.message).toMatch(/answered the create with the id .*, which another resource/);
  expect(line?.message).not.toContain('bug in Callsheet');
  expect((await stateOf(stage)).resources).toEqual(before.resources);
  // The next one makes it.
  await stage.apply();
  const ids = await owners(stage);
  expect(new Set(ids).size).toBe(3);
});

staged('a document that is only renamed stays what it is', async (stage) => {
  await stage.apply();
  await stage.write('documents/rates.csv', await stage.read('documents/prices.csv'));
  await stage.edit('resources.yaml', 'documents/prices.csv', 'documents/rates.csv');
  expect((await stage.plan()).changes).toEqual([]);
});

staged('a page that was made meanwhile is taken over', async (stage) => {
  stage.sim.faults.add({
    operation: 'createKnowledgeSource',
    status: 409,
    body: {
      error: 'duplicate_source',
      details: { existingSource: { id: 'made-by-hand', name: 'FAQ', status: 'active' } },
    },
  });
  await stage.edit('resources.yaml', '      prices: { file: documents/prices.csv }\n', '');
  const ledger = await stage.apply({ target: ['knowledge_source'] }, { exit: 3 });
  // The refusal named a source that the platform then did not return.
  expect(ledger[0]?.message).toContain('made-by-hand');
});

staged('any other conflict is a failure that says what the platform said', async (stage) => {
  const body = { error: 'conflict', error_description: 'A voice with this name exists' };
  stage.sim.faults.add({ operation: 'createCustomVoice', status: 409, body });
  const [line] = await stage.apply({ target: ['custom_voice'] }, { exit: 3 });
  expect(line?.message).toMatch(/answered 409: conflict; A voice with this name exists/);
});

for (const isStateKept of [true, false]) {
  staged(
    `older versions of a document are named while they are there, ${isStateKept ? 'by the state or not' : 'the state lost'}`,
    async (stage) => {
      await stage.apply();
      const versions = [...(await owners(stage))];
      const older: string[] = [];
      for (const content of ['crown,900\n', 'crown,950\n']) {
        await stage.write('documents/prices.csv', content);
        const before = (await owners(stage)).find((id) => !listPages(stage).includes(id)) ?? '';
        const planned = await stage.plan();
        const leaving = planned.notes.filter(({ older_versions: ids }) => ids?.includes(before));
        expect(leaving.map(({ message }) => message)).toEqual([
          expect.stringContaining('both answer until that one is deleted'),
        ]);
        const [line] = await stage.apply();
        expect(line?.message).toContain(`the version before it (${before}) is still there`);
        older.push(before);
      }
      expect(versions).toContain(older[0]);
      if (!isStateKept) await stage.forget();
      for (const told of [await stage.plan(), await driftOf(stage)]) {
        const named = told.notes.filter((note) => note.older_versions !== undefined);
        expect(named).toMatchObject([
          { severity: 'warning', address: 'knowledge_source.clinic.prices', older_versions: older },
        ]);
        expect(named[0]?.message).toContain('2 older versions of prices.csv still answer');
      }
      for (const id of older) stage.sim.store.sources.delete(id);
      const { notes } = await stage.plan();
      expect(notes.filter((note) => note.older_versions !== undefined)).toEqual([]);
    },
  );
}

const listPages = ({ sim }: Stage) =>
  [...sim.store.sources].flatMap(([id, { record }]) => (record.url === PAGE ? [id] : []));

async function driftOf(stage: Stage): Promise<PlanDocument> {
  const { out } = await stage.run((to) => drift({ dir: stage.folder, format: 'json' }, to), {
    exit: 'any',
  });
  return JSON.parse(out);
}

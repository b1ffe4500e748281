import { expect } from 'vitest';
import { longStaged, type Stage, staged } from './stage.ts';

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

staged('what another address stands for is not taken from it', async (stage) => {
  await stage.apply();
  await addTwin(stage);
  await stage.apply();
  expect(names(stage)).toEqual([PAGE, 'prices.csv', 'rates.csv']);
  await stage.forget();
  expect((await stage.plan()).summary).toMatchObject({ create: 0, update: 0, adopt: 8 + 1 });
});

longStaged('both at once: the stack settles all the same', async (stage) => {
  await addTwin(stage);
  await stage.apply();
  await stage.apply();
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

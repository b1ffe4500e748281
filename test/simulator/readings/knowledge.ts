import type { JsonObject } from '../../../src/core/value.ts';
import { drawInventions } from '../../../src/simulator/dialect.ts';
import { IDS, type World } from '../world.ts';
import { listOf, type Readings, record } from './reading.ts';

const base = { path: { knowledgeBaseId: IDS.base } };
const page = { sourceType: 'url', url: 'https://harbor.example.test/faq' };
const file = {
  sourceType: 'file',
  fileName: 'prices.txt',
  fileMime: 'text/plain',
  fileSize: 3,
  contentHash: 'hash',
};
const add = ({ call }: World, body: JsonObject) => call('createKnowledgeSource', { ...base, body });
const sources = async ({ call }: World) => listOf(await call('listKnowledgeSources', base));
const enqueue = async (world: World) => {
  const { sourceId } = record(await add(world, file));
  return world.call('enqueueKnowledgeSource', {
    path: { ...base.path, sourceId: String(sourceId) },
  });
};

const statesOf = (seed: number) => {
  const { waiting, working, failed } = drawInventions(seed).states;
  return [waiting, failed, working];
};

/** How sources are taken and ingested. */
export const knowledgeReadings: Readings<
  | 'pageNames'
  | 'inventions'
  | 'ingestionReads'
  | 'duplicates'
  | 'reingestedFile'
  | 'emptyEnqueue'
  | 'enqueuedStatus'
  | 'megabyte'
> = {
  megabyte: {
    look: async (world) => (await add(world, { ...file, fileSize: 51_000_000 })).status,
    shows: [
      ['binary', 201],
      ['decimal', 400],
    ],
  },
  pageNames: {
    look: async (world) => {
      await add(world, page);
      return (await sources(world))[0]?.name;
    },
    shows: [
      ['url', page.url],
      ['title', `Page at ${page.url}`],
      ['none', null],
    ],
  },
  inventions: {
    look: async (world) => {
      await add(world, file);
      await add(world, { ...page, url: 'https://harbor.invalid' });
      const waiting = (await sources(world)).map(({ status }) => status);
      world.sim.dialect.ingestionReads = 1;
      await add(world, page);
      return [...waiting, (await sources(world)).at(-1)?.status];
    },
    shows: [
      [1, statesOf(1)],
      [2, statesOf(2)],
    ],
  },
  ingestionReads: {
    look: async (world) => {
      world.sim.dialect.inventions = 1;
      await add(world, page);
      return [await sources(world), await sources(world)].map(([source]) => source?.status);
    },
    shows: [
      [0, ['active', 'active']],
      [1, [drawInventions(1).states.working, 'active']],
    ],
  },
  duplicates: {
    look: async (world) => {
      await add(world, file);
      return (await add(world, file)).status;
    },
    shows: [
      ['announced', 409],
      ['uploaded', 201],
    ],
  },
  reingestedFile: {
    look: async (world) => {
      const first = record(await add(world, file));
      const again = record(await add(world, { ...file, forceReingest: true }));
      return [first.sourceId === again.sourceId, (await sources(world)).length];
    },
    shows: [
      ['added', [false, 2]],
      ['replaced', [true, 1]],
    ],
  },
  emptyEnqueue: {
    look: async (world) => {
      world.sim.dialect.inventions = 1;
      return [(await enqueue(world)).status, (await sources(world))[0]?.status];
    },
    shows: [
      ['refused', [400, drawInventions(1).states.waiting]],
      ['failed', [202, drawInventions(1).states.failed]],
    ],
  },
  enqueuedStatus: {
    look: async (world) => {
      world.sim.dialect.emptyEnqueue = 'failed';
      return (await enqueue(world)).status;
    },
    shows: [
      [202, 202],
      [200, 200],
    ],
  },
};

import { describe } from 'vitest';
import { Blob } from '../../src/core/value.ts';
import { world } from '../world.ts';
import { plans } from './rows.ts';

describe('a knowledge source', () => {
  const address = 'knowledge_source.kb.faq';
  const FAQ = { knowledge_base_id: 'kb1', url: 'https://x.test/faq' };
  const live = (last: string) => ({
    knowledge_source: [{ id: 's1', ...FAQ, last_synced_at: last }],
  });
  const desired = { [address]: { ...FAQ, reingest_after: '7d' } };
  const file = (sha256: string) => new Blob('docs/prices.pdf', sha256, 9, 'application/pdf');
  const PRICES = { knowledge_base_id: 'kb1', name: 'prices.pdf' };
  const made = world()
    .applied({ [address]: { id: 's1', ...FAQ } })
    .state();
  const resources = Object.entries(made.resources).map(
    ([at, one]) => [at, { ...one, unfinished: [] }] as const,
  );
  const halfMade = { ...made, resources: Object.fromEntries(resources) };
  plans([
    {
      title: 'is ingested again when it is too old',
      address,
      desired,
      live: live('2026-02-01T00:00:00Z'),
      applied: { [address]: { id: 's1', ...FAQ } },
      says: 'update',
      because: ['last ingested 2026-02-01T00:00:00Z', '7d'],
      steps: ['again knowledge_base_id url reingest_after'],
    },
    {
      title: 'is left alone while it is fresh',
      address,
      desired,
      live: live('2026-03-01T00:00:00Z'),
      applied: { [address]: { id: 's1', ...FAQ } },
      says: 'no_op',
    },
    {
      title: 'is ingested again where a run died before all of it was there',
      address,
      desired,
      live: live('2026-03-01T00:00:00Z'),
      input: { state: halfMade },
      says: 'update',
      because: ['a run died before all of it was there'],
      steps: ['again knowledge_base_id url reingest_after'],
    },
    {
      title: 'is left alone where that one is gone and another took its name',
      address,
      desired,
      live: { knowledge_source: [{ id: 's2', ...FAQ, last_synced_at: '2026-03-01T00:00:00Z' }] },
      input: { state: halfMade },
      says: 'adopt',
    },
    {
      title: 'is uploaded again when its file changed',
      address,
      desired: { [address]: { ...PRICES, file: file('bb') } },
      live: { knowledge_source: [{ id: 's1', ...PRICES }] },
      applied: { [address]: { id: 's1', ...PRICES, file: file('aa') } },
      says: 'update',
      steps: ['again file'],
    },
    {
      title: 'of another address is another source; the old one stays',
      address,
      desired: { [address]: { ...FAQ, url: 'https://x.test/new' } },
      live: live('2026-03-01T00:00:00Z'),
      applied: { [address]: { id: 's1', ...FAQ } },
      says: 'replace',
      because: ['url cannot be changed', 's1', 'stays'],
      steps: ['create knowledge_base_id url'],
    },
  ]);
});

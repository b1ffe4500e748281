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
  const INGESTED = { status: 'active', last_synced_at: '2026-03-01T00:00:00Z' };
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
      title: 'is ingested again where a run ended before all of it was there',
      address,
      desired,
      live: live('2026-03-01T00:00:00Z'),
      input: { state: halfMade },
      says: 'update',
      because: ['an interrupted run left it incomplete: it is ingested again'],
      steps: ['again knowledge_base_id url reingest_after'],
    },
    {
      title: 'is left alone where that one is gone and another took its name',
      address,
      desired,
      live: { knowledge_source: [{ id: 's2', ...FAQ, ...INGESTED }] },
      input: { state: halfMade },
      says: 'adopt',
    },
    ...[
      { status: 'ready', last_synced_at: '2026-03-01T00:00:00Z', chunk_count: 3 },
      { status: 'active', chunk_count: 0, last_synced_at: null },
      { status: 'active' },
      {},
    ].map((facts) => ({
      title: `is not taken over silently where it shows ${JSON.stringify(facts)}`,
      address,
      desired: { [address]: { ...PRICES, file: file('aa') } },
      live: { knowledge_source: [{ id: 's1', ...PRICES, ...facts }] },
      says: 'update',
      because: [
        'found by its name; the platform does not confirm its ingestion (status',
        'unless the platform is still working on it, it is declared and uploaded again',
      ],
      steps: ['again knowledge_base_id name file'],
    })),
    ...[{ chunk_count: 1 }, { last_synced_at: '2026-03-01T00:00:00Z' }].map((facts) => ({
      title: `is taken over where it is active and shows ${JSON.stringify(facts)}`,
      address,
      desired: { [address]: { ...PRICES, file: file('aa') } },
      live: { knowledge_source: [{ id: 's1', ...PRICES, status: 'active', ...facts }] },
      says: 'adopt',
    })),
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

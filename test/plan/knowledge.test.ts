import { describe } from 'vitest';
import { Blob } from '../../src/core/value.ts';
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

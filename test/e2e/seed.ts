import type { SeedDocument } from '../../src/simulator/index.ts';

export const HARBOR = '3c6e0b8a-9c15-4f1d-9f0e-5d2b7f1a2c11';
export const KNOWLEDGE_BASE = '7c346549-f8c6-406a-809e-72392ed69b41';

/** An account in which nothing of the clinic exists yet but its knowledge base. */
export const SEED: SeedDocument = {
  account_id: 'e7ac14dd-6755-4b7f-bb6b-7319e7f7b316',
  organizations: [{ id: HARBOR, name: 'Harbor Dental' }],
  knowledge_bases: [{ id: KNOWLEDGE_BASE, organization_id: HARBOR, name: 'Clinic' }],
};

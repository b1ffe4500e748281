import { describe } from 'vitest';
import { Blob } from '../../src/core/value.ts';
import { compares } from './rows.ts';

const file = (sha256: string) => new Blob('docs/prices.pdf', sha256, 9, 'application/pdf');
const BASE = { knowledge_base_id: 'kb-1', name: 'prices.pdf' };
const address = 'knowledge_source.clinic.prices';

/** The platform never returns a file's bytes: what was last uploaded is all there is to compare with. */
describe('a file', () => {
  compares([
    {
      title: 'that was uploaded is equal',
      address,
      applied: { ...BASE, file: file('aa') },
      desired: { ...BASE, file: file('aa') },
      live: BASE,
      finds: {},
    },
    {
      title: 'that has other bytes is changed',
      address,
      applied: { ...BASE, file: file('aa') },
      desired: { ...BASE, file: file('bb') },
      live: BASE,
      finds: { file: 'changed' },
    },
    {
      title: 'that was found live is taken to be this one',
      address,
      desired: { ...BASE, file: file('aa') },
      live: BASE,
      finds: { file: 'unknown_content' },
    },
    {
      title: 'is no secret that could be sent again',
      address,
      applied: { ...BASE, file: file('aa') },
      desired: { ...BASE, file: file('aa') },
      live: BASE,
      having: (world) => world.options({ resend_secrets: true }),
      finds: {},
    },
  ]);
});

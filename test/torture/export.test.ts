import { expect, test } from 'vitest';
import { expectFaithful, openExportStage } from '../features/writing/export/stage.ts';

test.each([
  ['as it is', false],
  ['with bases', true],
])(
  'an account of 12 organizations and 1,000 agents comes back as a stack, %s',
  async (_, factor) => {
    const stage = await openExportStage({ resellers: 2, organizations: 12, agents: 1000 });
    try {
      const { document, resources } = await expectFaithful(stage, { factor });
      expect(document.organizations).toHaveLength(12);
      expect(resources).toBe(1000 + 3 + 12 * 4);
      expect(document.remarks).toEqual([]);
    } finally {
      await stage.close();
    }
  },
);

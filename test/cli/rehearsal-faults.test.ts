import { expect, test } from 'vitest';
import { readBehaviour } from '../../src/features/rehearse/command.ts';

test('a word that is no fault is told which there are', async () => {
  await expect(readBehaviour({ fault: ['429', 'flaky'], chaosSeed: 'a' })).rejects.toMatchObject({
    code: 'usage',
    message: '--fault flaky is not one of 429, 503, lost',
    hint: expect.stringContaining('{ operation: updateAgent, status: 500 }'),
  });
  const { faults } = await readBehaviour({ fault: ['429'], chaosSeed: 'a' });
  expect(faults).toEqual(['429', 'drawn from the seed a']);
});

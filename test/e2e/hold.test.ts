import { expect } from 'vitest';
import { applied } from './harness.ts';

applied('what was rolled back is not applied again by the next pipeline', async (world) => {
  await world.edit('agents.yaml', 'how can I help?', 'good day!');
  await world.run(['apply', '--auto-approve']);
  await world.run(['rollback', '--auto-approve']);
  for (const command of [['plan'], ['apply', '--auto-approve']]) {
    const text = (await world.run(command, { exit: 4 })).out.replace(/\s+/g, ' ');
    expect(text).toMatch(/was rolled back by \S+ at \S+Z: run \S+ undid run \S+/);
    expect(text).toContain('--release-hold');
  }
  await world.run(['apply', '--auto-approve', '--release-hold']);
});

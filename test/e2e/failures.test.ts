import { expect } from 'vitest';
import { inventory, WHOLE } from './clinic.ts';
import { scenario } from './harness.ts';

scenario('a failure ends the run in part: what failed, why, and what it blocked', async (world) => {
  const body = { error: 'forbidden', error_description: 'Custom voices are not enabled' };
  world.sim.faults.add({ operation: 'createCustomVoice', status: 403, body });
  const { out, err } = await world.run(['apply', '--auto-approve'], { exit: 3 });
  expect(out).toMatch(/failed\s+Harbor {2}custom_voice\.harbor/);
  expect(out).toMatch(/blocked\s+Front desk {2}agent\.desk[^✓✗]*waits for custom_voice\.harbor/);
  expect(out.replace(/\s+/g, ' ')).toContain(
    'answered 403: forbidden; Custom voices are not enabled',
  );
  expect(err).toContain('create Harbor (custom_voice.harbor): failed');
  await world.apply();
  expect(inventory(world.sim)).toEqual(WHOLE);
});

scenario('a run in part shows in runs, with every line of its ledger', async (world) => {
  world.sim.faults.add({ operation: 'createSmsTemplate', status: 400 });
  const ended = await world.run(['apply', '--auto-approve', '--format', 'json'], { exit: 3 });
  const { run, ledger } = JSON.parse(ended.out);
  const { runs } = JSON.parse((await world.run(['runs', '--format', 'json'])).out);
  expect(runs).toMatchObject([{ run, purpose: 'apply', status: 'partial', changes: 7 }]);
  const receipt = JSON.parse((await world.run(['runs', run, '--format', 'json'])).out);
  expect(receipt.entries.at(-1).ledger).toEqual(ledger);
  expect((await world.run(['runs', run])).out).toMatch(/sms_template\.reminder/);
});

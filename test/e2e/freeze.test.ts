import { expect } from 'vitest';
import { applied } from './harness.ts';

/** In force by any clock. */
const ALWAYS = '{ reason: Audit, zone: Europe/Berlin, hours: "00:00-24:00" }';

applied('in a freeze window nothing is written but with a reason', async (world) => {
  await world.edit('agents.yaml', 'how can I help?', 'good day!');
  const main = await world.read('callsheet.yaml');
  await world.write('callsheet.yaml', `${main}guards:\n  freeze:\n    - ${ALWAYS}\n`);
  const before = world.writes().length;
  const frozen = 'guards.freeze is in force with no end within a year: "Audit" (callsheet.yaml:9)';
  for (const command of [['plan'], ['apply', '--auto-approve']]) {
    const { out } = await world.run(command, { exit: 4 });
    expect(out.replace(/\s+/g, ' ')).toContain(frozen);
    expect(out).toContain('--override-freeze REASON');
  }
  expect(world.writes().length).toBe(before);

  await world.run(['apply', '--auto-approve', '--override-freeze', 'INC-4711 wrong greeting']);
  const [run = ''] = /\d{8}t\d{6}z-\w+/.exec((await world.run(['runs'])).out) ?? [];
  const receipt = (await world.run(['runs', run])).out.replace(/\s+/g, ' ');
  expect(receipt).toContain(`overrode ${frozen}; reason: INC-4711 wrong greeting`);
});

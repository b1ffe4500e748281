import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseEnv } from 'node:util';
import { expect } from 'vitest';
import { isObject, type Json, type JsonObject } from '../../src/core/value.ts';
import { readSeed } from '../../src/simulator/index.ts';
import { CANARIES } from './clinic.ts';
import { applied, longApplied, scenario, type World } from './harness.ts';

const QUICKSTART = join(import.meta.dirname, '../../examples/quickstart');
const quickstart = {
  stack: QUICKSTART,
  seed: readSeed(readFileSync(join(QUICKSTART, 'simulator/seed.yaml'), 'utf8')),
  secrets: Object.fromEntries(
    Object.entries(parseEnv(readFileSync(join(QUICKSTART, 'secrets.env.example'), 'utf8'))).map(
      ([name]) => [name, `canary-${name.toLowerCase()}`],
    ),
  ),
};

/** What the platform stores of an agent, secrets included. */
function stored(world: World, name: string): JsonObject {
  return world.sim.store.agents.get(world.agent(name))?.record ?? {};
}

function at(value: Json | undefined, ...path: readonly string[]): Json | undefined {
  return path.reduce((one, key) => (isObject(one) ? one[key] : undefined), value);
}

const tokenOf = (world: World, name: string) =>
  at(stored(world, name), 'integrations', 'smsProvider', 'auth_token');

scenario(
  'the quickstart: changes before, none after the apply, none after the state is deleted',
  async (world) => {
    await world.run(['plan', '--detailed-exitcode'], { exit: 2 });
    await world.apply();
    await world.forget();
    const before = world.writes().length;
    const { changes, summary } = await world.plan('--detailed-exitcode');
    expect(new Set(changes.map(({ action }) => action))).toEqual(new Set(['adopt']));
    expect(summary.adopt).toBe(23);

    await world.apply();
    expect(world.writes().length).toBe(before);
  },
  quickstart,
);

applied('secrets reach the platform, each into its place', async (world) => {
  const everything = JSON.stringify(world.sim.dump());
  for (const value of Object.values(CANARIES)) expect(everything).toContain(value);
  expect(tokenOf(world, 'Front desk')).toBe(CANARIES.SMS_TOKEN);
});

longApplied(
  'a stored secret survives an unrelated update, which does not send it',
  async (world) => {
    await world.edit('agents.yaml', '"+15550100"', '"+15550199"');
    await world.edit('agents.yaml', 'speed: 1.05', 'speed: 1.1');
    await world.apply();
    expect(at(stored(world, 'Front desk'), 'integrations', 'smsProvider')).toEqual({
      account_sid: 'AC01',
      auth_token: CANARIES.SMS_TOKEN,
      fromNumber: '+15550199',
    });
    const update = world.writes().at(-1);
    expect(update?.operation).toBe('updateAgent');
    expect(JSON.stringify(update?.body)).not.toContain(CANARIES.SMS_TOKEN);
  },
);

longApplied('a changed secret is noticed by its fingerprint and written', async (world) => {
  const env = { SMS_TOKEN: 'canary-sms-next' };
  const planned = await world.run(['plan', '--detailed-exitcode'], { env, exit: 2 });
  expect(planned.out).toContain('secret changed since the last write');
  await world.apply([], { env });
  expect(tokenOf(world, 'Front desk')).toBe(env.SMS_TOKEN);
});

scenario(
  'a saved plan is applied as it is, and its file can be sent through any channel',
  async (world) => {
    await world.run(['plan', '--out', 'plan.json', '--detailed-exitcode'], { exit: 2 });
    await world.apply(['plan.json']);
    expect(world.sim.store.agents.size).toBe(2);
  },
);

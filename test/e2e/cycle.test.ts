import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseEnv } from 'node:util';
import { expect } from 'vitest';
import { isObject, type Json, type JsonObject } from '../../src/core/value.ts';
import { readSeed } from '../../src/simulator/index.ts';
import { CANARIES } from './clinic.ts';
import { applied, scenario, type World } from './harness.ts';

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

applied('a stored secret survives an unrelated update, which does not send it', async (world) => {
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
});

for (const key of ['with a fingerprint key', 'without one'] as const) {
  scenario(`a changed secret is noticed by its fingerprint, ${key}`, async (world) => {
    const keys = key === 'without one' ? { CALLSHEET_FINGERPRINT_KEY: undefined } : {};
    await world.apply([], { env: keys });
    const env = { ...keys, SMS_TOKEN: 'canary-sms-5f1c9a7e-next' };
    const planned = await world.run(['plan', '--detailed-exitcode'], { env, exit: 2 });
    expect(planned.out).toContain('secret changed since our last write');
    await world.apply([], { env });
    expect(tokenOf(world, 'Front desk')).toBe(env.SMS_TOKEN);
  });
}

applied(
  'with another fingerprint key secrets are unknown, which is no difference',
  async (world) => {
    const env = { CALLSHEET_FINGERPRINT_KEY: 'canary-key-another' };
    const { out } = await world.run(['plan', '--detailed-exitcode'], { env });
    expect(out).toContain('is unknown');
  },
);

applied(
  'without state a secret is unknown: left alone, and said so, unless resent',
  async (world) => {
    await world.forget();
    const env = { SMS_TOKEN: 'canary-sms-5f1c9a7e-next' };
    const planned = await world.run(['plan', '--detailed-exitcode'], { env });
    expect(planned.out).toMatch(/auth_token: whether the stored secret is this one is\s+unknown/);
    await world.apply([], { env });
    expect(tokenOf(world, 'Front desk')).toBe(CANARIES.SMS_TOKEN);

    await world.apply(['--resend-secrets', 'agent.desk'], { env });
    expect(tokenOf(world, 'Front desk')).toBe(env.SMS_TOKEN);
  },
);

applied('a header that the platform returns in clear is compared, and masked', async (world) => {
  const id = world.agent('Front desk');
  const record = stored(world, 'Front desk');
  world.sim.edit(id, {
    extensions: JSON.parse(
      JSON.stringify(record.extensions).replace(CANARIES.CRM_KEY, `${CANARIES.CRM_KEY}-foreign`),
    ),
  });
  const { out } = await world.run(['plan', '--detailed-exitcode'], { exit: 2 });
  expect(out).toContain('X-Api-Key');
  await world.apply();
  expect(JSON.stringify(stored(world, 'Front desk'))).not.toContain('-foreign');
});

scenario(
  'a saved plan is applied as it is, and its file can be sent through any channel',
  async (world) => {
    await world.run(['plan', '--out', 'plan.json', '--detailed-exitcode'], { exit: 2 });
    await world.apply(['plan.json']);
    expect(world.sim.store.agents.size).toBe(2);
  },
);

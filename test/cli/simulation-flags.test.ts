import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { CallsheetError } from '../../src/core/errors.ts';
import { readSimulationFlags, type SimulationFlags } from '../../src/simulator/index.ts';
import { temporaryFolder } from '../temporary.ts';

const HARBOR = '3c6e0b8a-9c15-4f1d-9f0e-5d2b7f1a2c11';
const seed = (name: string) => `organizations: [{ id: ${HARBOR}, name: ${name} }]`;

/** A folder with files, gone after the test. */
async function folder(files: { readonly [name: string]: string }): Promise<string> {
  const dir = temporaryFolder();
  for (const [name, text] of Object.entries(files)) await writeFile(join(dir, name), text);
  return dir;
}

test('without flags the platform is the plain one', async () => {
  expect(await readSimulationFlags({})).toEqual({ options: { dialect: {} }, faults: [] });
});

test('flags alone say dialect, faults and rate limit', async () => {
  const flags: SimulationFlags = {
    dialect: ['merge=shallow', 'absent=listRetryPolicies'],
    fault: ['{ operation: updateAgent, status: 503 }', '{"operation":"*","reset":"after"}'],
    rateLimit: 20,
  };
  expect(await readSimulationFlags(flags)).toEqual({
    options: {
      dialect: { merge: 'shallow', absent: ['listRetryPolicies'] },
      rateLimit: { perSecond: 20 },
    },
    faults: [
      { operation: 'updateAgent', status: 503 },
      { operation: '*', reset: 'after' },
    ],
  });
});

test('a rate limit may be a whole one', async () => {
  const { options } = await readSimulationFlags({
    rateLimit: '{ perSecond: 10, shape: fixed, windowSeconds: 60 }',
  });
  expect(options.rateLimit).toEqual({ perSecond: 10, shape: 'fixed', windowSeconds: 60 });
});

test.each([
  { rateLimit: '{ perSecond: 0 }', says: /--rate-limit: perSecond: must be > 0/ },
  { rateLimit: '{ shape: fixed }', says: /--rate-limit: / },
  { rateLimit: '{ perSecond: ', says: /is not YAML|--rate-limit/ },
])('a rate limit that is wrong is refused: $rateLimit', async ({ rateLimit, says }) => {
  await expect(readSimulationFlags({ rateLimit })).rejects.toThrow(says);
});

test('a file says the rest, its seed lies beside it, and flags win', async () => {
  const dir = await folder({
    'seed.yaml': seed('Beside'),
    'simulator.yaml': `
      seed: seed.yaml
      dialect: { merge: shallow, nulls: rejected }
      faults: [{ operation: getMe, status: 500 }]
      rateLimit: { perSecond: 5, retryAfter: false }
      latencyMs: 3
      chaosSeed: 7`,
  });
  const flags: SimulationFlags = {
    config: join(dir, 'simulator.yaml'),
    dialect: ['merge=deep'],
    fault: ['{ operation: getAgent, status: 500 }'],
    rateLimit: 50,
  };
  expect(await readSimulationFlags(flags)).toEqual({
    options: {
      seed: { organizations: [{ id: HARBOR, name: 'Beside' }] },
      dialect: { merge: 'deep', nulls: 'rejected' },
      rateLimit: { perSecond: 50, retryAfter: false },
      latencyMs: 3,
      chaosSeed: 7,
    },
    faults: [
      { operation: 'getMe', status: 500 },
      { operation: 'getAgent', status: 500 },
    ],
  });
});

test.each<[callers: SimulationFlags['callers'], expected: object]>([
  [undefined, { perDay: 5, weeks: 2 }],
  [true, { perDay: 5, weeks: 2 }],
  [80, { perDay: 80, weeks: 2 }],
])('--callers %s beside callers of the file', async (callers, expected) => {
  const dir = await folder({ 'simulator.yaml': 'callers: { perDay: 5, weeks: 2 }' });
  const { options } = await readSimulationFlags({
    config: join(dir, 'simulator.yaml'),
    ...(callers === undefined ? {} : { callers }),
  });
  expect(options.callers).toEqual(expected);
});

test('--callers alone', async () => {
  expect((await readSimulationFlags({ callers: true })).options.callers).toEqual({});
});

test('--seed wins over the seed of the file', async () => {
  const dir = await folder({
    'mine.yaml': seed('Mine'),
    'simulator.yaml': `seed: { organizations: [{ id: ${HARBOR}, name: Theirs }] }`,
  });
  const { options } = await readSimulationFlags({
    config: join(dir, 'simulator.yaml'),
    seed: join(dir, 'mine.yaml'),
  });
  expect(options.seed).toMatchObject({ organizations: [{ name: 'Mine' }] });
});

test.each([
  { flags: { seed: 'none.yaml' }, says: /the seed file none.yaml cannot be read/ },
  { flags: { config: 'none.yaml' }, says: /the simulation file none.yaml cannot be read/ },
  {
    flags: { dialect: ['merge=both', 'colour'] },
    says: /--dialect: colour must be name=value; merge must be deep or shallow/,
  },
  {
    flags: { fault: ['{ operation: fly }', '{ status: 1 }'] },
    says: /--fault: .*no operation fly.*operation: required/,
  },
  { flags: { fault: ['{ operation: '] }, says: /--fault .* is not YAML/ },
] satisfies { flags: SimulationFlags; says: RegExp }[])(
  '$flags is refused in words',
  async ({ flags, says }) => {
    const reading = readSimulationFlags(flags);
    await expect(reading).rejects.toThrow(CallsheetError);
    await expect(readSimulationFlags(flags)).rejects.toThrow(says);
  },
);

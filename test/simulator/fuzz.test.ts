import { expect, test } from 'vitest';
import type { Fault, Simulator } from '../../src/simulator/index.ts';
import { DIALECTS } from '../fuzz/dialects.ts';
import { readContract } from '../fuzz/document.ts';
import { fuzz } from '../fuzz/fuzz.ts';

const contract = readContract();

test('no request gets an answer that the document does not have, and every operation gets a good one', async () => {
  const tally = await fuzz(contract, { seed: 1, runs: 60 });
  const good = [...tally.keys()]
    .filter((key) => / 2\d\d$/.test(key))
    .map((key) => key.split(' ')[0]);
  expect(new Set(good)).toEqual(new Set(contract.operations.map(({ id }) => id)));
});

test.each(Object.entries(DIALECTS))('nor on a platform that %s', async (_name, dialect) => {
  await fuzz(contract, { seed: 2, runs: 4, simulator: { dialect } });
});

const everyList = { operation: 'listSttProviders', times: 1000 } as const;

test.each<readonly [string, Fault]>([
  ['the document has no 418', { ...everyList, status: 418, body: {} }],
  ['the simulator failed', { ...everyList, status: 500 }],
  ['body must have required property', { ...everyList, status: 200, body: {} }],
  ['the type of the body is text/html', { ...everyList, text: '<h1>Oops</h1>' }],
  ['the connection broke', { ...everyList, reset: 'before' }],
  ['a secret comes back', { ...everyList, status: 200, body: { data: [{ id: 'canary-secret' }] } }],
])('the fuzzer notices: %s', async (verdict, fault) => {
  const prepare = ({ faults }: Simulator) => faults.add(fault);
  const found = fuzz(contract, { seed: 3, runs: 40, shrink: false, prepare });
  await expect(found).rejects.toThrow(verdict);
});

test('a finding is as short as it can be', async () => {
  const fault: Fault = { ...everyList, status: 418, body: {} };
  const found = fuzz(contract, { seed: 3, runs: 40, prepare: ({ faults }) => faults.add(fault) });
  await expect(found).rejects.toThrow(
    /^seed 3, run \d+, path \S+: the document has no 418 for listSttProviders\n\nGET \/v1\/stt-providers(?:\n {4}authorization: Bearer account)?\n {4}→ 418 \{\}$/,
  );
});

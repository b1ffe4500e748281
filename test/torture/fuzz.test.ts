import { expect, test } from 'vitest';
import { DIALECTS } from '../fuzz/dialects.ts';
import { readContract } from '../fuzz/document.ts';
import { fuzz } from '../fuzz/fuzz.ts';

const contract = readContract();

/** How long all of it may take, and where it begins; another begin every time unless it is given. */
const seconds = Number(process.env.CALLSHEET_TORTURE_SECONDS ?? 120);
const seed = Number(process.env.CALLSHEET_TORTURE_SEED ?? Date.now() % 2 ** 31);

const platforms = [
  ['reads everything as the document does', {}],
  ...Object.entries(DIALECTS),
] as const;

test.each(platforms)(
  'no request gets an answer that the document does not have on a platform that %s',
  async (_name, dialect) => {
    const until = (seconds * 1000) / platforms.length;
    await fuzz(contract, { seed, runs: 1_000_000_000, until, simulator: { dialect } });
  },
);

/** What no request brings about. */
const UNREACHED = [
  // The specification does not say when; agents out of reach are a 404.
  'getPaymentReadiness 403',
];

test('every answer of the document can be brought about', async () => {
  const usual = await fuzz(contract, { seed: 1, runs: 1200 });
  const other = await fuzz(contract, {
    seed: 1,
    runs: 50,
    simulator: { dialect: { createdStatus: 200 } },
  });
  const documented = contract.operations.flatMap(({ id, answers }) =>
    [...answers.keys()].map((status) => `${id} ${status}`),
  );
  const reached = new Set([...usual.keys(), ...other.keys()]);
  expect(documented.filter((answer) => !reached.has(answer))).toEqual(UNREACHED);
});

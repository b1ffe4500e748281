import { expect, test } from 'vitest';
import { type FailureCode, getExitCode } from '../../src/core/errors.ts';

/** The table of exit codes that users and pipelines rely on. */
const codes: Readonly<Record<FailureCode, number>> = {
  usage: 1,
  config: 1,
  api: 1,
  network: 1,
  state: 1,
  refused: 4,
  stale: 5,
  locked: 6,
  interrupted: 130,
};

test.each(Object.entries(codes))('%s ends with %i', (code, exit) => {
  expect(getExitCode(code as FailureCode)).toBe(exit);
});

/*
 * Loaded before any test file. Node's fetch, undici and nock share one dispatcher in globalThis, and nock
 * puts back what it found: that has to be undici's, whichever file comes first.
 */
import 'undici';
import fc from 'fast-check';
import { afterAll, beforeEach } from 'vitest';
import { INVENTIONS } from './inventions.ts';
import { isTorture, runs } from './long.ts';
import { checkLeftovers, isolateEnvironment } from './temporary.ts';

isolateEnvironment();
// `npm test` plays the same cases every time, `npm run torture` others.
fc.configureGlobal({
  ...fc.readConfigureGlobal(),
  numRuns: runs(100),
  ...(isTorture ? {} : { seed: 20261122 }),
});
const hint = `What simulators invented here is drawn again by CALLSHEET_INVENTIONS=${INVENTIONS}\n`;
// A failure is printed when it happens, with the seed that a property ends its message with, not minutes later.
beforeEach(({ onTestFailed }) => {
  onTestFailed(({ task }) => {
    const messages = task.result?.errors?.map(({ message }) => `${message}\n`) ?? [];
    process.stderr.write(`${task.fullName} failed:\n${messages.join('')}${hint}`);
  });
});
afterAll(checkLeftovers);

/*
 * Loaded before any test file. Node's fetch, undici and nock share one dispatcher in globalThis, and nock
 * puts back what it found: that has to be undici's, whichever file comes first.
 */
import 'undici';
import fc from 'fast-check';
import { afterAll, beforeEach } from 'vitest';
import { INVENTIONS } from './inventions.ts';
import { isTorture } from './long.ts';
import { checkLeftovers, isolateEnvironment } from './temporary.ts';

isolateEnvironment();
// `npm test` plays the same cases every time, `npm run torture` others.
if (!isTorture) fc.configureGlobal({ ...fc.readConfigureGlobal(), seed: 20261122 });
const hint = `What simulators invented here is drawn again by CALLSHEET_INVENTIONS=${INVENTIONS}\n`;
beforeEach(({ onTestFailed }) => {
  onTestFailed(() => {
    process.stderr.write(hint);
  });
});
afterAll(checkLeftovers);

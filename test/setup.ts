/*
 * Loaded before any test file. Node's fetch, undici and nock share one dispatcher in globalThis, and nock
 * puts back what it found: that has to be undici's, whichever file comes first.
 */
import 'undici';
import { afterAll } from 'vitest';
import { checkLeftovers, isolateEnvironment } from './temporary.ts';

isolateEnvironment();
afterAll(checkLeftovers);

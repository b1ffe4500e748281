import { afterAll, beforeAll } from 'vitest';
import { type Servers, startServers } from './bad/places.ts';
import { ROWS, testBadStores } from './bad/table.ts';

let servers: Servers;
beforeAll(async () => {
  servers = await startServers();
});
afterAll(() => servers.stop());

/**
 * Every store, and every fault that nobody has to wait for, once at each time; `npm run torture` breaks every store in
 * every way.
 */
const AT_START = ['file foreign', 'HTTP page', 'S3 newer', 'PostgreSQL foreign'];
const IN_MID_RUN = ['file full', 'HTTP unreachable', 'S3 full', 'PostgreSQL read-only'];
const rowsOf = (taken: readonly string[]) =>
  ROWS.filter(([store, fault]) => taken.includes(`${store} ${fault}`));

testBadStores('start', rowsOf(AT_START), () => servers);
testBadStores('mid-run', rowsOf(IN_MID_RUN), () => servers);

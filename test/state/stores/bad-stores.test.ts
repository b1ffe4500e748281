import { afterAll, beforeAll } from 'vitest';
import { type Servers, startServers } from './bad/places.ts';
import { ROWS, testBadStores } from './bad/table.ts';

let servers: Servers;
beforeAll(async () => {
  servers = await startServers();
});
afterAll(() => servers.stop());

/** Every store and every fault that nobody has to wait for; `npm run torture` breaks every store in every way. */
const AT_START = [
  'file newer',
  'file foreign',
  'HTTP page',
  'HTTP foreign',
  'S3 newer',
  'PostgreSQL page',
  'PostgreSQL foreign',
];
const IN_MID_RUN = [
  'file unreachable',
  'file full',
  'HTTP unreachable',
  'S3 page',
  'S3 full',
  'PostgreSQL read-only',
];
const rowsOf = (taken: readonly string[]) =>
  ROWS.filter(([store, fault]) => taken.includes(`${store} ${fault}`));

testBadStores('start', rowsOf(AT_START), () => servers);
testBadStores('mid-run', rowsOf(IN_MID_RUN), () => servers);

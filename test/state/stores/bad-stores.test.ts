import { afterAll, beforeAll } from 'vitest';
import { type Servers, startServers } from './bad/places.ts';
import { ROWS, testBadStores } from './bad/table.ts';

let servers: Servers;
beforeAll(async () => {
  servers = await startServers();
});
afterAll(() => servers.stop());

/** What nobody has to wait for; `npm run torture` breaks every store in every way. */
const isQuick = (faults: readonly string[]) => ROWS.filter(([, fault]) => faults.includes(fault));

testBadStores('start', isQuick(['newer', 'foreign', 'page']), () => servers);
testBadStores('mid-run', isQuick(['unreachable', 'page', 'read-only', 'full']), () => servers);

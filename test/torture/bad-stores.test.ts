import { afterAll, beforeAll } from 'vitest';
import { type Servers, startServers } from '../state/stores/bad/places.ts';
import { ROWS, testBadStores } from '../state/stores/bad/table.ts';

let servers: Servers;
beforeAll(async () => {
  servers = await startServers();
});
afterAll(() => servers.stop());

testBadStores('start', ROWS, () => servers);
testBadStores('mid-run', ROWS, () => servers);

import { afterAll, beforeAll } from 'vitest';
import { type Servers, startServers } from '../features/stores/bad/places.ts';
import { ROWS, testBadStores } from '../features/stores/bad/table.ts';

let servers: Servers;
beforeAll(async () => {
  servers = await startServers();
});
afterAll(() => servers.stop());

testBadStores('start', ROWS, () => servers);
testBadStores('mid-run', ROWS, () => servers);

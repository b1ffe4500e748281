// A simulated platform in a process of its own, so that what it takes is not counted with those who ask it:
// node bench/fleet/serve.ts LAYOUT SIZE LATENCY [REQUESTS_A_SECOND]. It answers each message with the number of requests that
// it got since the last `forget`, and of round trips in a row; if the message names a file, it writes them there.
import { writeFileSync } from 'node:fs';
import { startSimulator } from '../../src/simulator/index.ts';
import { chainsOf, countRoundTrips } from './chains.ts';
import type { PlatformRequest, Told } from './platform.ts';
import { type Layout, liveFleet } from './stack.ts';

const [, , layout = 'rows', size = '0', latency = '0', perSecond] = process.argv;
const sim = await startSimulator({
  seed: liveFleet(Number(size), layout as Layout),
  latencyMs: Number(latency),
  ...(perSecond !== undefined && { rateLimit: { perSecond: Number(perSecond) } }),
});

process.on('message', ({ forget, empty, file }: PlatformRequest) => {
  if (forget === true) sim.forgetRequests();
  if (empty === true) sim.store.agents.clear();
  if (file !== undefined) writeFileSync(file, JSON.stringify(chainsOf(sim.requests)));
  const roundTrips = countRoundTrips(sim.requests, Number(latency));
  process.send?.({ requests: sim.requests.length, roundTrips } satisfies Told);
});
// The process that started it is gone, and so are its clients.
process.on('disconnect', () => process.exit());
process.send?.({
  CALLSHEET_BASE_URL: sim.url,
  CALLSHEET_CLIENT_ID: sim.clientId,
  CALLSHEET_CLIENT_SECRET: sim.clientSecret,
});

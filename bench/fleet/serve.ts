// A simulated platform in a process of its own, so that what it takes is not counted with those who ask it:
// node bench/fleet/serve.ts SIZE LATENCY. Told the name of a file it writes down what it was asked for; told
// none, it forgets that.
import { writeFileSync } from 'node:fs';
import { startSimulator } from '../../src/simulator/index.ts';
import { chainsOf } from './chains.ts';
import { liveFleet } from './stack.ts';

const [, , size = '0', latency = '0'] = process.argv;
const sim = await startSimulator({ seed: liveFleet(Number(size)), latencyMs: Number(latency) });

process.on('message', (file: string) => {
  if (file === '') sim.forgetRequests();
  else writeFileSync(file, JSON.stringify(chainsOf(sim.requests)));
  process.send?.('done');
});
// Whoever started it is gone, and so is everybody who asks.
process.on('disconnect', () => process.exit());
process.send?.({
  CALLSHEET_BASE_URL: sim.url,
  CALLSHEET_CLIENT_ID: sim.clientId,
  CALLSHEET_CLIENT_SECRET: sim.clientSecret,
});

import { describe, expect, it, onTestFinished } from 'vitest';
import { Origin } from '../../src/core/origin.ts';
import { createClient } from '../../src/platform/client.ts';
import { startSimulator } from '../../src/simulator/index.ts';
import type { RateLimit } from '../../src/simulator/rate-limit.ts';

/** Seconds until the pace is settled, and for which it is then measured. */
const [SETTLED, MEASURED] = [60, 40];

const LIMITS: readonly RateLimit[] = [
  { perSecond: 10 },
  { perSecond: 10, retryAfter: false },
  { perSecond: 10, shape: 'fixed' },
  { perSecond: 10, shape: 'sliding', retryAfter: false },
];

const rows = LIMITS.flatMap((limit) =>
  [0, 100].map((latencyMs) => ({ name: JSON.stringify(limit), limit, latencyMs })),
);

/** Reads without end, as many clients as there are, and counts what they come to once they are settled. */
async function rush(limit: RateLimit, latencyMs: number, clients: number) {
  const simulator = await startSimulator({ rateLimit: limit, latencyMs });
  onTestFinished(() => simulator.close());
  const began = performance.now();
  const counts = { letIn: 0, refused: 0 };
  await Promise.all(
    Array.from({ length: clients }, async () => {
      const client = createClient({
        origin: Origin.given(simulator.url),
        credentials: { clientId: simulator.clientId, clientSecret: simulator.clientSecret },
        concurrency: 16,
        openFile: () => Promise.reject(new Error('there are no files')),
        trace: ({ status }) => {
          const seconds = (performance.now() - began) / 1000;
          if (seconds < SETTLED || seconds >= SETTLED + MEASURED) return;
          counts[status === 429 ? 'refused' : 'letIn'] += 1;
        },
      });
      const read = async () => {
        while (performance.now() - began < (SETTLED + MEASURED) * 1000) {
          await client.call({ operation: 'getMe' });
        }
      };
      await Promise.all(Array.from({ length: 16 }, read));
      await client.close();
    }),
  );
  return {
    reached: counts.letIn / MEASURED / (limit.perSecond ?? 1),
    refused: counts.refused / (counts.letIn + counts.refused),
  };
}

// What they wait for is time, so that they may wait for it together.
describe.concurrent('a limit that nobody told is reached over real sockets', () => {
  it.each(rows)('$name, $latencyMs ms away', async ({ limit, latencyMs }) => {
    const { reached, refused } = await rush(limit, latencyMs, 1);
    expect(reached).toBeGreaterThan(0.9);
    expect(refused).toBeLessThan(0.02);
  });

  it('by two who do not know of each other', async () => {
    const { reached, refused } = await rush({ perSecond: 10 }, 20, 2);
    expect(reached).toBeGreaterThan(0.85);
    expect(refused).toBeLessThan(0.04);
  });
});

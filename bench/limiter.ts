// Draws the course of the pace and prints what it comes to: node bench/limiter.ts [docs/contributing/limiter.svg]
import { writeFileSync } from 'node:fs';
import { type Course, type Rush, rush, shareOf } from '../test/platform/rush.ts';
import { limiterPlot, type Panel } from './limiter/plot.ts';

type Row = Rush & { readonly name: string; readonly settled: number };

const FIVE_MINUTES = { latency: 20, concurrency: 16, seconds: 300, settled: 60 };

const PANELS: readonly Row[] = [
  { name: 'bucket of 50, filled by 50 a second', limit: { perSecond: 50 }, ...FIVE_MINUTES },
  {
    name: '50 in each second, no Retry-After',
    limit: { perSecond: 50, shape: 'fixed', retryAfter: false },
    ...FIVE_MINUTES,
  },
  {
    name: '600 in each minute',
    limit: { perSecond: 10, shape: 'fixed', windowSeconds: 60 },
    ...FIVE_MINUTES,
    seconds: 600,
    settled: 240,
  },
  {
    name: 'two programs on a bucket of 50',
    limit: { perSecond: 50 },
    ...FIVE_MINUTES,
    clients: 2,
  },
];

const LATENCIES = [0, 20, 100];

/** Formats the requests let in once settled, as a share of the limit, and those refused, as a share of all. */
function figuresOf(course: Course, { limit, settled, seconds }: Row): string {
  const { perSecond, refused } = shareOf(course, settled, seconds);
  const reached = (perSecond / (limit?.perSecond ?? 0)) * 100;
  return `${reached.toFixed(1).padStart(5)} % ${(refused * 100).toFixed(2)} %`;
}

function table(): string {
  const rows = [5, 50, 500].flatMap((perSecond) =>
    (['bucket', 'fixed', 'sliding'] as const).flatMap((shape) =>
      [true, false].map((retryAfter) => ({ perSecond, shape, retryAfter })),
    ),
  );
  const minutes = [1, 10, 50].flatMap((perSecond) =>
    (['fixed', 'sliding'] as const).flatMap((shape) =>
      [true, false].map((retryAfter) => ({ perSecond, shape, retryAfter, windowSeconds: 60 })),
    ),
  );
  const lines = [...rows, ...minutes].map((limit) => {
    const isLong = 'windowSeconds' in limit;
    const [settled, seconds] = isLong ? [300, 1200] : [60, 300];
    const cells = LATENCIES.map((latency) => {
      const concurrency = Math.max(8, Math.ceil((2 * limit.perSecond * latency) / 1000));
      const row = { name: '', limit, latency, concurrency, seconds, settled };
      return figuresOf(rush(row), row);
    });
    const name = isLong ? `${limit.perSecond * 60}/min` : `${limit.perSecond}/s`;
    const told = limit.retryAfter ? 'yes' : 'no';
    return [name.padEnd(8), limit.shape.padEnd(8), told.padEnd(12), ...cells].join(' ');
  });
  const heads = LATENCIES.map((latency) => `${latency} ms`.padEnd(14));
  return [`limit    shape    Retry-After  ${heads.join(' ')}`, ...lines].join('\n');
}

const file = process.argv[2];
if (file === undefined) {
  console.log(table());
} else {
  const panels = PANELS.map((row): Panel => {
    const course = rush(row);
    return { name: row.name, course, perSecond: row.limit?.perSecond ?? 0, seconds: row.seconds };
  });
  writeFileSync(file, limiterPlot(panels));
}

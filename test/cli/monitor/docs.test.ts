import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import parsePrometheus from 'parse-prometheus-text-format';
import { expect, test } from 'vitest';
import { openWorkerMetrics } from '../../../src/cli/queue/worker-log.ts';
import { openMetrics } from '../../../src/cli/watch/events.ts';

const now = new Date();

test.each([
  { page: 'watch.md', metrics: openMetrics(['clinic'], { version: '1' }, now) },
  { page: 'workers.md', metrics: openWorkerMetrics({ version: '1' }, () => now) },
])('$page names every metric of its command, and none that there is not', async (row) => {
  const text = readFileSync(join(import.meta.dirname, '../../../docs', row.page), 'utf8');
  const exposed = parsePrometheus((await row.metrics.expose()).text).map(({ name }) => name);
  const named = text.match(
    /\b(?:callsheet|process|nodejs)_[a-z_]*(?:total|seconds|bytes|resources|changes|stacks|info)\b/g,
  );
  expect([...new Set(named)].sort()).toEqual(exposed.toSorted());
});

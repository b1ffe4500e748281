import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import parsePrometheus from 'parse-prometheus-text-format';
import { expect, test } from 'vitest';
import { openWorkerMetrics } from '../../../src/features/fleet/worker-log.ts';
import { features } from '../../../src/features/index.ts';
import { openMetrics } from '../../../src/features/watch/events.ts';

const now = new Date();
const gauges = await Promise.all(features.flatMap((one) => one.gauges?.() ?? []));

const PAGE = join(import.meta.dirname, '../../../docs/reference/monitoring.md');
const SECTIONS = readFileSync(PAGE, 'utf8').split(/^## /m);

test.each([
  { who: 'watch', metrics: openMetrics('clinic', { version: '1' }, now, gauges) },
  { who: 'workers', metrics: openWorkerMetrics({ version: '1' }, () => now) },
])('the page names every metric of $who, and none that there is not', async (row) => {
  const text = SECTIONS.filter((section) =>
    [row.who, 'both'].some((who) => section.startsWith(`Metrics of ${who}\n`)),
  ).join('');
  const exposed = parsePrometheus((await row.metrics.expose()).text).map(({ name }) => name);
  const named = text.match(
    /\b(?:callsheet|process|nodejs)_[a-z_]*(?:total|seconds|bytes|resources|changes|stacks|info|status|step|agents|calls|effect)\b/g,
  );
  expect([...new Set(named)].sort()).toEqual(exposed.toSorted());
});

import parsePrometheus from 'parse-prometheus-text-format';
import { expect, test } from 'vitest';
import { openTelemetry } from '../../../src/features/telemetry/telemetry.ts';
import { openMetrics } from '../../../src/features/watch/events.ts';
import { openCollector } from '../../console/monitor/collector.ts';

test('a collector gets every figure that Prometheus reads, under the same name', async () => {
  const collector = await openCollector();
  const env = { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url };
  const said: string[] = [];
  const telemetry = openTelemetry({ env, version: '1', tell: (text) => said.push(text) });
  const now = new Date();
  const metrics = openMetrics('a', { version: '1', telemetry }, now);
  for (const seconds of [0.05, 0.1, 7, 9_999])
    metrics.passEnded({ outcome: 'done', seconds, at: now });
  metrics.hookAnswered(401);
  const families = parsePrometheus((await metrics.expose()).text);
  await telemetry?.close();
  const points = collector.points();
  await collector.close();

  expect(said).toEqual([]);
  const types = { counter: 'sum', gauge: 'gauge', histogram: 'histogram' };
  const expected = families.map(({ name, type }) => [
    name,
    types[type.toLowerCase() as keyof typeof types],
  ]);
  const arrived = new Map(points.map(({ name, type }) => [name, type]));
  // A counter with labels that nothing was counted in has no series in either form.
  const silent = families.filter(({ metrics: series }) => series.length === 0);
  expect([...arrived]).toEqual(
    expected.filter(([name]) => !silent.some((family) => family.name === name)),
  );
  for (const { name, type, metrics: series } of families) {
    // What the process itself takes moves on between the two.
    if (type === 'HISTOGRAM' || /^(process|nodejs)_/.test(name)) continue;
    const here = points.filter((point) => point.name === name);
    expect(here.map(({ attributes, value }) => [attributes, value])).toEqual(
      series.map(({ labels = {}, value }) => [labels, Number(value)]),
    );
  }
  const passes = points.filter(({ name }) => name === 'callsheet_pass_duration_seconds');
  expect(passes.map(({ attributes, value }) => [attributes, value])).toEqual([
    [{ stack: 'a' }, { count: 4, sum: 10_006.15 }],
  ]);
  expect(passes[0]?.bounds).toEqual([0.1, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600, 1800]);
  expect(passes.map(({ buckets }) => buckets)).toEqual([[2, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 1]]);
});

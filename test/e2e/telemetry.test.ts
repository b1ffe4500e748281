import { writeFileSync } from 'node:fs';
import { expect } from 'vitest';
import { drawTrace, openCollector } from '../cli/monitor/collector.ts';
import { scenario } from './harness.ts';

scenario('the trace of an apply', async ({ run }) => {
  const collector = await openCollector();
  const env = { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url };
  const began = Date.now();
  const { err } = await run(['apply', '--auto-approve'], { env });
  writeFileSync('/tmp/trace.txt', `${drawTrace(collector.spans())}\n${Date.now() - began}\n${err}`);
  expect(collector.spans().length).toBeGreaterThan(3);
  await collector.close();
});

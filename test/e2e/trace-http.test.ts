import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'vitest';
import type { TraceEntry } from '../../src/platform/operation.ts';
import { scenario } from './harness.ts';

scenario('a trace holds every request and no secret', async ({ apply, run, folder, sim }) => {
  const trace = join(folder, 'http.jsonl');
  const before = sim.requests.length;
  await apply(['--trace-http', trace]);
  const lines = (await readFile(trace, 'utf8')).trimEnd().split('\n');
  const entries = lines.map((line): TraceEntry => JSON.parse(line));
  const asked = sim.requests.slice(before).map(({ operation }) => operation);
  const traced = entries.map(({ operation }) => operation ?? 'upload');
  // What follows the trace is the second plan, which has none.
  expect([...traced].sort()).toEqual(asked.slice(0, traced.length).sort());
  expect(traced).toEqual(expect.arrayContaining(['createToken', 'createAgent', 'upload']));
  const text = lines.join('\n');
  expect(text).not.toMatch(/Bearer [^\\]|X-Signature|signature=/i);
  expect(text).toContain('"auth_token":"(secret)"');
  expect((await stat(trace)).mode & 0o777).toBe(0o600);

  const refused = await run(['plan', '--trace-http', folder], { exit: 1 });
  expect(refused.err).toMatch(/--trace-http .* cannot be written: it is a folder/);
});

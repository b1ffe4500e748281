import { expect, test } from 'vitest';
import { temporaryFolder } from '../temporary.ts';
import { environmentOf, manyAgents } from './many-agents.ts';
import { openPeaks } from './peaks.ts';

const AGENTS = 10_000;
const MOST_MEGABYTES = 400;

test('ten thousand agents are kept, shown and compared in little memory', async () => {
  const sim = await manyAgents(AGENTS);
  const { run, expectBelow } = openPeaks(temporaryFolder(), {
    ...environmentOf(sim),
    CALLSHEET_SNAPSHOT_PASSPHRASE: 'correct horse battery',
  });
  await run(0, 'snapshot', 'create', '--out', 'a.snapshot');
  await run(0, 'snapshot', 'create', '--base', 'a.snapshot', '--out', 'b.snapshot');
  const json = ['--format', 'json'];
  const shown = JSON.parse(await run(0, 'snapshot', 'show', 'b.snapshot', ...json));
  expect(shown.resources.agent).toBe(AGENTS);
  const compared = JSON.parse(
    await run(0, 'snapshot', 'diff', 'a.snapshot', 'b.snapshot', ...json),
  );
  expect(compared.summary.no_op).toBeGreaterThanOrEqual(AGENTS);
  expectBelow(MOST_MEGABYTES, 'of 10,000 agents');
});

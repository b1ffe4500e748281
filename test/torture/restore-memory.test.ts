import { expect, test } from 'vitest';
import { RESTORED, secretsFile, wipe } from '../features/recovery/restoring.ts';
import { temporaryFolder } from '../temporary.ts';
import { environmentOf, manyAgents } from './many-agents.ts';
import { openPeaks } from './peaks.ts';

const AGENTS = 10_000;
const MOST_MEGABYTES = 400;

test('ten thousand agents are restored in bounded memory', async () => {
  const sim = await manyAgents(AGENTS);
  const folder = temporaryFolder();
  const { run, expectBelow } = openPeaks(folder, {
    ...environmentOf(sim),
    CALLSHEET_FINGERPRINT_KEY: 'a key of this test',
    ...RESTORED,
  });
  await run(0, 'snapshot', 'create', '--out', 'a.snapshot');
  wipe(sim);
  const secrets = await secretsFile(folder);
  const flags = ['--auto-approve', '--quiet', '--format', 'json', '--secrets', secrets];
  const first = await run(0, 'restore', 'a.snapshot', ...flags, '--without-secrets');
  expect(JSON.parse(first).status).toBe('done');
  const again = await run(0, 'restore', 'a.snapshot', ...flags);
  expect(JSON.parse(again).proof.resources).toBeGreaterThanOrEqual(AGENTS);
  expectBelow(MOST_MEGABYTES, 'of 10,000 agents');
});

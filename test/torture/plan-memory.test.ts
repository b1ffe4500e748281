import { onTestFinished, test } from 'vitest';
import { writeTable } from '../../bench/validate/stacks.ts';
import { knownFleet } from './known-fleet.ts';
import { openPeaks } from './peaks.ts';

const AGENTS = 30_000;
/** docs/contributing/performance.md has what is the case; there is room for other machines. */
const MOST_MEGABYTES = 800;

test('thirty thousand agents with long prompts are planned in little memory', async () => {
  const fleet = await knownFleet(AGENTS, writeTable);
  onTestFinished(() => fleet.close());
  const { run, expectBelow } = openPeaks(fleet.dir, fleet.env);
  await run(0, 'plan', '--quiet', '--detailed-exitcode');
  await run(0, 'plan', '--quiet', '--detailed-exitcode', '--refresh', 'full');
  expectBelow(MOST_MEGABYTES, 'of 30,000 agents');
}, 1_800_000);

import { spawn } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, inject, onTestFinished, test } from 'vitest';
import { writeTable } from '../../bench/validate/stacks.ts';
import '../e2e/build.ts';
import { knownFleet } from './known-fleet.ts';

const AGENTS = 30_000;
/** docs/contributing/performance.md has what is the case; there is room for other machines. */
const MOST_MEGABYTES = 800;

/** Says how much memory the process took at most, when it ends. */
const REPORTING = `data:text/javascript,${encodeURIComponent(
  `import { writeFileSync } from 'node:fs';
   process.on('exit', () => writeFileSync(process.env.PEAK_FILE, String(process.resourceUsage().maxRSS)));`,
)}`;

test('thirty thousand agents with long prompts are planned in little memory', async () => {
  const fleet = await knownFleet(AGENTS, writeTable);
  onTestFinished(() => fleet.close());

  async function peakOf(...args: readonly string[]): Promise<number> {
    const peak = join(fleet.dir, 'peak');
    const child = spawn(process.execPath, ['--import', REPORTING, inject('bin'), ...args], {
      cwd: fleet.dir,
      stdio: ['ignore', 'ignore', 'inherit'],
      env: { PATH: process.env.PATH, PEAK_FILE: peak, ...fleet.env },
    });
    const exit = await new Promise((resolve) => child.on('close', resolve));
    expect(exit, args.join(' ')).toBe(0);
    return Math.round(Number(await readFile(peak, 'utf8')) / 1024);
  }

  const peaks = {
    fast: await peakOf('plan', '--quiet', '--detailed-exitcode'),
    full: await peakOf('plan', '--quiet', '--detailed-exitcode', '--refresh', 'full'),
  };
  expect(Math.max(...Object.values(peaks)), JSON.stringify(peaks)).toBeLessThan(MOST_MEGABYTES);
}, 1_800_000);

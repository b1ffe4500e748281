import { spawn } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, inject, test } from 'vitest';
import '../e2e/build.ts';
import { temporaryFolder } from '../temporary.ts';
import { manyAgents } from './many-agents.ts';

const AGENTS = 10_000;
const MOST_MEGABYTES = 400;

/** Says how much memory the process took at most, when it ends. */
const REPORTING = `data:text/javascript,${encodeURIComponent(
  `import { writeFileSync } from 'node:fs';
   process.on('exit', () => writeFileSync(process.env.PEAK_FILE, String(process.resourceUsage().maxRSS)));`,
)}`;

test('ten thousand agents are kept, shown and compared in little memory', async () => {
  const sim = await manyAgents(AGENTS);
  const folder = temporaryFolder();
  const peaks: Record<string, number> = {};

  async function run(...args: readonly string[]): Promise<string> {
    const peak = join(folder, 'peak');
    const child = spawn(process.execPath, ['--import', REPORTING, inject('bin'), ...args], {
      cwd: folder,
      stdio: ['ignore', 'pipe', 'inherit'],
      env: {
        PATH: process.env.PATH,
        PEAK_FILE: peak,
        CALLSHEET_BASE_URL: sim.url,
        CALLSHEET_CLIENT_ID: sim.clientId,
        CALLSHEET_CLIENT_SECRET: sim.clientSecret,
        CALLSHEET_SNAPSHOT_PASSPHRASE: 'correct horse battery',
      },
    });
    let out = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      out += text;
    });
    const exit = await new Promise((resolve) => child.on('close', resolve));
    expect(exit, args.join(' ')).toBe(0);
    peaks[args.slice(0, 3).join(' ')] = Math.round(Number(await readFile(peak, 'utf8')) / 1024);
    return out;
  }

  await run('snapshot', 'create', '--out', 'a.snapshot');
  await run('snapshot', 'create', '--base', 'a.snapshot', '--out', 'b.snapshot');
  const shown = JSON.parse(await run('snapshot', 'show', 'b.snapshot', '--format', 'json'));
  expect(shown.resources.agent).toBe(AGENTS);
  const compared = JSON.parse(
    await run('snapshot', 'diff', 'a.snapshot', 'b.snapshot', '--format', 'json'),
  );
  expect(compared.summary.no_op).toBeGreaterThanOrEqual(AGENTS);
  const most = Math.max(...Object.values(peaks));
  expect(most, JSON.stringify(peaks)).toBeLessThan(MOST_MEGABYTES);
});

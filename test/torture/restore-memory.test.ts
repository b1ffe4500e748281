import { spawn } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, inject, test } from 'vitest';
import { RESTORED, secretsFile, wipe } from '../restore/restoring.ts';
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

test('ten thousand agents are restored in bounded memory', async () => {
  const sim = await manyAgents(AGENTS);
  const folder = temporaryFolder();

  async function run(...args: readonly string[]) {
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
        CALLSHEET_FINGERPRINT_KEY: 'a key of this test',
        ...RESTORED,
      },
    });
    let out = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      out += text;
    });
    const exit = await new Promise((resolve) => child.on('close', resolve));
    expect(exit, args.join(' ')).toBe(0);
    return { out, megabytes: Math.round(Number(await readFile(peak, 'utf8')) / 1024) };
  }

  await run('snapshot', 'create', '--out', 'a.snapshot');
  wipe(sim);
  const secrets = await secretsFile(folder);
  const flags = ['--auto-approve', '--quiet', '--format', 'json', '--secrets', secrets];
  const first = await run('restore', 'a.snapshot', ...flags, '--without-secrets');
  expect(JSON.parse(first.out).status).toBe('done');
  const again = await run('restore', 'a.snapshot', ...flags);
  expect(JSON.parse(again.out).proof.resources).toBeGreaterThanOrEqual(AGENTS);
  const peaks = { restore: first.megabytes, proof: again.megabytes };
  process.stdout.write(`peak memory of 10,000 agents: ${JSON.stringify(peaks)}\n`);
  expect(Math.max(...Object.values(peaks)), JSON.stringify(peaks)).toBeLessThan(MOST_MEGABYTES);
});

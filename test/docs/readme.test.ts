import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseEnv } from 'node:util';
import { expect, test } from 'vitest';
import { readSeed, startSimulator } from '../../src/simulator/index.ts';
import { COMMIT, FINGERPRINT_KEY } from '../e2e/clinic.ts';
import { runHere } from '../e2e/in-process.ts';
import { temporaryFolder } from '../temporary.ts';
import { readPage } from './markdown.ts';
import { looksLike } from './walk.ts';

const ROOT = join(import.meta.dirname, '../..');
const QUICKSTART = join(ROOT, 'examples/quickstart');

/** Two lines of the quickstart, and what the README has of the plan that follows. */
const EDITS = [
  ['agents/harbor.yaml', 'speed: 1.05,', 'speed: 1.1,'],
  ['prompts/harbor-front-desk.md', 'ninety minutes', 'two hours'],
] as const;

/** The calls of Harbor's front desk, one each quarter of an hour until now. */
const CALLS = Array.from({ length: 412 }, (_, index) => ({
  agent_id: '918c9dbb-caae-4312-854d-e335348dbe66',
  call_started_at: new Date(Date.now() - (index + 1) * 15 * 60_000).toISOString(),
  call_duration: 90,
}));

test('the README opens with a plan as it is printed', async () => {
  const seed = readSeed(readFileSync(join(QUICKSTART, 'simulator/seed.yaml'), 'utf8'));
  const simulator = await startSimulator({ seed: { ...seed, calls: CALLS } });
  const stack = join(temporaryFolder(), 'stack');
  cpSync(QUICKSTART, stack, { recursive: true });
  const callsheet = async (...args: readonly string[]) => {
    const ended = await runHere(args, {
      cwd: stack,
      env: {
        ...parseEnv(readFileSync(join(QUICKSTART, 'secrets.env.example'), 'utf8')),
        COLUMNS: '80',
        CALLSHEET_FINGERPRINT_KEY: FINGERPRINT_KEY,
        CI_COMMIT_SHA: COMMIT,
        CALLSHEET_BASE_URL: simulator.url,
        CALLSHEET_CLIENT_ID: simulator.clientId,
        CALLSHEET_CLIENT_SECRET: simulator.clientSecret,
      },
    });
    expect(ended.exit, ended.err).toBe(0);
    return ended.out;
  };
  try {
    await callsheet('apply', '--auto-approve');
    for (const [path, from, to] of EDITS) {
      const text = readFileSync(join(stack, path), 'utf8');
      expect(text.split(from)).toHaveLength(2);
      writeFileSync(join(stack, path), text.replace(from, to));
    }
    const stdout = await callsheet('plan');
    const [opening] = readPage(readFileSync(join(ROOT, 'README.md'), 'utf8')).fences;
    const [typed, ...shown] = (opening?.text.trimEnd() ?? '').split('\n');
    expect(typed).toBe('$ callsheet plan');
    // How long it takes is measured.
    const lines = shown.map((line) => line.replace(/^(Apply sends .* takes about ).*$/, '$1…'));
    if (!looksLike(stdout, lines)) expect(stdout).toBe(lines.join('\n'));
  } finally {
    await simulator.close();
  }
});

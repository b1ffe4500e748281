import type { ChildProcess } from 'node:child_process';
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { writeTable } from '../../bench/validate/stacks.ts';
import { knownFleet } from './known-fleet.ts';
import { openPeaks } from './peaks.ts';

const AGENTS = 3_000;
const PROMPT = 'Ask for the caller’s name, and repeat it. '.repeat(5_000);
/** What all prompts take: more than a string holds. */
const BYTES = AGENTS * Buffer.byteLength(PROMPT);
const MOST_MEGABYTES = 700;

/** The prompts are whatever the platform has: copies hold them, and the configuration does not. */
function writeWithoutPrompts(dir: string, size: number): void {
  writeTable(dir, size);
  const file = join(dir, 'agents.yaml');
  const [agent = ''] = readFileSync(file, 'utf8').split('    system_prompt:');
  writeFileSync(file, agent);
}

test('a run over 600 MB of prompts is killed near its end and gone on with', async () => {
  expect(BYTES).toBeGreaterThan(600_000_000);
  const fleet = await knownFleet(AGENTS, writeWithoutPrompts);
  onTestFinished(() => fleet.close());
  for (const agent of fleet.sim.store.agents.values())
    agent.record = { ...agent.record, system_prompt: PROMPT, language: 'de-DE' };

  const { begin, run, expectBelow } = openPeaks(fleet.dir, fleet.env);
  const dying = begin('apply', '--auto-approve', '--quiet');
  dying.stdout.resume();
  dying.stderr.resume();
  await killAt(BYTES, dying, join(fleet.dir, '.callsheet/runs'));

  const listed = JSON.parse(await run(0, 'state', 'list', '--format', 'json'));
  expect(listed.resources).toHaveLength(AGENTS);
  await run(0, 'runs');
  const left = JSON.parse(
    await run(2, 'plan', '--detailed-exitcode', '--format', 'json', '--quiet'),
  );
  expect(left.changes.length).toBeGreaterThan(0);
  expect(left.changes.length).toBeLessThan(0.1 * AGENTS);
  await run(0, 'apply', '--auto-approve', '--quiet');
  const languages = [...fleet.sim.store.agents.values()].map(({ record }) => record.language);
  expect(new Set(languages)).toEqual(new Set(['en-US']));
  expect(JSON.parse(await run(0, 'runs', '--format', 'json')).runs).toMatchObject([
    { status: 'done' },
    { status: 'settled' },
  ]);
  expectBelow(MOST_MEGABYTES, `beside ${BYTES} bytes of prompts`);
}, 1_800_000);

/** Kills a run once its journal has so many bytes. */
async function killAt(bytes: number, child: ChildProcess, runs: string): Promise<void> {
  const ended = new Promise((resolve) => child.on('close', resolve));
  while (child.exitCode === null && sizeOfJournal(runs) < bytes) await sleep(20);
  expect(child.exitCode, 'the run was over before it could be killed').toBeNull();
  child.kill('SIGKILL');
  await ended;
}

function sizeOfJournal(runs: string): number {
  try {
    const [open] = readdirSync(runs).filter((name) => name.endsWith('.open.jsonl'));
    return open === undefined ? 0 : statSync(join(runs, open)).size;
  } catch {
    return 0;
  }
}

import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { startSimulator } from '../../src/simulator/index.ts';
import { start } from '../e2e/process.ts';
import {
  fleetOf,
  knowledgeBasesOf,
  mediaOf,
  RESTORED,
  secretsFile,
  unlockAll,
  wholeFleetOf,
  wipe,
} from '../features/recovery/restoring.ts';
import { temporaryFolder } from '../temporary.ts';
import { environmentOf } from './many-agents.ts';

/** Requests between one kill and the next. */
const PACE = 300;
const HOUR = 3_600_000;

test(
  'an account of 12 organizations and 1,000 agents comes back, killed every few hundred requests',
  async () => {
    const sim = await startSimulator({ resellers: 3, organizations: 12, agents: 1000 });
    onTestFinished(() => sim.close());
    const folder = temporaryFolder();
    const env = {
      PATH: process.env.PATH,
      HOME: folder,
      ...environmentOf(sim),
      CALLSHEET_SNAPSHOT_PASSPHRASE: 'correct horse battery',
      CALLSHEET_FINGERPRINT_KEY: 'a key of this test',
      ...RESTORED,
    };
    const run = (...args: string[]) => start(args, { cwd: folder, env });
    const before = fleetOf(sim);
    const bases = knowledgeBasesOf(sim);
    const taken = await run(
      'snapshot',
      'create',
      ...['--out', 'then.snapshot', ...bases.flatMap((base) => ['--knowledge-base', base])],
    ).ended;
    expect(taken.exit, taken.err).toBe(0);
    const media = await mediaOf(sim, join(folder, 'media'));
    const secrets = await secretsFile(folder);
    wipe(sim);
    unlockAll(sim);

    const restore = () =>
      run(
        'restore',
        'then.snapshot',
        ...['--auto-approve', '--format', 'json', '--media', media, '--secrets', secrets],
      );
    let kills = 0;
    for (;;) {
      const running = restore();
      const writes = writesOf(sim.requests.length);
      const watch = setInterval(() => {
        if (writes() < PACE) return;
        clearInterval(watch);
        kills += 1;
        running.signal('SIGKILL');
      }, 2);
      const { exit, signal, out, err } = await running.ended;
      clearInterval(watch);
      if (signal === 'SIGKILL') continue;
      expect(exit, err).toBe(0);
      const { status, remaining, proof } = JSON.parse(out);
      expect([status, remaining]).toEqual(['done', []]);
      expect(proof.resources).toBeGreaterThan(1000);
      break;
    }
    process.stdout.write(`restored 1,000 agents with ${kills} kills on the way\n`);
    expect(kills).toBeGreaterThan(3);
    expect(wholeFleetOf(sim)).toEqual(before);

    function writesOf(from: number): () => number {
      return () =>
        sim.requests
          .slice(from)
          .filter(({ method, operation }) => method !== 'GET' && operation !== 'createToken')
          .length;
    }
  },
  HOUR,
);

import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'vitest';
import type { Dialect } from '../../src/simulator/index.ts';
import { openStage, type Stage } from '../apply/stage.ts';
import { SECRETS } from '../kinds/agent-sample.ts';
import { doubting } from '../refresh/stage.ts';
import { temporaryFolder } from '../temporary.ts';
import {
  CHANGED_VERSION,
  CUT_VERSION,
  EVERYTHING_SEED,
  type Version,
  WHOLE_VERSION,
} from './everything.ts';

/** Takes a stack with everything in it through a full life on a platform of that dialect. */
export async function liveOn(dialect: Partial<Dialect>): Promise<void> {
  const stack = temporaryFolder();
  const stage = await openStage({ stack, seed: EVERYTHING_SEED, dialect, secrets: SECRETS });
  try {
    await live(stage);
    expect(stage.leaks()).toEqual([]);
  } finally {
    await stage.close();
  }
}

/** `apply` checks each time that the second plan is empty. */
async function live(stage: Stage): Promise<void> {
  await write(stage, WHOLE_VERSION);
  await stage.apply();
  await agreeOnReading(stage);

  await stage.forget();
  const { changes } = await stage.plan();
  expect(changes.filter(({ action }) => action !== 'adopt')).toEqual([]);
  await stage.apply();

  await agreeOnReading(stage);
  edit(stage);
  await agreeOnReading(stage);
  const drifted = await stage.plan();
  expect(drifted.changes.map(({ address, action }) => `${action} ${address}`)).toEqual([
    'update retry_policy.sample',
    'update agent.sample',
  ]);
  await stage.apply();

  await write(stage, CHANGED_VERSION);
  await agreeOnReading(stage);
  await stage.apply({ allowDelete: true });

  await write(stage, CUT_VERSION);
  await agreeOnReading(stage);
  await stage.apply();

  await write(stage, CHANGED_VERSION);
  await stage.apply({ allowDelete: true });
  // Secrets that the run set for the first time stay, and so does more where null is refused: that is named, and exit 3.
  const isWhole = stage.sim.dialect.nulls === 'clears';
  await stage.rollback({}, { exit: 3 });
  await write(stage, CUT_VERSION);
  // It is emptied as far as it goes once more.
  if (isWhole) expect((await stage.plan()).changes).toEqual([]);
  else await stage.apply();
}

/** Longer than it takes until no two changes can have one `updated_at`. */
const A_WHILE_MS = 60_000;
/** Longer than history entries are in coming. */
const A_MOMENT_MS = 1_000;

/** The plan is the same, whether what did not change is read and compared or not: now, and when some time has passed. */
async function agreeOnReading(stage: Stage): Promise<void> {
  for (const wait of [A_MOMENT_MS, A_WHILE_MS]) {
    stage.sim.advance(wait);
    const fast = await stage.plan({ refresh: 'fast' });
    const full = () => stage.plan({ refresh: 'full' });
    for (const { changes, notes, digest } of [await full(), await doubting(stage, full)]) {
      expect({ ...fast.changes, notes: fast.notes }).toEqual({ ...changes, notes });
      expect(fast.digest).toBe(digest);
    }
  }
  // The state then knows that all of it is as it was; only a run writes that down.
  if ((await stage.plan()).changes.length === 0) await stage.apply();
}

/** Somebody edits an agent in the dashboard, and a policy. */
function edit({ sim }: Stage): void {
  for (const [id, { record }] of sim.store.agents) {
    if (record.name !== 'Sample') continue;
    sim.edit(id, { greeting_message: 'By hand.', voice_settings: { speed: 2 } });
  }
  for (const policy of sim.store.retryPolicies.values()) {
    if (policy.name === 'Sample') policy.on_exhausted_target = 'by-hand';
  }
}

async function write(stage: Stage, { stack, files }: Version): Promise<void> {
  for (const [path, content] of Object.entries(files)) {
    await writeFile(join(stage.folder, path), content);
  }
  // JSON is YAML.
  await stage.write('callsheet.yaml', JSON.stringify(stack, null, 2));
}

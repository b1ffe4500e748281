import fc from 'fast-check';
import { test } from 'vitest';
import { play } from '../worlds/play.ts';
import { playSent } from '../worlds/sent.ts';
import { worlds } from '../worlds/world.ts';
import { writeResult } from './result.ts';

/** How many worlds are played, and where they begin: another begin every time unless it is given. */
const count = Number(process.env.CALLSHEET_TORTURE_WORLDS ?? 200);
const seed = Number(process.env.CALLSHEET_TORTURE_SEED ?? Date.now() % 2 ** 31);

/** What fails is cut down to what shows it; its seed and path belong into test/worlds/seeds.json. */
test(`${count} worlds from seed ${seed}`, async () => {
  const played = { worlds: 0, steps: 0, faults: 0, seed };
  const property = fc.asyncProperty(worlds, async (world) => {
    played.faults += await play(world);
    played.worlds += 1;
    played.steps += world.steps.length;
  });
  await fc.assert(property, { seed, numRuns: count, interruptAfterTimeLimit: 600_000 });
  await writeResult('worlds', played);
}, 3_600_000);

test(`what is sent in ${count} worlds from seed ${seed} is what their plans show`, async () => {
  const property = fc.asyncProperty(worlds, async (world) => void (await playSent(world)));
  await fc.assert(property, { seed, numRuns: count, interruptAfterTimeLimit: 600_000 });
}, 3_600_000);

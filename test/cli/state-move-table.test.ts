import { expect, test } from 'vitest';
import { openStage, type Stage } from '../apply/stage.ts';
import { longRows } from '../long.ts';
import { envBetween, mortalStores, type Place, STORES, servedPlaces } from './moving-stage.ts';
import { stateCommands } from './state-stage.ts';

const place = servedPlaces();

const PAIRS = STORES.flatMap((from) => STORES.map((to) => [from, to] as const));
/** Each store is left and come to once. */
const isCovering = ([from, to]: (typeof PAIRS)[number]) =>
  (STORES.indexOf(from) + 1) % STORES.length === STORES.indexOf(to);

async function told(stage: Stage, at: Place) {
  const { list, pull } = stateCommands(stage);
  const env = envBetween(at);
  const { resources, serial } = JSON.parse((await list([], { env })).out);
  const { lineage } = JSON.parse((await pull({ env })).out);
  const said = await stage.run(
    async (to) =>
      (await import('../../src/cli/commands/state.ts')).runs(
        undefined,
        { dir: stage.folder, format: 'json' },
        to,
      ),
    { env },
  );
  return { resources, serial, lineage, runs: JSON.parse(said.out).runs };
}

/** The state of the stage, at a place of its own. */
async function startedAt(stage: Stage, from: Place): Promise<void> {
  const pushed = (await stateCommands(stage).pull()).out;
  await stage.write('pushed.json', pushed);
  await stateCommands(stage).push('pushed.json', false, { env: envBetween(from) });
}

for (const [from, to] of longRows(PAIRS, isCovering))
  test(`a migration from ${from} to ${to} that is killed anywhere ends in one place once it is run again`, async () => {
    const stage = await openStage();
    try {
      await stage.apply();
      const count = await kill(stage, from, to, undefined);
      expect(count).toBeGreaterThan(6);
      for (let at = 0; at < count; at += 1) await kill(stage, from, to, at);
    } finally {
      await stage.close();
    }
  });

/** Kills a migration at a moment, runs it again, and looks at both ends. Returns the number of moments. */
async function kill(
  stage: Stage,
  from: (typeof STORES)[number],
  to: (typeof STORES)[number],
  at: number | undefined,
): Promise<number> {
  const [source, target] = [place(from), place(to)];
  await startedAt(stage, source);
  const before = await told(stage, source);
  const { timed, moments, isDead } = mortalStores(at);
  const { migrate, list } = stateCommands(stage, 'text');
  const env = envBetween(source, target);
  const run = (context: Parameters<Parameters<Stage['run']>[0]>[0]) =>
    import('../../src/cli/commands/state.ts').then(({ migrate }) =>
      migrate({ dir: stage.folder, format: 'text', to: target.to }, context),
    );
  await stage.run(run, { env, exit: 'any', outside: { timed } });
  expect(isDead()).toBe(at !== undefined);
  const where = moments[at ?? 0];
  // One of both is used as long as nobody runs it again.
  const { out } = await migrate(target.to, { env });
  expect(out, where).toContain(`${before.resources.length} resources`);
  expect(await told(stage, target), where).toEqual(before);
  const { err } = await list([], { env: envBetween(source), exit: 1 });
  expect(err, where).toContain('was moved to');
  const refused = await stage.run(
    async (context) =>
      (await import('../../src/console/plan.ts')).plan(
        { dir: stage.folder, format: 'text' },
        context,
      ),
    { env: envBetween(source), exit: 1 },
  );
  expect(refused.err.replaceAll(/\s+/g, ' '), where).toContain('was moved to');
  return moments.length;
}

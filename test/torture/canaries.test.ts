import { expect, onTestFinished, test } from 'vitest';
import { knownCommands } from '../canaries/commands.ts';
import { runDebugged, SWITCHES } from '../canaries/debugging.ts';
import { CREDENTIALS, openScene, type Scene } from '../canaries/scene.ts';
import {
  CREDENTIAL_MISTAKES,
  ECHOES,
  MISTAKES,
  runAgainst,
  runEverything,
  runMistaken,
  settle,
} from '../canaries/trials.ts';
import { writeResult } from './result.ts';

/** Commands that were searched, and the places whose secrets they were searched for. */
const count = { commands: 0, positions: 0, leaks: 0 };

async function watched(body: (scene: Scene) => Promise<void>): Promise<void> {
  const scene = await openScene();
  onTestFinished(scene.close);
  await body(scene);
  count.commands += scene.commands();
  count.positions = scene.positions.length + CREDENTIALS.length;
  count.leaks += scene.leaks.length;
  expect(scene.leaks.slice(0, 9)).toEqual([]);
}

test('every command in every way and format', () =>
  watched(async (scene) => {
    await settle(scene);
    const exits = await runEverything(scene, knownCommands());
    // Whatever a command does, it has done it at least once.
    // A rollout that wrote secrets cannot put back what the platform does not return (3).
    const isDone = (name: string, code: number) =>
      [0, 2, ...(name === 'rollout abort' ? [3] : [])].includes(code);
    const failed = [...exits].filter(([name, codes]) => !codes.some((code) => isDone(name, code)));
    expect(failed).toEqual([]);
  }));

test.each(ECHOES)('a platform that answers $to with $status and repeats ($shape)', (echo) =>
  watched(async (scene) => {
    // First what creates everything, then what updates.
    await runAgainst(scene, echo);
    await settle(scene);
    await runAgainst(scene, echo);
    if (echo.shape !== 'good') expect(scene.platform.repeated()).toBeGreaterThan(0);
  }),
);

test.each(MISTAKES)('a configuration with $name where a secret belongs', (mistake) =>
  watched((scene) => runMistaken(scene, mistake)),
);

test('credentials that are not as they should be', () =>
  watched(async (scene) => {
    for (const env of CREDENTIAL_MISTAKES)
      for (const line of [['plan'], ['apply', '--auto-approve'], ['get', 'agents'], ['session']])
        await scene.run([...line, '--verbose'], env);
  }));

test.each(SWITCHES)('Node and its libraries told to talk: %o', (switches) =>
  watched(async (scene) => {
    expect((await runDebugged(scene, switches)).slice(0, 9)).toEqual([]);
    // What it wrote to files is searched after this one.
    await scene.run(['runs']);
  }),
);

test('how much was searched', async () => {
  const figures = { ...count, checks: count.positions * count.commands };
  process.stdout.write(`canaries: ${JSON.stringify(figures)}\n`);
  await writeResult('canaries', figures);
});

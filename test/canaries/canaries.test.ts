import { expect, onTestFinished, test } from 'vitest';
import { APART, knownCommands, waysOf } from './commands.ts';
import { runDebugged, SWITCHES } from './debugging.ts';
import { leaksIn } from './leaks.ts';
import { openScene, type Scene } from './scene.ts';
import {
  CREDENTIAL_MISTAKES,
  ECHOES,
  MISTAKES,
  runAgainst,
  runEverything,
  runMistaken,
  settle,
} from './trials.ts';

/**
 * A canary in every position that may hold a secret, and every byte that a command writes searched for it.
 * `npm run torture` goes through what is left out here.
 */
async function scene(): Promise<Scene> {
  const opened = await openScene();
  onTestFinished(opened.close);
  return opened;
}

/** The refusals that are tried here: one of everybody. */
const TRIED = ECHOES.filter(({ to, status, shape }) =>
  ['token 401 members', 'reads 500 headers', 'writes 400 issues', 'writes 403 coded'].includes(
    `${to} ${status} ${shape}`,
  ),
);

test('a secret is found in whatever way it is written down', () => {
  const secret = 'canary-07-"\\/+&=% tail';
  const token = '0a1b2c3d-token/with+more';
  const written = [
    (text: string) => text,
    encodeURIComponent,
    JSON.stringify,
    (text: string) => JSON.stringify(JSON.stringify(text)),
    (text: string) => Buffer.from(text).toString('hex'),
    ...[0, 1, 2].map(
      (before) => (text: string) => Buffer.from(`${'x'.repeat(before)}${text}y`).toString('base64'),
    ),
  ];
  for (const write of written) {
    expect(leaksIn(`before ${write(secret)} after`, [])).not.toEqual([]);
    expect(leaksIn(`before ${write(token)} after`, [token])).not.toEqual([]);
  }
  expect(leaksIn('nothing of a canary here', [token])).toEqual([]);
});

/** A hundred commands, half a minute on a machine that is busy. */
const TIMEOUT = 180_000;

test('no command shows a secret, in any format', { timeout: TIMEOUT }, async () => {
  const stage = await scene();
  const known = knownCommands();
  const tried = new Set([...Object.keys(waysOf(stage)), ...APART]);
  expect(known.map(({ name }) => name).filter((name) => !tried.has(name))).toEqual([]);

  await settle(stage);
  // Each command in one of its formats; `npm run torture` goes through all.
  const once = known.map((one, index) => {
    const format = one.formats[index % one.formats.length] ?? '';
    return { ...one, formats: [format] };
  });
  const exits = await runEverything(stage, once);
  expect(exits.size).toBe(known.length - APART.length);
  expect(stage.collected()).toBeGreaterThan(0);
  expect(stage.leaks.slice(0, 9)).toEqual([]);

  await stage.run(['apply', '--auto-approve', '--resend-secrets', '--release-hold']);
  const stored = JSON.stringify([...stage.sim.store.agents.values()]);
  const missing = stage.values().filter((value) => !stored.includes(JSON.stringify(value)));
  expect(missing, 'positions whose secret never got to the platform').toEqual([]);
});

test('no refusal that repeats what it was sent gets it printed', async () => {
  const stage = await scene();
  await settle(stage);
  for (const echo of TRIED) await runAgainst(stage, echo);
  expect(stage.platform.repeated()).toBeGreaterThan(TRIED.length);
  expect(stage.leaks.slice(0, 9)).toEqual([]);
});

test('no mistake in the configuration or the credentials gets a secret printed', async () => {
  const stage = await scene();
  for (const mistake of MISTAKES.filter((_, index) => index % 4 === 0))
    await runMistaken(stage, mistake);
  for (const env of CREDENTIAL_MISTAKES) await stage.run(['plan', '--verbose'], env);
  expect(stage.leaks.slice(0, 9)).toEqual([]);
});

test('no debug switch of Node gets a secret printed', async () => {
  const stage = await scene();
  const [everything = {}] = SWITCHES;
  expect((await runDebugged(stage, everything)).slice(0, 9)).toEqual([]);
});

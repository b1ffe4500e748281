import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isList, isObject, type Json } from '../../src/core/value.ts';
import { type Known, linesOf } from './commands.ts';
import type { Echo } from './echo.ts';
import { UNKNOWN_KEY } from './positions.ts';
import type { Scene } from './scene.ts';

/** Brings a scene to where everything is applied, and every secret has a new value that is not yet. */
export async function settle(scene: Scene): Promise<void> {
  const { exit, err } = await scene.run(['apply', '--auto-approve']);
  if (exit !== 0) throw new Error(`the stack cannot be applied:\n${err}`);
  const { out } = await scene.run(['state', 'pull']);
  await writeFile(join(scene.folder, 'pulled.json'), out);
  scene.rotate();
}

/** Every command, in every way and format. Returns how each ended. */
export async function runEverything(
  scene: Scene,
  known: readonly Known[],
): Promise<ReadonlyMap<string, readonly number[]>> {
  const exits = new Map<string, number[]>();
  for (const line of linesOf(scene, known)) {
    const found = known.filter((one) => line.join(' ').startsWith(`${one.name} `));
    // `get models` rather than `get`.
    const name = found.toSorted((a, b) => b.name.length - a.name.length)[0]?.name ?? '';
    const { exit } = await scene.run(line);
    exits.set(name, [...(exits.get(name) ?? []), exit]);
  }
  return exits;
}

/** What a platform may answer that repeats what it was sent. */
export const ECHOES: readonly Echo[] = [
  ...(['token', 'reads', 'writes'] as const).flatMap((to): Echo[] => [
    { to, status: 400, shape: 'issues' },
    { to, status: 401, shape: 'members' },
    { to, status: 403, shape: 'coded' },
    { to, status: 404, shape: 'coded' },
    { to, status: 409, shape: 'members' },
    { to, status: 422, shape: 'details' },
    { to, status: 429, shape: 'coded' },
    { to, status: 500, shape: 'text' },
    { to, status: 502, shape: 'page' },
    { to, status: 503, shape: 'coded' },
    { to, status: 302, shape: 'headers' },
    { to, status: 500, shape: 'headers' },
    { to, status: 200, shape: 'good' },
    { to, status: 200, shape: 'page' },
  ]),
  { to: 'writes', status: 400, shape: 'cut' },
];

/** The commands that send something in confidence, with all that makes them say more. */
export async function runAgainst(scene: Scene, echo: Echo): Promise<void> {
  const more = ['--verbose', '--trace-http', join(scene.folder, 'trace.jsonl')];
  const events = ['--events', join(scene.folder, 'events.jsonl')];
  scene.rotate();
  scene.platform.set(echo);
  try {
    await scene.run(['plan', '--format', 'json', ...more]);
    await scene.run(['apply', '--auto-approve', ...events, ...more]);
    await scene.run(['apply', '--auto-approve', '--format', 'json', ...more]);
    await scene.run(['rollback', '--auto-approve', '--undo-edited', ...more]);
    await scene.run(['drift', ...more]);
    await scene.run(['get', 'agent', 'agent.sample', '--format', 'json', ...more]);
    await scene.run(['runs', ...more]);
  } finally {
    scene.platform.set(undefined);
  }
}

/** A stack that is wrong where a secret stands, and what is wrong with it. */
export type Mistake = { readonly name: string; readonly make: (secret: string) => Json };

export const MISTAKES: readonly Mistake[] = [
  { name: 'the secret itself', make: (secret) => secret },
  { name: 'the secret where its source belongs', make: (secret) => ({ $secret: secret }) },
  { name: 'a source that there is not', make: (secret) => ({ $secret: `vault:${secret}` }) },
  { name: 'a list', make: (secret) => [secret] },
  { name: 'an object', make: (secret) => ({ value: secret }) },
  { name: 'a list for a source', make: (secret) => ({ $secret: [secret] }) },
  { name: 'an unknown form', make: (secret) => ({ $secrets: secret }) },
  { name: 'two forms', make: (secret) => ({ $secret: 'env:WATCHED_01', $ref: secret }) },
];

/** Runs commands on a stack that has the mistake in every position at once. */
export async function runMistaken(scene: Scene, { make }: Mistake): Promise<void> {
  const values = [...scene.values()];
  const replace = (value: Json): Json => {
    if (isList(value)) return value.map(replace);
    if (!isObject(value)) return value;
    const { $secret } = value;
    if (typeof $secret !== 'string') {
      return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, replace(one)]));
    }
    const at = Number($secret.slice(-2)) - 1;
    // What no schema knows is a secret only where it is given as one.
    const isKnown = !scene.positions[at]?.path.endsWith(UNKNOWN_KEY);
    return isKnown ? make(values[at] ?? '') : value;
  };
  const wrong = replace(scene.stack);
  // A second mistake, which is not about secrets, at the end: the text cannot even be read.
  const broken = (yaml: string) => `${yaml.trimEnd().slice(0, -1)}, "agents": [`;
  try {
    for (const change of [(yaml: string) => yaml, broken]) {
      await scene.write(wrong, change);
      scene.ignore('callsheet.yaml');
      await scene.run(['validate', '--verbose']);
      for (const format of ['json', 'sarif', 'junit', 'github']) {
        await scene.run(['validate', '--format', format]);
      }
      await scene.run(['plan', '--verbose']);
      await scene.run(['apply', '--auto-approve']);
    }
  } finally {
    await scene.write(scene.stack);
  }
}

/** Credentials that are not as they should be; every value of them is watched. */
export const CREDENTIAL_MISTAKES: readonly Readonly<Record<string, string>>[] = [
  { CALLSHEET_CLIENT_SECRET: 'canary-wrong-client-secret' },
  { CALLSHEET_CLIENT_SECRET: 'canary-line\nbreak-canary' },
  { CALLSHEET_ACCESS_TOKEN: 'canary-wrong-token' },
  { CALLSHEET_ACCESS_TOKEN: 'canary token with spaces' },
  { CALLSHEET_ACCESS_TOKEN: 'Bearer canary-token' },
  { CALLSHEET_PBX_API_KEY: 'Bearer canary-pbx' },
  { CALLSHEET_FINGERPRINT_KEY: 'canary-another-fingerprint-key' },
  { CALLSHEET_BASE_URL: 'http://user:canary-password@127.0.0.1:1' },
  { CALLSHEET_BASE_URL: 'https://platform.example.test/?key=canary-in-query' },
];

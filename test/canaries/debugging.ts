import { join } from 'node:path';
import { start } from '../e2e/process.ts';
import { longRows } from '../long.ts';
import { leaksIn } from './leaks.ts';
import type { Scene } from './scene.ts';

/** What makes Node and its libraries talk; each in a process of its own, as they are read when it starts. */
export const SWITCHES: readonly Readonly<Record<string, string>>[] = [
  { NODE_DEBUG: '*' },
  { NODE_DEBUG: 'http,https,net,tls,stream,undici,fetch,timer,fs' },
  { DEBUG: '*' },
  { NODE_OPTIONS: '--trace-warnings --stack-trace-limit=100' },
];

/** An apply sends and reads whatever the others do; `npm run torture` runs them all. */
const LINES = [['apply', '--auto-approve'], ['plan'], ['get', 'agent', 'agent.sample']];

/** Runs the built bin with the switches on; gives what leaked into its output. */
export async function runDebugged(
  scene: Scene,
  switches: Readonly<Record<string, string>>,
): Promise<readonly string[]> {
  const found: string[] = [];
  const env = { ...scene.env(), ...switches, PATH: process.env.PATH, HOME: scene.folder };
  for (const line of longRows(LINES, (_, at) => at === 0)) {
    const trace = ['--trace-http', join(scene.folder, 'trace.jsonl')];
    const running = start([...line, '--verbose', ...trace], { cwd: scene.folder, env });
    const { out, err } = await running.ended;
    found.push(...leaksIn(out + err, scene.unmarked()).map((leak) => `${line.join(' ')}: ${leak}`));
  }
  return found;
}

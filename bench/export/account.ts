import { spawn } from 'node:child_process';
import { readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { startSimulator } from '../../src/simulator/index.ts';
import type { Scale, Surroundings } from '../benchmark.ts';

const MAIN = join(import.meta.dirname, '../../dist/main.js');
const ORGANIZATIONS = 12;

/**
 * Serves an account, exports it once, and writes down for the bare loop what that asked for and how large the
 * files were.
 */
export async function serveAccount(dir: string, { size }: Scale): Promise<Surroundings> {
  const sim = await startSimulator({ organizations: ORGANIZATIONS, agents: size });
  const env = {
    CALLSHEET_BASE_URL: sim.url,
    CALLSHEET_CLIENT_ID: sim.clientId,
    CALLSHEET_CLIENT_SECRET: sim.clientSecret,
  };
  const child = spawn(process.execPath, [MAIN, 'export', '--out', 'model'], {
    cwd: dir,
    env: { PATH: process.env.PATH, ...env },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const problems = text(child.stderr);
  const code = await new Promise((resolve, reject) =>
    child.once('error', reject).once('close', resolve),
  );
  if (code !== 0) throw new Error(`the model was not exported:\n${await problems}`);
  const model = join(dir, 'model');
  const files = readdirSync(model, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .map((path) => ({ path: path.slice(model.length + 1), size: statSync(path).size }));
  const requests = sim.requests.filter(({ method }) => method === 'GET').map(({ path }) => path);
  writeFileSync(join(dir, 'loop.json'), JSON.stringify({ requests, files }));
  rmSync(model, { recursive: true });
  return { env, close: () => sim.close() };
}

import { spawn } from 'node:child_process';

export type Ended = { readonly exit: number; readonly log: string };

type How = { readonly cwd: string; readonly env: Readonly<Record<string, string | undefined>> };

/** Runs what a runner would. It is waited for without blocking: the fakes answer from this process. */
export function spawnStep([command = '', ...args]: readonly string[], how: How): Promise<Ended> {
  const child = spawn(command, args, { ...how, stdio: ['ignore', 'pipe', 'pipe'] });
  let log = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text) => {
      log += text;
    });
  }
  return new Promise((done, failed) => {
    child.on('error', failed).on('close', (code) => done({ exit: code ?? 1, log }));
  });
}

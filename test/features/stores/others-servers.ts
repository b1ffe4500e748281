import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync } from 'node:fs';
import { access, constants } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort } from '../../free-port.ts';
import { temporaryFolder } from '../../temporary.ts';

/** A server that others wrote. It runs until it is stopped. */
export type OthersServer = {
  /** Its name, as people know it. */
  readonly name: string;
  readonly port: number;
  /** Whether it refuses credentials that are not its own. */
  readonly isStrict: boolean;
  readonly stop: () => Promise<void>;
};

type Program = {
  readonly name: string;
  readonly bin: string;
  readonly isStrict: boolean;
  readonly args: (port: number, folder: string) => readonly string[];
  readonly env: (port: number, folder: string) => Readonly<Record<string, string>>;
};

export const S3_KEY_ID = 'AKIACANARYEXAMPLE';
export const S3_SECRET = 'canary/s3+secret+key';

/** Servers of the S3 API, the strictest first: `go install github.com/minio/minio@…`, `pip install moto[server]`. */
export const S3_SERVERS: readonly Program[] = [
  {
    name: 'MinIO',
    bin: 'minio',
    isStrict: true,
    args: (port, folder) => ['server', '--quiet', '--address', `127.0.0.1:${port}`, folder],
    env: (_, folder) => ({
      HOME: folder,
      MINIO_ROOT_USER: S3_KEY_ID,
      MINIO_ROOT_PASSWORD: S3_SECRET,
    }),
  },
  {
    name: 'moto',
    bin: 'moto_server',
    isStrict: false,
    args: (port) => ['-H', '127.0.0.1', '-p', `${port}`],
    env: () => ({}),
  },
];

/** Servers of Terraform's `http` backend: `go build ./cmd/...` of nimbolus/terraform-backend. */
export const HTTP_SERVERS: readonly Program[] = [
  {
    name: 'terraform-backend',
    bin: 'terraform-backend',
    // Whatever the password is, it opens a state of its own.
    isStrict: false,
    args: () => [],
    env: (port, folder) => ({
      LISTEN_ADDR: `127.0.0.1:${port}`,
      METRICS_LISTEN_ADDR: `127.0.0.1:${port}`,
      STORAGE_FS_DIR: folder,
      KMS_KEY: Buffer.alloc(32, 7).toString('base64'),
    }),
  },
];

/** Starts the first of them that is in PATH; undefined where none is. Throws where it ends at once. */
export async function startOthers(programs: readonly Program[]): Promise<OthersServer | undefined> {
  for (const { name, bin, isStrict, args, env } of programs) {
    const file = await inPath(bin);
    if (file === undefined) continue;
    const port = await freePort();
    const folder = join(temporaryFolder(), 'data');
    mkdirSync(folder);
    const child = spawn(file, args(port, folder), {
      cwd: folder,
      env: { PATH: process.env.PATH, ...env(port, folder) },
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    let said = '';
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      said += text;
    });
    const ended = once(child, 'close');
    while (!(await answers(port))) {
      if (child.exitCode !== null) throw new Error(`${name} ended with ${child.exitCode}: ${said}`);
      await sleep(50);
    }
    return {
      name,
      port,
      isStrict,
      async stop() {
        child.kill('SIGKILL');
        await ended;
      },
    };
  }
  return undefined;
}

async function answers(port: number): Promise<boolean> {
  try {
    await fetch(`http://127.0.0.1:${port}/`);
    return true;
  } catch {
    return false;
  }
}

async function inPath(bin: string): Promise<string | undefined> {
  for (const folder of (process.env.PATH ?? '').split(delimiter)) {
    const file = join(folder, bin);
    const isThere = await access(file, constants.X_OK).then(
      () => true,
      () => false,
    );
    if (isThere) return file;
  }
  return undefined;
}

import { chmodSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inject } from 'vitest';
import './e2e/build.ts';

/** How folders begin that go by themselves. */
const OWN = 'test-';

/** A new empty folder, absolute. It is removed after the file of tests, with whatever lies in it. */
export function temporaryFolder(): string {
  return mkdtempSync(join(tmpdir(), OWN));
}

/**
 * Gives this process a folder for temporary files and a home of the run's own: runs beside each other do not meet,
 * and nobody's settings of Git decide.
 */
export function isolateEnvironment(): void {
  const run = inject('temporary');
  const folder = join(run, process.env.VITEST_POOL_ID ?? '0');
  mkdirSync(folder, { recursive: true });
  // Tests of the superuser let others in.
  chmodSync(folder, 0o755);
  for (const name of Object.keys(process.env)) if (isPersonal(name)) delete process.env[name];
  process.env.TMPDIR = folder;
  process.env.HOME = join(run, 'home');
  process.env.GIT_CONFIG_NOSYSTEM = '1';
  // Programs of the project that a test starts are compiled once.
  process.env.NODE_COMPILE_CACHE = inject('compiled');
}

/**
 * Where programs are told to look for a person's settings, and whom and through whom a machine connects: its authorities
 * are hundreds of files, which each command of a test would read anew.
 */
function isPersonal(name: string): boolean {
  return /^(XDG|GIT|AWS|SSL_CERT)_|^(HTTPS?|ALL|NO)_PROXY$|^NODE_EXTRA_CA_CERTS$/i.test(name);
}

/** Removes the temporary folders of a file of tests. Throws where that file left anything else behind. */
export function checkLeftovers(): void {
  const left = readdirSync(tmpdir());
  for (const name of left) removeFolder(join(tmpdir(), name));
  const foreign = left.filter((name) => !name.startsWith(OWN));
  if (foreign.length > 0) {
    throw new Error(
      `These tests, or what they started, left temporary files behind: ${foreign.join(', ')}. ` +
        'Remove them where they are made, or make them in temporaryFolder().',
    );
  }
}

/** Removes a file or a folder, even one in which some folders cannot be read or written. */
export function removeFolder(path: string): void {
  // A process that was killed may still be writing there.
  const remove = () => rmSync(path, { recursive: true, force: true, maxRetries: 5 });
  try {
    remove();
  } catch {
    unlock(path);
    remove();
  }
}

function unlock(folder: string): void {
  chmodSync(folder, 0o700);
  for (const entry of readdirSync(folder, { withFileTypes: true }))
    if (entry.isDirectory()) unlock(join(folder, entry.name));
}

import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const ROOT = join(import.meta.dirname, '../..');
const FEATURES = readdirSync(join(ROOT, 'src/features'), { withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .map(({ name }) => name);

test.each(FEATURES)(
  'without %s the rest type-checks, and the tests of the core pass',
  (name) => {
    const { status, stdout } = spawnSync(process.execPath, ['scripts/features.ts', name], {
      cwd: ROOT,
      encoding: 'utf8',
    });
    process.stdout.write(stdout.split('\n').findLast((line) => line !== '') ?? '');
    expect(status, stdout).toBe(0);
  },
  3_600_000,
);

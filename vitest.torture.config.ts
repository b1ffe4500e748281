import { globSync, readFileSync } from 'node:fs';
import { defineConfig } from 'vitest/config';

// Longer runs of what `npm test` proves in short: random worlds, kill points, storms.
/** Tests that `npm test` leaves out stand beside shorter ones; what it draws from one seed is drawn anew here. */
const withLongOnes = globSync('test/**/*.test.ts').filter((file) =>
  /\b(?:long|covering)[A-Z]\w*\(|\bisLong\b|\bisTorture\b|\bstaged\w*\(|\bfc\.assert\(/.test(
    readFileSync(file, 'utf8'),
  ),
);

export default defineConfig({
  test: {
    include: [
      'test/torture/**/*.test.ts',
      'test/{state,features}/stores/*.test.ts',
      ...withLongOnes,
    ],
    // The stores are broken at every step, not at each few; elsewhere the long tests alone are run.
    env: { CALLSHEET_EVERY_STEP: '1', CALLSHEET_TORTURE: '1' },
    isolate: false,
    fileParallelism: false,
    // They import JSON in a way that only bundlers read.
    server: { deps: { inline: [/@actions\//] } },
    setupFiles: ['test/setup.ts'],
    globalSetup: ['test/e2e/build.ts'],
    testTimeout: 600_000,
    hookTimeout: 60_000,
    // A busy machine takes longer than the second that is waited by itself.
    expect: { poll: { timeout: 50_000 } },
  },
});

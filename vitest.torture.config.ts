import { defineConfig } from 'vitest/config';

// Longer runs of what `npm test` proves in short: random worlds, kill points, storms.
export default defineConfig({
  test: {
    include: ['test/torture/**/*.test.ts', 'test/stores/*.test.ts'],
    // The stores are broken at every step, not at each few.
    env: { CALLSHEET_EVERY_STEP: '1' },
    isolate: false,
    fileParallelism: false,
    // They import JSON in a way that only bundlers read.
    server: { deps: { inline: [/@actions\//] } },
    setupFiles: ['test/undici.ts'],
    globalSetup: ['test/e2e/build.ts'],
    testTimeout: 600_000,
    hookTimeout: 60_000,
  },
});

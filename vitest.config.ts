import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    // Longer runs have a command of their own: npm run torture.
    exclude: ['test/torture/**'],
    isolate: false,
    // Much of the suite waits, for processes that it started and for what is to take a while: of two workers one
    // core would have nothing to do for a fifth of the time.
    maxWorkers: 3,
    // They import JSON in a way that only bundlers read.
    server: { deps: { inline: [/@actions\//] } },
    setupFiles: ['test/setup.ts'],
    globalSetup: ['test/e2e/build.ts'],
    testTimeout: 60_000,
    hookTimeout: 60_000,
    // A busy machine takes longer than the second that is waited by itself.
    expect: { poll: { timeout: 50_000 } },
  },
});

import { defineConfig } from 'vitest/config';

// What is run for every mutant of rollback and of the settlement of dead runs: the tests that call them
// directly, and the shortest of those that settle runs by whole commands.
export default defineConfig({
  test: {
    include: ['test/rollback/**/*.test.ts', 'test/apply/settle*.test.ts'],
    isolate: false,
    setupFiles: ['test/setup.ts'],
    globalSetup: ['test/e2e/build.ts'],
    testTimeout: 30_000,
  },
});

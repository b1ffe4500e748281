import { defineConfig } from 'vitest/config';

// What is run for every mutant of rollback and of the settlement of dead runs: the tests that call them
// directly. Whole commands notice hardly any mutant that these do not, and take a hundred times as long.
export default defineConfig({
  test: {
    include: ['test/rollback/**/*.test.ts', 'test/apply/recover-run.test.ts'],
    isolate: false,
    testTimeout: 30_000,
  },
});

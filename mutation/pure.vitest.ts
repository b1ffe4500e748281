import { defineConfig } from 'vitest/config';

// What is run for every mutant of the comparison and the planner: the tests that are about them, which are
// pure and quick.
export default defineConfig({
  test: {
    include: [
      'test/core/walk.test.ts',
      'test/diff/**/*.test.ts',
      'test/plan/**/*.test.ts',
      'test/rollback/**/*.test.ts',
      'test/golden/golden.test.ts',
    ],
    // Random search takes its time for every mutant; whatever it finds has a test of its own as well.
    exclude: ['test/diff/convergence.test.ts'],
    isolate: false,
    testTimeout: 30_000,
  },
});

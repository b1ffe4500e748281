import { defineConfig } from 'vitest/config';

// What is run for every mutant of rollback and of the settlement of dead runs. What they come to shows in
// what they do to a platform, so most of these tests run whole commands.
export default defineConfig({
  test: {
    include: [
      'test/rollback/**/*.test.ts',
      'test/cli/rollback*.test.ts',
      'test/apply/{settle,interleaved}.test.ts',
      'test/kill/kill.test.ts',
    ],
    isolate: false,
    setupFiles: ['test/setup.ts'],
    globalSetup: ['test/e2e/build.ts'],
    testTimeout: 30_000,
  },
});

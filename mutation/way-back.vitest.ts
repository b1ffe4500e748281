import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** The quick tests first: most mutants end there. */
class QuickFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    return files.toSorted((one, other) => rank(one) - rank(other));
  }
}

const ORDER = ['test/rollback/', 'settle-run.test.ts', 'rollback.test.ts', 'settle.test.ts'];

function rank({ moduleId }: TestSpecification): number {
  const at = ORDER.findIndex((part) => moduleId.includes(part));
  return at < 0 ? ORDER.length : at;
}

// What is run for every mutant of rollback and of the settlement of dead runs. What they come to shows in
// what they do to a platform, so most of these tests run whole commands.
export default defineConfig({
  test: {
    include: [
      'test/rollback/**/*.test.ts',
      'test/cli/rollback*.test.ts',
      'test/apply/{settle,settle-run,interleaved}.test.ts',
      'test/kill/kill.test.ts',
    ],
    isolate: false,
    sequence: { sequencer: QuickFirst },
    setupFiles: ['test/setup.ts'],
    globalSetup: ['test/e2e/build.ts'],
    testTimeout: 30_000,
  },
});

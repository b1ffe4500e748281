/** What one run of the mutation tests changes, and whose tests have to notice it. */
export const mutation = (name, mutate) => ({
  testRunner: 'vitest',
  vitest: { configFile: `mutation/${name}.vitest.ts`, related: false },
  mutate,
  ignorePatterns: ['/dist', '/docs', '/examples', '/bench', '/reports'],
  ignoreStatic: true,
  coverageAnalysis: 'perTest',
  concurrency: 2,
  // What each test runs of each file is held in memory: 5 GB, where Node takes 4 unless told otherwise.
  testRunnerNodeArgs: ['--max-old-space-size=8192'],
  disableTypeChecks: false,
  incremental: true,
  incrementalFile: `reports/mutation/${name}.incremental.json`,
  reporters: ['progress-append-only', 'clear-text', 'json'],
  jsonReporter: { fileName: `reports/mutation/${name}.json` },
  clearTextReporter: { reportTests: false, reportMutants: false, logTests: false },
  thresholds: { high: 95, low: 85, break: 85 },
  // Its own rewriting of tsconfig.json needs an API that TypeScript 7 no longer has.
  tsconfigFile: 'no-tsconfig-to-rewrite.json',
  tempDirName: `reports/mutation/${name}.sandbox`,
});

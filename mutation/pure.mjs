const REPORTS = 'reports/mutation/pure';

export default {
  testRunner: 'vitest',
  vitest: { configFile: 'mutation/pure.vitest.ts', related: false },
  mutate: ['src/diff/**/*.ts', 'src/plan/**/*.ts'],
  ignorePatterns: ['/dist', '/docs', '/examples', '/bench', '/reports'],
  ignoreStatic: true,
  coverageAnalysis: 'perTest',
  concurrency: 2,
  disableTypeChecks: false,
  incremental: true,
  incrementalFile: `${REPORTS}.incremental.json`,
  reporters: ['progress-append-only', 'clear-text', 'json'],
  jsonReporter: { fileName: `${REPORTS}.json` },
  clearTextReporter: { reportTests: false, reportMutants: false, logTests: false },
  thresholds: { high: 95, low: 85, break: 85 },
  // Its own rewriting of tsconfig.json needs an API that TypeScript 7 no longer has.
  tsconfigFile: 'no-tsconfig-to-rewrite.json',
  tempDirName: `${REPORTS}.sandbox`,
};

/**
 * Settings of a mutation run, whose report is `reports/mutation/<name>.json`.
 * @param {string} name
 * @param {readonly string[]} mutate
 * @returns {Partial<import('@stryker-mutator/api/core').StrykerOptions>}
 */
export function settings(name, mutate) {
  return {
    testRunner: 'vitest',
    vitest: { configFile: `mutation/${name}.vitest.ts`, related: false },
    mutate: [...mutate],
    ignorePatterns: ['/dist', '/docs', '/examples', '/bench', '/reports'],
    ignoreStatic: true,
    coverageAnalysis: 'perTest',
    concurrency: 2,
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
  };
}

/** What asks the platform before a plan: its tests need one, and so take longer. */
export const PREFLIGHT = ['demands', 'judge', 'preflight', 'refusals'].map(
  (name) => `src/plan/${name}.ts`,
);

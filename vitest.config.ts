import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Files of ten seconds or more. A fresh clone does not know so: begun last, one of them runs while a core waits. */
const LONG =
  /test\/(?:features\/)?(?:apply\/facets|canaries\/canaries|cli\/(?:kept|narrow|rehearse|secret-changes|state-bounds)|kill\/kill|model\/model|page\/(?:browser|screens)|recovery\/killed|rollback\/state-after|rollout\/(?:kill|rollout)|state\/tamper\/(?:commands|tamper)|stores\/(?:errored|lies)|team\/team|writing\/pull\/choices)\.test\.ts$/;

class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    return sorted.toSorted((a, b) => Number(LONG.test(b.moduleId)) - Number(LONG.test(a.moduleId)));
  }
}

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    // Longer runs have a command of their own: npm run torture.
    exclude: ['test/torture/**'],
    isolate: false,
    // Much of the suite waits, for processes that it started and for what is to take a while: of two workers one
    // core would have nothing to do for a fifth of the time.
    maxWorkers: 3,
    sequence: { sequencer: LongestFirst },
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

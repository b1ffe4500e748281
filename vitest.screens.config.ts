import { defineConfig } from 'vitest/config';

// Captures of what people see, for a person to look at: npm run screens.
export default defineConfig({
  test: {
    include: ['test/screens/*.ts'],
    server: { deps: { inline: [/@actions\//] } },
    setupFiles: ['test/setup.ts'],
    globalSetup: ['test/e2e/build.ts'],
    testTimeout: 600_000,
    hookTimeout: 60_000,
  },
});

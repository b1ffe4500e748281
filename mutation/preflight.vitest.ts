import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/preflight/{locks,resources}.test.ts'],
    isolate: false,
    setupFiles: ['test/undici.ts'],
    testTimeout: 30_000,
  },
});

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import type { EventLine } from '../../src/console/progress.ts';
import { staged } from './stage.ts';

/** The most changes that were begun and not ended, as the events of a run tell. */
function mostUnderWay(file: string): number {
  const lines = readFileSync(file, 'utf8').trimEnd().split('\n');
  let [underWay, most] = [0, 0];
  for (const { type } of lines.map((line): EventLine => JSON.parse(line))) {
    if (type === 'change_started') underWay += 1;
    if (type === 'change_ended') underWay -= 1;
    most = Math.max(most, underWay);
  }
  return most;
}

describe('changes under way at once', () => {
  const rows = [
    { concurrency: 1, most: 1 },
    { concurrency: 2, most: 4 },
  ];
  for (const { concurrency, most } of rows)
    staged(`${most} with --concurrency ${concurrency}`, async (stage) => {
      const events = join(stage.folder, 'events.ndjson');
      await stage.apply({ concurrency, events });
      expect(mostUnderWay(events)).toBe(most);
    });
});

import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'vitest';
import { openTable } from '../../src/cli/command-table.ts';
import { EXIT } from '../../src/core/errors.ts';
import { features } from '../../src/features/index.ts';
import { longApplied } from '../e2e/harness.ts';

const { commands: COMMANDS } = openTable(features);

/** They end when they are interrupted. */
const ENDLESS = ['simulate', 'ui', 'watch', 'queue work'];

longApplied('no command minds that nobody reads what it prints', async (world) => {
  await writeFile(join(world.folder, 'secrets.yaml'), '{}\n');
  for (const { name, examples } of COMMANDS) {
    if (ENDLESS.includes(name)) continue;
    for (const example of examples) {
      const line = example.replace(/^.*?callsheet /, '').replace(/ [<>].*$|\)$/g, '');
      const args = [...line.matchAll(/"([^"]*)"|(\S+)/g)].map(
        ([, quoted, word]) => quoted ?? word ?? '',
      );
      const running = world.start(args);
      running.closeOutput();
      running.closeMessages();
      const { exit, signal } = await running.ended;
      expect([example, signal]).toEqual([example, null]);
      expect(Object.values(EXIT), example).toContain(exit);
    }
  }
});

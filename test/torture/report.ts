import { readFile, writeFile } from 'node:fs/promises';
import type { JsonObject } from '../../src/core/value.ts';

/**
 * Adds what a torture found out to the file that `CALLSHEET_TORTURE_OUT` names, under a name of its own;
 * says it on standard output where there is none. `npm run reliability` makes a document of it.
 */
export async function report(name: string, figures: JsonObject): Promise<void> {
  const file = process.env.CALLSHEET_TORTURE_OUT;
  if (file === undefined) {
    process.stdout.write(`${name} ${JSON.stringify(figures)}\n`);
    return;
  }
  // Files of a torture run one after the other, so nobody else writes it meanwhile.
  const before = JSON.parse(await readFile(file, 'utf8').catch(() => '{}'));
  await writeFile(file, `${JSON.stringify({ ...before, [name]: figures }, null, 2)}\n`);
}

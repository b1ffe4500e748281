import { readFile, writeFile } from 'node:fs/promises';
import type { Measured } from '../../scripts/reliability/figures.ts';

/**
 * Puts the figures of a long run under a name of their own into the JSON file that CALLSHEET_TORTURE_OUT
 * names, beside what other runs put there. Without one nothing is written.
 */
export async function writeResult<Part extends keyof Measured>(
  name: Part,
  figures: Required<Measured>[Part],
): Promise<void> {
  const file = process.env.CALLSHEET_TORTURE_OUT;
  if (file === undefined || file === '') return;
  const before = await readFile(file, 'utf8').catch(() => '{}');
  await writeFile(file, `${JSON.stringify({ ...JSON.parse(before), [name]: figures }, null, 2)}\n`);
}

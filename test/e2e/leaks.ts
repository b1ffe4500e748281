import { readdir, readFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import type { Outcome } from './process.ts';

/** Where a hidden value shows up: in what commands printed, or in a file below the folder. */
export async function findLeaks(
  hidden: readonly string[],
  outcomes: readonly Outcome[],
  folder: string,
): Promise<readonly string[]> {
  const forms = hidden.flatMap((value) => [value, Buffer.from(value).toString('base64')]);
  const leaks: string[] = [];
  const look = (text: string, where: string) => {
    for (const form of forms) if (text.includes(form)) leaks.push(`${form} in ${where}`);
  };
  for (const { args, out, err } of outcomes) {
    look(out, `the output of callsheet ${args.join(' ')}`);
    look(err, `the messages of callsheet ${args.join(' ')}`);
  }
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    const path = join(entry.parentPath, entry.name);
    look(await readFile(path, 'latin1'), relative(folder, path));
  }
  return leaks;
}

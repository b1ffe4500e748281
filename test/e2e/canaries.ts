import { readdir, readFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import type { Outcome } from './process.ts';

/** The clinic's secrets. Their values can come from nowhere else. */
export const CANARIES = {
  SMS_TOKEN: 'canary-sms-5f1c9a7e',
  CRM_KEY: 'canary-crm-83d20b46',
  MCP_TOKEN: 'canary-mcp-c71e4f92',
} as const;

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

import { realpathSync } from 'node:fs';
import { join } from 'node:path';
import { type Loaded, loadStack } from '../../config/index.ts';
import type { CommonFlags, Context } from '../context.ts';
import { loadOptions } from '../stack.ts';

/** The stack as it would be with other texts, by path in its folder; files that are not there yet may be among them. */
export function readAgain(
  dir: string,
  texts: Iterable<readonly [string, string]>,
  flags: CommonFlags,
  context: Context,
): Promise<Loaded> {
  const folder = realpathSync.native(dir);
  const instead = new Map([...texts].map(([file, text]) => [realOf(join(folder, file)), text]));
  return loadStack({
    ...loadOptions(flags, context),
    secrets: 'skip',
    instead,
  });
}

/** A link is read where it leads. */
function realOf(path: string): string {
  try {
    return realpathSync.native(path);
  } catch {
    return path;
  }
}

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isSkipped, STACK_FILE } from '../../config/discover.ts';
import type { FoundStack } from './find-stacks.ts';
import type { Weighed } from './shard.ts';

/**
 * What every stack costs, however small it is: a session, its lists, its state. About what ten more agents cost, which
 * have some 400 bytes of YAML each where they share a base.
 */
const EVERY_STACK = 4096;

/** Where resources are written: rows of a table are resources, too. */
const CONFIGURATION = /\.(?:ya?ml|csv)$/;

/**
 * A stack with its weight: the bytes of its YAML and CSV files, so that no stack has to be sound to be weighed.
 * Carriage returns do not count: Git on Windows adds them, and jobs on other machines must come to the same number.
 */
export function weighStack<T extends FoundStack>(stack: T): T & Weighed {
  return { ...stack, weight: EVERY_STACK + bytesBelow(stack.dir) };
}

function bytesBelow(dir: string): number {
  let bytes = 0;
  const pending = [dir];
  for (let folder = pending.pop(); folder !== undefined; folder = pending.pop()) {
    const entries = readdirSync(folder, { withFileTypes: true });
    // A stack inside a stack is weighed by itself.
    if (folder !== dir && entries.some(({ name }) => name === STACK_FILE)) continue;
    for (const entry of entries) {
      if (isSkipped(entry.name)) continue;
      const path = join(folder, entry.name);
      if (entry.isDirectory()) pending.push(path);
      else if (entry.isFile() && CONFIGURATION.test(entry.name)) bytes += countBytes(path);
    }
  }
  return bytes;
}

const CARRIAGE_RETURN = 0x0d;

function countBytes(file: string): number {
  const bytes = readFileSync(file);
  let returns = 0;
  for (
    let at = bytes.indexOf(CARRIAGE_RETURN);
    at !== -1;
    at = bytes.indexOf(CARRIAGE_RETURN, at + 1)
  ) {
    returns += 1;
  }
  return bytes.length - returns;
}

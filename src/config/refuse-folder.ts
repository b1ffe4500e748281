import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Diagnostic } from '../core/diagnostics.ts';
import { STACK_FILE } from './discover.ts';

/** Why a folder is no stack, or undefined where it is one. */
export function refuseFolder(dir: string): Omit<Diagnostic, 'severity'> | undefined {
  const rule = 'stack/missing';
  if (!existsSync(dir))
    return { rule, message: `the folder ${dir} does not exist`, hint: 'Check --dir' };
  if (!statSync(dir).isDirectory()) {
    return {
      rule,
      message: `${dir} is not a folder`,
      hint: `Give --dir the folder that holds ${STACK_FILE}`,
    };
  }
  if (existsSync(join(dir, STACK_FILE))) return undefined;
  const other = existsSync(join(dir, 'callsheet.yml'));
  return {
    rule,
    message: `there is no ${STACK_FILE} in ${dir}`,
    hint: other
      ? `Rename callsheet.yml to ${STACK_FILE}`
      : 'Write one with callsheet init, or give --dir the folder that holds it',
  };
}

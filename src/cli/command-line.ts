import type { CommonFlags } from './context.ts';

/** A command as it is to be typed next, for the same stack and environment. */
export function commandLine(
  command: string,
  { dir, env }: Pick<CommonFlags, 'dir' | 'env'>,
): string {
  const flags = [
    ...(dir === '.' ? [] : ['--dir', quoted(dir)]),
    ...(env === undefined ? [] : ['--env', quoted(env)]),
  ];
  return ['callsheet', command, ...flags].join(' ');
}

/** A word as a shell reads it. */
export function quoted(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}

import type { Command } from 'commander';
import { completionScript, type Shell } from '../completion/scripts.ts';
import { wordsOf } from '../completion/words.ts';
import type { Context } from '../context.ts';
import { EXIT, type ExitCode } from '../exit.ts';

/** `callsheet completion`: the script that makes a shell complete commands, flags and their values. */
export async function completion(
  shell: Shell,
  program: Command,
  { terminal }: Context,
): Promise<ExitCode> {
  terminal.out(completionScript(shell, wordsOf(program)));
  return EXIT.done;
}

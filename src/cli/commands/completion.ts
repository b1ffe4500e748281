import { completionScript } from '../completion/scripts.ts';
import type { Shell } from '../completion/shells.ts';
import type { Context } from '../context.ts';
import { EXIT, type ExitCode } from '../exit.ts';

/** `callsheet completion`: the script that makes a shell complete commands, flags, their values and addresses. */
export async function completion(shell: Shell, { terminal }: Context): Promise<ExitCode> {
  terminal.out(completionScript(shell));
  return EXIT.done;
}

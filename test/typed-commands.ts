import { codeSpan, commandsIn } from '../src/core/command-line.ts';

/**
 * The commands that an output tells people to type, in its order: those between accents, and those that have a line of
 * their own, without the comment behind them.
 */
export function typedCommands(output: string): readonly string[] {
  return output.split('\n').flatMap((line) => {
    const alone = line.trim().replace(/ {2,}#.*$/, '');
    return commandsIn(codeSpan(alone)).includes(alone) ? [alone] : commandsIn(line);
  });
}

import { Command } from 'commander';
import { COMMAND_WORDS } from './command-words.ts';

/**
 * Whether a command is spelt out for a line. Most of the time it takes to start would go into flags that nobody
 * asks about; so where a line names commands, the others have nothing but a name.
 */
export function isSpeltOut(path: readonly string[], argv: readonly string[]): boolean {
  const [name = '', inner] = path;
  const [first] = argv;
  if (first === 'help' || !argv.some((word) => INNER.has(word))) return true;
  if (!argv.includes(name)) return false;
  const named = INNER.get(name) ?? [];
  return inner === undefined || argv.includes(inner) || !named.some((one) => argv.includes(one));
}

/** The commands below each command, by their names. */
const INNER: ReadonlyMap<string, readonly string[]> = new Map(
  [...Map.groupBy(Object.keys(COMMAND_WORDS), (path) => path.split(' ')[0] ?? '')].map(
    ([name, paths]) => [name, paths.flatMap((path) => path.split(' ')[1] ?? [])],
  ),
);

/** A command that can be listed and suggested, and no more: what is said of it besides is not kept. */
export function listedCommand(name: string): Command {
  const made = new Command(name);
  const ignore = () => made;
  return Object.assign(made, {
    ...{ option: ignore, requiredOption: ignore, addOption: ignore },
    ...{ argument: ignore, addArgument: ignore, addHelpText: ignore, action: ignore },
  });
}

import { Option } from 'commander';
import type { Act, MakeCommand } from './making-commands.ts';
import { repeatable } from './options.ts';

/** The commands that take over what was built by hand. Neither writes anything on the platform. */
export function addRecoveryCommands(command: MakeCommand, action: Act): void {
  command('export', 'write what is live as a stack')
    .requiredOption('--out <folder>', 'the folder of the new stack')
    .addOption(repeatable('--organization <organization>', 'this alone: a name, an id, or NAME=ID'))
    .addOption(
      repeatable('--knowledge-base <name=id>', 'a knowledge base: the platform does not list them'),
    )
    .option('--factor', 'lift what resources have in common into bases')
    .option('--secrets-file <file>', 'write secret values that the platform returns to a file')
    .option('--no-state', 'write no state')
    .option('--force', 'write into a folder that is not empty, over files of the same names')
    .addOption(format())
    .action(
      action(async (flags, context) =>
        (await import('./commands/export.ts')).exportCommand(flags, context),
      ),
    );

  command('import', 'have addresses of the configuration stand for live resources')
    .argument('[address]', 'an address of the configuration')
    .argument('[id]', 'the id of the live resource')
    .option('--all', 'bind everything that its name tells, and list what it does not')
    .addOption(format())
    .action((address: string | undefined, id: string | undefined, flags) =>
      action(async (given: typeof flags, context) =>
        (await import('./commands/import.ts')).importCommand(address, id, given, context),
      )(flags),
    );
}

function format(): Option {
  return new Option('--format <format>', 'how to show the result')
    .choices(['text', 'json'])
    .default('text');
}

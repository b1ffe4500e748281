import { type Command, Option } from 'commander';
import type { Act, MakeCommand } from './making-commands.ts';
import { format, repeatable } from './options.ts';

/** The commands below `callsheet snapshot`: taking a backup of an account, and looking at what is in one. */
export function addSnapshotCommands(command: MakeCommand, action: Act): void {
  command('create', 'keep everything readable of the account in a file')
    .option('--out <file>', 'the file; named after the account and the time otherwise')
    .option('--organization <name|id>', 'this organization alone')
    .addOption(repeatable('--knowledge-base <id>', 'a knowledge base beside those of the stack'))
    .option('--media', 'the files of the stack, too, that voices and documents were made of')
    .option('--encrypt', 'ask for a passphrase, where none is given otherwise')
    .addOption(passphraseFile())
    .addOption(repeatable('--recipient <key>', 'encrypt for the holder of this key of age (age1…)'))
    .option('--base <file>', 'an earlier snapshot: only what differs from it is written')
    .addOption(identity())
    .addOption(format('text', 'json'))
    .action((flags) =>
      action(async (given: typeof flags, context) =>
        (await import('./commands/snapshot-create.ts')).create(given, context),
      )(flags),
    );

  command('list', 'list the snapshots of a folder')
    .argument('[folder]', 'the working directory otherwise')
    .addOption(passphraseFile())
    .addOption(identity())
    .addOption(format('text', 'json'))
    .action((folder: string | undefined, flags) =>
      action(async (given: typeof flags, context) =>
        (await import('./commands/snapshot-list.ts')).list(folder, given, context),
      )(flags),
    );

  keyOptionsOn(command('show', 'show what a snapshot holds, or one resource of it'))
    .argument('<file>', 'a snapshot')
    .argument('[resource]', 'an address, an id or a name')
    .addOption(format('text', 'json'))
    .action((file: string, wanted: string | undefined, flags) =>
      action(async (given: typeof flags, context) =>
        (await import('./commands/snapshot-show.ts')).show(file, wanted, given, context),
      )(flags),
    );

  addDiff(command, action);
}

function addDiff(command: MakeCommand, action: Act): void {
  keyOptionsOn(command('diff', 'show what changed from one snapshot to another'))
    .argument('<earlier>', 'a snapshot')
    .argument('<later>', 'another of the same account')
    .option('--detailed-exitcode', 'exit 2 when something differs')
    .addOption(format('text', 'json', 'markdown', 'html'))
    .action((earlier: string, later: string, flags) =>
      action(async (given: typeof flags, context) =>
        (await import('./commands/snapshot-diff.ts')).diff(earlier, later, given, context),
      )(flags),
    );
}

/** What a snapshot is opened with. */
export function keyOptionsOn(command: Command): Command {
  return command.addOption(passphraseFile()).addOption(identity());
}

function passphraseFile(): Option {
  return new Option(
    '--passphrase-file <file>',
    'holds the passphrase (also CALLSHEET_SNAPSHOT_PASSPHRASE)',
  );
}

function identity(): Option {
  return repeatable('--identity <file>', 'holds a key of age');
}

import { Option } from 'commander';
import type { Act, MakeCommand } from './making-commands.ts';

/** The commands below `callsheet state`: looking at the state, editing, unlocking and rebuilding it. */
export function addStateCommands(command: MakeCommand, action: Act): void {
  addLookingCommands(command, action);
  addEditingCommands(command, action);
  addMendingCommands(command, action);
}

function addLookingCommands(command: MakeCommand, action: Act): void {
  command('list', 'list what the state remembers')
    .argument('[addresses...]', 'only these: an address, a fleet, a kind')
    .addOption(format())
    .action((addresses: readonly string[], flags) =>
      action(async (given: typeof flags, context) =>
        (await import('./commands/state.ts')).list(addresses, given, context),
      )(flags),
    );

  command('show', 'show what the state remembers of a resource')
    .argument('<address>', 'a resource')
    .addOption(format())
    .action((address: string, flags) =>
      action(async (given: typeof flags, context) =>
        (await import('./commands/state.ts')).show(address, given, context),
      )(flags),
    );

  command('pull', 'print the state as it is stored').action((flags) =>
    action(async (given: typeof flags, context) =>
      (await import('./commands/state.ts')).pull(given, context),
    )(flags),
  );
}

function addEditingCommands(command: MakeCommand, action: Act): void {
  command('mv', 'give a resource another address; nothing changes on the platform')
    .argument('<from>', 'its address now; of a fleet, all rows move')
    .argument('<to>', 'its new address')
    .addOption(format())
    .action((from: string, to: string, flags) =>
      action(async (given: typeof flags, context) =>
        (await import('./commands/state.ts')).mv(from, to, given, context),
      )(flags),
    );

  command('rm', 'forget resources; nothing is deleted on the platform')
    .argument('<addresses...>', 'what is to be forgotten')
    .option('--force', 'forget what is protected, too')
    .addOption(format())
    .action((addresses: readonly string[], flags) =>
      action(async (given: typeof flags, context) =>
        (await import('./commands/state.ts')).rm(addresses, given, context),
      )(flags),
    );

  command('trust', 'take the secrets that are set here for what the platform has stored')
    .argument('[addresses...]', 'only these: an address, a fleet, a kind')
    .option('--dry-run', 'list what is unknown, and write nothing')
    .addOption(format())
    .action((addresses: readonly string[], flags) =>
      action(async (given: typeof flags, context) =>
        (await import('./commands/state.ts')).trust(addresses, given, context),
      )(flags),
    );

  command('push', 'put a state in the place of the one of the stack')
    .argument('<file>', 'what callsheet state pull printed; - for standard input')
    .option('--force', 'also one that is older or of another stack, and over a damaged one')
    .addOption(format())
    .action((file: string, flags) =>
      action(async (given: typeof flags, context) =>
        (await import('./commands/state.ts')).push(file, given, context),
      )(flags),
    );
}

function addMendingCommands(command: MakeCommand, action: Act): void {
  command('unlock', 'show who holds the state, or take the lease from them')
    .argument('[lease]', 'the lease to end')
    .option('--force', 'also where its process runs on this machine')
    .addOption(format())
    .action((lease: string | undefined, flags) =>
      action(async (given: typeof flags, context) =>
        (await import('./commands/state.ts')).unlock(lease, given, context),
      )(flags),
    );

  command('migrate', 'move the state and the receipts of its runs into an empty place')
    .requiredOption('--to <place>', 'a path, https://…, postgres://…?stack=NAME or s3://bucket/key')
    .addOption(format())
    .action((flags) =>
      action(async (given: typeof flags, context) =>
        (await import('./commands/state.ts')).migrate(given, context),
      )(flags),
    );

  command('repair', 'rebuild a damaged state from what is readable and from what is live')
    .addOption(format())
    .action((flags) =>
      action(async (given: typeof flags, context) =>
        (await import('./commands/state.ts')).repair(given, context),
      )(flags),
    );
}

function format(): Option {
  return new Option('--format <format>', 'how to show the result')
    .choices(['text', 'json'])
    .default('text');
}

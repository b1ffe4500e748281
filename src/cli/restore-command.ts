import type { Act, MakeCommand } from './making-commands.ts';
import { concurrency, format, overrideFreeze, repeatable } from './options.ts';
import { keyOptionsOn } from './snapshot-commands.ts';

/** `callsheet restore`: brings back what a snapshot holds. */
export function addRestoreCommand(command: MakeCommand, action: Act): void {
  keyOptionsOn(command('restore', 'bring back what a snapshot holds, here or elsewhere'))
    .argument('<file>', 'a file of callsheet snapshot create')
    .addOption(repeatable('--organization <name|id>', 'this organization of the snapshot alone'))
    .addOption(
      repeatable('--map-organization <old=new>', 'this one alone, and into another: names or ids'),
    )
    .addOption(
      repeatable(
        '--map-knowledge-base <old=new>',
        'a knowledge base that takes the place of another',
      ),
    )
    .option('--map-texts', 'put new ids into prompts, transfer rules and contact policies, too')
    .option('--over', 'change what is there already back to what the snapshot has')
    .option('--secrets <file>', 'YAML: address, path, and env:NAME, file:PATH or exec:COMMAND')
    .option('--without-secrets', 'restore although secrets are missing')
    .option('--media <folder>', 'holds voice clips and documents, called as they were')
    .option('--state <file>', 'where to remember what was made')
    .option('--dry-run', 'show what would be done, and which secrets are needed')
    .option('--auto-approve', 'do not ask')
    .option('--skip-refused', 'leave out what is refused and do the rest')
    .addOption(overrideFreeze())
    .addOption(concurrency())
    .addOption(format('text', 'json'))
    .action((file: string, flags) =>
      action(async (given: typeof flags, context) =>
        (await import('./commands/restore.ts')).restore(file, given, context),
      )(flags),
    );
}

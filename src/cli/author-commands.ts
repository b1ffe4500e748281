import { Argument, Option } from 'commander';
import { SHELLS, type Shell } from './completion/shells.ts';
import { PIPELINES } from './init/pipeline-names.ts';
import type { Act, MakeCommand } from './making-commands.ts';
import { format, targetOptionsOn } from './options.ts';

/** The commands for whoever writes a stack. None of them asks the platform anything. */
export function addAuthorCommands(command: MakeCommand, action: Act): void {
  command('init', 'write a new stack: settings, an agent with its prompt, a pipeline')
    .option('--base-url <url>', 'base address of the platform')
    .option('--organization <name=id>', 'a name for the organization, and its id')
    .option('--agent <name>', 'name of the first agent (Front desk otherwise)')
    .addOption(
      new Option('--ci <pipeline>', 'the pipeline to write at the top of the repository').choices(
        PIPELINES,
      ),
    )
    .option('--empty', 'no resources')
    .option('--keep-existing', 'leave files that are there as they are, and write the rest')
    .option('--yes', 'ask nothing, even on a terminal')
    .action(
      action(async (flags, context) => (await import('./commands/init.ts')).init(flags, context)),
    );

  command('fmt', 'bring the YAML of the stack into its order and style')
    .argument('[files...]', 'these files alone; - for standard input')
    .option('--check', 'change nothing; list what would change and exit 1')
    .action((files: readonly string[], flags) =>
      action(async (given: typeof flags, context) =>
        (await import('./commands/fmt.ts')).fmt(files, given, context),
      )(flags),
    );

  command('explain', 'show where a value came from, or document a field')
    .argument(
      '<name>',
      'a value such as agent.reception.greeting_message, or a kind, field or setting',
    )
    .addOption(
      new Option('--format <format>', 'how to show it').choices(['text', 'json']).default('text'),
    )
    .action((wanted: string, flags) =>
      action(async (given: typeof flags, context) =>
        (await import('./commands/explain.ts')).explain(wanted, given, context),
      )(flags),
    );

  targetOptionsOn(command('graph', 'draw what refers to what in the stack'))
    .option('--rows', 'draw each row of a fleet, also those that refer to the same')
    .addOption(format('mermaid', 'dot'))
    .action(
      action(async (flags, context) => (await import('./commands/graph.ts')).graph(flags, context)),
    );

  command('schema', 'print the JSON Schema that editors use')
    .option('--out <file>', 'write it to a file')
    .action(
      action(async (flags, context) =>
        (await import('./commands/schema.ts')).schema(flags, context),
      ),
    );

  command('completion', 'print the script that makes a shell complete callsheet')
    .addArgument(new Argument('<shell>', 'the shell').choices(SHELLS))
    .action((shell: Shell, flags) =>
      action(async (_given: typeof flags, context) =>
        (await import('./commands/completion.ts')).completion(shell, context),
      )(flags),
    );
}

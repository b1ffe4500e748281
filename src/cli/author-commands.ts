import { Option } from 'commander';
import type { Act, MakeCommand } from './making-commands.ts';

/** The commands for whoever writes a stack. None of them asks the platform anything. */
export function addAuthorCommands(command: MakeCommand, action: Act): void {
  command('fmt', 'bring the YAML of the stack into its order and style')
    .argument('[files...]', 'these files alone; - for standard input')
    .option('--check', 'change nothing; list what would change and exit 1')
    .action((files: readonly string[], flags) =>
      action(async (given: typeof flags, context) =>
        (await import('./commands/fmt.ts')).fmt(files, given, context),
      )(flags),
    );

  command('explain', 'document a kind, a field or a setting')
    .argument('<field>', 'agent, agent.voice_settings, agent.extensions.tools[].url, guards, …')
    .addOption(
      new Option('--format <format>', 'how to show it').choices(['text', 'json']).default('text'),
    )
    .action((wanted: string, flags) =>
      action(async (given: typeof flags, context) =>
        (await import('./commands/explain.ts')).explain(wanted, given, context),
      )(flags),
    );
}

import { InvalidArgumentError, Option } from 'commander';
import { METRICS_BLOCKS } from '../render/read/metrics-block-names.ts';
import type { Act, MakeCommand } from './making-commands.ts';

/** The commands that only look at the platform (DESIGN §3). */
export function addReadCommands(command: MakeCommand, action: Act): void {
  addResourceCommands(command, action);
  addReportCommands(command, action);
  addCatalogueCommands(command, action);
  addSessionCommand(command, action);
}

function addResourceCommands(command: MakeCommand, action: Act): void {
  command('get', 'show what the platform has: a list of a kind, or one resource whole')
    .argument('<kind>', 'agents, retry_policies, email_templates, sms_templates, …')
    .argument('[resource]', 'one of them: an address of the stack, an id or a name')
    .addOption(organization())
    .option('--knowledge-base <name|id>', 'the knowledge base whose sources are meant')
    .addOption(format('text', 'json', 'csv'))
    .action((kind: string, wanted: string | undefined, flags) =>
      action(async (given: typeof flags, context) =>
        (await import('./commands/get.ts')).get(kind, wanted, given, context),
      )(flags),
    );

  command('history', 'list the versions of an agent')
    .argument('<agent>', AGENT)
    .addOption(organization())
    .addOption(
      new Option('--limit <n>', 'how many versions, counted from the newest; at most 100')
        .argParser(upTo(100))
        .default(50),
    )
    .option('--diff <ids...>', 'how two versions differ, by their ids')
    .addOption(format('text', 'json', 'csv'))
    .action((wanted: string, flags) =>
      action(async (given: typeof flags, context) =>
        (await import('./commands/history.ts')).history(wanted, given, context),
      )(flags),
    );

  command('payments', 'show whether an agent may take payments, and what is missing')
    .argument('<agent>', AGENT)
    .addOption(organization())
    .option('--refresh', 'have the platform ask the payment processor now')
    .addOption(format('text', 'json'))
    .action((wanted: string, flags) =>
      action(async (given: typeof flags, context) =>
        (await import('./commands/payments.ts')).payments(wanted, given, context),
      )(flags),
    );
}

function addReportCommands(command: MakeCommand, action: Act): void {
  command('logs', 'list the calls of an agent, or show one')
    .argument('<agent>', AGENT)
    .addOption(organization())
    .option('--call <id>', 'one call, by its id or the beginning of it')
    .option('--since <time>', 'calls since then: 2h, 7d, 2026-11-21, 2026-11-21T09:00Z')
    .option('--until <time>', 'calls until then')
    .addOption(
      new Option(
        '--limit <n>',
        'how many calls, counted from the newest (50 without --since)',
      ).argParser(upTo(Number.MAX_SAFE_INTEGER)),
    )
    .option('--transcript', 'show what was said')
    .option('--summary', 'show the summaries')
    .addOption(format('text', 'json', 'csv'))
    .action((wanted: string, flags) =>
      action(async (given: typeof flags, context) =>
        (await import('./commands/logs.ts')).logs(wanted, given, context),
      )(flags),
    );

  command('metrics', 'show what agents did: totals, outcomes, charts, agents')
    .option('--since <time>', 'from then on: 7d, 2026-11-01 (the last 30 days otherwise)')
    .option('--until <time>', 'until then (now otherwise)')
    .option('--start <time>', 'the same as --since')
    .option('--end <time>', 'the same as --until')
    .addOption(organization())
    .option('--reseller <id>', 'the organizations of this reseller alone')
    .addOption(new Option('--block <block>', 'one table, whole').choices(METRICS_BLOCKS))
    .addOption(format('text', 'json', 'csv'))
    .action(
      action(async (flags, context) =>
        (await import('./commands/metrics.ts')).metrics(flags, context),
      ),
    );

  command('billing', 'show the voice minutes and agents of every organization')
    .option('--start <day>', 'first day, 2026-11-01 (the last whole month otherwise)')
    .option('--end <day>', 'last day (today, where --start is given alone)')
    .option('--reseller <id...>', 'these resellers alone')
    .option('--organization <name|id...>', 'these organizations alone')
    .addOption(format('text', 'json', 'csv'))
    .action(
      action(async (flags, context) =>
        (await import('./commands/billing.ts')).billing(flags, context),
      ),
    );
}

function addCatalogueCommands(command: MakeCommand, action: Act): void {
  command('features', 'show which features are locked, where, and by what')
    .addOption(organization())
    .option('--reseller <id>', 'as they stand for a reseller')
    .option('--locked', 'locked ones alone')
    .addOption(format('text', 'json', 'csv'))
    .action(
      action(async (flags, context) =>
        (await import('./commands/features.ts')).features(flags, context),
      ),
    );

  command('models', 'list the language models that may be assigned')
    .addOption(organization())
    .addOption(format('text', 'json', 'csv'))
    .action(
      action(async (flags, context) =>
        (await import('./commands/models.ts')).models(flags, context),
      ),
    );

  command('stt', 'list the speech-to-text providers')
    .addOption(format('text', 'json', 'csv'))
    .action(
      action(async (flags, context) => (await import('./commands/stt.ts')).stt(flags, context)),
    );

  command('voices', 'list the cloned voices of an organization')
    .addOption(organization())
    .addOption(format('text', 'json', 'csv'))
    .action(
      action(async (flags, context) =>
        (await import('./commands/voices.ts')).voices(flags, context),
      ),
    );
}

function addSessionCommand(command: MakeCommand, action: Act): void {
  command('session', 'mint a session token for an application that embeds an agent')
    .requiredOption('--profile <id>', 'the profile that the session is for')
    .option('--user <id>', "the user's id in the application")
    .option('--pbx', "mint it with the PBX provider's token (CALLSHEET_PBX_API_KEY)")
    .option('--claim <id>', 'the user base claim at the PBX provider; with --pbx')
    .addOption(format('text', 'json'))
    .action(
      action(async (flags, context) =>
        (await import('./commands/session.ts')).session(flags, context),
      ),
    );
}

const AGENT = 'an address of the stack (agent.reception), an id or a name';

function organization(): Option {
  return new Option('--organization <name|id>', 'the organization that is meant');
}

function format(...formats: readonly string[]): Option {
  return new Option('--format <format>', 'how to show the result')
    .choices([...formats])
    .default('text');
}

function upTo(most: number): (value: string) => number {
  return (value) => {
    const number = /^\d+$/.test(value) ? Number(value) : 0;
    if (number >= 1 && number <= most) return number;
    throw new InvalidArgumentError(
      most === Number.MAX_SAFE_INTEGER
        ? 'It must be a whole number, at least 1.'
        : `It must be a whole number from 1 to ${most}.`,
    );
  };
}

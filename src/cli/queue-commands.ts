import { Argument, InvalidArgumentError, Option } from 'commander';
import type { Act, MakeCommand } from './making-commands.ts';
import { allowanceOptionsOn, format, listen, log } from './options.ts';

/** The commands that spread a tree of stacks over machines. */
export function addQueueCommands(command: MakeCommand, action: Act): void {
  allowanceOptionsOn(command('enqueue', 'have workers run a command in every stack of a tree'))
    .addArgument(new Argument('[command]', 'what they run').choices(['plan', 'apply', 'drift']))
    .argument('[plans]', 'for apply: the folder of callsheet plan --recursive --out FOLDER')
    .addOption(queue())
    .option('--auto-approve', 'for apply: do not ask')
    .option('--rollback-on-failure', 'for apply: undo what a run did, should it fail')
    .option('--detailed-exitcode', 'for plan and drift: exit 2 when there are changes')
    .option('--out <folder>', 'for plan, with --wait or --report: write the plans to a folder')
    .option('--wait', 'follow it, and report what came of it')
    .option('--report <batch>', 'report what came of a batch')
    .addOption(format('text', 'json', 'markdown'))
    .action((name: string | undefined, plans: string | undefined, flags) =>
      action(async (given: typeof flags, context) =>
        (await import('./commands/enqueue.ts')).enqueueCommand(name, plans, given, context),
      )(flags),
    );

  command('worker', 'run what was enqueued, in the stacks of a checkout')
    .addOption(queue())
    .option('--until-empty', 'end once nothing is left to do')
    .addOption(
      new Option('--stacks <n>', 'stacks at work at once').argParser(atLeastOne).default(4),
    )
    .addOption(
      new Option('--concurrency <n>', 'requests in flight at once, of all stacks together')
        .argParser(atLeastOne)
        .default(8),
    )
    .addOption(listen('/healthz and /metrics'))
    .addOption(log())
    .action(
      action(async (flags, context) =>
        (await import('./commands/worker.ts')).worker(flags, context),
      ),
    );
}

function queue(): Option {
  return new Option(
    '--queue <address>',
    'the database of the queue: postgres://user@host/database (also CALLSHEET_QUEUE)',
  );
}

function atLeastOne(value: string): number {
  if (/^[1-9]\d{0,5}$/.test(value)) return Number(value);
  throw new InvalidArgumentError('It must be at least 1.');
}

import { Option } from 'commander';
import type { PlanCommandFlags } from './commands/plan.ts';
import { oneOrTree } from './fleet/enter.ts';
import type { TreeFlags } from './fleet/flags.ts';
import type { Act, MakeCommand } from './making-commands.ts';
import {
  concurrency,
  format,
  overrideFreeze,
  planOptionsOn,
  refresh,
  span,
  treeOptionsOn,
} from './options.ts';
import { rehearsalOptionsOn } from './simulation-options.ts';
import { keyOptionsOn } from './snapshot-commands.ts';

/** The commands that make a plan, try it, carry it out or undo it. */
export function addPlanningCommands(command: MakeCommand, action: Act): void {
  treeOptionsOn(planOptionsOn(command('plan', 'show what apply would do')))
    .addOption(refresh())
    .option('--out <file>', 'write the plan to a file that apply takes; with --recursive a folder')
    .addOption(format('text', 'json', 'markdown', 'html'))
    .option('--detailed-exitcode', 'exit 2 when there are changes')
    .action(
      action(async (flags: PlanCommandFlags & TreeFlags, context) =>
        oneOrTree('plan', flags, context, async () =>
          (await import('./commands/plan.ts')).plan(flags, context),
        ),
      ),
    );

  treeOptionsOn(planOptionsOn(command('apply', 'carry out a plan')))
    .argument(
      '[planfile]',
      'a plan made by: callsheet plan --out FILE; with --recursive its folder',
    )
    .addOption(refresh())
    .option('--auto-approve', 'do not ask')
    .option('--rollback-on-failure', 'undo what the run did, should it fail')
    .option('--expect <digest>', 'apply only the plan with this digest (sha256:…)')
    .option('--events <file>', "append the run's events to a file, one JSON a line")
    .addOption(
      new Option(
        '--lock-timeout <span>',
        'wait so long for a run that holds the state to end: 30s, 5m, 1h',
      ).argParser(span),
    )
    .addOption(format('text', 'json'))
    .action((file: string | undefined, flags) =>
      action(async (given: typeof flags, context) =>
        oneOrTree(
          'apply',
          given,
          context,
          async () => (await import('./commands/apply.ts')).apply(file, given, context),
          file,
        ),
      )(flags),
    );

  keyOptionsOn(command('rollback', 'undo a run, or go back to a snapshot'))
    .argument(
      '[run]',
      'the run to undo: its id, or as much of it as tells it apart; the last one otherwise',
    )
    .option('--to <snapshot>', 'a file of callsheet snapshot create to go back to')
    .option('--allow-delete', 'with --to: delete what was made since the snapshot')
    .addOption(
      new Option(
        '--target <address...>',
        'only these of what it would bring back: an address, a kind',
      ),
    )
    .addOption(new Option('--exclude <address...>', 'leave these as they are: an address, a kind'))
    .option('--dry-run', 'show the plan and write nothing')
    .option('--auto-approve', 'do not ask')
    .option('--force', 'undo the fields of the run that somebody edited since, too, and no others')
    .option('--skip-refused', 'leave out what is refused or was edited since, and undo the rest')
    .addOption(overrideFreeze())
    .addOption(concurrency())
    .addOption(format('text', 'json', 'markdown', 'html'))
    .action((run: string | undefined, flags) =>
      action(async (given: typeof flags, context) =>
        (await import('./commands/rollback.ts')).rollback(
          { ...given, ...(run === undefined ? {} : { run }) },
          context,
        ),
      )(flags),
    );

  keyOptionsOn(
    rehearsalOptionsOn(
      planOptionsOn(command('rehearse', 'try a plan on a simulated copy of the fleet')),
    ),
  )
    .option('--from <snapshot>', 'copy the fleet of a snapshot, without asking the platform')
    .argument('[planfile]', 'a plan made by: callsheet plan --out FILE')
    .option('--out <file>', 'write the plan with the verdict to this file')
    .addOption(format('text', 'json', 'markdown', 'html'))
    .action((file: string | undefined, flags) =>
      action(async (given: typeof flags, context) =>
        (await import('./commands/rehearse.ts')).rehearse(file, given, context),
      )(flags),
    );
}

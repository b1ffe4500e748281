import { type Command, InvalidArgumentError, Option } from 'commander';

/** Adds the flags of `simulation-flags.ts`, which loads the simulator: what names them must not. */
export function simulationOptionsOn(command: Command): Command {
  return command
    .option('--seed <file>', 'fill it from a file (YAML or JSON)')
    .option('--config <file>', 'read seed, dialect, faults and rate limit from a file')
    .addOption(dialect())
    .addOption(
      new Option(
        '--fault <fault>',
        "what is to go wrong, such as '{ operation: updateAgent, status: 503 }' (repeatable)",
      ).argParser(collect),
    )
    .addOption(
      new Option(
        '--rate-limit <limit>',
        "answer 429 above this many requests a second, or above a limit such as '{ inFlight: 4 }'",
      ).argParser(rate),
    )
    .option('--admin', 'serve the admin endpoint, and print its token');
}

/** Adds what the copies of a rehearsal take of them. */
export function rehearsalOptionsOn(command: Command): Command {
  return command
    .addOption(
      new Option(
        '--fault <fault>',
        'what is to go wrong on the copy: 429, 503, lost (answers), or a fault of `simulate` (repeatable)',
      ).argParser(collect),
    )
    .option('--chaos-seed <seed>', 'where faults that strike by chance are drawn from', 'callsheet')
    .addOption(dialect());
}

function dialect(): Option {
  return new Option(
    '--dialect <name=value>',
    'how to read what the specification leaves open (repeatable)',
  ).argParser(collect);
}

function collect(value: string, before: readonly string[] | undefined): readonly string[] {
  return [...(before ?? []), value];
}

/** A number, or the text of a limit. */
function rate(text: string): number | string {
  if (text.trimStart().startsWith('{')) return text;
  const number = Number(text);
  if (number > 0 && Number.isFinite(number)) return number;
  throw new InvalidArgumentError('It must be a number above 0, or a limit in braces.');
}

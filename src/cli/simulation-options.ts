import { type Command, InvalidArgumentError, Option } from 'commander';

/** Adds the flags of `simulation-flags.ts`, which loads the simulator: what names them must not. */
export function simulationOptionsOn(command: Command): Command {
  return command
    .option('--seed <file>', 'fill it from a file (YAML or JSON)')
    .option('--config <file>', 'read seed, dialect, faults and rate limit from a file')
    .addOption(
      new Option(
        '--dialect <name=value>',
        'how to read what the specification leaves open (repeatable)',
      ).argParser(collect),
    )
    .addOption(
      new Option(
        '--fault <fault>',
        "what is to go wrong, such as '{ operation: updateAgent, status: 503 }' (repeatable)",
      ).argParser(collect),
    )
    .addOption(
      new Option('--rate-limit <n>', 'answer 429 above this many requests a second').argParser(
        rate,
      ),
    )
    .option('--admin', 'serve the admin endpoint, and print its token');
}

function collect(value: string, before: readonly string[] | undefined): readonly string[] {
  return [...(before ?? []), value];
}

function rate(text: string): number {
  const number = Number(text);
  if (number > 0 && Number.isFinite(number)) return number;
  throw new InvalidArgumentError('It must be a number above 0.');
}

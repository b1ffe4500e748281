import { type Command, InvalidArgumentError, Option } from 'commander';
import { type ListenAddress, parseListenAddress } from './monitor/listen-address.ts';

/** Flags of every command. */
export function commonOptions(): readonly Option[] {
  return [
    new Option('--dir <folder>', 'folder of the stack').default('.'),
    new Option('--env <name>', 'the environment of callsheet.yaml to use'),
    repeatable('--var <name=value>', 'set a variable'),
    repeatable('--var-file <file>', 'read variables from a file'),
    repeatable('--allow-env <name>', 'let variables of the stack read this environment variable'),
    new Option('--allow-exec', 'run the commands that exec: secrets name'),
    new Option('--no-color', 'no colours (also NO_COLOR)'),
    new Option('--quiet', 'results only: no progress, no warnings'),
    new Option('--verbose', 'show everything'),
    new Option('--trace-http <file>', 'append every request to a file, without secrets'),
  ];
}

/** Which resources a command is about. */
export function targetOptionsOn(command: Command): Command {
  return command
    .addOption(
      new Option('--target <address...>', 'only these: an address, a kind, or what it begins with'),
    )
    .addOption(new Option('--exclude <address...>', 'not these'));
}

/** Whether a command is about one stack or a tree of them. */
export function treeOptionsOn(command: Command): Command {
  return command
    .option('--recursive', 'do it in every stack in --dir and below, with one summary')
    .addOption(
      new Option(
        '--shard <i/n>',
        'with --recursive: the i-th of n parts, for jobs that share the work',
      ),
    );
}

/** What a plan may do, and how fast it is made. */
export function planOptionsOn(command: Command): Command {
  return allowanceOptionsOn(command).addOption(concurrency());
}

/** What a plan may do. */
export function allowanceOptionsOn(command: Command): Command {
  return targetOptionsOn(command)
    .option('--allow-delete', 'delete what the configuration no longer has')
    .option('--accept-conflicts', "write the configuration's side where both sides changed")
    .option('--skip-refused', 'leave out what is refused and apply the rest')
    .option('--force', 'delete what live resources still use, too')
    .option('--release-hold', 'apply a configuration again that was rolled back')
    .addOption(overrideFreeze())
    .option(
      '--resend-secrets [addresses...]',
      'write secrets again: all, or those of the addresses',
    );
}

/** Whether what did not change since the last run is read all the same. */
export function refresh(): Option {
  return new Option('--refresh <how>', 'read what may have changed, or everything').choices([
    'fast',
    'full',
  ]);
}

export function overrideFreeze(): Option {
  return new Option('--override-freeze <reason>', 'write in a freeze window; why is recorded');
}

/** How a result is shown; the first where nothing is said. */
export function format(...formats: readonly string[]): Option {
  const [first = 'text'] = formats;
  return new Option('--format <format>', 'how to show the result')
    .choices([...formats])
    .default(first);
}

export function concurrency(): Option {
  return new Option('--concurrency <n>', 'requests in flight at once')
    .argParser(positive)
    .default(8);
}

/**
 * A flag that is given once for each value. One that took several at once would swallow the file that a command is
 * about: `restore --map-organization OLD=NEW FILE`.
 */
export function repeatable(flags: string, description: string): Option {
  return new Option(flags, `${description} (repeatable)`).argParser(collect);
}

function collect(value: string, before: readonly string[] | undefined): readonly string[] {
  return [...(before ?? []), value];
}

export function whole(value: string): number {
  if (/^\d+$/.test(value)) return Number(value);
  throw new InvalidArgumentError('It must be a whole number.');
}

export function port(value: string): number {
  const number = whole(value);
  if (number <= 65_535) return number;
  throw new InvalidArgumentError('It must be at most 65535.');
}

const SPAN_UNITS: { readonly [unit: string]: number } = { s: 1_000, m: 60_000, h: 3_600_000 };

/** `30s`, `5m`, `1h` in milliseconds. */
export function span(value: string): number {
  const [, count, unit = ''] = /^(\d{1,6})([smh])$/.exec(value) ?? [];
  const milliseconds = Number(count) * (SPAN_UNITS[unit] ?? 0);
  // Timers of a machine take no more than 24 days.
  if (milliseconds >= 1_000 && milliseconds <= 7 * 86_400_000) return milliseconds;
  throw new InvalidArgumentError('It must be a span such as 30s, 5m or 1h, up to 168h.');
}

export function positive(value: string): number {
  const number = whole(value);
  if (number > 0) return number;
  throw new InvalidArgumentError('It must be at least 1.');
}

/** How a command that runs for long tells what happens. */
export function log(): Option {
  const what = 'how events are written; text on a terminal, else json';
  return new Option('--log <format>', what).choices(['text', 'json']);
}

/** Where it answers who asks how it is. */
export function listen(what: string): Option {
  return new Option('--listen <address>', `where ${what} are answered`).argParser(listenAddress);
}

function listenAddress(value: string): ListenAddress {
  const address = parseListenAddress(value);
  if (address !== undefined) return address;
  throw new InvalidArgumentError('It must be an address and port such as 127.0.0.1:9464.');
}

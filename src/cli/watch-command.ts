import { Option } from 'commander';
import type { Act, MakeCommand } from './making-commands.ts';
import { concurrency, listen, log, positive, refresh, span, targetOptionsOn } from './options.ts';

/** The command that runs for long. */
export function addWatchCommand(command: MakeCommand, action: Act): void {
  targetOptionsOn(command('watch', 'look for drift again and again; put back what is marked'))
    .addOption(
      new Option('--interval <span>', 'time from one pass to the next: 30s, 5m, 1h')
        .argParser(span)
        .default(300_000, '5m'),
    )
    .addOption(
      listen('/healthz, /metrics and /hook').default(
        { host: '127.0.0.1', port: 9464 },
        '127.0.0.1:9464',
      ),
    )
    .option('--heal', 'put back what drifted where lifecycle.heal is true')
    .addOption(
      new Option('--heal-limit <n>', 'tries for one resource within an hour')
        .argParser(positive)
        .default(3),
    )
    .option('--notify [url]', 'post drift as JSON to this address, or to CALLSHEET_NOTIFY_URL')
    .addOption(log())
    .addOption(refresh())
    .addOption(concurrency())
    .action(
      action(async (flags, context) => (await import('./commands/watch.ts')).watch(flags, context)),
    );
}

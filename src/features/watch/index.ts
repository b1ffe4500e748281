import {
  CONCURRENCY,
  flag,
  LISTEN,
  LOG,
  NOTIFY,
  positive,
  READING,
  REFRESH,
  span,
  TARGETS,
} from '../../console/flags.ts';
import type { Feature } from '../../feature.ts';

/** Looks at a stack again and again, and undoes drift where it may. */
export const watch: Feature = {
  name: 'watch',
  purposes: { watch: 'Fleets, editor, simulator, applications' },
  commands: [
    {
      name: 'watch',
      does: 'look for drift repeatedly; undo it where lifecycle.heal is true',
      flags: [
        ...TARGETS,
        flag('--interval <span>', 'time from one pass to the next: 30s, 5m, 1h', {
          parse: span,
          byDefault: 300_000,
          defaultSaid: '5m',
        }),
        flag('--listen <address>', 'the address that serves /healthz, /metrics and /hook', {
          ...LISTEN,
          byDefault: { host: '127.0.0.1', port: 9464 },
          defaultSaid: '127.0.0.1:9464',
        }),
        flag('--heal', 'undo drift where lifecycle.heal is true'),
        flag(
          '--heal-limit <n>',
          'tries for one resource within an hour; twice as many within a day',
          {
            parse: positive,
            byDefault: 3,
          },
        ),
        NOTIFY,
        LOG,
        REFRESH,
        CONCURRENCY,
      ],
      examples: [
        'callsheet watch',
        'callsheet watch --interval 1m --heal --notify',
        'CALLSHEET_HOOK_SECRET=… callsheet watch --listen 0.0.0.0:9464 --log json',
      ],
      exits: READING,
      load: async () => (await import('./watch.ts')).watch,
    },
  ],
};

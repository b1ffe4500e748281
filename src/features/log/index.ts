import { flag, format } from '../../console/flags.ts';
import type { Feature } from '../../feature.ts';

/** Lists the changes of a stack, a resource or a field: those of runs, and those that were made on the platform. */
export const log: Feature = {
  name: 'log',
  purposes: { log: 'Look' },
  commands: [
    {
      name: 'log',
      does: 'list the changes of the stack, a resource or a field',
      args: [
        {
          name: '[address[.field]]',
          does: 'a resource, a fleet, a kind or a field: agent.reception.greeting_message',
        },
      ],
      flags: [
        flag('--since <time>', 'leave out what is older: 7d, 2026-11-01, 2026-11-21T09:00Z'),
        format('text', 'json', 'markdown'),
      ],
      examples: ['callsheet log agent.reception.greeting_message', 'callsheet log --since 7d'],
      exits: ['done', 'error', 'interrupted'],
      prints: ['callsheet-log'],
      load: async () => (await import('./show.ts')).log,
    },
  ],
};

import { flag, port } from '../../console/flags.ts';
import type { Feature } from '../../feature.ts';

/** Shows plans and drift as one HTML file, and the stack in a browser. What runs there lies in `browser/`. */
export const page: Feature = {
  name: 'page',
  purposes: { ui: 'Look' },
  views: { html: async () => (await import('./render.ts')).renderReport },
  commands: [
    {
      name: 'ui',
      does: 'show the stack in a browser: fleet, runs, drift, a plan; read only',
      args: [{ name: '[planfile]', does: 'a plan made by `callsheet plan --out FILE`' }],
      flags: [
        flag('--port <port>', 'loopback port to listen on; 0 takes a free one', {
          parse: port,
          byDefault: 0,
        }),
      ],
      examples: ['callsheet ui', 'callsheet ui plan.json --port 4020'],
      exits: ['done', 'error', 'interrupted'],
      load: async () => (await import('./ui.ts')).ui,
    },
  ],
};

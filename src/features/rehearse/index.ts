import { DIALECT, flag, KEYS, PLANNING, REVIEW, repeatable } from '../../console/flags.ts';
import type { Feature } from '../../feature.ts';

const PLAN_FILE = { name: '[planfile]', does: 'a plan made by `callsheet plan --out FILE`' };

/** Tries a plan on a simulated copy of the fleet. */
export const rehearse: Feature = {
  name: 'rehearse',
  purposes: { rehearse: 'Change' },
  commands: [
    {
      name: 'rehearse',
      does: 'try a plan on a simulated copy of the fleet',
      args: [PLAN_FILE],
      flags: [
        ...PLANNING,
        repeatable(
          '--fault <fault>',
          'a fault to simulate on the copy: 429, 503, lost (answers), or a fault of `simulate`',
        ),
        flag('--chaos-seed <seed>', 'the seed of random faults', {
          byDefault: 'callsheet',
        }),
        DIALECT,
        ...KEYS,
        flag('--from <snapshot>', 'copy the fleet of a snapshot, without asking the platform'),
        flag('--out <file>', 'write the plan with the verdict to this file', { isWritten: true }),
        REVIEW,
      ],
      examples: [
        'callsheet rehearse plan.json',
        'callsheet rehearse --allow-delete --format markdown',
        'callsheet rehearse plan.json --from nightly.snapshot',
        'callsheet rehearse plan.json --fault 429 --fault lost --chaos-seed tuesday',
      ],
      exits: ['done', 'error', 'partial', 'refused', 'stale', 'interrupted'],
      prints: ['callsheet-plan'],
      load: async () => (await import('./command.ts')).rehearse,
    },
  ],
};

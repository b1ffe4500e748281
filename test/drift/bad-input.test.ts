import { describe, expect } from 'vitest';
import { type DriftCommandFlags, drift } from '../../src/cli/commands/drift.ts';
import { history } from '../../src/features/reading/history.ts';
import { type Stage, staged } from '../apply/stage.ts';
import { agentNamed } from '../e2e/clinic.ts';

type Row = {
  readonly what: string;
  readonly happens?: (stage: Stage) => unknown;
  readonly flags?: Partial<DriftCommandFlags>;
  readonly says: readonly string[];
};

const rows: readonly Row[] = [
  {
    what: 'an address that the stack does not have',
    flags: { target: ['agent.desc'] },
    says: ['--target agent.desc matches no resource of this stack', 'Did you mean agent.desk?'],
  },
  {
    what: 'an organization that is gone',
    happens: ({ sim }) => sim.store.organizations.clear(),
    says: ['organization_id 3c6e0b8a-9c15-4f1d-9f0e-5d2b7f1a2c11 cannot be listed'],
  },
  {
    what: 'drift that is accepted, but for what is excluded',
    happens: (stage) => stage.sim.edit(agentNamed(stage.sim).id, { greeting_message: 'Edited.' }),
    flags: { detailedExitcode: false, accept: ['agent'], exclude: ['agent.desk'] },
    says: ['--exclude cannot be used with --accept'],
  },
  {
    what: 'drift that is accepted, of other resources than the target',
    flags: { detailedExitcode: false, accept: ['agent'], target: ['retry_policy'] },
    says: ['--target cannot be used with --accept'],
  },
];

describe('drift that cannot be told ends with exit 1, and writes nothing', () => {
  for (const { what, happens, flags = {}, says } of rows) {
    staged(what, async (stage) => {
      await stage.apply();
      await happens?.(stage);
      const before = stage.writes().length;
      const { err, out } = await stage.run(
        (to) => drift({ dir: stage.folder, format: 'text', detailedExitcode: true, ...flags }, to),
        { exit: 1 },
      );
      for (const text of says) expect(err).toContain(text);
      expect(out).toBe('');
      expect(stage.writes().length).toBe(before);
    });
  }
});

describe('a history that cannot be shown ends with exit 1', () => {
  const cases: readonly (readonly [string, string, (stage: Stage) => unknown, string])[] = [
    ['an unknown address', 'agent.desc', () => undefined, 'agent.desc'],
    ['an unknown name', 'Frant desk', () => undefined, 'there is no agent "Frant desk"'],
    [
      'an agent that is gone',
      'agent.desk',
      ({ sim }) => sim.store.agents.clear(),
      'there is no agent agent.desk',
    ],
  ];
  for (const [what, wanted, happens, says] of cases) {
    staged(what, async (stage) => {
      await stage.apply();
      await happens(stage);
      const { err, out } = await stage.run(
        (to) => history(wanted, { dir: stage.folder, format: 'text', limit: 50 }, to),
        { exit: 1 },
      );
      expect(err).toContain(says);
      expect(out).toBe('');
    });
  }
});

import { expect } from 'vitest';
import { agentNamed } from '../e2e/clinic.ts';
import { type Stage, staged } from './stage.ts';

/** The clinic as applied a minute ago, and one change of it of which no answer comes. */
async function losing(stage: Stage, reset: 'before' | 'after'): Promise<void> {
  await stage.apply();
  stage.sim.advance(60_000);
  await stage.edit('agents.yaml', 'speed: 1.05', 'speed: 1.1');
  stage.sim.faults.add({ operation: 'updateAgent', reset, times: 20 });
  const [line] = await stage.apply({}, { exit: 3 });
  expect(line?.message).toContain('It may have been written all the same: the next plan reads it');
  stage.sim.faults.clear();
}

for (const reset of ['before', 'after'] as const)
  staged(
    `an update whose answers are all lost ${reset} the work is read by the next plan`,
    async (stage) => {
      await losing(stage, reset);
      await stage.edit('agents.yaml', 'how can I help?', 'good day!');
      await stage.apply();
    },
  );

staged('one whose answers were all lost is rolled back with its run', async (stage) => {
  await losing(stage, 'after');
  await stage.rollback();
  expect(agentNamed(stage.sim).record.voice_settings).toMatchObject({ speed: 1.05 });
});

const FAULTS = [
  ...[400, 409, 500].map((status) => ({ status, body: { error: 'internal_error' } })),
  { reset: 'after' as const },
];
const POLICY =
  'late: { name: Late, rules: { no_answer: { delay_seconds: 900, max_attempts: 3 } }, on_exhausted: end }';
const CALLS = [
  ['updateAgent', 'speed: 1.05', 'speed: 1.1'],
  ['createRetryPolicy', 'agents:', `retry_policies: { ${POLICY} }\nagents:`],
] as const;

for (const [operation, old, fresh] of CALLS)
  staged(`each failure of ${operation} reads as sentences, none of them twice`, async (stage) => {
    await stage.apply();
    stage.sim.advance(60_000);
    await stage.edit('agents.yaml', old, fresh);
    const said: string[] = [];
    for (const fault of FAULTS) {
      stage.sim.faults.clear();
      stage.sim.faults.add({ operation, times: 20, ...fault });
      const lines = await stage.apply({}, { exit: 'any' });
      said.push(...lines.flatMap(({ message }) => message ?? []));
    }
    expect(said.length).toBeGreaterThanOrEqual(FAULTS.length - 1);
    for (const message of said) {
      expect(message).not.toMatch(/[.!?];|[.]{2}|; [A-Z][a-z]+ /);
      const parts = message.split(/[.;](?: |$)/).map((part) => part.toLowerCase());
      expect(parts).toEqual([...new Set(parts)]);
      // One sentence says that nobody knows what was saved.
      const unsure = message.match(/anything was saved|written all the same/g) ?? [];
      expect(unsure.length).toBeLessThan(2);
    }
  });

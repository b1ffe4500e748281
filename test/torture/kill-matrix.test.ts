import { writeFile } from 'node:fs/promises';
import { afterAll, describe, expect, test } from 'vitest';
import { killAt, momentsOf, type Outcome } from '../kill/matrix.ts';
import { SCENARIOS } from '../kill/scenarios.ts';

const outcomes: Outcome[] = [];
const STRIDE = Number(process.env.STRIDE ?? 1);

describe('killed at every moment', () => {
  for (const scenario of SCENARIOS.filter(({ name }) => name.includes(process.env.SCN ?? '')))
    test(scenario.name, async () => {
      const moments = await momentsOf(scenario);
      console.log(scenario.name, moments.length);
      const t = Date.now();
      for (const [i, moment] of moments.entries()) {
        if (i % STRIDE === 0) {
          const o = await killAt(scenario, moment);
          outcomes.push(o);
          if (!o.converged) console.log(JSON.stringify(o, null, 1).slice(0, 1500));
        }
      }
      console.log(Date.now() - t);
      expect(outcomes.filter(({ converged }) => !converged)).toEqual([]);
    });
});

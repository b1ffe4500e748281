import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect } from 'vitest';
import { readSeed } from '../../src/simulator/index.ts';
import { openStage, type Stage } from '../apply/stage.ts';

const CLINICS = fileURLToPath(new URL('../../examples/clinics', import.meta.url));
const KEY = { BRIGHTWATER_CRM_KEY: 'canary-crm-77aa10' };

/** `examples/clinics` in a copy, against the platform that its seed describes. */
export async function inClinics(body: (stage: Stage) => Promise<void>): Promise<void> {
  const seed = readSeed(readFileSync(`${CLINICS}/simulator/seed.yaml`, 'utf8'));
  const stage = await openStage({ stack: CLINICS, seed, secrets: KEY });
  try {
    // It names the simulator's credentials, which are none here.
    await stage.remove('README.md');
    await body(stage);
    expect(stage.leaks()).toEqual([]);
  } finally {
    await stage.close();
  }
}

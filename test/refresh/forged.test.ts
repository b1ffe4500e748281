import { expect, test } from 'vitest';
import { kindNamed } from '../../src/kinds/index.ts';
import { buildPin } from '../../src/plan/refresh.ts';
import { forge } from '../cli/state-stage.ts';
import { refreshStage, type Stack } from './stage.ts';

/**
 * Whoever can write a state, and nothing else, gives it a text whose checksum fits. What the platform is asked anyway is
 * not taken from it.
 */
const STACK: Stack = {
  agents: {
    ann: { name: 'ann', greeting_message: 'Hello' },
    ben: { name: 'ben', greeting_message: 'Hello' },
  },
};

const UNSEALED = { env: { CALLSHEET_FINGERPRINT_KEY: undefined } };

const AGENT = kindNamed('agent');

test('the pin of an edit beside leaves that equal the files hides it from nothing that reads all', async () => {
  const stage = await refreshStage(STACK, {}, UNSEALED);
  await stage.settle();
  stage.alter('ben', { greeting_message: 'By hand' });
  const record = stage.sim.store.agents.get(stage.record('ben').id)?.record ?? {};
  await forge(stage, (resources) => {
    const ben = resources['agent.ben'];
    if (ben === undefined) throw new Error('the state has no agent.ben');
    const live = {
      id: ben.id,
      scope: ben.scope,
      extent: 'whole',
      document: record,
      record,
    } as const;
    const pin = { ...buildPin(AGENT, live), certain: true } as const;
    return { ...resources, 'agent.ben': { ...ben, pin } };
  });
  const edit = [{ address: 'agent.ben', fields: [{ path: 'greeting_message', cause: 'drifted' }] }];
  expect((await stage.plan({ refresh: 'full' })).changes).toMatchObject(edit);
  expect((await stage.drift({ refresh: 'full' })).changes).toMatchObject(edit);
  expect((await stage.drift()).changes).toMatchObject(edit);
  await stage.apply({ refresh: 'full' });
  expect(stage.record('ben').greeting_message).toBe('Hello');
});

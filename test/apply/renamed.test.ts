import { expect } from 'vitest';
import { stateIn } from '../cli/state-stage.ts';
import { agentNamed } from '../e2e/clinic.ts';
import { type Stage, staged } from './stage.ts';

const TOKEN = 'integrations.smsProvider.auth_token';

/** Another key for the block, without `moved`: the platform has one agent of that name. */
async function rename(stage: Stage): Promise<void> {
  await stage.edit('agents.yaml', '  desk:\n', '  front:\n');
}

async function entry(stage: Stage, address: string) {
  return (await stateIn(stage)).resources[address];
}

staged('a renamed key keeps what is known of the resource of the same id', async (stage) => {
  await stage.apply();
  const before = await entry(stage, 'agent.desk');
  await rename(stage);
  const { changes } = await stage.plan();
  expect(changes).toMatchObject([{ action: 'adopt', moved_from: 'agent.desk' }]);
  const writes = stage.writes().length;
  await stage.apply();
  expect(stage.writes().length).toBe(writes);
  const after = await entry(stage, 'agent.front');
  expect(await entry(stage, 'agent.desk')).toBeUndefined();
  expect(after?.id).toBe(before?.id);
  expect(Object.keys(after?.leaves ?? {}).sort()).toEqual(Object.keys(before?.leaves ?? {}).sort());
  // Bound to the new address, from the same source.
  expect(after?.leaves[TOKEN]).toMatchObject({ fingerprint: expect.stringContaining('hmac:') });
  // Another value is noticed.
  const secrets = { SMS_TOKEN: 'canary-sms-rotated' };
  const { changes: rotated } = await stage.plan({}, { env: secrets });
  expect(rotated.flatMap(({ fields }) => fields)).toMatchObject([
    { path: TOKEN, cause: 'secret_changed' },
  ]);
});

staged('a secret that is not at hand keeps its source', async (stage) => {
  await stage.apply();
  const before = await entry(stage, 'agent.desk');
  await rename(stage);
  await stage.apply({}, { env: { SMS_TOKEN: undefined } });
  const known = before?.leaves[TOKEN];
  const source = known !== undefined && 'source' in known ? known.source : undefined;
  expect(source).toMatch(/^sha256:/);
  expect((await entry(stage, 'agent.front'))?.leaves[TOKEN]).toEqual({ unknown: true, source });
});

staged('what the renamed block no longer has is taken away', async (stage) => {
  await stage.edit(
    'agents.yaml',
    '    status: active\n',
    '    status: active\n    timezone: UTC\n',
  );
  await stage.apply();
  await rename(stage);
  await stage.edit('agents.yaml', '    timezone: UTC\n', '');
  const { changes } = await stage.plan();
  expect(changes.flatMap(({ fields }) => fields)).toMatchObject([
    { path: 'timezone', cause: 'cleared' },
  ]);
  await stage.apply();
  expect(agentNamed(stage.sim).record.timezone ?? null).toBeNull();
});

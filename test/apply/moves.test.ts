import { expect } from 'vitest';
import type { PlanDocument } from '../../src/core/plan-document.ts';
import type { ResourceState } from '../../src/state/model.ts';
import { stateIn } from '../cli/state-stage.ts';
import { type Stage, staged } from './stage.ts';

const AGENTS = 'agents.yaml';
const SMS = `sms_templates:
  reminder:
    name: Reminder
    message_type: sms
    body: See you on {{date}}.
    status: draft
`;

/** Plans into `plan.json`. */
async function plan(stage: Stage): Promise<PlanDocument> {
  const made = await stage.plan();
  await stage.write('plan.json', JSON.stringify(made));
  return made;
}

/** What is remembered of a resource beside fingerprints. */
function plainOf(resource: ResourceState | undefined) {
  const leaves = Object.entries(resource?.leaves ?? {}).map(([path, leaf]) =>
    'fingerprint' in leaf ? [path, 'fingerprint'] : [path, leaf],
  );
  return { ...resource, leaves };
}

staged(
  'an address that was moved keeps its resource, and what the state knows of it',
  async (stage) => {
    await stage.apply();
    const before = await stateIn(stage);
    const old = before.resources['agent.desk'];
    await stage.edit(AGENTS, '  desk:\n', '  front_desk:\n');
    // Under another name too, so that only `moved` can tell.
    await stage.edit(AGENTS, 'name: Front desk', 'name: First desk');
    await stage.write('moved.yaml', 'moved:\n  - { from: agent.desk, to: agent.front_desk }\n');
    const writes = stage.writes().length;

    const planned = await plan(stage);
    expect(
      planned.changes.map(({ action, address, moved_from }) => [action, address, moved_from]),
    ).toEqual([
      ['update', 'agent.front_desk', 'agent.desk'],
      ['forget', 'agent.desk', undefined],
    ]);
    expect(planned.changes[0]?.fields.map(({ path }) => path)).toEqual(['name']);
    await stage.applyFile('plan.json');
    expect(stage.writes().length).toBe(writes + 1);
    const { resources } = await stateIn(stage);
    expect(resources['agent.desk']).toBeUndefined();
    expect(resources['agent.front_desk']?.id).toBe(old?.id);
    expect(Object.keys(resources['agent.front_desk']?.leaves ?? {})).toEqual(
      Object.keys(old?.leaves ?? {}),
    );
  },
);

staged('a move that changes nothing else asks nothing of the platform', async (stage) => {
  await stage.apply();
  const before = await stateIn(stage);
  await stage.edit(AGENTS, '  desk:\n', '  front_desk:\n');
  await stage.write('moved.yaml', 'moved:\n  - { from: agent.desk, to: agent.front_desk }\n');
  const writes = stage.writes().length;
  const { changes } = await plan(stage);
  expect(changes.map(({ action, address, reason }) => [action, address, reason])).toEqual([
    ['adopt', 'agent.front_desk', 'it was agent.desk before'],
    ['forget', 'agent.desk', 'its resource is agent.front_desk now'],
  ]);
  await stage.applyFile('plan.json');
  expect(stage.writes().length).toBe(writes);
  const { resources } = await stateIn(stage);
  const [now, then] = [resources['agent.front_desk'], before.resources['agent.desk']];
  // Fingerprints are bound to the address, and so made anew.
  expect(plainOf(now)).toEqual(plainOf(then));
  expect(now?.leaves).not.toEqual(then?.leaves);
});

staged('what forget names is let go of, and stays on the platform', async (stage) => {
  await stage.apply();
  const { id } = (await stateIn(stage)).resources['sms_template.reminder'] ?? {};
  await stage.edit('resources.yaml', SMS, '');
  const gone = await stage.plan();
  expect(gone.changes.map(({ action, verdict }) => [action, verdict])).toEqual([
    ['delete', 'held'],
  ]);
  await stage.write('forget.yaml', 'forget: [sms_template.reminder]\n');
  const { changes } = await stage.plan();
  expect(changes.map(({ action, reason }) => [action, reason])).toEqual([
    ['forget', 'forget names it: it stays on the platform as it is'],
  ]);
  await stage.apply();
  expect((await stateIn(stage)).resources['sms_template.reminder']).toBeUndefined();
  expect(stage.sim.store.smsTemplates.has(id ?? '')).toBe(true);
});

staged('a secret that is changed with the move is written', async (stage) => {
  await stage.apply();
  await stage.edit(AGENTS, '  desk:\n', '  front_desk:\n');
  await stage.write('moved.yaml', 'moved:\n  - { from: agent.desk, to: agent.front_desk }\n');
  const env = { SMS_TOKEN: 'canary-sms-rotated-19c4' };
  const { changes } = await stage.plan({}, { env });
  expect(changes.map(({ action, address }) => [action, address])).toEqual([
    ['update', 'agent.front_desk'],
    ['forget', 'agent.desk'],
  ]);
  expect(changes[0]?.fields.map(({ path }) => path)).toEqual([
    'integrations.smsProvider.auth_token',
  ]);
  await stage.apply({}, { env });
});

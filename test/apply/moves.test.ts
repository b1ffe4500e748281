import { expect } from 'vitest';
import type { PlanDocument } from '../../src/core/plan-document.ts';
import type { ResourceState } from '../../src/state/model.ts';
import { stateCommands, stateIn } from '../cli/state-stage.ts';
import { longStaged, type Stage, staged } from './stage.ts';

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
    ).toEqual([['update', 'agent.front_desk', 'agent.desk']]);
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

longStaged('a move that changes nothing else asks nothing of the platform', async (stage) => {
  await stage.apply();
  const before = await stateIn(stage);
  await stage.edit(AGENTS, '  desk:\n', '  front_desk:\n');
  await stage.write('moved.yaml', 'moved:\n  - { from: agent.desk, to: agent.front_desk }\n');
  const writes = stage.writes().length;
  const { changes } = await plan(stage);
  expect(changes.map(({ action, address, reason }) => [action, address, reason])).toEqual([
    ['adopt', 'agent.front_desk', 'it was agent.desk before'],
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
    ['forget', 'forget lists it: it stays on the platform, unchanged'],
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
  ]);
  expect(changes[0]?.fields.map(({ path }) => path)).toEqual([
    'integrations.smsProvider.auth_token',
  ]);
  await stage.apply({}, { env });
});

const MOVED = 'moved: [{ from: agent.desk, to: agent.front_desk }]\n';

/** What the state knows the desk by. */
async function addressOf(stage: Stage, id: string | undefined) {
  const { resources } = await stateIn(stage);
  return Object.entries(resources).flatMap(([address, one]) => (one.id === id ? [address] : []));
}

/** The desk moved and changed, with its id. */
async function moveDesk(stage: Stage): Promise<string | undefined> {
  await stage.apply();
  const { id } = (await stateIn(stage)).resources['agent.desk'] ?? {};
  await stage.edit(AGENTS, '  desk:\n', '  front_desk:\n');
  await stage.edit(AGENTS, 'name: Front desk', 'name: First desk');
  await stage.write('moved.yaml', MOVED);
  return id;
}

staged('a move that is refused leaves the resource where the state has it', async (stage) => {
  const id = await moveDesk(stage);
  await stage.edit(AGENTS, 'how can I help?', 'good day!');
  stage.sim.edit(id ?? '', { greeting_message: 'By hand' });
  await stage.apply({ skipRefused: true }, { leaves: () => true, exit: 'any' });
  expect(await addressOf(stage, id)).toEqual(['agent.desk']);
  await stage.apply({ acceptConflicts: true });
  expect(await addressOf(stage, id)).toEqual(['agent.front_desk']);
});

longStaged('a move that is not chosen leaves it there, too', async (stage) => {
  const id = await moveDesk(stage);
  await stage.apply({ target: ['agent.recall'] });
  expect(await addressOf(stage, id)).toEqual(['agent.desk']);
  await stage.apply({ target: ['agent.front_desk'] });
  expect(await addressOf(stage, id)).toEqual(['agent.front_desk']);
});

longStaged('a move whose update fails leaves it there, too', async (stage) => {
  const id = await moveDesk(stage);
  stage.sim.faults.add({ operation: 'updateAgent', status: 403, body: { error: 'locked' } });
  await stage.apply({}, { exit: 3 });
  expect(await addressOf(stage, id)).toEqual(['agent.desk']);
  await stage.apply();
  expect(await addressOf(stage, id)).toEqual(['agent.front_desk']);
  expect(stage.sim.store.agents.has(id ?? '')).toBe(true);
});

longStaged('under another fingerprint key a moved secret is left alone', async (stage) => {
  await moveDesk(stage);
  const env = { CALLSHEET_FINGERPRINT_KEY: 'another key of thirty-two letters' };
  await stateCommands(stage).adopt({ env });
  const { changes } = await stage.plan({}, { env });
  const written = changes.flatMap(({ fields }) => fields);
  expect(written.filter(({ cause }) => cause !== 'unknown_secret').map(({ path }) => path)).toEqual(
    ['name'],
  );
});

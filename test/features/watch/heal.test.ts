import { describe, expect, test } from 'vitest';
import { longTest } from '../../long.ts';
import { drift, LEFT_ALONE, leaves } from './left-alone.ts';
import {
  agent,
  liveField,
  markHealed,
  ofEvent,
  openApplied,
  openReceiver,
  startWatching,
} from './watching.ts';

/** What `watch --heal` puts back, and what it never does. */

const GREETING = 'Harbor Dental, how can I help?';

test('what is marked is put back and verified, under a run of its own, and nothing else is written', async () => {
  const stage = await openApplied(['desk']);
  const { received, url } = await openReceiver();
  const watching = await startWatching(stage, {
    flags: { heal: true, notify: true },
    env: { CALLSHEET_NOTIFY_URL: url },
  });
  drift(stage);
  stage.sim.edit(agent(stage, 'Recall'), { system_prompt: 'Edited too.' });
  const before = stage.writes().length;
  const lines = await watching.pass();

  const [ended] = ofEvent(lines, 'heal_ended');
  expect(ended).toMatchObject({
    address: 'agent.desk',
    name: 'Front desk',
    status: 'done',
    fields: ['greeting_message'],
  });
  expect(liveField(stage, 'Front desk', 'greeting_message')).toBe(GREETING);
  expect(liveField(stage, 'Recall', 'system_prompt')).toBe('Edited too.');
  expect(stage.writes().slice(before)).toMatchObject([{ operation: 'updateAgent' }]);
  expect(ofEvent(lines, 'pass_ended')).toMatchObject([{ drifted: 1, healed: 1 }]);
  expect(ofEvent(await watching.pass(), 'drift_found', 'drift_ended')).toEqual([]);

  const { runs } = await import('../../../src/cli/commands/state.ts');
  const flags = { dir: stage.folder, format: 'json' } as const;
  const listed = JSON.parse((await stage.run((to) => runs(undefined, flags, to))).out).runs;
  expect(listed).toMatchObject([
    { run: ended?.run, purpose: 'heal', status: 'done', changes: 1 },
    { purpose: 'apply' },
  ]);
  expect(await watching.metrics()).toMatch(/callsheet_heals_total\{[^}]*status="done"\} 1\n/);
  // That there was drift is told although it is over already; that of the other agent is not.
  expect(received.map(({ is_drifted: is, text }) => [is, text.split('\n').slice(1)])).toEqual([
    [true, ['agent.desk: 1 setting', 'agent.recall: 1 setting']],
  ]);
});

describe('what is left as it is', () => {
  // All of them are in `npm run torture`; what makes a change one that is left is in test/plan/heal.test.ts.
  for (const row of LEFT_ALONE.filter(({ isQuick }) => isQuick)) test(row.what, () => leaves(row));
});

longTest('a configuration that a rollback holds is not healed either', async () => {
  const stage = await openApplied(['desk']);
  await stage.edit('agents.yaml', 'how can I help?', 'good day!');
  await stage.apply();
  await stage.rollback();
  const watching = await startWatching(stage, { flags: { heal: true } });
  stage.sim.edit(agent(stage, 'Front desk'), { model: 'alpha-4o' });
  const lines = await watching.pass();
  expect(ofEvent(lines, 'heal_ended')).toEqual([]);
  expect(ofEvent(lines, 'heal_left')).toMatchObject([{ address: 'agent.desk' }]);
  expect(liveField(stage, 'Front desk', 'model')).toBe('alpha-4o');
});

test('whoever changes it again and again is told of loudly, and no longer fought', async () => {
  const stage = await openApplied(['desk', 'recall']);
  const flags = { heal: true, healLimit: 2 };
  const watching = await startWatching(stage, { flags });
  for (const greeting of ['One.', 'Two.']) {
    drift(stage, greeting);
    expect(ofEvent(await watching.pass(), 'heal_ended')).toMatchObject([{ status: 'done' }]);
  }
  drift(stage, 'Three.');
  stage.sim.edit(agent(stage, 'Recall'), { system_prompt: 'Edited.' });
  const third = await watching.pass();
  expect(third.filter(({ level }) => level === 'error')).toMatchObject([
    { event: 'heal_contested', address: 'agent.desk', times: 2 },
  ]);
  // Others are put back all the same.
  expect(ofEvent(third, 'heal_ended')).toMatchObject([{ address: 'agent.recall' }]);
  expect(liveField(stage, 'Front desk', 'greeting_message')).toBe('Three.');
  expect(await watching.metrics()).toMatch(/callsheet_contested_resources\{[^}]*\} 1\n/);

  // An hour later it is still theirs, until somebody settles it.
  watching.advance(3_600_000);
  expect(ofEvent(await watching.pass(), 'heal_ended', 'heal_contested')).toEqual([]);
  await stage.apply();
  expect(ofEvent(await watching.pass(), 'heal_agreed')).toMatchObject([{ address: 'agent.desk' }]);
  drift(stage, 'Four.');
  expect(ofEvent(await watching.pass(), 'heal_ended')).toMatchObject([{ status: 'done' }]);
});

test('tries before a restart count', async () => {
  const stage = await openApplied(['desk']);
  const flags = { heal: true, healLimit: 1 };
  const first = await startWatching(stage, { flags });
  drift(stage, 'One.');
  await first.pass();
  await first.stop();
  const second = await startWatching(stage, { flags });
  await second.pass();
  drift(stage, 'Two.');
  const lines = await second.pass();
  expect(ofEvent(lines, 'heal_contested')).toMatchObject([{ times: 1 }]);
  expect(ofEvent(lines, 'heal_ended')).toEqual([]);
});

longTest('a write that fails counts as a try, and the next pass tries again', async () => {
  const stage = await openApplied(['desk']);
  const watching = await startWatching(stage, { flags: { heal: true, healLimit: 2 } });
  drift(stage);
  stage.sim.faults.add({ operation: 'updateAgent', status: 403, times: 5 });
  for (const _ of [1, 2]) {
    const [ended] = ofEvent(await watching.pass(), 'heal_ended');
    expect(ended).toMatchObject({ status: 'failed', message: expect.stringContaining('403') });
  }
  expect(ofEvent(await watching.pass(), 'heal_contested')).toHaveLength(1);
});

test('beside a run that is at work nothing is looked at', async () => {
  const stage = await openApplied(['desk']);
  const watching = await startWatching(stage, { flags: { heal: true } });
  drift(stage);
  const held = Promise.withResolvers<void>();
  const reached = Promise.withResolvers<void>();
  await stage.edit('agents.yaml', 'You call people', 'You ring people');
  const applying = stage.apply(
    { target: ['agent.recall'] },
    {
      outside: {
        wire: (transport) => ({
          ...transport,
          async send(request) {
            if (request.method !== 'GET' && request.about?.operation === 'updateAgent') {
              reached.resolve();
              await held.promise;
            }
            return transport.send(request);
          },
        }),
      },
    },
  );
  await reached.promise;
  const lines = await watching.pass();
  expect(lines.map(({ event }) => event)).toEqual(['pass_postponed']);
  held.resolve();
  await applying;
  expect(ofEvent(await watching.pass(), 'heal_ended')).toMatchObject([{ status: 'done' }]);
});

longTest('what is no longer marked is no longer healed', async () => {
  const stage = await openApplied(['desk']);
  const watching = await startWatching(stage, { flags: { heal: true } });
  await markHealed(stage, 'desk', false);
  drift(stage);
  expect(ofEvent(await watching.pass(), 'heal_ended', 'heal_left')).toEqual([]);
  expect(liveField(stage, 'Front desk', 'greeting_message')).toBe('Edited.');
});

test('a rollback of the last run undoes no healing unless it is named', async () => {
  const stage = await openApplied(['desk']);
  const watching = await startWatching(stage, { flags: { heal: true } });
  drift(stage);
  const [ended] = ofEvent(await watching.pass(), 'heal_ended');
  await watching.stop();
  await stage.rollback({}, { exit: 1 });
  expect(liveField(stage, 'Front desk', 'greeting_message')).toBe(GREETING);
  await stage.rollback({ run: String(ended?.run) });
  expect(liveField(stage, 'Front desk', 'greeting_message')).toBe('Edited.');
});

test('a configuration that changes between the look and the healing is not applied by it', async () => {
  const stage = await openApplied(['desk']);
  let isDue = false;
  const watching = await startWatching(stage, {
    flags: { heal: true },
    wire: (transport) => ({
      ...transport,
      async send(request) {
        const answer = await transport.send(request);
        if (isDue && request.about?.operation === 'listAgentHistory') {
          isDue = false;
          await stage.edit('agents.yaml', 'speed: 1.05', 'speed: 1.1');
        }
        return answer;
      },
    }),
  });
  drift(stage);
  isDue = true;
  const before = stage.writes().length;
  const lines = await watching.pass();
  expect(isDue).toBe(false);
  expect(ofEvent(lines, 'heal_skipped')).toMatchObject([
    { message: expect.stringContaining('changed during the check') },
  ]);
  expect(stage.writes().length).toBe(before);
  expect(ofEvent(await watching.pass(), 'heal_left')).toMatchObject([{ address: 'agent.desk' }]);
});

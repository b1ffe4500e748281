import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { drift } from '../../../src/cli/commands/drift.ts';
import { keepReads, look } from '../../../src/features/watch/look.ts';
import { longTest } from '../../long.ts';
import { FLEET } from '../writing/pull/stage.ts';
import { agent, INTERVAL, ofEvent, openApplied, openReceiver, startWatching } from './watching.ts';

/** What `watch` tells of a stack, pass by pass. Its time is the test's. */

test('drift is told once, with its author, when it is new and when it is over', async () => {
  const stage = await openApplied();
  const watching = await startWatching(stage);
  expect(ofEvent(watching.lines, 'drift_found', 'drift_ended')).toEqual([]);

  const edit = stage.sim.edit(agent(stage, 'Front desk'), { greeting_message: 'Hi.' }, 'user:jo');
  const found = {
    event: 'drift_found',
    address: 'agent.desk',
    field: 'greeting_message',
    certainty: 'entry',
    because: null,
    actor: 'user:jo',
    source: 'dashboard',
    at: edit.created_at,
  };
  const first = await watching.pass();
  expect(ofEvent(first, 'drift_found')).toEqual([found]);
  expect(first.find(({ event }) => event === 'drift_found')?.level).toBe('warn');
  expect(ofEvent(first, 'pass_ended')).toMatchObject([
    { because: 'interval', compared: 8, drifted: 1, healed: 0 },
  ]);
  expect(JSON.stringify(first)).not.toContain('Hi.');
  // Still there, and no news.
  const again = await watching.pass();
  expect(again.map(({ event }) => event)).toEqual(['pass_ended']);
  expect([first, again].map((log) => ofEvent(log, 'pass_ended')[0])).toMatchObject([
    { repeated: false },
    { repeated: true },
  ]);

  stage.sim.edit(agent(stage, 'Front desk'), { greeting_message: 'Hi there.' }, 'user:ana');
  // Which of the two edits it was is not known any more.
  expect(ofEvent(await watching.pass(), 'drift_found')).toMatchObject([
    { field: 'greeting_message', certainty: 'one_of', actor: 'user:ana' },
  ]);

  await stage.apply();
  expect(ofEvent(await watching.pass(), 'drift_ended')).toEqual([
    { event: 'drift_ended', address: 'agent.desk', field: 'greeting_message' },
  ]);
  expect(stage.writes().filter(({ operation }) => operation === 'updateAgent')).toHaveLength(1);
});

test('a resource that is gone is told as one, and not made anew', async () => {
  const stage = await openApplied(['recall']);
  const watching = await startWatching(stage, { flags: { heal: true } });
  stage.sim.store.agents.delete(agent(stage, 'Recall'));
  const lines = await watching.pass();
  expect(ofEvent(lines, 'drift_found')).toMatchObject([{ address: 'agent.recall', field: null }]);
  expect(ofEvent(lines, 'heal_left')).toMatchObject([{ address: 'agent.recall' }]);
  expect(ofEvent(await watching.pass(), 'heal_left', 'drift_found')).toEqual([]);
  expect([...stage.sim.store.agents.values()]).toHaveLength(1);
});

test('notifications go out when drift appears and when it ends, and are tried again', async () => {
  const stage = await openApplied();
  const { received, state, url } = await openReceiver();
  const env = { CALLSHEET_NOTIFY_URL: url };
  const watching = await startWatching(stage, { flags: { notify: true }, env });
  await watching.pass();
  expect(received).toEqual([]);

  stage.sim.edit(agent(stage, 'Recall'), { system_prompt: 'Edited.' });
  state.answer = 503;
  const failed = await watching.pass();
  expect(failed.filter(({ level }) => level === 'error')).toMatchObject([
    { event: 'notification_failed' },
  ]);
  expect(JSON.stringify(failed)).not.toContain(url);
  state.answer = 204;
  await watching.pass();
  await watching.pass();
  expect(received).toMatchObject([{ is_drifted: true }]);

  stage.sim.edit(agent(stage, 'Front desk'), { greeting_message: 'Edited.' });
  await watching.pass();
  expect(received.map(({ text }) => text.split('\n').length)).toEqual([2, 3]);

  await stage.apply();
  await watching.pass();
  await watching.pass();
  expect(received.map(({ is_drifted: isDrifted }) => isDrifted)).toEqual([true, true, false]);
});

test('a configuration that breaks is told once and ends nothing; what is new in it counts', async () => {
  const stage = await openApplied();
  const watching = await startWatching(stage);
  await writeFile(join(stage.folder, 'more.yaml'), 'agents: [\n');
  const broken = await watching.pass();
  expect(ofEvent(broken, 'pass_failed')).toMatchObject([
    { kind: 'config', problems: [expect.stringMatching(/^more\.yaml:2: .*\(yaml\/syntax\)$/)] },
  ]);
  expect([await watching.pass(), watching.delay()]).toEqual([[], INTERVAL]);
  await writeFile(join(stage.folder, 'more.yaml'), 'agents: { third: { name: Third } }\n');
  const mended = await watching.pass();
  expect(ofEvent(mended, 'pass_recovered')).toMatchObject([{ failures: 2 }]);
  expect(ofEvent(mended, 'pass_ended')).toMatchObject([{ compared: 9, pending: 1, drifted: 0 }]);
});

test('a platform that fails is told once, asked at the interval, and told when it is back', async () => {
  const stage = await openApplied();
  const watching = await startWatching(stage);
  const down = { operation: 'getMe', status: 503, times: 1000 } as const;
  stage.sim.faults.add(down);
  const passes = [await watching.pass()];
  const delays = [watching.delay()];
  for (let count = 0; count < 5; count += 1) {
    passes.push(await watching.pass());
    delays.push(watching.delay());
  }
  expect(ofEvent(passes.flat(), 'pass_failed')).toMatchObject([{ kind: 'api' }]);
  expect(delays.map((delay) => delay / INTERVAL)).toEqual([1, 1, 1, 1, 1, 1]);
  expect(await fetch(`${watching.url}/healthz`).then((answer) => answer.json())).toMatchObject({
    status: 'ok',
    failures: [{ kind: 'api', passes: 6 }],
  });
  stage.sim.faults.clear();
  const back = await watching.pass();
  expect(ofEvent(back, 'pass_recovered')).toMatchObject([{ failures: 6 }]);
  expect(watching.delay()).toBe(INTERVAL);
  const metrics = await watching.metrics();
  expect(metrics).toMatch(/callsheet_passes_total\{[^}]*outcome="failed"\} 6\n/);
  expect(metrics).toMatch(/callsheet_api_requests_total\{status="503"\} [1-9]/);
});

test('what a failed pass read is kept for the next one, and for no other', async () => {
  const stage = await openApplied();
  const watching = await startWatching(stage);
  const reads = () => stage.sim.requests.filter(({ operation }) => operation === 'getAgent').length;
  const [one, other] = [agent(stage, 'Recall'), agent(stage, 'Front desk')];
  for (const id of [one, other]) stage.sim.edit(id, { system_prompt: 'Edited.' });
  stage.sim.faults.add({ operation: 'getAgent', path: one, status: 503, times: 1000 });
  expect(ofEvent(await watching.pass(), 'pass_failed')).toHaveLength(1);
  stage.sim.faults.clear();
  const before = reads();
  expect(ofEvent(await watching.pass(), 'drift_found')).toMatchObject([{}, {}]);
  expect(reads() - before).toBe(1);
  stage.sim.edit(other, { system_prompt: 'Edited again.' });
  expect(ofEvent(await watching.pass(), 'drift_found')).toMatchObject([{ field: 'system_prompt' }]);
});

longTest('429s are counted', async () => {
  const stage = await openApplied();
  const watching = await startWatching(stage);
  expect(await watching.metrics()).toContain('callsheet_api_rate_limited_total 0\n');
  stage.sim.faults.add({ operation: 'listAgents', status: 429, times: 2 });
  await watching.pass();
  expect(await watching.metrics()).toContain('callsheet_api_rate_limited_total 2\n');
});

test('all is read by the first pass and once a day, and in between what can have changed', async () => {
  const stage = await openApplied();
  const reads = () => stage.sim.requests.filter(({ operation }) => operation === 'getAgent').length;
  let before = reads();
  const read = () => {
    const now = reads();
    const some = now - before;
    before = now;
    return some;
  };
  const watching = await startWatching(stage);
  expect(read()).toBe(2);
  await watching.pass();
  expect(read()).toBe(0);
  watching.advance(86_400_000);
  await watching.pass();
  expect(read()).toBe(2);
});

test('it stops cleanly while it waits, and says so', async () => {
  const stage = await openApplied();
  const watching = await startWatching(stage);
  expect(await watching.stop()).toBe(0);
  expect(watching.lines.slice(-2).map(({ event }) => event)).toEqual(['stopping', 'stopped']);
  await expect(fetch(`${watching.url}/healthz`)).rejects.toThrow();
});

test('drift says what pull needs to keep it, as callsheet drift does', async () => {
  const stage = await openApplied([], { stack: FLEET });
  stage.sim.edit(agent(stage, 'Night desk'), { config: { inactivity_timeout: 40 } });
  const flags = { dir: stage.folder };
  const seen: Awaited<ReturnType<typeof look>>[] = [];
  await stage.run(async (to) => {
    seen.push(await look(flags, to, { refresh: 'full', kept: keepReads(0, to.now) }));
    return 0;
  });
  const json = { ...flags, format: 'json' } as const;
  const { out } = await stage.run((to) => drift(json, to));
  const [one] = seen;
  expect(one?.type === 'seen' && one.drift.changes).toEqual(JSON.parse(out).changes);
  expect(one).toMatchObject({
    drift: {
      changes: [{ fields: [{ pull_flags: ['--override', '--change-shared'] }] }],
    },
  });
});

import { PassThrough } from 'node:stream';
import { setTimeout as moment } from 'node:timers/promises';
import { expect, test } from 'vitest';
import type { Streams } from '../../../../src/features/writing/init/init.ts';
import { askShared, isLeft } from '../../../../src/features/writing/pull/ask.ts';
import type { SharedPlace } from '../../../../src/features/writing/pull/index.ts';

const BASE: SharedPlace = {
  key: 'bases.yaml:80:82',
  where: 'bases.yaml:7',
  liveEdits: [
    {
      address: 'agent.night',
      text: 'config.inactivity_timeout',
      values: { before: 20, after: 30 },
    },
  ],
  others: ['agent.a', 'agent.b', 'agent.c', 'agent.d'],
  choices: ['own', 'shared'],
};
const TEMPLATE: SharedPlace = {
  key: 'agent.desk system_prompt',
  where: '$template prompts/desk.md (agents.yaml:7)',
  liveEdits: [
    {
      address: 'agent.desk',
      text: 'system_prompt',
      values: { before: 'Be kind.\nNever shout.\n', after: 'Be kind.\nNever whisper.\n' },
    },
  ],
  others: [],
  choices: ['own'],
};

/** Types keys at each question; what was chosen, and what stood on the screen. */
async function answer(questions: readonly SharedPlace[], keys: readonly string[]) {
  const input = Object.assign(new PassThrough(), { isTTY: true, setRawMode: () => input });
  const output = Object.assign(new PassThrough(), { isTTY: true, columns: 200, rows: 24 });
  let shown = '';
  output.on('data', (text) => {
    shown += String(text);
  });
  const chosen = askShared(questions, { input, output } as unknown as Streams);
  chosen.catch(() => {});
  for (const key of keys) {
    await moment(0);
    input.write(key);
    await moment(0);
  }
  return { chosen: await chosen, shown };
}

test('a shared place is written on the resource, changed for all, or left', async () => {
  const { chosen, shown } = await answer([BASE, TEMPLATE], ['\x1b[B', '\r', '\r']);
  expect([...chosen]).toEqual([
    [BASE.key, 'shared'],
    [TEMPLATE.key, 'own'],
  ]);
  expect(shown).toContain('agent.night config.inactivity_timeout changed on the platform: 20 → 30');
  expect(shown).toContain(
    'agent.desk system_prompt changed on the platform: line 2: "Never shout." → "Never whisper."',
  );
  expect(shown).toContain('4 others also read bases.yaml:7: agent.a, agent.b, agent.c, agent.d.');
  expect(shown).toContain('Change it in bases.yaml:7, also for the 4 others');
  expect(shown).toContain('Write it on agent.desk alone');
});

test('what is left holds up nothing else', async () => {
  const { chosen } = await answer([BASE], ['\x1b[A', '\r']);
  expect([...chosen]).toEqual([]);
  const left = { address: 'agent.night', path: 'config.inactivity_timeout' };
  const other = new Map([[BASE.key, 'own'] as const]);
  expect(isLeft(left, [BASE], chosen)).toBe(true);
  expect(isLeft(left, [BASE], other)).toBe(false);
  expect(isLeft({ ...left, path: 'status' }, [BASE], new Map())).toBe(false);
});

test('an interrupt writes nothing', async () => {
  await expect(answer([BASE], ['\x03'])).rejects.toMatchObject({ code: 'interrupted' });
});

import { describe, expect } from 'vitest';
import type { Fault } from '../../src/simulator/index.ts';
import { agentNamed } from '../e2e/clinic.ts';
import { longStaged, type Stage, staged } from './stage.ts';

const GREETING = '    greeting_message: Harbor Dental, how can I help?\n';

const desk = ({ sim }: Stage) => agentNamed(sim).record;

const bodies = (stage: Stage) =>
  stage
    .writes()
    .filter(({ operation }) => operation === 'updateAgent')
    .map(({ body }) => body);

describe('a platform that refuses null', () => {
  const dialect = { nulls: 'rejected' } as const;

  staged(
    'keeps what would have been cleared; the rest is written, and the state lets go of it',
    async (stage) => {
      await stage.apply();
      await stage.edit('agents.yaml', GREETING, '');
      await stage.edit('agents.yaml', ', speed: 1.05', '');
      await stage.edit('agents.yaml', 'model: alpha-4.1', 'model: alpha-4o');
      const [line] = await stage.apply();
      expect(line?.message).toBe(
        'the platform cannot clear greeting_message, voice_settings.speed: the value stays, and Callsheet no longer manages it',
      );
      expect(desk(stage)).toMatchObject({
        model: 'alpha-4o',
        greeting_message: 'Harbor Dental, how can I help?',
        voice_settings: { speed: 1.05 },
      });
      expect(bodies(stage).at(-1)).toEqual({ model: 'alpha-4o' });

      // Nobody's by now: an edit in the dashboard is no drift.
      const [id = ''] =
        [...stage.sim.store.agents].find(([, one]) => one.record === desk(stage)) ?? [];
      stage.sim.edit(id, { greeting_message: 'By hand.' });
      expect((await stage.plan()).changes).toEqual([]);
    },
    { dialect },
  );

  staged(
    'keeps what the files set to null, and the rest is written: the run says so every time',
    async (stage) => {
      await stage.apply();
      await stage.edit('agents.yaml', ', speed: 1.05', ', speed: null');
      await stage.edit('agents.yaml', 'model: alpha-4.1', 'model: alpha-4o');
      const [line] = await stage.apply({}, { exit: 3 });
      expect(line).toMatchObject({
        status: 'failed',
        message:
          'voice_settings.speed is left out: the platform refuses null for it, so its value stays; take the line out to leave it as it is',
      });
      expect(desk(stage)).toMatchObject({ model: 'alpha-4o', voice_settings: { speed: 1.05 } });
      const { changes } = await stage.plan();
      expect(changes.flatMap(({ fields }) => fields.map(({ path }) => path))).toEqual([
        'voice_settings.speed',
      ]);
      const [alone] = await stage.apply({}, { exit: 3 });
      expect(alone?.message).toMatch(/voiceSettings\.speed: null is not allowed/);

      await stage.edit('agents.yaml', ', speed: null', '');
      await stage.apply();
      expect(desk(stage)).toMatchObject({ voice_settings: { speed: 1.05 } });
    },
    { dialect },
  );

  longStaged(
    'and is asked for nothing else where nothing else changed',
    async (stage) => {
      await stage.apply();
      await stage.edit('agents.yaml', GREETING, '');
      await stage.apply();
      expect(stage.writes().filter(({ status }) => status === 400)).toHaveLength(1);
    },
    { dialect },
  );
});

describe('a refusal of something else is a failure', () => {
  const refusals: readonly (readonly [string, Omit<Fault, 'operation'>])[] = [
    ['another field', { status: 400, body: issues('model') }],
    ['another status', { status: 403, body: { error: 'forbidden' } }],
  ];
  for (const [what, fault] of refusals) {
    staged(what, async (stage) => {
      await stage.apply();
      await stage.edit('agents.yaml', GREETING, '');
      stage.sim.faults.add({ operation: 'updateAgent', ...fault });
      const [line] = await stage.apply({}, { exit: 3 });
      expect(line).toMatchObject({ status: 'failed' });
      await stage.apply();
      expect(desk(stage)).not.toHaveProperty('greeting_message');
    });
  }

  staged('without a word about the field: the clears are left out once', async (stage) => {
    await stage.apply();
    await stage.edit('agents.yaml', GREETING, '');
    await stage.edit('agents.yaml', 'model: alpha-4.1', 'model: alpha-4o');
    stage.sim.faults.add({
      operation: 'updateAgent',
      status: 400,
      times: 2,
      body: { error: 'no' },
    });
    const [line] = await stage.apply({}, { exit: 3 });
    expect(line).toMatchObject({ status: 'failed' });
    expect(bodies(stage)).toHaveLength(2);
  });
});

staged(
  'what the platform fills in itself is no failure to clear',
  async (stage) => {
    await stage.apply();
    await stage.edit('agents.yaml', ', speed: 1.05', '');
    const [line] = await stage.apply();
    expect(line?.message).toMatch(/cannot clear voice_settings\.speed/);
  },
  { dialect: { nestedDefaults: true } },
);

staged(
  'what the platform fills in where the files say null is said once, and by each plan',
  async (stage) => {
    await stage.apply();
    await stage.edit('agents.yaml', ', speed: 1.05', ', speed: null');
    const [line] = await stage.apply();
    const said = 'voice_settings.speed was sent as nothing and stored as 1';
    expect(line).toMatchObject({ status: 'done', message: expect.stringContaining(said) });
    const notes = (await stage.plan()).notes.map(({ message }) => message);
    expect(notes).toEqual([expect.stringContaining('voice_settings.speed is 1: the platform')]);
    await stage.edit('agents.yaml', ', speed: null', ', speed: 1');
    await stage.apply();
  },
  { dialect: { nestedDefaults: true } },
);

function issues(path: string) {
  return { error: 'invalid_request', details: [{ path, message: 'is not valid' }] };
}

describe('what a kind asks of the whole is refused by the plan, whatever part of it is configured', () => {
  staged('a translator without its settings', async (stage) => {
    await stage.edit(
      'agents.yaml',
      'model: alpha-4.1',
      'agent_type: translator\n    interpreter_config: { speaker_identification: voice }\n    model: alpha-4.1',
    );
    await stage.apply();
    await stage.edit(
      'agents.yaml',
      'agent_type: translator\n    interpreter_config: { speaker_identification: voice }',
      'interpreter_config: null',
    );
    const { changes } = await stage.plan({}, { exit: 4 });
    expect(changes).toMatchObject([
      {
        verdict: 'refused',
        reason:
          'interpreter_config cannot be empty while agent_type is translator on the platform: give it a value, or change that too',
      },
    ]);
    expect(stage.writes().filter(({ operation }) => operation === 'updateAgent')).toEqual([]);
    // Another type keeps the settings, and null then clears them.
    await stage.edit(
      'agents.yaml',
      'interpreter_config: null',
      'agent_type: receptionist\n    interpreter_config: null',
    );
    const [line] = await stage.apply();
    expect(line).toMatchObject({ status: 'done' });
    expect(desk(stage).interpreter_config ?? null).toBeNull();
  });
});

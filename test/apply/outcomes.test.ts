import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import type { JsonObject } from '../../src/core/value.ts';
import type { Dialect, SeedDocument } from '../../src/simulator/index.ts';
import { agentNamed } from '../e2e/clinic.ts';
import { temporaryFolder } from '../temporary.ts';
import { type Stage, type StageOptions, staged } from './stage.ts';

/** What a write is found to have come to, and what goes along with what was written. */

const HARBOR = '3c6e0b8a-9c15-4f1d-9f0e-5d2b7f1a2c11';
const LIMITS = {
  success_url: 'https://harbor.example.test/paid',
  max_single_charge_cents: 500,
  max_per_call_cents: 900,
  max_attempts_per_call: 2,
};
const SMS = { account_sid: 'AC1', auth_token: 'canary-sms-5f1c9a7e', fromNumber: '+15550100' };

const seedOf = (desk: JsonObject): SeedDocument => ({
  account_id: 'e7ac14dd-6755-4b7f-bb6b-7319e7f7b316',
  organizations: [{ id: HARBOR, name: 'Harbor Dental' }],
  custom_voices: [
    { id: 'voice-en', organization_id: HARBOR, name: 'Anna', language: 'en' },
    { id: 'voice-de', organization_id: HARBOR, name: 'Berta', language: 'de' },
  ],
  agents: [
    {
      id: 'desk',
      organization_id: HARBOR,
      name: 'Desk',
      integrations: { smsProvider: SMS },
      ...desk,
    },
    { id: 'line', organization_id: HARBOR, name: 'Line', description: 'Before' },
  ],
});

/** A stack of two agents, the first of which has these members more. */
function stackOf(desk: JsonObject): string {
  const folder = temporaryFolder();
  mkdirSync(folder, { recursive: true });
  const head = `callsheet: 1\norganization: ${HARBOR}\nplatform: { base_url: "\${var.base_url}" }\nvariables: { base_url: { env: CALLSHEET_BASE_URL } }\n`;
  writeFileSync(join(folder, 'callsheet.yaml'), head);
  writeFileSync(join(folder, 'agents.yaml'), agentsOf(desk));
  return folder;
}

const agentsOf = (desk: JsonObject, line = 'Before') =>
  `agents:\n  desk: ${JSON.stringify({ name: 'Desk', ...desk })}\n  line: { name: Line, description: ${line} }\n`;

function desks(
  name: string,
  { live, files, dialect }: { live: JsonObject; files: JsonObject; dialect?: Partial<Dialect> },
  body: (stage: Stage) => Promise<void>,
): void {
  const options: StageOptions = { stack: stackOf(files), seed: seedOf(live), secrets: {} };
  staged(name, body, dialect === undefined ? options : { ...options, dialect });
}

const rewrite = (stage: Stage, desk: JsonObject, line?: string) =>
  stage.write('agents.yaml', agentsOf(desk, line));
const tool = (stage: Stage) => agentNamed(stage.sim, 'Desk').payments;
const voice = (stage: Stage) => Object(agentNamed(stage.sim, 'Desk').record.voice_settings);

describe.each([{ limitsOff: 'kept' }, { limitsOff: 'forgotten' }] as const)(
  'the payment tool, limits $limitsOff',
  (dialect) => {
    const armed = { live: { payments: { enabled: true, ...LIMITS } }, dialect };
    const on = { payments: { tool_enabled: true, ...LIMITS } };
    const off = { payments: { tool_enabled: false, ...LIMITS } };

    desks('is switched off where its limits are named', { ...armed, files: on }, async (stage) => {
      await stage.apply();
      await rewrite(stage, off, 'After');
      const plan = await stage.plan();
      expect(plan.notes.map(({ message }) => message)).toEqual([
        expect.stringMatching(/payments\.success_url.*payments\.tool_enabled is not on/),
      ]);
      await stage.apply({ rollbackOnFailure: true });
      expect(tool(stage).enabled).toBe(false);
      expect(agentNamed(stage.sim, 'Line').record.description).toBe('After');
      // And on again, with all of them.
      await rewrite(stage, on, 'After');
      await stage.apply();
      expect(tool(stage)).toEqual({ enabled: true, limits: LIMITS });
    });

    desks('comes back with its limits', { ...armed, files: on }, async (stage) => {
      await stage.apply();
      await rewrite(stage, { payments: { tool_enabled: false } });
      await stage.apply();
      await stage.rollback();
      expect(tool(stage)).toEqual({ enabled: true, limits: LIMITS });
    });

    desks(
      'is armed, and the run undone',
      { live: {}, files: { payments: { tool_enabled: false } }, dialect },
      async (stage) => {
        await stage.apply();
        await rewrite(stage, on);
        await stage.apply();
        const since = stage.writes().length;
        await stage.rollback();
        // Defaults that were told while it was off are nobody's.
        expect(
          stage
            .writes()
            .slice(since)
            .map(({ body }) => body),
        ).toEqual([{ enabled: false }]);
        expect(tool(stage).enabled).toBe(false);
      },
    );
  },
);

describe('the language of a voice', () => {
  const ENGLISH = { voice_settings: { voice_id: 'voice-en', language: 'en', speed: 1.1 } };
  const files = { voice_settings: { voice_id: 'voice-en' } };
  const german = { voice_settings: { voice_id: 'voice-de' } };
  const dialects: readonly Partial<Dialect>[] = [
    { voiceLanguage: 'stored' },
    { voiceLanguage: 'imposed' },
    { voiceLanguage: 'stored', merge: 'shallow' },
    { voiceLanguage: 'spoken' },
    { voiceLanguage: 'spoken', merge: 'shallow' },
  ];
  for (const dialect of dialects)
    desks(
      `follows it: ${JSON.stringify(dialect)}`,
      { live: ENGLISH, files, dialect },
      async (stage) => {
        await stage.apply();
        await rewrite(stage, german);
        const plan = await stage.plan();
        expect(plan.notes.map(({ message }) => message)).toEqual([
          expect.stringMatching(/voice_settings\.language.*follows voice_settings\.voice_id/),
        ]);
        const since = stage.writes().length;
        const [line] = await stage.apply({ rollbackOnFailure: true });
        expect(
          stage
            .writes()
            .slice(since)
            .map(({ body }) => body),
        ).toEqual([{ voiceSettings: { voice_id: 'voice-de', speed: 1.1 } }]);
        expect(voice(stage)).toMatchObject({ voice_id: 'voice-de', speed: 1.1 });
        if (dialect.voiceLanguage !== 'spoken') {
          expect(voice(stage).language).toBe('de');
          expect(line?.message).toContain('voice_settings.language is now "de" (before: "en")');
        }
        await stage.rollback();
        expect(voice(stage)).toEqual(ENGLISH.voice_settings);
      },
    );
});

/** Has the platform do something right after the first update, before that is read back. */
function afterUpdate(stage: Stage, act: (record: Record<string, unknown>) => void): void {
  const { faults } = stage.sim;
  const { strike } = faults;
  let isWritten = false;
  let isDone = false;
  Object.assign(faults, {
    strike: (target: Parameters<typeof strike>[0]) => {
      if (isWritten && !isDone && target.operation === 'getAgent') {
        isDone = true;
        act(agentNamed(stage.sim, 'Desk').record as Record<string, unknown>);
      }
      if (target.operation === 'updateAgent') isWritten = true;
      return strike(target);
    },
  });
}

describe('a write is read back', () => {
  const live = { config: { inactivity_timeout: 20, enable_recording: true } };
  const files = { config: { inactivity_timeout: 20 } };
  const longer = { config: { inactivity_timeout: 30 } };
  const TIMEOUT = 'config.inactivity_timeout';
  const NEIGHBOUR = 'config.enable_recording';

  desks('a neighbour that the platform moves is a line', { live, files }, async (stage) => {
    await stage.apply();
    await rewrite(stage, longer);
    afterUpdate(stage, (record) => {
      record.config = { inactivity_timeout: 30, enable_recording: false };
    });
    const [line] = await stage.apply({ rollbackOnFailure: true });
    expect(line?.message).toBe(`${NEIGHBOUR} is now false (before: true): the platform set it`);
  });

  desks('a neighbour that is lost is a failure', { live, files }, async (stage) => {
    await stage.apply();
    await rewrite(stage, longer);
    afterUpdate(stage, (record) => {
      record.config = { inactivity_timeout: 30 };
    });
    const [line] = await stage.apply({}, { exit: 3 });
    expect(line?.message).toBe(
      `written, but fields that were sent back unchanged are gone: ${NEIGHBOUR}`,
    );
  });

  desks('a leaf with its old value did not take', { live, files }, async (stage) => {
    await stage.apply();
    await rewrite(stage, longer);
    afterUpdate(stage, (record) => {
      record.config = { inactivity_timeout: 20, enable_recording: true };
    });
    const [line] = await stage.apply({}, { exit: 3 });
    expect(line?.message).toBe(`written, but the platform still has the old value of ${TIMEOUT}`);
    // The next one writes it.
    expect((await stage.plan()).changes[0]?.fields[0]?.cause).toBe('changed');
    await stage.apply();
  });

  desks('a third value is what the platform stored', { live, files }, async (stage) => {
    await stage.apply();
    await rewrite(stage, longer);
    afterUpdate(stage, (record) => {
      record.config = { inactivity_timeout: 25, enable_recording: true };
    });
    const [line] = await stage.apply();
    expect(line?.message).toBe(
      `${TIMEOUT} was sent as 30 and stored as 25; there is nothing to do, as Callsheet takes both for the same from now on`,
    );
    expect(line?.stored).toEqual([{ path: TIMEOUT, sent: 30, returned: 25, secret: false }]);
    // It is more than platforms change on the way, so each plan says it, whoever wrote the state.
    const said = `${TIMEOUT} is 25: the platform stored 30 so, and nothing is written while both stand. For the live value in the files: \`callsheet pull agent.desk --theirs\``;
    for (const refresh of ['fast', 'full'] as const)
      expect((await stage.plan({ refresh })).notes.map(({ message }) => message)).toEqual([said]);
    // Neither of them stands any more.
    const { id } = agentNamed(stage.sim, 'Desk');
    stage.sim.edit(id, { config: { inactivity_timeout: 26 } });
    expect((await stage.plan()).changes[0]?.fields[0]?.cause).toBe('drifted');
    await rewrite(stage, { config: { inactivity_timeout: 26 } });
    await stage.apply();
    expect((await stage.plan()).notes).toEqual([]);
  });

  desks('a third value may be somebody else', { live, files }, async (stage) => {
    await stage.apply();
    await rewrite(stage, longer);
    const { id } = agentNamed(stage.sim, 'Desk');
    afterUpdate(stage, () =>
      stage.sim.edit(id, { config: { inactivity_timeout: 25 } }, 'user:mina'),
    );
    const [line] = await stage.apply({}, { exit: 3 });
    expect(line?.message).toContain(`written, but somebody else has since changed ${TIMEOUT}`);
    expect((await stage.plan({}, { exit: 4 })).changes[0]?.fields[0]?.cause).toBe('conflict');
  });

  const trimmed = { live, files, dialect: { stores: ['trim'] } } as const;
  desks('texts that the platform trims are stored as others', trimmed, async (stage) => {
    const greeting = `${'Hello '.repeat(40)}\n\n`;
    await rewrite(stage, { greeting_message: greeting, description: ' Desk ' });
    const [line] = await stage.apply();
    expect(line?.message).toContain('description was sent as " Desk " and stored as "Desk"');
    expect(line?.message).toContain('… (');
    expect((line?.message ?? '').length).toBeLessThan(500);
  });
});

staged('a value that a new resource cannot have follows its creation', async (stage) => {
  const files = await stage.read('resources.yaml');
  // Of the first of the two templates.
  await stage.edit('resources.yaml', 'status: draft', 'status: archived');
  const statuses = () => [...stage.sim.store.emailTemplates.values()].map(({ status }) => status);
  await stage.apply();
  expect(statuses()).toEqual(['archived']);
  await stage.write('resources.yaml', files.replace(/^email_templates:\n(?: .*\n)+\n/m, ''));
  await stage.apply({ allowDelete: true });
  expect(statuses()).toEqual([]);
  // A rollback makes it again, and then as it was.
  await stage.rollback();
  expect(statuses()).toEqual(['archived']);
});

import { expect } from 'vitest';
import type { SeedDocument } from '../../src/simulator/index.ts';
import { agentNamed, SEED } from '../e2e/clinic.ts';
import { longStaged, type Stage, type StageOptions, staged } from './stage.ts';

const BAY = '7d1f2c3b-4a5e-4f60-8b9c-0d1e2f3a4b5c';
const TWO: SeedDocument = {
  ...SEED,
  organizations: [...(SEED.organizations ?? []), { id: BAY, name: 'Bay' }],
};

/** What is set in the dashboard alone. */
const UNOWNED = {
  description: 'Set in the dashboard',
  voicemail_message: 'Please leave a message.',
  timezone: 'Europe/Oslo',
  status: 'inactive',
  config: { user_timezone: 'UTC' },
  interpreter_config: { pair: 'en-es' },
};

const FILE = `agents:
  desk:
    name: Front desk
    greeting_message: Hello
    voice_settings: { speed: 1.1 }
`;

async function begin(stage: Stage): Promise<void> {
  await stage.remove('resources.yaml');
  await stage.write('agents.yaml', FILE);
  await stage.apply();
  const { id } = agentNamed(stage.sim);
  stage.sim.edit(id, { ...UNOWNED, voice_settings: { language: 'en' } });
  stage.sim.advance(60_000);
}

const MOVED = `${FILE}    organization: ${BAY}\n`;

const play = async (stage: Stage) => {
  await begin(stage);
  const before = agentNamed(stage.sim);
  await stage.write('agents.yaml', MOVED);
  const { changes, notes } = await stage.plan({ allowDelete: true });
  expect(changes).toMatchObject([{ action: 'replace', verdict: 'ok' }]);
  const said = notes.map(({ message }) => message).join('\n');
  expect(said).toMatch(/keeps \d+ fields that the configuration does not name: .*description/);
  expect(said).toMatch(/does not get the history/);
  await stage.apply({ allowDelete: true });
  const after = agentNamed(stage.sim);
  expect(after.id).not.toBe(before.id);
  expect(after.record).toMatchObject({
    ...UNOWNED,
    organization_id: BAY,
    greeting_message: 'Hello',
    voice_settings: { speed: 1.1, language: 'en' },
  });
  expect([...stage.sim.store.agents].length).toBe(1);
};

const OPTIONS: StageOptions = { seed: TWO };

staged('what the files do not name goes along into another organization', play, OPTIONS);
longStaged('also where unset fields are null', play, { ...OPTIONS, dialect: { unset: 'null' } });

staged(
  'what the files have as null does not go along',
  async (stage) => {
    await stage.remove('resources.yaml');
    await stage.write('agents.yaml', FILE);
    await stage.apply();
    // Two changes that one plan sees at once.
    const { id } = agentNamed(stage.sim);
    stage.sim.edit(id, { interpreter_config: { pair: 'en-es' }, description: 'Own' });
    const other = `${FILE}    interpreter_config: null\n`;
    await stage.write('agents.yaml', `${other}    organization: ${BAY}\n`);
    await stage.apply({ allowDelete: true });
    const { record } = agentNamed(stage.sim);
    expect(record).toMatchObject({ organization_id: BAY, description: 'Own' });
    expect(record.interpreter_config ?? null).toBeNull();
  },
  OPTIONS,
);

staged(
  'what the files let go of does not go along, nor ids of the old organization',
  async (stage) => {
    await stage.write('agents.yaml', `${FILE}    timezone: Europe/Oslo\n`);
    await stage.apply();
    const { id, record } = agentNamed(stage.sim);
    const policy = '6d2f7c1e-0b3a-4c5d-8e9f-102132435465';
    stage.sim.edit(id, {
      default_retry_policy_id: policy,
      integrations: { smsProvider: { account_sid: 'AC1', auth_token: 'by-hand' } },
    });
    expect(record.timezone).toBe('Europe/Oslo');
    await stage.write('agents.yaml', MOVED);
    const { notes } = await stage.plan({ allowDelete: true });
    const said = notes.map(({ message }) => message).join('\n');
    expect(said).toMatch(
      /does not get .*(?:default_retry_policy_id.*smsProvider|smsProvider.*default_retry_policy_id)/,
    );
    await stage.apply({ allowDelete: true });
    const after = agentNamed(stage.sim).record;
    expect(after.timezone ?? null).not.toBe('Europe/Oslo');
    expect(after.default_retry_policy_id ?? null).toBeNull();
    expect(after.integrations ?? null).toBeNull();
  },
  OPTIONS,
);

staged(
  'a provider that the files have as null makes no empty object in the new one',
  async (stage) => {
    await stage.remove('resources.yaml');
    await stage.write('agents.yaml', FILE);
    await stage.apply();
    stage.sim.edit(agentNamed(stage.sim).id, {
      integrations: { smsProvider: { account_sid: 'AC1', auth_token: 'by-hand' } },
    });
    await stage.write('agents.yaml', `${MOVED}    integrations: { smsProvider: null }\n`);
    await stage.apply({ allowDelete: true });
    const { record } = agentNamed(stage.sim);
    expect(record.organization_id).toBe(BAY);
    expect(record.integrations ?? null).toBeNull();
  },
  OPTIONS,
);

staged(
  'a provider that the files do not name leaves nothing in the new one, and is named',
  async (stage) => {
    await stage.remove('resources.yaml');
    const own = '    integrations: { ehrProvider: { username: desk } }\n';
    await stage.write('agents.yaml', FILE + own);
    await stage.apply();
    stage.sim.edit(agentNamed(stage.sim).id, {
      integrations: {
        calendarA: { calendar_name: 'Desk', access_token: 'by-hand' },
        pbxProvider: { client_secret: 'by-hand' },
      },
    });
    await stage.write('agents.yaml', MOVED + own);
    const { notes } = await stage.plan({ allowDelete: true });
    const said = notes.map(({ message }) => message).join('\n');
    expect(said).toMatch(/does not get .*calendarA/);
    expect(said).toMatch(/does not get .*pbxProvider/);
    await stage.apply({ allowDelete: true });
    const { record } = agentNamed(stage.sim);
    expect(record.organization_id).toBe(BAY);
    expect(record.integrations).toEqual({ ehrProvider: { username: 'desk' } });
  },
  OPTIONS,
);

staged(
  'a field that is ignored goes along as it is live, whatever the files name',
  async (stage) => {
    await stage.remove('resources.yaml');
    const ignoring = `${FILE}    lifecycle: { ignore: [greeting_message] }\n`;
    await stage.write('agents.yaml', ignoring);
    await stage.apply();
    stage.sim.edit(agentNamed(stage.sim).id, { greeting_message: 'By hand' });
    await stage.write('agents.yaml', `${ignoring}    organization: ${BAY}\n`);
    await stage.apply({ allowDelete: true });
    expect(agentNamed(stage.sim).record).toMatchObject({
      organization_id: BAY,
      greeting_message: 'By hand',
    });
  },
  OPTIONS,
);

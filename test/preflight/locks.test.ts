import { expect, test } from 'vitest';
import type { Json, JsonObject } from '../../src/core/value.ts';
import { FEATURES } from '../../src/simulator/catalogue.ts';
import { account, compareWithPlatform, HARBOR, type Level, liveAgent, withStack } from './stack.ts';

const VOICE = 'b6b2ad37-5b8c-4d0f-8c55-3d6e1d3d7a10';

const LINK = 'https://harbor.example.test/a';

/** What switches a feature on, in the names of the configuration; and what an agent has without it. */
type Setting = {
  readonly on: JsonObject;
  readonly off: JsonObject;
  /** Another form of it that is on as well. */
  readonly edited?: JsonObject;
};

/** The settings of an agent that a feature governs; undefined: none does. */
function settingOf(key: string): Setting | undefined {
  const [group = '', ...rest] = key.split('.');
  const name = rest.join('.');
  switch (group) {
    case 'llm':
      return { on: { model: name }, off: { model: 'alpha-4.1' } };
    case 'template':
      return { on: { agent_type: name }, off: { agent_type: other(name, 'simple', 'custom') } };
    case 'tts':
      return { on: { tts_model: name }, off: { tts_model: other(name, 'cartx', 'minx') } };
    case 'integration':
      return {
        on: { integrations: { [name]: { label: 'A' } } },
        off: {},
        edited: { integrations: { [name]: { label: 'B' } } },
      };
    case 'warm_transfer':
      return {
        on: { warm_transfer_handoff_instructions: 'Be brief.' },
        off: {},
        edited: { warm_transfer_handoff_instructions: 'Be kind.' },
      };
    case 'knowledge_base':
      return {
        on: { knowledgebase_links: [LINK, `${LINK}/b`] },
        off: { knowledgebase_links: [LINK] },
        edited: { knowledgebase_links: [`${LINK}/b`] },
      };
    case 'custom_voices':
      return { on: { voice_settings: { voice_id: VOICE } }, off: {} };
    case 'phi_redaction':
    case 'secure_access':
    case 'use_reseller_smtp':
      return { on: { config: { [group]: true } }, off: { config: { [group]: false } } };
    default:
      return undefined;
  }
}

function other(name: string, first: string, second: string): string {
  return name === first ? second : first;
}

/** Features that govern something else than an agent's settings; `resources.test.ts` has those. */
const ELSEWHERE = ['card_payments', 'email_templates', 'sms_templates'];

const settings = FEATURES.flatMap(({ key }) => {
  const setting = settingOf(key);
  return setting === undefined ? [] : [{ key, ...setting }];
});

type Case = {
  readonly title: string;
  readonly live: (setting: Setting) => JsonObject;
  readonly wanted: (setting: Setting) => JsonObject;
  readonly isRefused: boolean;
};

const CASES: readonly Case[] = [
  { title: 'on', live: ({ off }) => off, wanted: ({ on }) => on, isRefused: true },
  { title: 'kept', live: ({ on }) => on, wanted: ({ on }) => on, isRefused: false },
  { title: 'off', live: ({ on }) => on, wanted: offOf, isRefused: false },
];

/** While it is on it may be changed. */
const EDITED: Case = {
  title: 'edited',
  live: ({ on }) => on,
  wanted: ({ edited = {} }) => edited,
  isRefused: false,
};

/** Switched off, as far as the configuration can; what is not named stays. */
function offOf({ on, off }: Setting): JsonObject {
  const cleared = Object.entries(on).map(([name, value]) => [name, emptied(name, value)] as const);
  return { ...Object.fromEntries(cleared), ...off };
}

function emptied(name: string, value: Json): Json {
  if (name === 'knowledgebase_links') return [];
  if (name === 'voice_settings') return { voice_id: 'a-built-in-voice' };
  return typeof value === 'string' ? '' : {};
}

/** Nothing turns these off: another value takes another feature. */
const CHOICES = /^(template|tts)\./;

function casesOf(setting: Setting & { readonly key: string }): readonly Case[] {
  const cases = CASES.filter(({ title }) => title !== 'off' || !CHOICES.test(setting.key));
  return setting.edited === undefined ? cases : [...cases, EDITED];
}

const rows = settings.flatMap((setting) =>
  casesOf(setting).map(({ title, live, wanted, isRefused }) => ({
    address: `agent.${slug(`${title}-${setting.key}`)}`,
    name: `${title} ${setting.key}`,
    feature: setting.key,
    live: live(setting),
    wanted: { greeting_message: 'Changed.', ...wanted(setting) },
    isRefused,
  })),
);

function slug(text: string): string {
  return text.replaceAll(/[^A-Za-z0-9]/g, '-');
}

function agentsOf(some: readonly TableRow[]): JsonObject {
  const named = some.map(({ address, name, wanted }) => [
    address.slice('agent.'.length),
    { name, ...wanted },
  ]);
  return { agents: Object.fromEntries(named) };
}

type TableRow = (typeof rows)[number];

function seedOf(some: readonly TableRow[], level: Level, locks: readonly string[]) {
  return account(locks, level, {
    agents: some.map(({ name, live }) => liveAgent(name, live)),
    custom_voices: [
      { id: VOICE, organization_id: HARBOR, name: 'Harbor', provider: 'cartx', custom: true },
    ],
  });
}

const ALL = FEATURES.map(({ key }) => key);

const WHERE: { readonly [level in Level]: string } = {
  account: 'at its account',
  reseller: 'at its reseller',
  organization: 'at the organization itself',
};

const on = rows.filter(({ isRefused }) => isRefused);
/** Of the levels above, a few will do: they differ in nothing but the words. */
const few = on.filter(({ feature }) => /^(knowledge_base|llm.alpha-4o|tts.minx)$/.test(feature));

test.each<[Level, readonly TableRow[]]>([
  ['organization', rows],
  ['reseller', few],
  ['account', few],
])(
  'everything locked at the %s: what is switched on is refused, here as there',
  async (level, some) => {
    await withStack(agentsOf(some), { seed: seedOf(some, level, ALL) }, async (stage) => {
      const found = await compareWithPlatform(stage);
      expect(found.length).toBe(some.length);
      for (const { address, change, predicted, actual, message } of found) {
        const row = some.find((one) => one.address === address);
        const expected = row?.isRefused === true ? 'refused' : 'done';
        expect({ address, predicted, actual, message }).toMatchObject({
          predicted: expected,
          actual: expected,
        });
        if (row?.isRefused !== true) continue;
        expect(message).toContain('answered 403');
        const words = `needs the feature ${row.feature}, which is locked for organization harbor ${WHERE[level]}`;
        expect(change.reason).toContain(words);
        expect(message).toContain(words);
      }
    });
  },
);

test('nothing locked: nothing is refused, and each question is asked once', async () => {
  await withStack(agentsOf(on), { seed: seedOf(on, 'organization', []) }, async (stage) => {
    const found = await compareWithPlatform(stage);
    const wrong = found.filter((one) => one.predicted !== 'done' || one.actual !== 'done');
    expect(wrong.map(({ change, message }) => [change.reason, message])).toEqual([]);
    expect(found.length).toBe(on.length);
    const asked = stage.sim.requests.map(({ operation }) => operation);
    const times = (operation: string) => asked.filter((one) => one === operation).length;
    expect([times('listFeatures'), times('listLlmModels'), times('listSttProviders')]).toEqual([
      1, 1, 0,
    ]);
  });
});

test('every feature of the platform stands in a table here or in resources.test.ts', () => {
  const known = new Set([...settings.map(({ key }) => key), ...ELSEWHERE]);
  expect(ALL.filter((key) => !known.has(key))).toEqual([]);
});

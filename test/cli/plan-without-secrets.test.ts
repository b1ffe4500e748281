import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { apply } from '../../src/console/apply.ts';
import { plan } from '../../src/console/plan.ts';
import type { PlanDocument } from '../../src/core/plan-document.ts';
import { isList, isObject, type Json } from '../../src/core/value.ts';
import { rehearse } from '../../src/features/rehearse/command.ts';
import { longStaged, type Stage, staged } from '../apply/stage.ts';
import { CANARIES } from '../e2e/clinic.ts';

/** Twelve agents with two secrets each: one that the platform never returns, and one that it returns in clear. */
const NUMBERS = Array.from({ length: 12 }, (_, at) => at);
const NAMES = NUMBERS.flatMap((at) => [`SMS_${at}`, `CRM_${at}`]);
const VALUES = Object.fromEntries(NAMES.map((name) => [name, `canary-${name}-5f1c9a7e`]));
const NONE = Object.fromEntries([...NAMES, 'EXTRA'].map((name) => [name, undefined]));
const without = { env: NONE };

const FLEET = `agents:
${NUMBERS.map(
  (at) => `  a${at}:
    name: Agent ${at}
    greeting_message: Good day from ${at}.
    integrations:
      smsProvider: { account_sid: AC${at}, auth_token: { $secret: env:SMS_${at} } }
    extensions:
      tools:
        - type: webhook
          name: crm
          condition: during_call
          method: GET
          url: https://crm.example.test/${at}
          headers: [{ key: X-Api-Key, value: { $secret: env:CRM_${at} } }]
`,
).join('')}`;

/** A test on that fleet, which is applied already. */
function onFleet(name: string, body: (stage: Stage) => Promise<void>): void {
  staged(
    name,
    async (stage) => {
      for (const file of ['agents.yaml', 'resources.yaml']) await stage.remove(file);
      await stage.write('fleet.yaml', FLEET);
      await stage.apply();
      await body(stage);
    },
    { secrets: { ...VALUES, EXTRA: 'canary-extra-71e4f92c' } },
  );
}

/** What a plan without a secret says, in one line. */
async function saysWithout(stage: Stage, exit: 0 | 2, flags = {}): Promise<string> {
  const given = { dir: stage.folder, format: 'text', detailedExitcode: true, ...flags } as const;
  const { out } = await stage.run((to) => plan(given, to), { ...without, exit });
  return out.replace(/\s+/g, ' ');
}

function agent({ sim }: Stage, wanted: string): { readonly [key: string]: Json } {
  for (const { record } of sim.store.agents.values()) if (record.name === wanted) return record;
  throw new Error(`there is no ${wanted}`);
}

describe('a stack with 24 secrets, and none of them set', () => {
  onFleet('is planned, and the secrets are told once', async (stage) => {
    const writes = stage.writes().length;
    const said = await saysWithout(stage, 0);
    expect(said).toContain('No changes.');
    // The plan of their first apply told of them: the state remembers that they are there.
    expect(said).not.toContain('secret');
    const { notes } = await stage.plan({}, { ...without, exit: 'any' });
    const message = expect.stringContaining(
      '24 secrets are not set here, so Callsheet did not compare them.',
    );
    expect(notes).toEqual([
      { severity: 'info', address: null, known: true, message, varies: true },
    ]);
    expect(stage.writes()).toHaveLength(writes);
  });

  onFleet(
    'is planned so without a state, too, and stays so once it is taken over',
    async (stage) => {
      await stage.forget();
      expect(await saysWithout(stage, 0)).toContain('24 secrets are not set here');
      await stage.apply({}, without);
      expect(await saysWithout(stage, 0)).not.toContain('secret');
    },
  );

  onFleet('takes a new greeting and gives it back', async (stage) => {
    const [writes, before] = [stage.writes().length, agent(stage, 'Agent 3')];
    await stage.edit('fleet.yaml', 'Good day from 3.', 'Good morning from 3.');
    await stage.plan({}, without);
    await stage.apply({}, without);
    expect(agent(stage, 'Agent 3').greeting_message).toBe('Good morning from 3.');
    expect(stage.writes()).toHaveLength(writes + 1);
    await stage.rollback({}, without);
    expect(agent(stage, 'Agent 3')).toEqual({ ...before, updated_at: expect.anything() });
    await stage.edit('fleet.yaml', 'Good morning from 3.', 'Good day from 3.');
    expect(await saysWithout(stage, 0)).not.toContain('secret');
    // What was known of the secrets still is: those that are set fit, and the one that was rotated is noticed.
    const { changes, notes } = await stage.plan({}, { env: { SMS_3: 'canary-next' } });
    expect(changes.map(({ secrets }) => secrets)).toEqual([
      [expect.objectContaining({ source: 'env:SMS_3', to: 'smsProvider', before: 'smsProvider' })],
    ]);
    expect(notes).toEqual([]);
  });

  onFleet('asks for the one that is new, and for no other', async (stage) => {
    const writes = stage.writes().length;
    await stage.edit(
      'fleet.yaml',
      '      smsProvider: { account_sid: AC5,',
      '      smsProvider: { account_sid: AC5, api_key_secret: { $secret: env:EXTRA },',
    );
    const file = join(stage.folder, 'plan.json');
    await stage.run((to) => plan({ dir: stage.folder, format: 'text', out: file }, to), without);
    for (const given of [undefined, file]) {
      const flags = {
        dir: stage.folder,
        format: 'text',
        autoApprove: given === undefined,
      } as const;
      const { err } = await stage.run((to) => apply(given, flags, to), { ...without, exit: 1 });
      expect(err.match(/agent\.\w+: [^ ]+/g)).toEqual([
        'agent.a5: integrations.smsProvider.api_key_secret',
      ]);
      expect(err).toMatch(/fleet\.yaml:\d+:\d+/);
      expect(err).toContain('Set EXTRA in the environment. Nothing was written');
      expect(err).not.toContain('SMS_');
    }
    expect(stage.writes()).toHaveLength(writes);
    // The job that applies has this one alone.
    await stage.applyFile('plan.json', {}, { env: { ...NONE, EXTRA: 'canary-extra-71e4f92c' } });
    expect(JSON.stringify(agent(stage, 'Agent 5'))).toContain('canary-extra-71e4f92c');
    expect(stage.writes()).toHaveLength(writes + 1);
  });

  onFleet('says who else reads a secret that is to be set', async (stage) => {
    await stage.edit('fleet.yaml', 'env:SMS_5 }', 'env:SMS_3 }');
    await stage.edit(
      'fleet.yaml',
      'account_sid: AC7,',
      'account_sid: AC7, api_key_secret: { $secret: env:SMS_3 },',
    );
    const others = '2 other resources read it, and a new value reaches those, too';
    // What gets another source is written without its value at hand, and is no reader that is left out.
    expect(await saysWithout(stage, 2)).toContain(
      'secret env:SMS_3 → smsProvider; another source than last applied; 1 other resource reads it, and a new value reaches that one, too',
    );
    const flags = { dir: stage.folder, format: 'text', autoApprove: true } as const;
    const { err } = await stage.run((to) => apply(undefined, flags, to), { ...without, exit: 1 });
    expect(err.replace(/\s+/g, ' ')).toContain(
      `Set SMS_3 in the environment. ${others}. Nothing was written`,
    );
    await stage.apply();
    const env = { SMS_3: 'canary-SMS_3-5f1c9a7e-new' };
    const { changes } = await stage.plan({}, { env });
    expect(changes.map(({ address }) => address)).toEqual(['agent.a3', 'agent.a5', 'agent.a7']);
    expect(changes.flatMap(({ secrets = [] }) => secrets.map((one) => one.shared_with))).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
  });

  onFleet('is rehearsed, a new secret among its changes', async (stage) => {
    await stage.edit(
      'fleet.yaml',
      'account_sid: AC5,',
      'account_sid: AC5, api_key_secret: { $secret: env:EXTRA },',
    );
    const flags = { dir: stage.folder, format: 'json', chaosSeed: 'test' } as const;
    // A secret stays when it is rolled back: the verdict is the same with all of them set.
    const { out } = await stage.run((to) => rehearse(undefined, flags, to), {
      ...without,
      exit: 3,
    });
    const { rehearsal } = JSON.parse(out) as PlanDocument;
    expect(rehearsal?.steps.filter(({ outcome }) => outcome !== 'held')).toEqual([
      expect.objectContaining({
        step: 'return',
        message: 'the fleet is not as before: 1 leaf differs',
      }),
    ]);
  });

  onFleet('is moved to other addresses without one', async (stage) => {
    await stage.edit('fleet.yaml', '  a4:', '  four:');
    await stage.write('moves.yaml', 'moved: [{ from: agent.a4, to: agent.four }]\n');
    await stage.apply({}, without);
    const { changes } = await stage.plan({}, without);
    expect(changes).toEqual([]);
  });
});

const EMPTY = { SMS_TOKEN: undefined, CRM_KEY: undefined, MCP_TOKEN: undefined };

function desk(stage: Stage): string {
  return JSON.stringify(agent(stage, 'Front desk'));
}

describe('what apply writes', () => {
  staged('is what was planned, though a secret is at hand by now and differs', async (stage) => {
    await stage.apply();
    await stage.edit('agents.yaml', 'how can I help?', 'good day!');
    await stage.edit('agents.yaml', 'example.test/patients', 'example.test/people');
    const out = join(stage.folder, 'plan.json');
    await stage.run((to) => plan({ dir: stage.folder, format: 'text', out }, to), { env: EMPTY });
    const env = { SMS_TOKEN: 'canary-sms-next', CRM_KEY: 'canary-crm-next' };
    await stage.applyFile('plan.json', {}, { env, leaves: ({ fields }) => fields.length === 2 });
    expect(desk(stage)).toContain('good day!');
    expect(desk(stage)).toContain('example.test/people');
    expect(desk(stage)).toContain(CANARIES.SMS_TOKEN);
    expect(desk(stage)).toContain(CANARIES.CRM_KEY);
    const { changes } = await stage.plan({}, { env });
    expect(changes[0]?.fields.map(({ path, cause }) => [path, cause])).toEqual([
      ['extensions.tools[crm_lookup].headers[X-Api-Key].value', 'changed'],
      ['integrations.smsProvider.auth_token', 'secret_changed'],
    ]);
  });

  longStaged(
    'needs no more than the secrets of the plan that was made with all of them',
    async (stage) => {
      await stage.apply();
      const out = join(stage.folder, 'plan.json');
      const rotated = { CRM_KEY: 'canary-crm-next' };
      await stage.run((to) => plan({ dir: stage.folder, format: 'text', out }, to), {
        env: rotated,
      });
      const flags = { dir: stage.folder, format: 'text' } as const;
      const { err } = await stage.run((to) => apply(out, flags, to), { env: EMPTY, exit: 1 });
      expect(err).toContain('CRM_KEY');
      expect(err).not.toMatch(/SMS_TOKEN|MCP_TOKEN/);
      await stage.applyFile('plan.json', {}, { env: { ...EMPTY, ...rotated } });
      expect(desk(stage)).toContain('canary-crm-next');
    },
  );

  staged(
    'is asked for in a new element, and a header that was changed by hand is put back',
    async (stage) => {
      await stage.apply();
      const record = agent(stage, 'Front desk');
      const edited = JSON.parse(
        JSON.stringify(record.extensions).replace(CANARIES.CRM_KEY, 'canary-by-hand'),
      );
      const id = [...stage.sim.store.agents].find(([, one]) => one.record === record)?.[0] ?? '';
      stage.sim.edit(id, { extensions: edited });
      const flags = { dir: stage.folder, format: 'text', autoApprove: true } as const;
      const { err } = await stage.run((to) => apply(undefined, flags, to), { env: EMPTY, exit: 1 });
      expect(err).toContain('CRM_KEY');
      await stage.apply({}, { env: { ...EMPTY, CRM_KEY: CANARIES.CRM_KEY } });
      const { extensions } = agent(stage, 'Front desk');
      expect(isObject(extensions) && isList(extensions.tools)).toBe(true);
      expect(desk(stage)).not.toContain('canary-by-hand');
    },
  );

  staged('a command that is not allowed counts as not set', async (stage) => {
    await stage.edit('agents.yaml', 'env:SMS_TOKEN', '"exec:touch it-ran"');
    const printed = async () => ({ printed: CANARIES.SMS_TOKEN });
    await stage.apply({}, { outside: { runSecret: () => printed } });
    const { out } = await stage.run((to) => plan({ dir: stage.folder, format: 'json' }, to));
    expect(out).toContain('1 secret is not set here, so Callsheet did not compare it.');
    await expect(stage.read('it-ran')).rejects.toThrow();
  });
});

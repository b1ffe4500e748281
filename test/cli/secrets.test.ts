import { describe, expect } from 'vitest';
import { apply } from '../../src/console/apply.ts';
import { plan } from '../../src/console/plan.ts';
import { isObject, type Json } from '../../src/core/value.ts';
import { createFingerprinter } from '../../src/state/fingerprint.ts';
import { longStaged, type Stage, staged } from '../apply/stage.ts';
import { agentNamed, CANARIES } from '../e2e/clinic.ts';
import { restoreOn, wipe } from '../features/recovery/restoring.ts';
import { FOR_KEY, take, withKey } from '../snapshot/taking.ts';
import { stateCommands, stateIn } from './state-stage.ts';

const NEXT = 'canary-sms-next';
const UNKNOWN = '1 secret is set here and cannot be compared';

const desk = ({ sim }: Pick<Stage, 'sim'>) => agentNamed(sim);

function token(stage: Stage): Json | undefined {
  const { integrations } = desk(stage).record;
  const sms = isObject(integrations) ? integrations.smsProvider : undefined;
  return isObject(sms) ? sms.auth_token : undefined;
}

async function stretchedIn(stage: Stage) {
  return (await stateIn(stage)).stretched;
}

/** The methods of the fingerprints in the state. */
async function proofsIn(stage: Stage): Promise<readonly string[]> {
  const { resources } = await stateIn(stage);
  const leaves = Object.values(resources).flatMap((one) => Object.values(one.leaves));
  const made = leaves.flatMap((leaf) => ('fingerprint' in leaf ? leaf.fingerprint : []));
  return [...new Set(made.map((print) => print.split(':')[0] ?? ''))].sort();
}

/** What a plan says in text, and how it ends. */
async function says(stage: Stage, env: Readonly<Record<string, string | undefined>>, exit: 0 | 2) {
  const flags = { dir: stage.folder, format: 'text', detailedExitcode: true } as const;
  const { out } = await stage.run((to) => plan(flags, to), { env, exit });
  return out.replace(/\s+/g, ' ');
}

for (const key of ['canary-key-one', undefined]) {
  staged(
    `a changed secret is noticed, ${key ? 'with a fingerprint key' : 'without one'}`,
    async (stage) => {
      const keys = { CALLSHEET_FINGERPRINT_KEY: key };
      await stage.apply({}, { env: keys });
      const env = { ...keys, SMS_TOKEN: NEXT };
      expect(await says(stage, env, 2)).toContain('secret changed since the last write');
      await stage.apply({}, { env });
      expect(token(stage)).toBe(NEXT);
    },
  );
}

staged('a key that is set later takes over each secret that is at hand', async (stage) => {
  const none = { CALLSHEET_FINGERPRINT_KEY: undefined };
  await stage.apply({}, { env: none });
  const env = { CALLSHEET_FINGERPRINT_KEY: 'canary-key-one' };
  await stateCommands(stage).adopt({ env });
  expect(await says(stage, env, 0)).not.toContain('secret');
  expect(await says(stage, { ...env, SMS_TOKEN: NEXT }, 2)).toContain('secret changed');
  // One that is not at hand keeps its proof until it is.
  await stage.apply({}, { env: { ...env, SMS_TOKEN: undefined } });
  expect(await proofsIn(stage)).toEqual(['hmac', 'scrypt']);
  await stage.apply({}, { env });
  expect(await proofsIn(stage)).toEqual(['hmac']);
  expect(await stretchedIn(stage)).toBeUndefined();
  expect(await says(stage, { ...env, SMS_TOKEN: NEXT }, 2)).toContain('secret changed');
});

staged('without a key the next run stretches all secrets at once', async (stage) => {
  const env = { CALLSHEET_FINGERPRINT_KEY: undefined };
  await stage.apply({}, { env });
  const { salt, lineage, stretched } = await stateIn(stage);
  const values = [CANARIES.SMS_TOKEN, CANARIES.CRM_KEY, CANARIES.MCP_TOKEN];
  expect(stretched).toMatch(/^aes-256-gcm:/);
  const open = async (given: readonly string[]) => {
    const prints = createFingerprinter({ salt, stack: lineage, stretched });
    await prints.prepare(given);
    return prints.derivations();
  };
  expect(await open(values)).toBe(1);
  expect(await open([...values, NEXT])).toBe(4);
  await stage.apply({}, { env });
  expect(await stretchedIn(stage)).toBe(stretched);
  await stage.apply({}, { env: { ...env, SMS_TOKEN: NEXT } });
  expect(await stretchedIn(stage)).not.toBe(stretched);
});

staged(
  'with another fingerprint key secrets are unknown, which is no difference',
  async (stage) => {
    await stage.apply();
    const env = { CALLSHEET_FINGERPRINT_KEY: 'canary-key-another', SMS_TOKEN: NEXT };
    await stateCommands(stage).adopt({ env });
    expect(await says(stage, env, 0)).toContain(UNKNOWN);
  },
);

staged('without state a secret is left alone unless it is resent', async (stage) => {
  await stage.apply();
  await stage.forget();
  const env = { SMS_TOKEN: NEXT };
  expect(await says(stage, env, 0)).toContain(UNKNOWN);
  await stage.apply({}, { env });
  expect(token(stage)).toBe(CANARIES.SMS_TOKEN);
  await stage.apply({ resendSecrets: ['agent.desk'] }, { env });
  expect(token(stage)).toBe(NEXT);
});

/** The desk without its SMS token, and what brings the token back. */
async function withoutToken(stage: Stage): Promise<() => Promise<void>> {
  const given = 'auth_token: { $secret: env:SMS_TOKEN }, ';
  await stage.edit('agents.yaml', given, '');
  return () => stage.edit('agents.yaml', 'fromNumber', `${given}fromNumber`);
}

staged('a secret that an integration gets later is a change, and is written', async (stage) => {
  const bring = await withoutToken(stage);
  await stage.apply();
  await bring();
  const said = await says(stage, {}, 2);
  expect(said).toContain('+ integrations.smsProvider.auth_token (secret from env:SMS_TOKEN)');
  await stage.apply();
  expect(token(stage)).toBe(CANARIES.SMS_TOKEN);
});

longStaged('a secret that an adopted integration gets later is a change, too', async (stage) => {
  const bring = await withoutToken(stage);
  await stage.apply();
  await stage.forget();
  await stage.apply();
  await bring();
  await stage.apply();
  expect(token(stage)).toBe(CANARIES.SMS_TOKEN);
});

longStaged('a secret that was taken over stays unknown, run after run', async (stage) => {
  await stage.apply();
  await stage.forget();
  await stage.apply();
  await stage.edit('agents.yaml', 'how can I help?', 'good day!');
  const env = { SMS_TOKEN: NEXT };
  await stage.apply({}, { env });
  expect(token(stage)).toBe(CANARIES.SMS_TOKEN);
  expect(await says(stage, env, 0)).toContain(UNKNOWN);
});

staged('all secrets are sent again under a new key, and are known from then on', async (stage) => {
  await stage.apply();
  const env = { CALLSHEET_FINGERPRINT_KEY: 'canary-key-another', SMS_TOKEN: NEXT };
  await stateCommands(stage).adopt({ env });
  await stage.apply({ resendSecrets: ['agent'] }, { env });
  expect(token(stage)).toBe(NEXT);
  expect(await says(stage, env, 0)).not.toContain('secret');
});

staged('a header that the platform returns in clear is compared, and masked', async (stage) => {
  await stage.apply();
  const { id, record } = desk(stage);
  const extensions = JSON.parse(
    JSON.stringify(record.extensions).replace(CANARIES.CRM_KEY, 'canary-foreign'),
  );
  stage.sim.edit(id, { extensions });
  expect(await says(stage, {}, 2)).toContain('X-Api-Key');
  await stage.apply();
  expect(JSON.stringify(desk(stage).record)).not.toContain('canary-foreign');
});

staged(
  'a secret that was taken over is trusted once, and a rotation is noticed then',
  async (stage) => {
    await stage.apply();
    await stage.forget();
    await stage.apply();
    const [writes, { trust }] = [stage.writes().length, stateCommands(stage, 'text')];
    const none = { env: { SMS_TOKEN: undefined } };
    const listed = await trust([], true);
    expect(listed.out).toContain('integrations.smsProvider.auth_token');
    expect(listed.out).toContain('Nothing was written.');
    expect((await trust([], false, none)).out).toContain('(env:SMS_TOKEN)');
    expect(await says(stage, {}, 0)).toContain('apart from 1 secret that cannot be compared');
    expect((await trust(['agent.desk'], false)).out).toContain(
      'recorded as stored on the platform',
    );
    expect((await trust([], false)).out).toContain('The state knows every secret that it holds.');
    await trust(['agent.dekc'], false, { exit: 1 });
    expect(stage.writes()).toHaveLength(writes);
    expect(await says(stage, {}, 0)).not.toContain('secret');
    expect(await says(stage, { SMS_TOKEN: NEXT }, 2)).toContain('changed since the last write');
  },
);

staged('of a command that reads a secret no credential is shown', async (stage) => {
  await stage.apply();
  await stage.forget();
  await stage.apply();
  const command = 'exec:curl https://vault.example.test/sms?token=hvs-4711';
  await stage.edit('agents.yaml', 'env:SMS_TOKEN', JSON.stringify(command));
  const { out } = await stateCommands(stage, 'text').trust([], false);
  expect(out).toContain('vault.example.test');
  expect(out).not.toContain('hvs-4711');
});

longStaged('under another key all secrets are trusted again', async (stage) => {
  await stage.apply();
  const env = { CALLSHEET_FINGERPRINT_KEY: 'canary-key-another' };
  await stateCommands(stage).adopt({ env });
  await stateCommands(stage).trust([], false, { env });
  expect(await says(stage, env, 0)).not.toContain('secret');
  expect(await says(stage, { ...env, SMS_TOKEN: NEXT }, 2)).toContain('secret changed');
});

/** How a resource comes to be created again without the secret that Callsheet wrote to the one before it. */
const AGAIN: Readonly<Record<string, (stage: Stage, env: typeof UNSET) => Promise<void>>> = {
  'a restore without secrets': async (stage, env) => {
    const { file } = await take(stage, 'then.snapshot', FOR_KEY);
    wipe(stage.sim);
    await restoreOn(stage, file, { ...(await withKey(stage)), withoutSecrets: true }, { env });
  },
  'a rollback of the run that deleted it': async (stage, env) => {
    const agents = await stage.read('agents.yaml');
    await stage.remove('agents.yaml');
    await stage.apply({ allowDelete: true }, { env });
    await stage.write('agents.yaml', agents);
    await stage.rollback({}, { env, exit: 3 });
  },
  'somebody in the dashboard': async ({ sim }) => {
    const { record, ...rest } = desk({ sim });
    const { smsProvider, ...integrations } = Object(record.integrations);
    const { auth_token: _, ...sms } = smsProvider;
    const id = '7d0e5a52-2d3c-4f0b-9a77-4c41d5a4e001';
    const made = { ...record, id, integrations: { ...integrations, smsProvider: sms } };
    sim.store.agents.delete(String(record.id));
    sim.store.agents.set(id, { ...rest, record: made });
  },
};
const UNSET = { SMS_TOKEN: '' };
const AT = 'integrations.smsProvider.auth_token';

describe('the secret of a resource that is created again without it, by', () => {
  for (const [by, again] of Object.entries(AGAIN)) {
    staged(`${by}, is written by the next apply`, async (stage) => {
      await stage.apply();
      await again(stage, UNSET);
      expect(token(stage)).toBeUndefined();
      // The same where it is at hand and where it is not: whoever reviews the plan need not have it.
      for (const env of [UNSET, {}]) {
        const { changes } = await stage.plan({}, { env });
        const fields = changes.flatMap((change) => change.fields);
        expect(fields.filter(({ path }) => path === AT)).toMatchObject([
          { cause: 'secret_unwritten', secret: true },
        ]);
      }
      const text = await says(stage, UNSET, 2);
      expect(text).toContain('a secret was not written to this resource yet');
      const refused = await stage.run(
        (to) => apply(undefined, { dir: stage.folder, format: 'text', autoApprove: true }, to),
        { env: UNSET, exit: 1 },
      );
      expect(refused.err).toMatch(/agents\.yaml:\d+:\d+ +error +agent\.desk: .*auth_token/);
      await stage.apply();
      expect(token(stage)).toBe(CANARIES.SMS_TOKEN);
    });
  }
});

import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, onTestFinished } from 'vitest';
import { runs } from '../../../src/cli/commands/state.ts';
import { isObject, type Json } from '../../../src/core/value.ts';
import type { RestoreFlags } from '../../../src/features/recovery/restore.ts';
import { startSimulator } from '../../../src/simulator/index.ts';
import { openFileStore } from '../../../src/state/file/store.ts';
import { type Stage, staged } from '../../apply/stage.ts';
import { stateCommands, stateIn, storeOf } from '../../cli/state-stage.ts';
import { agentNamed } from '../../e2e/clinic.ts';
import { OTHERS } from '../../kill/scenarios.ts';
import { FOR_KEY, take, withKey } from '../../snapshot/taking.ts';
import { began, deadPid, holder } from '../../state/sample.ts';
import { temporaryFolder } from '../../temporary.ts';
import { typedCommands } from '../../typed-commands.ts';
import { PASSWORD, startHttpServer, USERNAME } from '../stores/http-server.ts';
import { before } from './parts-stage.ts';
import { restoreOn, wipe } from './restoring.ts';

/** Four agents, each with an account and a token of its own. */
const NAMES = ['One', 'Two', 'Three', 'Four'] as const;
const TOKENS = Object.fromEntries(NAMES.map((name) => [`TOKEN_${name}`, `canary-token-${name}`]));
const UNSET = Object.fromEntries(NAMES.map((name) => [`TOKEN_${name}`, '']));
const AGENTS = `agents:\n${NAMES.map(
  (name) =>
    `  ${name.toLowerCase()}:\n    name: ${name}\n    integrations: { smsProvider: { account_sid: AC${name}, auth_token: { $secret: "env:TOKEN_${name}" } } }\n`,
).join('')}`;

/** The tokens that the platform has stored. */
function stored({ sim }: Pick<Stage, 'sim'>): readonly Json[] {
  return NAMES.flatMap((name) => {
    const { integrations } = agentNamed(sim, name).record;
    const sms = isObject(integrations) ? integrations.smsProvider : undefined;
    return isObject(sms) && sms.auth_token !== undefined ? [sms.auth_token] : [];
  });
}

/** The commands that stand below a result, without those that its sentences name. */
function waysIn(out: string): readonly string[] {
  return typedCommands(out).filter(
    (command) => command.includes(' --state ') || command.includes(' --dir '),
  );
}

async function begin(stage: Stage, env: Env): Promise<void> {
  await stage.remove('agents.yaml');
  await stage.write('resources.yaml', AGENTS);
  await stage.apply({}, { env });
}

type Env = Readonly<Record<string, string>>;

const STORES = ['file', 'http'] as const;

async function openPlace(store: (typeof STORES)[number]) {
  if (store === 'file')
    return { env: TOKENS, forget: (stage: Stage) => stage.forget(), close() {} };
  const server = await startHttpServer();
  const env = {
    ...TOKENS,
    CALLSHEET_STATE: `${server.origin}/plain/state`,
    CALLSHEET_STATE_USERNAME: USERNAME,
    CALLSHEET_STATE_PASSWORD: PASSWORD,
  };
  const forget = async () => {
    server.shelfOf('/plain/state').text = undefined;
  };
  return { env, forget, close: server.stop };
}

describe('a restore without secrets, followed by an apply with them', () => {
  for (const store of STORES) {
    for (const state of ['kept', 'lost'] as const) {
      staged(`stores every one, with the state ${state} in ${store}`, async (stage) => {
        const { env, forget, close } = await openPlace(store);
        try {
          await begin(stage, env);
          const { file } = await take(stage, 'then.snapshot', FOR_KEY, env);
          wipe(stage.sim);
          if (state === 'lost') await forget(stage);
          const given = { ...(await withKey(stage)), withoutSecrets: true } as const;
          const { summary } = await restoreOn(stage, file, given, { env: { ...env, ...UNSET } });
          expect(summary()).toMatchObject({
            status: 'done',
            stack: { resources: 4, secrets: 4, problem: null },
          });
          expect(stored(stage)).toEqual([]);
          const changes = (await stage.plan({}, { env })).changes.flatMap(({ fields }) => fields);
          expect(changes.map(({ cause }) => cause)).toEqual(Array(4).fill('secret_unwritten'));
          // The second plan of `apply` is empty, and nothing is left open.
          await stage.apply({}, { env });
          expect(stored(stage)).toEqual(Object.values(TOKENS));
        } finally {
          await close();
        }
      });
    }
  }
});

/** A secret that no answer has, and two that answers return. */
const EVERYWHERE = `agents:
  one:
    name: One
    integrations: { smsProvider: { account_sid: ACone, auth_token: { $secret: "env:TOKEN_One" } } }
    extensions:
      tools:
        - type: webhook
          name: look_up
          condition: during_call
          description: Looks up a patient
          url: https://crm.example.test/look-up
          method: GET
          headers:
            - { key: X-Api-Key, value: { $secret: "env:TOKEN_Two" } }
            - { key: X-Trace, value: "on" }
      mcp_servers:
        - connection_name: planner
          mcp_endpoint_url: https://mcp.example.test
          transport_type: http
          auth_headers: { Authorization: { $secret: "env:TOKEN_Three" } }
`;

const CONTENTS = { plain: {}, encrypted: FOR_KEY } as const;

/** What stands in the place of each token on the platform. */
function everywhere({ sim }: Pick<Stage, 'sim'>) {
  const { record } = agentNamed(sim, 'One');
  const text = JSON.stringify(record);
  return Object.values(TOKENS)
    .slice(0, 3)
    .map((token) => text.includes(token));
}

/** What writes, with the secrets at hand, what a restore without them left open. */
const LATER: Readonly<
  Record<string, (stage: Stage, file: string, given: Partial<RestoreFlags>) => Promise<unknown>>
> = {
  'an apply': (stage) => stage.apply({}, { env: TOKENS }),
  'the same restore': async (stage, file, given) => {
    const { summary } = await restoreOn(stage, file, given, { env: TOKENS });
    expect(summary()).toMatchObject({ status: 'done', stack: { secrets: 0, problem: null } });
  },
};

describe('secrets in every place that a restore left open', () => {
  for (const [content, flags] of Object.entries(CONTENTS))
    for (const state of ['kept', 'lost'] as const)
      for (const [later, write] of Object.entries(LATER))
        staged(`${content}, state ${state}: are written by ${later}`, async (stage) => {
          await stage.remove('agents.yaml');
          await stage.write('resources.yaml', EVERYWHERE);
          await stage.apply({}, { env: TOKENS });
          expect(everywhere(stage)).toEqual([true, true, true]);
          const { file } = await take(stage, 'then.snapshot', flags, TOKENS);
          wipe(stage.sim);
          if (state === 'lost') await stage.forget();
          const given = await withKey(stage);
          const without = { ...given, withoutSecrets: true };
          const { summary } = await restoreOn(stage, file, without, { env: UNSET });
          const open = everywhere(stage).filter((isThere) => !isThere).length;
          expect(summary().stack).toMatchObject({ resources: 1, secrets: open, problem: null });
          await write(stage, file, given);
          expect(everywhere(stage)).toEqual([true, true, true]);
          expect((await stage.plan({}, { env: TOKENS })).changes).toEqual([]);
        });
});

/** How the secrets of a restore come to it, and what the stack has at hand afterwards. */
const SUPPLIES: Readonly<
  Record<string, (stage: Stage, file: string, given: Partial<RestoreFlags>) => Promise<Env>>
> = {
  'by their variables': async (stage, file, given) => {
    await restoreOn(stage, file, given, { env: TOKENS });
    return TOKENS;
  },
  'by a file of secrets': async (stage, file, given) => {
    const own = join(temporaryFolder(), 'own.yaml');
    const path = 'integrations.smsProvider.auth_token';
    const lines = NAMES.map((name) => `agent.${name.toLowerCase()}: { ${path}: env:OWN_${name} }`);
    await writeFile(own, `${lines.join('\n')}\n`);
    const values = NAMES.map((name) => [`OWN_${name}`, TOKENS[`TOKEN_${name}`] ?? '']);
    const env = { ...UNSET, ...Object.fromEntries(values) };
    await restoreOn(stage, file, { ...given, secrets: own }, { env });
    return UNSET;
  },
  'by the same command, later': async (stage, file, given) => {
    await restoreOn(stage, file, { ...given, withoutSecrets: true }, { env: UNSET });
    await restoreOn(stage, file, given, { env: TOKENS });
    return TOKENS;
  },
};

describe('secrets that a restore wrote are known to the stack', () => {
  for (const [how, supply] of Object.entries(SUPPLIES))
    for (const state of ['kept', 'lost'] as const)
      staged(`${how}, with the state ${state}`, async (stage) => {
        await begin(stage, TOKENS);
        const { file } = await take(stage, 'then.snapshot', FOR_KEY, TOKENS);
        wipe(stage.sim);
        if (state === 'lost') await stage.forget();
        const env = await supply(stage, file, await withKey(stage));
        expect(stored(stage)).toEqual(Object.values(TOKENS));
        expect((await stage.plan({}, { env })).changes).toEqual([]);
        expect((await stage.plan({}, { env: TOKENS })).changes).toEqual([]);
        const edited = { ...TOKENS, TOKEN_One: 'canary-token-next' };
        const { changes } = await stage.plan({}, { env: edited });
        expect(changes.map(({ address }) => address)).toEqual(['agent.one']);
      });
});

staged(
  'an id that the platform gives to another resource after the disaster binds no address to that one',
  async (stage) => {
    const names = Array.from({ length: 6 }, (_, index) => `Desk ${index}`);
    const lines = names.map((name, index) => `  d${index}: { name: ${name}, agent_type: simple }`);
    await stage.remove('agents.yaml');
    await stage.write('resources.yaml', `agents:\n${lines.join('\n')}\n`);
    await stage.apply({ concurrency: 1 });
    const { file } = await take(stage, 'then.snapshot', FOR_KEY);
    // A platform that counts as the one before did.
    const sim = await startSimulator({ seed: OTHERS });
    onTestFinished(() => sim.close());
    const env = {
      CALLSHEET_BASE_URL: sim.url,
      CALLSHEET_CLIENT_ID: sim.clientId,
      CALLSHEET_CLIENT_SECRET: sim.clientSecret,
    };
    const { summary } = await restoreOn(stage, file, await withKey(stage), { env });
    expect(summary().stack).toMatchObject({ resources: names.length, problem: null });
    const ids = new Map(Object.entries((await stateIn(stage)).resources));
    const live = [...sim.store.agents.values()].map(({ record }) => record);
    for (const [index, name] of names.entries())
      expect(live.find((one) => one.name === name)?.id).toBe(ids.get(`agent.d${index}`)?.id);
    const csv = (await readFile(summary().ids ?? '', 'utf8'))
      .split('\n')
      .map((line) => line.split(','));
    const before = new Set(csv.map((line) => line[3]));
    // Otherwise the test shows nothing.
    expect(csv.slice(1).some((line) => line[4] !== undefined && before.has(line[4]))).toBe(true);
    expect((await stage.plan({}, { env })).changes).toEqual([]);
  },
  { seed: OTHERS },
);

staged(
  'a field that no schema knows is open where the restore could not write it',
  async (stage) => {
    const mail =
      'email_templates: { conf: { name: Conf, subject: s, body_html: "<p>x</p>", status: active } }\n';
    await stage.remove('agents.yaml');
    const field = 'unchecked: { emailTemplateId: { $ref: email_template.conf } }';
    await stage.write('resources.yaml', `${mail}agents: { one: { name: One, ${field} } }\n`);
    await stage.apply({}, { env: TOKENS });
    const template = () => agentNamed(stage.sim, 'One').record.email_template_id;
    expect(template()).toBeDefined();
    const { file } = await take(stage, 'then.snapshot', FOR_KEY, TOKENS);
    wipe(stage.sim);
    await restoreOn(stage, file, await withKey(stage), { env: TOKENS });
    expect(template()).toBeUndefined();
    const { changes } = await stage.plan({}, { env: TOKENS });
    expect(changes.map(({ address, fields }) => [address, fields.map(({ path }) => path)])).toEqual(
      [['agent.one', ['emailTemplateId']]],
    );
    await stage.apply({}, { env: TOKENS });
    expect(template()).toBeDefined();
  },
);

staged('a restore that died before it had a state is listed, with the way on', async (stage) => {
  const file = join(stage.folder, '.callsheet/restore-ab12-cd34.json');
  const store = openFileStore(file);
  const lease = await store.acquire(holder('r1', deadPid()));
  await lease.append({ ...began('r1'), purpose: 'restore' });
  await store.close();
  const flags = { dir: stage.folder, format: 'text' } as const;
  const env = { CALLSHEET_FINGERPRINT_KEY: '' };
  const { out } = await stage.run((to) => runs(undefined, flags, to), { env });
  expect(out.replaceAll(/\s+/g, ' ')).toMatch(
    /Run r1, .* is part of a restore that did not finish/,
  );
  expect(out).not.toContain('To undo');
});

describe.each(['kept', 'lost'])(
  'a value that the platform had stored as another, state %s',
  (state) => {
    staged(
      'is none that a restore changed',
      async (stage) => {
        await stage.remove('agents.yaml');
        const text = 'agents: { one: { name: One, greeting_message: "  Hello  " } }\n';
        await stage.write('resources.yaml', text);
        await stage.apply({}, { env: TOKENS });
        expect((await stage.plan({}, { env: TOKENS })).changes).toEqual([]);
        const { file } = await take(stage, 'then.snapshot', FOR_KEY, TOKENS);
        wipe(stage.sim);
        if (state === 'lost') await stage.forget();
        await restoreOn(stage, file, await withKey(stage), { env: TOKENS });
        expect(agentNamed(stage.sim, 'One').record.greeting_message).toBe('Hello');
        expect((await stage.plan({}, { env: TOKENS })).changes).toEqual([]);
        await stage.write('resources.yaml', text.replace('Hello', 'Welcome'));
        const { changes } = await stage.plan({}, { env: TOKENS });
        expect(changes.map(({ address }) => address)).toEqual(['agent.one']);
      },
      { dialect: { stores: ['trim'] } },
    );
  },
);

/** A fleet of four that is gone and restored without its secrets; `meanwhile` happens before the restore. */
async function restoreGone(
  stage: Stage,
  meanwhile: () => Promise<void> = async () => {},
  given: Partial<RestoreFlags> = {},
  options: Parameters<typeof restoreOn>[3] = {},
) {
  await begin(stage, TOKENS);
  const { file } = await take(stage, 'then.snapshot', FOR_KEY, TOKENS);
  wipe(stage.sim);
  await stage.forget();
  await meanwhile();
  const flags = { ...(await withKey(stage)), withoutSecrets: true, ...given } as const;
  const again = (more: object = {}, other: typeof options = {}) =>
    restoreOn(stage, file, { ...flags, ...more }, { env: UNSET, ...options, ...other });
  return { ...(await again()), again };
}

staged('secrets that a restore left open are not trusted', async (stage) => {
  await restoreGone(stage);
  const { out } = await stateCommands(stage).trust([], false, { env: TOKENS, exit: 4 });
  const { run, ledger } = JSON.parse(out);
  expect([run, ledger.length]).toEqual([null, 4]);
  expect(ledger[0]).toMatchObject({
    status: 'not_attempted',
    message: expect.stringContaining('the next `callsheet apply` writes it'),
  });
  await stage.apply({}, { env: TOKENS });
  expect(stored(stage)).toEqual(Object.values(TOKENS));
});

staged('what the restore recorded is a run of its own, and is repeated by none', async (stage) => {
  const { summary, again } = await restoreGone(stage);
  const { stack } = summary();
  const listed = await stage.run((to) =>
    runs(undefined, { dir: stage.folder, format: 'json' }, to),
  );
  const recorded = JSON.parse(listed.out).runs.find(
    ({ run }: { run: string }) => run === stack?.run,
  );
  expect(recorded).toMatchObject({ purpose: 'import' });
  expect((await again()).summary().stack).toMatchObject({ run: null, secrets: 4 });
  await stage.apply({}, { env: TOKENS });
  expect((await again()).summary().stack).toMatchObject({ run: null, secrets: 0 });
});

staged('what somebody else made is not bound', async (stage) => {
  const { summary } = await restoreGone(
    stage,
    async () => {
      const { sim } = stage;
      await stage.write('resources.yaml', AGENTS.replace('name: Four', 'name: Five'));
      await stage.apply({ target: ['agent.four'] }, { env: TOKENS });
      await stage.forget();
      expect(sim.store.agents.size).toBe(1);
    },
    { over: true },
  );
  expect(summary().stack).toMatchObject({ resources: 3, secrets: 3 });
  const { changes } = await stage.plan({}, { env: TOKENS });
  const causes = changes.map(({ address, fields }) => [address, fields.map(({ cause }) => cause)]);
  expect(causes).toContainEqual(['agent.four', ['unknown_secret']]);
});

staged('a secret that went with its object is open although the agent survived', async (stage) => {
  await begin(stage, TOKENS);
  const { file } = await take(stage, 'then.snapshot', FOR_KEY, TOKENS);
  Object.assign(agentNamed(stage.sim, 'One').record, { integrations: {} });
  const flags = { ...(await withKey(stage)), withoutSecrets: true, over: true } as const;
  const { summary } = await restoreOn(stage, file, flags, { env: UNSET });
  expect(summary().stack).toMatchObject({ resources: 1, secrets: 1 });
  await stage.apply({}, { env: TOKENS });
  expect(stored(stage)).toEqual(Object.values(TOKENS));
});

staged('an interrupted restore records what it made', async (stage) => {
  const stop = new AbortController();
  const outside = before('createAgent', 3, () => stop.abort());
  const { summary, again } = await restoreGone(
    stage,
    undefined,
    { concurrency: 1 },
    { outside, stop: stop.signal, exit: 130 },
  );
  const { stack } = summary();
  expect(stack).toMatchObject({ resources: stage.sim.store.agents.size, problem: null });
  expect((await again({}, NOT_STOPPED)).summary().stack).toMatchObject({
    resources: 4,
    secrets: 4,
  });
  await stage.apply({}, { env: TOKENS });
  expect(stored(stage)).toEqual(Object.values(TOKENS));
});

const NOT_STOPPED = { outside: {}, stop: new AbortController().signal, exit: 0 } as const;

describe('where the state of the stack cannot be written', () => {
  staged('as another run holds it, the same restore records it later', async (stage) => {
    await begin(stage, TOKENS);
    const { file } = await take(stage, 'then.snapshot', FOR_KEY, TOKENS);
    wipe(stage.sim);
    const lease = await storeOf(stage).acquire(holder('r2'));
    const flags = { ...(await withKey(stage)), withoutSecrets: true, format: 'text' } as const;
    const { out } = await restoreOn(stage, file, flags, { env: UNSET });
    await lease.release();
    expect(out.replace(/\s+/g, ' ')).toContain('was not written');
    const [command = ''] = waysIn(out);
    expect(command).toMatch(/^callsheet restore \S+ .*--without-secrets/);
    const { summary } = await restoreOn(stage, file, { ...flags, format: 'json' }, { env: UNSET });
    expect(summary().stack).toMatchObject({ resources: 4, secrets: 4, problem: null });
    await stage.apply({}, { env: TOKENS });
    expect(stored(stage)).toEqual(Object.values(TOKENS));
  });

  staged('as it is that of another stack, another state is named', async (stage) => {
    await stage.edit('callsheet.yaml', 'callsheet: 1', 'callsheet: 1\nstack: then');
    const shared = { ...TOKENS, CALLSHEET_STATE: join(temporaryFolder(), 'state.json') };
    await begin(stage, shared);
    const { file } = await take(stage, 'then.snapshot', FOR_KEY, shared);
    wipe(stage.sim);
    await stage.edit('callsheet.yaml', 'stack: then', 'stack: now');
    const flags = { ...(await withKey(stage)), withoutSecrets: true, format: 'text' } as const;
    const { out } = await restoreOn(stage, file, flags, { env: { ...shared, ...UNSET } });
    const [command = ''] = waysIn(out);
    const [, place = ''] = /^CALLSHEET_STATE=(\S+) callsheet restore /.exec(command) ?? [];
    const env = { CALLSHEET_STATE: place };
    const recorded = await restoreOn(stage, file, flags, { env: { ...UNSET, ...env } });
    const typed = waysIn(recorded.out);
    expect(typed[0]).toBe(`CALLSHEET_STATE=${place} callsheet apply --dir ${stage.folder}`);
    await stage.apply({}, { env: { ...TOKENS, ...env } });
    expect(stored(stage)).toEqual(Object.values(TOKENS));
  });
});

staged('without a stack the command that is printed writes the secrets', async (stage) => {
  await begin(stage, TOKENS);
  const { file } = await take(stage, 'then.snapshot', FOR_KEY, TOKENS);
  wipe(stage.sim);
  const state = join(stage.folder, 'own.json');
  const flags = { ...(await withKey(stage)), dir: '.', state, withoutSecrets: true } as const;
  const { out, summary } = await restoreOn(stage, file, flags, { env: UNSET });
  expect([summary().stack, out.includes('callsheet apply')]).toEqual([null, false]);
  const text = await restoreOn(stage, file, { ...flags, format: 'text' }, { env: UNSET });
  const [command] = waysIn(text.out);
  expect(command).toMatch(/^callsheet restore \S+ .*--without-secrets --state /);
  const needed = summary().secrets.map(({ any_of: [one] }) => one?.variable ?? '');
  const env = { ...UNSET, ...Object.fromEntries(needed.map((name, at) => [name, `canary-${at}`])) };
  await restoreOn(stage, file, flags, { env });
  expect(stored(stage)).toHaveLength(4);
});

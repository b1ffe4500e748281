import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { drift } from '../../src/cli/commands/drift.ts';
import { rollback } from '../../src/cli/commands/rollback.ts';
import { runSecretCommand } from '../../src/cli/secret-command.ts';
import { apply } from '../../src/console/apply.ts';
import { plan } from '../../src/console/plan.ts';
import { type Change, isWritten } from '../../src/core/plan-document.ts';
import type { NotUndone } from '../../src/state/journal.ts';
import { type Stage, type StageOptions, staged } from '../apply/stage.ts';
import { agentNamed } from '../e2e/clinic.ts';
import { longRows } from '../long.ts';
import { temporaryFolder } from '../temporary.ts';
import { STATE, stateCommands } from './state-stage.ts';

/** Each kind of leaf that holds a secret: where it stands, what stands around it, and where its value goes. */
const KINDS = {
  schema: {
    path: 'integrations.smsProvider.auth_token',
    block: (secret: string) =>
      `    integrations: { smsProvider: { account_sid: AC1, auth_token: ${secret} } }`,
    to: 'smsProvider',
  },
  unnamed: {
    path: 'integrations.ehrProvider.session_token',
    block: (secret: string) => `    integrations: { ehrProvider: { session_token: ${secret} } }`,
    to: 'ehrProvider',
  },
  'unnamed and returned': {
    path: 'integrations.ehrProvider.pass_phrase',
    block: (secret: string) => `    integrations: { ehrProvider: { pass_phrase: ${secret} } }`,
    to: 'ehrProvider',
  },
  header: {
    path: 'extensions.tools[crm].headers[X-Api-Key].value',
    block: (secret: string) => `    extensions:
      tools:
        - type: webhook
          name: crm
          condition: during_call
          method: GET
          url: https://crm.example.test/c
          headers: [{ key: X-Api-Key, value: ${secret} }]`,
    to: 'crm.example.test',
  },
  mcp: {
    path: 'extensions.mcp_servers[cal].auth_headers.Authorization',
    block: (secret: string) => `    extensions:
      mcp_servers:
        - connection_name: cal
          mcp_endpoint_url: https://mcp.example.test/x
          transport_type: http
          auth_headers: { Authorization: ${secret} }`,
    to: 'mcp.example.test',
  },
} as const;
type Name = keyof typeof KINDS;
const ALL: readonly Name[] = ['schema', 'unnamed', 'unnamed and returned', 'header', 'mcp'];
/** Those whose values the platform returns, so that a file may have them in clear. */
const RETURNED: readonly Name[] = ['header', 'mcp'];

const OLD = 'canary-old-5f1c9a7e';
const NEW = 'canary-new-83d20b46';
const from = (source: string) => `{ $secret: ${JSON.stringify(source)} }`;
const NONE = { OLD: undefined, NEW: undefined, TWIN: undefined, VAULT: undefined };

const idOf = (name: Name) => name.replaceAll(' ', '_');

function agents(secret: string, kinds: readonly Name[] = ALL): string {
  return `agents:\n${kinds
    .map((name) => `  ${idOf(name)}:\n    name: ${name}\n${KINDS[name].block(secret)}\n`)
    .join('')}`;
}

/** Where a pipeline mounts a secret: outside of the stack. */
const MOUNTED = join(temporaryFolder(), 'new');

const runSecret = runSecretCommand({
  env: { ...process.env, VAULT: NEW },
  stop: new AbortController().signal,
});

type Row = {
  readonly title: string;
  /** What the files have before and after, in YAML. */
  readonly before: string;
  readonly after: string;
  readonly kinds?: readonly Name[];
  /** What is done between the first apply and the change. */
  readonly between?: (stage: Stage) => Promise<unknown>;
  /** What the change is, beside another source. */
  readonly also?: (stage: Stage) => Promise<void>;
  /** The value that is live once it was applied. */
  readonly value?: string;
  /** Puts the value where it is read from, where that is no variable of the environment. */
  readonly supply?: () => Promise<void>;
  /** Addresses after the change, of each kind. */
  readonly addressOf?: (name: Name) => string;
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly environment?: string;
};

const ROWS: readonly Row[] = [
  { title: 'another variable', before: from('env:OLD'), after: from('env:NEW') },
  {
    title: 'another variable with the same value',
    before: from('env:OLD'),
    after: from('env:TWIN'),
    value: OLD,
  },
  {
    title: 'a file',
    before: from('env:OLD'),
    after: from(`file:${MOUNTED}`),
    also: () => rm(MOUNTED, { force: true }),
    supply: () => writeFile(MOUNTED, `${NEW}\n`),
  },
  { title: 'a command', before: from('env:OLD'), after: from('exec:printf %s "$VAULT"') },
  {
    title: 'the value itself, before',
    before: 'canary-clear-17ab',
    after: from('env:NEW'),
    kinds: RETURNED,
  },
  {
    title: 'a patch of the environment',
    before: from('env:OLD'),
    after: from('env:OLD'),
    kinds: ['schema', 'header'],
    environment: 'staging',
    also: async (stage) => {
      const own = (['schema', 'header'] as const).map(
        (name) =>
          `      agent.${name}:\n${KINDS[name].block(from('env:NEW')).replace(/^/gm, '    ')}\n`,
      );
      const settings = await stage.read('callsheet.yaml');
      await stage.write('callsheet.yaml', `${settings}    patches:\n${own.join('')}`);
    },
  },
  {
    title: 'another variable of what is renamed with it',
    before: from('env:OLD'),
    after: from('env:NEW'),
    kinds: ['schema', 'header'],
    addressOf: (name) => `agent.${name}_new`,
    also: async (stage) => {
      const moves = ['schema', 'header'].map(
        (name) => `{ from: agent.${name}, to: agent.${name}_new }`,
      );
      await stage.write('moves.yaml', `moved: [${moves.join(', ')}]\n`);
      for (const name of ['schema', 'header'])
        await stage.edit('agents.yaml', `  ${name}:`, `  ${name}_new:`);
    },
  },
  {
    title: 'another variable under another fingerprint key',
    before: from('env:OLD'),
    after: from('env:NEW'),
    between: (stage) =>
      stateCommands(stage).adopt({ env: { CALLSHEET_FINGERPRINT_KEY: 'canary-key-another' } }),
    env: { CALLSHEET_FINGERPRINT_KEY: 'canary-key-another' },
  },
  {
    title: 'another variable of what was taken over without a value at hand',
    before: from('env:OLD'),
    after: from('env:NEW'),
    between: async (stage) => {
      await stage.forget();
      await stage.apply({}, { env: NONE });
    },
  },
];

const options: StageOptions = {
  secrets: { OLD, NEW, TWIN: OLD, VAULT: NEW, CLEAR: 'canary-clear-17ab' },
};

/** Where the value of a leaf is live. */
function isLive(stage: Stage, name: Name, value: string): boolean {
  return JSON.stringify(agentNamed(stage.sim, name)).includes(value);
}

/** What a plan says of the secret of each agent. */
function saysOf(changes: readonly Change[], names: readonly Name[], { addressOf }: Row) {
  return names.map((name) => {
    const address = addressOf?.(name) ?? `agent.${idOf(name)}`;
    const change = changes.find((one) => one.address === address);
    const { path } = KINDS[name];
    const field = change?.fields.find((one) => one.path === path);
    const travel = change?.secrets?.find((one) => one.path === path);
    return { address, cause: field?.cause, travel };
  });
}

/** Plans with none of the values at hand, and with all of them. */
const HANDS = { without: { env: NONE }, with: { outside: { runSecret } } } as const;

describe('another source than the last applied', () => {
  const ways = ['a plan file', 'apply alone'] as const;
  const cases = ROWS.flatMap((row, index) => ways.map((way) => ({ row, index, way })));
  const isShort = ({ index, way }: (typeof cases)[number]) =>
    index === 0 || (index % 3 !== 1 && (way === 'a plan file') === (index % 2 === 0));
  for (const { row, way } of longRows(cases, isShort)) {
    const { kinds = ALL, value = NEW, environment } = row;
    staged(
      `${row.title} is shown with and without its value, and written by ${way}`,
      async (stage) => {
        await stage.remove('resources.yaml');
        await stage.write('agents.yaml', agents(row.before, kinds));
        const chosen = environment === undefined ? {} : { env: environment };
        const own = `environments:\n  ${environment}:\n    guards: { max_delete: 5 }\n`;
        const settings = await stage.read('callsheet.yaml');
        if (environment !== undefined) await stage.write('callsheet.yaml', `${settings}${own}`);
        await stage.apply(chosen);
        await row.between?.(stage);
        await stage.write('agents.yaml', agents(row.after, kinds));
        await row.also?.(stage);
        const writes = stage.writes().length;
        const digests = new Set<string>();
        const planned = kinds.map((name) => ({
          address: row.addressOf?.(name) ?? `agent.${idOf(name)}`,
          cause: 'secret_source_changed',
          travel: expect.objectContaining({
            to: KINDS[name].to,
            before: KINDS[name].to,
            another_source: true,
          }),
        }));
        const at = (hand: keyof typeof HANDS) => ({
          ...HANDS[hand],
          env: { ...row.env, ...Object(HANDS[hand]).env },
        });

        async function isShown(hand: keyof typeof HANDS) {
          for (const refresh of ['fast', 'full'] as const) {
            const { changes, digest } = await stage.plan({ refresh, ...chosen }, at(hand));
            digests.add(digest);
            expect(saysOf(changes, kinds, row), `${refresh}, ${hand}`).toEqual(planned);
          }
          for (const format of ['text', 'markdown'] as const) {
            const flags = { dir: stage.folder, format, detailedExitcode: true, ...chosen };
            const { out } = await stage.run((to) => plan(flags, to), { ...at(hand), exit: 2 });
            expect(out.replace(/\s+/g, ' '), format).toContain('another source than last applied');
          }
        }

        await isShown('without');
        const file = join(stage.folder, 'plan.json');
        const flags = { dir: stage.folder, format: 'text', ...chosen } as const;
        await stage.run((to) => plan({ ...flags, out: file }, to), at('without'));
        const given = way === 'a plan file' ? file : undefined;
        const { err } = await stage.run(
          (to) => apply(given, { ...flags, autoApprove: given === undefined }, to),
          { ...at('without'), exit: 1 },
        );
        expect(err).toContain(`${kinds.length} errors`);
        expect(err.replace(/\s+/g, ' ')).toContain('Nothing was written');
        expect(stage.writes()).toHaveLength(writes);

        await row.supply?.();
        await isShown('with');
        expect(digests.size).toBe(1);
        if (way === 'a plan file') await stage.applyFile('plan.json', chosen, at('with'));
        else await stage.apply(chosen, at('with'));
        expect(stage.writes()).toHaveLength(writes + kinds.length);
        for (const name of kinds) expect(isLive(stage, name, value), name).toBe(true);
        // The command of a secret may hold a credential.
        if (environment === undefined)
          expect(await stage.read(STATE)).not.toMatch(/\b(env|file|exec):/);
        for (const hand of ['without', 'with'] as const)
          for (const refresh of ['fast', 'full'] as const) {
            const { changes } = await stage.plan({ refresh, ...chosen }, at(hand));
            expect(changes).toEqual([]);
          }
      },
      options,
    );
  }
});

describe('a source that is named again', () => {
  staged(
    'is another one again, and what was never applied is none',
    async (stage) => {
      await stage.remove('resources.yaml');
      const write = (source: string) =>
        stage.write('agents.yaml', agents(from(source), ['schema', 'header']));
      await write('env:OLD');
      await stage.apply();
      await write('env:NEW');
      await write('env:OLD');
      expect((await stage.plan({}, { env: NONE })).changes).toEqual([]);
      await write('env:NEW');
      await stage.apply();
      await write('env:OLD');
      expect((await stage.plan({}, { env: NONE })).changes).toHaveLength(2);
    },
    options,
  );

  staged(
    'stays one of what is not chosen, and is recorded of what is',
    async (stage) => {
      await stage.remove('resources.yaml');
      await stage.write('agents.yaml', agents(from('env:OLD')));
      await stage.apply();
      await stage.write('agents.yaml', agents(from('env:NEW')));
      await stage.apply({ target: ['agent.header'] });
      const { changes } = await stage.plan({}, { env: NONE });
      const others = ALL.filter((name) => name !== 'header').map((name) => `agent.${idOf(name)}`);
      expect(changes.map(({ address }) => address).sort()).toEqual(others.sort());
    },
    options,
  );

  staged(
    'is settled by state trust where the value set here is the one that was written',
    async (stage) => {
      await stage.remove('resources.yaml');
      await stage.write('agents.yaml', agents(from('env:OLD')));
      await stage.apply();
      const writes = stage.writes().length;
      await stage.write('agents.yaml', agents(from('env:NEW')));
      await stateCommands(stage).trust([], false);
      expect((await stage.plan({}, { env: NONE })).changes).toHaveLength(ALL.length);
      await stage.write('agents.yaml', agents(from('env:TWIN')));
      await stateCommands(stage).trust([], false);
      expect((await stage.plan({}, { env: NONE })).changes).toEqual([]);
      expect(stage.writes()).toHaveLength(writes);
    },
    options,
  );

  staged(
    'is not what a rollback brings back: the files still differ, or their former source does',
    async (stage) => {
      await stage.remove('resources.yaml');
      await stage.write('agents.yaml', agents(from('env:OLD'), ['schema', 'header']));
      await stage.apply();
      await stage.write('agents.yaml', agents(from('env:NEW'), ['schema', 'header']));
      await stage.apply();
      await stage.rollback({}, { env: NONE, exit: 'any' });
      // The hidden one stays as the run left it; the header was kept encrypted, and is back.
      expect(isLive(stage, 'schema', NEW)).toBe(true);
      expect(isLive(stage, 'header', OLD)).toBe(true);
      await stage.write('agents.yaml', agents(from('env:OLD'), ['schema', 'header']));
      const { changes } = await stage.plan({}, { env: NONE });
      expect(changes.map(({ address }) => address)).toEqual(['agent.schema']);
      await stage.apply();
      for (const name of ['schema', 'header'] as const) expect(isLive(stage, name, OLD)).toBe(true);
    },
    options,
  );
});

const SMS =
  'smsProvider: { account_sid: AC1, auth_token: { $secret: env:OLD }, fromNumber: "+15550100" }';
const EHR =
  'ehrProvider: { region: west, session_token: { $secret: env:OLD }, pass_phrase: { $secret: env:OLD } }';
const SECRET_OF = (provider: string, name: string) => `integrations.${provider}.${name}`;

/** An agent with these integrations, and with a webhook of which a header is a secret. */
function desk(integrations: string, isCalling = true): string {
  const block = isCalling ? `\n${KINDS.header.block(from('env:OLD'))}` : '';
  return `agents:\n  desk:\n    name: Desk\n    integrations: { ${integrations} }${block}\n`;
}

describe('what is removed names the stored secrets that go with it:', () => {
  const rows: readonly (readonly [string, string, Parameters<Stage['plan']>[0], object])[] = [
    [
      'a provider that is null',
      desk(`smsProvider: null, ${EHR}`),
      {},
      { [SECRET_OF('smsProvider', 'auth_token')]: false },
    ],
    [
      'one of whose secrets the state alone knows',
      desk(`${SMS}, ehrProvider: null`),
      {},
      {
        [SECRET_OF('ehrProvider', 'session_token')]: false,
        [SECRET_OF('ehrProvider', 'pass_phrase')]: true,
      },
    ],
    ['a webhook', desk(`${SMS}, ${EHR}`, false), {}, { [KINDS.header.path]: true }],
    [
      'an agent',
      desk(`${SMS}, ${EHR}`).replace('  desk:', '  other:').replace('name: Desk', 'name: Other'),
      { allowDelete: true },
      {
        [SECRET_OF('smsProvider', 'auth_token')]: false,
        [SECRET_OF('ehrProvider', 'session_token')]: false,
        [SECRET_OF('ehrProvider', 'pass_phrase')]: true,
        [KINDS.header.path]: true,
      },
    ],
  ];
  for (const [what, after, flags, gone] of rows) {
    staged(
      what,
      async (stage) => {
        await stage.remove('resources.yaml');
        await stage.write('agents.yaml', desk(`${SMS}, ${EHR}`));
        await stage.apply();
        await stage.write('agents.yaml', after);
        for (const refresh of ['fast', 'full'] as const) {
          const { changes } = await stage.plan({ ...flags, refresh }, { env: NONE });
          const { secrets = [] } = changes.find(({ address }) => address === 'agent.desk') ?? {};
          const removed = secrets.filter(({ to }) => to === null);
          expect(Object.fromEntries(removed.map((one) => [one.path, one.restorable]))).toEqual(
            gone,
          );
        }
        for (const format of ['text', 'markdown'] as const) {
          const given = { dir: stage.folder, format, ...flags };
          const { out } = await stage.run((to) => plan(given, to), { env: NONE });
          const said = unescaped(out);
          for (const [path, restorable] of Object.entries(gone))
            expect(said).toContain(
              `stored secret ${calledBy(path)} is removed; a rollback ${restorable ? 'can restore it only with CALLSHEET_FINGERPRINT_KEY' : 'cannot restore it'}`,
            );
        }
        await stage.apply(flags);
      },
      options,
    );
  }
});

describe('what a run removed with a provider', () => {
  staged(
    'is not back after a rollback, which says so, and is written by the next apply',
    async (stage) => {
      await stage.remove('resources.yaml');
      const before = desk(`${SMS}, ${EHR}`);
      await stage.write('agents.yaml', before);
      await stage.apply();
      await stage.write('agents.yaml', desk(`smsProvider: null, ${EHR}`));
      await stage.apply();
      const { out } = await stage.run(
        (to) => rollback({ dir: stage.folder, format: 'json', autoApprove: true }, to),
        { env: NONE, exit: 3 },
      );
      const token = SECRET_OF('smsProvider', 'auth_token');
      const left: readonly NotUndone[] = JSON.parse(out).verification.left;
      expect(left.map(({ path }) => path)).toEqual([token]);
      await stage.write('agents.yaml', before);
      const { changes } = await stage.plan({}, { env: NONE });
      const written = changes.flatMap(({ fields }) => fields.filter(isWritten));
      expect(written.map(({ path, cause }) => [path, cause])).toEqual([
        [token, 'secret_unwritten'],
      ]);
      await stage.apply();
      const { integrations } = agentNamed(stage.sim, 'Desk').record;
      expect(JSON.stringify(integrations)).toContain(`"auth_token":"${OLD}"`);
    },
    options,
  );
});

/** Markdown as it reads, and blanks taken together. */
function unescaped(text: string): string {
  return text
    .replace(/&#91;/g, '[')
    .replace(/&#93;/g, ']')
    .replace(/&#95;/g, '_')
    .replace(/\s+/g, ' ');
}

describe('another account', () => {
  const account = (name: string, more = '') =>
    desk(`smsProvider: { account_sid: ${name}, auth_token: { $secret: env:OLD }${more} }`, false);
  const without = (name: string) => desk(`smsProvider: { account_sid: ${name} }`, false);
  const KEYED = 'api_key_sid: SK1, api_key_secret: { $secret: env:TWIN }';
  const keyed = (name: string) => desk(`smsProvider: { account_sid: ${name}, ${KEYED} }`, false);
  const token = SECRET_OF('smsProvider', 'auth_token');

  staged(
    'is written together with its secret, although that is the one that was written',
    async (stage) => {
      await stage.remove('resources.yaml');
      await stage.write('agents.yaml', account('AC1'));
      await stage.apply();
      await stage.write('agents.yaml', account('AC2'));
      const writes = stage.writes().length;
      for (const env of [NONE, {}]) {
        const { changes } = await stage.plan({}, { env });
        expect(changes.flatMap(({ fields }) => fields.map((one) => [one.path, one.cause]))).toEqual(
          [
            [SECRET_OF('smsProvider', 'account_sid'), 'changed'],
            [token, 'secret_account_changed'],
          ],
        );
        expect(changes[0]?.secrets).toEqual([
          { path: token, source: 'env:OLD', to: 'smsProvider', before: 'smsProvider' },
        ]);
      }
      const flags = { dir: stage.folder, format: 'text', autoApprove: true } as const;
      const { err } = await stage.run((to) => apply(undefined, flags, to), { env: NONE, exit: 1 });
      expect(err.replace(/\s+/g, '')).toContain(token);
      expect(stage.writes()).toHaveLength(writes);
      await stage.apply();
      const [sent] = stage.writes().slice(writes);
      expect(JSON.stringify(sent?.body)).toContain(`"account_sid":"AC2","auth_token":"${OLD}"`);
    },
    options,
  );

  staged(
    'that somebody wrote in the dashboard is put back together with its secret',
    async (stage) => {
      await stage.remove('resources.yaml');
      await stage.write('agents.yaml', account('AC1'));
      await stage.apply();
      const { id, record } = agentNamed(stage.sim, 'Desk');
      const integrations = JSON.parse(JSON.stringify(record.integrations).replace('AC1', 'AC9'));
      stage.sim.edit(id, { integrations });
      const { changes } = await stage.plan({}, { env: NONE });
      expect(changes.flatMap(({ fields }) => fields.map(({ cause }) => cause))).toEqual([
        'drifted',
        'secret_account_changed',
      ]);
      await stage.apply();
      const { out } = await stage.run((to) =>
        drift({ dir: stage.folder, format: 'json', detailedExitcode: true }, to),
      );
      expect(JSON.parse(out).changes).toEqual([]);
    },
    options,
  );

  const rows: readonly (readonly [string, string, string, 'ok' | 'refused'])[] = [
    ['is refused without a secret', without('AC1'), without('AC2'), 'refused'],
    [
      'is refused where its secret goes at the same time',
      account('AC1'),
      without('AC2'),
      'refused',
    ],
    [
      'is refused where another credential takes the place of its secret',
      account('AC1'),
      keyed('AC2'),
      'refused',
    ],
    [
      'is written where another credential is the one that is used',
      keyed('AC1'),
      keyed('AC2'),
      'ok',
    ],
    [
      'is written where there was none before',
      desk('smsProvider: { fromNumber: "+15550100" }', false),
      without('AC2'),
      'ok',
    ],
  ];
  for (const [title, before, after, verdict] of rows) {
    staged(
      title,
      async (stage) => {
        await stage.remove('resources.yaml');
        await stage.write('agents.yaml', before);
        await stage.apply();
        await stage.write('agents.yaml', after);
        const { changes } = await stage.plan({}, { env: NONE, exit: 'any' });
        expect(changes.map((change) => change.verdict)).toEqual([verdict]);
        if (verdict === 'ok') await stage.apply();
        else
          expect(changes[0]?.reason).toContain(
            'integrations.smsProvider.account_sid would be another account with the stored auth_token',
          );
      },
      options,
    );
  }

  staged(
    'stays where a rollback has no secret for the one before, which it names',
    async (stage) => {
      await stage.remove('resources.yaml');
      await stage.write('agents.yaml', account('AC1', ', fromNumber: "+15550100"'));
      await stage.apply();
      await stage.write('agents.yaml', account('AC2', ', fromNumber: "+15550200"'));
      await stage.apply();
      const ledger = await stage.rollback({}, { env: NONE, exit: 3 });
      expect(JSON.stringify(ledger)).toContain('account_sid is not undone');
      const sent = JSON.stringify(agentNamed(stage.sim, 'Desk').record.integrations);
      expect(sent).toContain('"account_sid":"AC2"');
      expect(sent).toContain('"fromNumber":"+15550100"');
      await stage.write('agents.yaml', account('AC1', ', fromNumber: "+15550100"'));
      await stage.apply();
    },
    options,
  );
});

/** `X-Api-Key of crm`, as people call `extensions.tools[crm].headers[X-Api-Key].value`. */
function calledBy(path: string): string {
  const names = path
    .replace(/\.value$/, '')
    .split(/[.[\]]+/)
    .filter((name) => name !== '');
  const own = names.at(-1) ?? '';
  const elements = [...path.matchAll(/\[([^\]]+)\]/g)].map(([, name]) => name);
  const above = elements.filter((name) => name !== own).at(-1) ?? names.at(-2);
  return `${own} of ${above}`;
}

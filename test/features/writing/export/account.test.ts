import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { apply } from '../../../../src/console/apply.ts';
import { plan } from '../../../../src/console/plan.ts';
import type { PlanDocument } from '../../../../src/core/plan-document.ts';
import type { Dialect, Fault, SimulatorOptions } from '../../../../src/simulator/index.ts';
import { longRows, longTest } from '../../../long.ts';
import { type ExportStage, expectFaithful, openExportStage } from './stage.ts';

/** The clock does not move, so that the same account is the same again. */
const ACCOUNT: SimulatorOptions = { resellers: 1, organizations: 3, agents: 18 };
/** Two agents in each organization. */
const SMALL: SimulatorOptions = { ...ACCOUNT, agents: 6 };

/** Without it no agent can take payments. */
const SMS = { smsProvider: { account_sid: 'AC0123' } };

async function staged(options: SimulatorOptions = ACCOUNT): Promise<ExportStage> {
  const stage = await openExportStage(options);
  onTestFinished(stage.close);
  return stage;
}

describe('an exported account', () => {
  test('plans to no changes, with and without its state, and is the same again', async () => {
    const stage = await staged();
    const { document, resources } = await expectFaithful(stage);
    expect(document.organizations.map(({ name }) => name)).toEqual([
      'cedar_hardware',
      'harbor_dental',
      'northside_physio',
    ]);
    expect(document.resources).toEqual([
      { kind: 'retry_policy', count: 3 },
      { kind: 'email_template', count: 6 },
      { kind: 'sms_template', count: 6 },
      { kind: 'agent', count: 18 },
    ]);
    expect(resources).toBe(33);
    expect(document.remarks).toEqual([]);
    const files = await stage.files('first');
    expect([...files.keys()].filter((path) => path.startsWith('harbor_dental/'))).toContain(
      'harbor_dental/prompts/front_desk_1.md',
    );
    expect(files.get('harbor_dental/agents/front_desk_1.yaml')).toContain(
      'voice_id: "${var.voice_harbor_dental_voice}"',
    );
  });

  longTest('is planned from its lists, as a fleet that was applied is', async () => {
    const stage = await staged({ ...ACCOUNT, dialect: { timestamps: 'milliseconds' } });
    const { secrets } = await stage.export('stack');
    const known = Object.fromEntries(secrets.map(({ name }) => [name, 'known']));
    const unreadable = new Set(secrets.map(({ address }) => address));
    const before = stage.sim.requests.length;
    await stage.plan('stack', known);
    const reads = stage.sim.requests
      .slice(before)
      .filter(({ operation }) => operation === 'getAgent');
    expect(reads.length).toBeLessThanOrEqual(unreadable.size);
    expect(unreadable.size).toBeGreaterThan(0);
    expect(unreadable.size).toBeLessThan(18);
  });

  test('leaves nothing to remember to a run that reads all of it', async () => {
    const organization = '3c6e0b8a-9c15-4f1d-9f0e-5d2b7f1a2c11';
    const stage = await staged({
      seed: {
        organizations: [{ id: organization, name: 'Harbor' }],
        agents: [{ name: 'Desk', organization_id: organization, model: 'alpha-4.1' }],
      },
      dialect: { timestamps: 'milliseconds' },
    });
    await stage.export('stack');
    const dir = join(stage.folder, 'stack');
    const state = () => readFile(join(dir, '.callsheet/state.json'), 'utf8');
    const exported = await state();
    const flags = { dir, refresh: 'full', autoApprove: true, format: 'json' } as const;
    await stage.run((context) => apply(undefined, flags, context));
    expect(await state()).toBe(exported);
  });

  test('records the variables of secrets as their sources: another name is a change', async () => {
    const stage = await staged(SMALL);
    const { secrets } = await stage.export('stack');
    expect(secrets.length).toBeGreaterThan(0);
    const planNow = async () => {
      const flags = { dir: join(stage.folder, 'stack'), format: 'json' } as const;
      const { out } = await stage.run((to) => plan(flags, to));
      return (JSON.parse(out) as PlanDocument).changes;
    };
    expect(await planNow()).toEqual([]);
    const [{ name, address, path } = { name: '', address: '', path: '' }] = secrets;
    for (const [file, text] of await stage.files('stack'))
      if (file.endsWith('.yaml'))
        await writeFile(join(stage.folder, 'stack', file), text.replaceAll(name, 'OTHER_NAME'));
    const changes = await planNow();
    const change = changes.find((one) => one.address === address);
    expect(change?.fields.find((one) => one.path === path)?.cause).toBe('secret_source_changed');
    const renamed = secrets.filter((one) => one.name === name);
    expect(changes.flatMap((one) => one.secrets ?? [])).toHaveLength(renamed.length);
  });

  test('has its common settings in bases, and means the same without them', async () => {
    const stage = await staged();
    const { document } = await expectFaithful(stage, {});
    expect(document.bases).toBe(4);
    const factored = await stage.files('first');
    expect(factored.get('bases.yaml')).toContain('bases:\n  common:\n');
    const plain = await stage.export('plain', { factor: false });
    expect(plain.secrets).toEqual(document.secrets);
    const size = (files: ReadonlyMap<string, string>) => [...files.values()].join('').length;
    expect(size(factored)).toBeLessThan(size(await stage.files('plain')));
  });

  longTest(
    'holds no secret: values that the platform returns go to a file of their own, when asked for',
    async () => {
      const stage = await staged();
      const file = join(stage.folder, 'values.env');
      const { secrets, secrets_file: written } = await stage.export('stack', { secretsFile: file });
      const known = await readFile(file, 'utf8');
      expect(known).toContain("AGENT_CRM_LOOKUP_API_KEY='crm-key-of-harbor-dental'\n");
      expect(known).toContain('# AGENT_HARBOR_DENTAL_SMS_AUTH_TOKEN=\n');
      expect((await stat(file)).mode & 0o777).toBe(0o600);
      expect(written).toBe(file);
      const files = await stage.files('stack');
      expect([...files.values()].join('\n')).not.toMatch(
        /crm-key-of|token-of|pbx-secret|password-of/,
      );
      for (const { name } of secrets) expect(files.get('SECRETS.md')).toContain(`\`${name}\``);
      // Never over something else.
      await stage.export('other', { secretsFile: file }, { exit: 1 });
      expect(existsSync(join(stage.folder, 'other'))).toBe(false);
    },
  );

  const organizations = [
    ['an organization by its name', 'Harbor Dental'],
    ['an organization by what the stack calls it', 'harbor_dental'],
    ['an organization by its id', 'c8c49e23-4269-48ab-a87f-286c1172f028'],
    ['an organization with a name of its own', 'harbor=c8c49e23-4269-48ab-a87f-286c1172f028'],
  ] as const;
  test.each(longRows(organizations, (_, at) => at % 2 === 1))(
    'is %s alone',
    async (_, organization) => {
      const stage = await staged(SMALL);
      const { document } = await expectFaithful(stage, { organization: [organization] });
      const name = organization.startsWith('harbor=') ? 'harbor' : 'harbor_dental';
      expect(document.organizations).toEqual([
        { id: 'c8c49e23-4269-48ab-a87f-286c1172f028', name },
      ]);
      const files = await stage.files('first');
      expect(files.get('callsheet.yaml')).toContain(`organization: ${name}\n`);
      // The policies of the account are everybody's: only those that its agents follow are taken along.
      expect(
        document.resources.find(({ kind }) => kind === 'retry_policy')?.count ?? 0,
      ).toBeLessThan(3);
      expect([...files.keys()]).toContain('agents/front_desk_1.yaml');
    },
  );

  longTest(
    'of a scoped key is what it sees; organizations are called by their ids then',
    async () => {
      const stage = await staged(SMALL);
      const env = {
        CALLSHEET_CLIENT_ID: 'simulated-organization-client',
        CALLSHEET_CLIENT_SECRET: 'simulated-organization-secret',
      };
      const { document } = await expectFaithful(stage, {}, { env });
      expect(document.organizations.map(({ name }) => name)).toEqual(['organization_c8c49e23']);
    },
  );

  test('has the pages of knowledge bases that are named, and says which documents stay behind', async () => {
    const stage = await staged(SMALL);
    const [base] = stage.sim.store.knowledgeBases.keys();
    const { document } = await expectFaithful(stage, { knowledgeBase: [`handbook=${base}`] });
    expect((await stage.files('first')).get('knowledge_bases.yaml')).toContain(
      'faq: { url: https://harbor-dental.example.test/faq }',
    );
    expect(document.remarks).toEqual([
      {
        address: 'knowledge_source.handbook.prices_pdf',
        path: null,
        reason: 'it needs a file, which the platform does not give back',
      },
    ]);
  });

  type Row = [string, NonNullable<SimulatorOptions['dialect']>];
  const dialects: readonly Row[] = [
    ['lists show little', { listFields: 'fewest' }],
    ['lists show everything', { listFields: 'all' }],
    ['what is not set is null', { unset: 'null' }],
  ];
  test.each(longRows(dialects, (_, at) => at !== 1))('is faithful where %s', async (_, dialect) => {
    const stage = await staged({ ...SMALL, dialect });
    await expectFaithful(stage);
  });
});

describe('two of one name', () => {
  test('are told apart by their ids', async () => {
    const stage = await staged(SMALL);
    const [one, other] = [...stage.sim.store.agents.values()].filter(
      ({ organizationId }) => organizationId === 'c8c49e23-4269-48ab-a87f-286c1172f028',
    );
    stage.sim.edit(other?.id ?? '', { name: one?.record.name ?? '' });
    await expectFaithful(stage);
    const files = await stage.files('first');
    // The one that was made first keeps the name.
    expect(files.get('harbor_dental/agents/front_desk_1.yaml')).toContain(`adopt: ${other?.id}`);
    expect(files.get('harbor_dental/agents/front_desk_1_2.yaml')).toContain(`adopt: ${one?.id}`);
  });
});

describe('the folder', () => {
  test('leaves out what the stack at hand does not let it ask for, and says so', async () => {
    const stage = await staged(SMALL);
    const here = join(stage.folder, 'here');
    await mkdir(here);
    await writeFile(join(here, 'callsheet.yaml'), 'callsheet: 1\nplatform: { assume: false }\n');
    const { resources, unlisted } = await stage.export('stack', { dir: here });
    expect(resources).toContainEqual({ kind: 'agent', count: 6 });
    expect(unlisted).toContainEqual({ kind: 'sms_template', reason: 'there is no list of them' });
  });

  test('must be empty; with --overwrite what is not exported stays, and is told', async () => {
    const stage = await staged({ ...ACCOUNT, agents: 3 });
    const at = (path: string) => join(stage.folder, 'stack', path);
    // A repository that was just made counts as empty.
    await mkdir(at('.git'), { recursive: true });
    await stage.export('stack');
    await writeFile(at('own.yaml'), 'agents: {}\n');
    await writeFile(at('.gitignore'), 'mine\n');
    await writeFile(at('callsheet.yaml'), 'callsheet: 1\n');
    const state = await readFile(at('.callsheet/state.json'), 'utf8');
    const { err } = await stage.export('stack', {}, { exit: 1 });
    expect(err).toContain('is not empty');
    const again = await stage.export('stack', { overwrite: true });
    expect(again).toMatchObject({ kept: ['own.yaml'], state: false });
    expect(await readFile(at('.gitignore'), 'utf8')).toBe('mine\n');
    expect(await readFile(at('callsheet.yaml'), 'utf8')).toContain('harbor_dental');
    expect(await readFile(at('.callsheet/state.json'), 'utf8')).toBe(state);
  });

  test('with --overwrite leads nowhere else: no link is followed, and no stack inside is written into', async () => {
    const stage = await staged({ ...ACCOUNT, agents: 3 });
    const { organizations } = await stage.export('stack');
    const name = organizations.length > 1 ? (organizations[0]?.name ?? '') : 'agents';
    const at = (path: string) => join(stage.folder, path);
    const secretsFile = at('secrets.env');
    await mkdir(at('elsewhere'));
    await mkdir(at('linked'));
    await symlink('../elsewhere', at(`linked/${name}`));
    const flags = { overwrite: true, secretsFile };
    const linked = await stage.export('linked', flags, { exit: 1 });
    expect(linked.err).toContain('is a link, which leads elsewhere');
    expect(await readdir(at('elsewhere'))).toEqual([]);
    await mkdir(at(`nested/${name}`), { recursive: true });
    await writeFile(at(`nested/${name}/callsheet.yaml`), 'callsheet: 1\n');
    const nested = await stage.export('nested', flags, { exit: 1 });
    expect(nested.err).toContain('is a stack of its own');
    expect(await readdir(at('nested'))).toEqual([name]);
    expect((await readdir(stage.folder)).toSorted()).toEqual([
      'elsewhere',
      'linked',
      'nested',
      'stack',
    ]);
  });

  test('inside another stack, and a file, are refused before anything is asked', async () => {
    const stage = await staged({ ...ACCOUNT, agents: 1 });
    await writeFile(join(stage.folder, 'file'), '');
    expect((await stage.export('file', {}, { exit: 1 })).err).toContain('is not a folder');
    await writeFile(join(stage.folder, 'callsheet.yaml'), 'callsheet: 1\n');
    expect((await stage.export('inner', {}, { exit: 1 })).err).toContain('is inside the stack');
    expect(stage.sim.requests).toEqual([]);
  });

  test.each<[string, Fault, number]>([
    ['the platform stops answering', { operation: 'getAgent', status: 400, times: 1000 }, 1],
    [
      'an agent is gone by the time it is read',
      { operation: 'getAgent', status: 404, body: { error: 'not_found' } },
      0,
    ],
  ])('is whole or not there: %s', async (_, fault, exit) => {
    const stage = await staged({ ...ACCOUNT, agents: 6 });
    stage.sim.faults.add(fault);
    const document = await stage.export('deep/stack', {}, { exit });
    if (exit === 0)
      expect(document.remarks).toMatchObject([
        { reason: 'it was deleted while this was exported' },
      ]);
    else expect(await readdir(stage.folder)).toEqual([]);
    await rm(join(stage.folder, 'deep'), { recursive: true, force: true });
  });

  test.each<readonly [string, Partial<Dialect>]>([
    ['as ever', {}],
    ['that do not say whose they are', { listFields: 'fewest' }],
  ])(
    'agents that the platform refuses to show are said to be missing, with lists %s',
    async (_title, dialect) => {
      const stage = await staged({ ...ACCOUNT, agents: 3, dialect });
      const body = { error: 'forbidden', error_description: 'No access' };
      stage.sim.faults.add({ operation: 'getAgent', status: 403, body, times: 1000 });
      const { remarks, resources } = await stage.export('stack');
      const reason = expect.stringMatching(/^the platform does not show it: .*No access/);
      expect(remarks).toEqual(
        Array.from({ length: 3 }, () => ({ address: expect.any(String), path: null, reason })),
      );
      const exported = new Set(resources.map(({ kind }) => kind));
      expect([...exported]).toContain('sms_template');
      expect([...exported]).not.toContain('agent');
      stage.sim.faults.clear();
      expect((await stage.plan('stack', {})).changes).toEqual([]);
    },
  );

  test('is not there after an interrupt', async () => {
    const stage = await staged();
    const stop = new AbortController();
    stage.sim.faults.add({ operation: 'getAgent', hang: 'before' });
    const exporting = stage.export('stack', {}, { exit: 1, stop: stop.signal });
    // All but one are answered; that one never is.
    const answered = () =>
      stage.sim.requests.filter(
        ({ operation, status }) => operation === 'getAgent' && status === 200,
      ).length;
    while (answered() < 17) await new Promise((resolve) => setImmediate(resolve));
    stop.abort();
    await exporting;
    expect(await readdir(stage.folder)).toEqual([]);
  });

  test('is not there after an interrupt that no request is told of either', async () => {
    const stage = await staged();
    await stage.export('stack', {}, { exit: 130, stop: AbortSignal.abort() });
    expect(await readdir(stage.folder)).toEqual([]);
  });

  test('payments that cannot be read are said to be missing, and the agent is there', async () => {
    const stage = await staged({ ...ACCOUNT, agents: 3 });
    for (const agent of stage.sim.store.agents.values())
      agent.record = { ...agent.record, integrations: SMS };
    stage.sim.faults.add({ operation: 'getPaymentReadiness', status: 403, times: 1000 });
    const { remarks, resources } = await stage.export('stack');
    expect(remarks.map(({ path }) => path)).toEqual(['payments', 'payments', 'payments']);
    expect(resources.at(-1)).toEqual({ kind: 'agent', count: 3 });
  });

  test('asks for payments where the agent says that they may be on, and says of which it did not', async () => {
    const stage = await staged({ ...ACCOUNT, agents: 4 });
    const [first, ...others] = stage.sim.store.agents.values();
    if (first === undefined) throw new Error('no agent');
    first.record = { ...first.record, integrations: SMS };
    first.payments = { enabled: true, limits: { max_attempts_per_call: 2 } };
    for (const agent of others) agent.record = { ...agent.record, integrations: null };
    const before = stage.sim.requests.length;
    const { unasked, resources } = await stage.export('stack');
    expect(resources.at(-1)).toEqual({ kind: 'agent', count: 4 });
    const asked = stage.sim.requests.slice(before).map(({ operation }) => operation);
    expect(asked.filter((one) => one === 'getAgent')).toHaveLength(4);
    expect(asked.filter((one) => one === 'getPaymentReadiness')).toHaveLength(1);
    expect(unasked).toEqual([{ kind: 'agent', path: 'payments', resources: 3 }]);
    const folder = join(stage.folder, 'stack');
    expect(await readFile(join(folder, 'EXPORT.md'), 'utf8')).toContain(
      '- `payments` of 3 `agent`',
    );
    const files = await readdir(folder, { recursive: true });
    const texts = files
      .filter((file) => file.endsWith('.yaml'))
      .map((file) => readFile(join(folder, file), 'utf8'));
    expect((await Promise.all(texts)).join()).toContain('max_attempts_per_call: 2');
  });
});

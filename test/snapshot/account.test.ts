import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, onTestFinished, test } from 'vitest';
import schema from '../../schemas/snapshot.schema.json' with { type: 'json' };
import { Origin } from '../../src/core/origin.ts';
import type { PlanDocument } from '../../src/core/plan-document.ts';
import { compareSnapshots } from '../../src/features/recovery/compare.ts';
import { create } from '../../src/features/recovery/snapshot-create.ts';
import { diff, list, show } from '../../src/features/recovery/snapshot-show.ts';
import { createReader } from '../../src/live/reader.ts';
import { createClient } from '../../src/platform/client.ts';
import { ApiError } from '../../src/platform/errors.ts';
import { type SimulatorOptions, startSimulator } from '../../src/simulator/index.ts';
import { openSnapshot } from '../../src/snapshot/file.ts';
import type { Line, ResourceRecord } from '../../src/snapshot/format.ts';
import { readAccount } from '../../src/snapshot/read-account.ts';
import { type Stage, staged } from '../apply/stage.ts';
import { openReadStage, Refusal } from '../cli/read-stage.ts';
import { agentNamed, CANARIES } from '../e2e/clinic.ts';
import { restoreOn, wipe } from '../features/recovery/restoring.ts';
import { longRows } from '../long.ts';
import { agentOf, KEYS, readAll, written } from './files.ts';
import { FOR_KEY, take, withKey } from './taking.ts';

const ajv = new Ajv2020({ strict: false, validateFormats: false });
const isLine = ajv.compile(schema);

async function linesOf(file: string): Promise<readonly Line[]> {
  const text = gunzipSync(await readFile(file)).toString();
  return text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
}

function addressed(lines: readonly Line[], address: string): ResourceRecord {
  const found = lines.find((line) => line.type === 'resource' && line.address === address);
  if (found?.type !== 'resource') throw new Error(`${address} is not in the snapshot`);
  return found;
}

async function difference(stage: Stage, ...files: readonly string[]): Promise<PlanDocument> {
  const [earlier = '', later = ''] = files;
  const { out } = await stage.run(async (context) => {
    const flags = { dir: stage.folder, format: 'json', ...(await withKey(stage)) } as const;
    return diff(earlier, later, flags, context);
  });
  return JSON.parse(out);
}

describe('a snapshot of an account', () => {
  staged('holds everything that can be read, in lines that the schema describes', async (stage) => {
    await stage.apply();
    const { file, made } = await take(stage);
    const lines = await linesOf(file);
    for (const line of lines)
      expect(isLine(line), JSON.stringify([line, isLine.errors])).toBe(true);
    expect(made.resources).toEqual({
      agent: 2,
      custom_voice: 1,
      email_template: 1,
      knowledge_source: 2,
      retry_policy: 1,
      sms_template: 1,
    });
    expect(made.gaps).toEqual([]);
    const asked = lines.flatMap((line) => (line.type === 'answer' ? [line.operation] : []));
    expect(asked.sort()).toEqual([
      'getMe',
      'listFeatures',
      'listFeatures',
      'listLlmModels',
      'listLlmModels',
      'listSttProviders',
    ]);
    const desk = addressed(lines, 'agent.desk');
    const { id, system_prompt } = agentNamed(stage.sim).record;
    expect(desk.record).toMatchObject({ id, system_prompt });
    expect(desk.facets.payments).toMatchObject({ tool_enabled: false });
    // The time of an entry tells later which one was the newest.
    expect(desk.history).toBe(null);
    expect(desk.state?.id).toBe(desk.id);
  });

  staged('leaves sensitive values out and lists them, unless it is encrypted', async (stage) => {
    await stage.apply();
    const { file, made } = await take(stage);
    expect(made).toMatchObject({ encryption: 'none', sensitive: false });
    expect(made.withheld).toEqual([
      {
        resource: 'agent.desk',
        name: 'Front desk',
        paths: [
          'extensions.tools[crm_lookup].headers[X-Api-Key].value',
          'extensions.mcp_servers[Calendar].auth_headers.Authorization',
        ],
      },
    ]);
    const text = JSON.stringify(await linesOf(file));
    for (const canary of Object.values(CANARIES)) expect(text).not.toContain(canary);

    const sealed = await take(stage, 'sealed.snapshot', FOR_KEY);
    expect(sealed.made).toMatchObject({ encryption: 'age', sensitive: true, withheld: [] });
    const { records } = await readAll(sealed.file);
    expect(JSON.stringify(records)).toContain(CANARIES.CRM_KEY);
    // The platform never returns this one.
    expect(JSON.stringify(records)).not.toContain(CANARIES.SMS_TOKEN);
    // Nothing that looks into it shows them: the stage watches whatever is printed.
    const flags = { dir: stage.folder, format: 'json', ...(await withKey(stage)) } as const;
    await stage.run((context) => show(sealed.file, 'agent.desk', flags, context));
    expect((await difference(stage, file, sealed.file)).changes).toEqual([]);
  });

  staged('is listed and shown, and shows one resource of it', async (stage) => {
    await stage.apply();
    const { file } = await take(stage);
    const text = { dir: stage.folder, format: 'text' } as const;
    const all = await stage.run((context) => list(stage.folder, text, context));
    expect(all.out).toContain('then.snapshot');
    const shown = await stage.run((context) => show(file, undefined, text, context));
    expect(shown.out).toContain('2 agents');
    for (const name of ['agent.desk', 'Front desk']) {
      const one = await stage.run((context) => show(file, name, text, context));
      expect(one.out).toContain('greeting_message: Harbor Dental, how can I help?');
      expect(one.err).toContain(
        'Left out, because the snapshot is not encrypted: extensions.tools',
      );
    }
    const { err } = await stage.run((context) => show(file, 'agent.dask', text, context), {
      exit: 1,
    });
    expect(err).toContain('Did you mean agent.desk?');
  });

  staged('equals the next one while nothing changes, and differs by what did', async (stage) => {
    await stage.apply();
    const before = await take(stage, 'a.snapshot');
    const same = await take(stage, 'b.snapshot');
    const equal = await difference(stage, before.file, same.file);
    expect([equal.changes, equal.notes, equal.summary.no_op]).toEqual([[], [], 8]);

    await stage.edit('agents.yaml', 'status: active\n    model', 'status: inactive\n    model');
    await stage.edit(
      'agents.yaml',
      'agents:\n',
      'agents:\n  night:\n    name: Night\n    status: active\n    system_prompt: Take messages.\n',
    );
    await stage.apply();
    for (const { locks } of stage.sim.store.organizations.values()) locks.add('llm.alpha-4o');
    const after = await take(stage, 'c.snapshot');
    const { changes, notes, purpose, summary } = await difference(stage, same.file, after.file);
    expect(purpose).toBe('comparison');
    expect(summary).toMatchObject({ create: 1, update: 1, delete: 0, no_op: 7 });
    expect(
      changes.map(({ address, action, fields }) => [
        address,
        action,
        action === 'update' ? fields : [],
      ]),
    ).toEqual([
      [
        'agent.desk',
        'update',
        [{ path: 'status', before: 'active', after: 'inactive', secret: false, cause: 'changed' }],
      ],
      ['agent.night', 'create', []],
    ]);
    expect(notes.map(({ message }) => message)).toEqual([
      'Harbor Dental: listFeatures: llm.alpha-4o is locked',
      'Harbor Dental: listLlmModels: alpha-4o went',
    ]);
    const back = await difference(stage, after.file, same.file);
    expect(back.changes.map(({ address, action }) => [address, action])).toEqual([
      ['agent.desk', 'update'],
      ['agent.night', 'delete'],
    ]);
  });

  for (const state of ['kept', 'lost'] as const)
    staged(
      `equals that of the fleet that a restore rebuilt from it, state ${state}`,
      async (stage) => {
        await stage.apply();
        const before = await take(stage, 'a.snapshot', { ...FOR_KEY, media: true });
        wipe(stage.sim);
        if (state === 'lost') await rm(join(stage.folder, '.callsheet'), { recursive: true });
        const restored = await restoreOn(stage, before.file, await withKey(stage));
        expect(restored.summary().status).toBe('done');
        const after = await take(stage, 'b.snapshot', { ...FOR_KEY, media: true });
        const { changes, notes } = await difference(stage, before.file, after.file);
        expect(changes).toEqual([]);
        expect(notes.map(({ message }) => message)).toContainEqual(
          expect.stringMatching(/^8 resources have another id in the later snapshot/),
        );
        // A real change is still one, under the name that the resource has now.
        stage.sim.edit(agentNamed(stage.sim).id, { status: 'inactive' });
        const edited = await take(stage, 'c.snapshot', { ...FOR_KEY, media: true });
        const { changes: real } = await difference(stage, before.file, edited.file);
        expect(
          real.map(({ address, fields }) => [address, fields.map(({ path }) => path)]),
        ).toEqual([['agent.desk', ['status']]]);
      },
    );

  test('tells of nothing as gone or new that the other one did not read', async () => {
    const list = { type: 'list', kind: 'agent', scope: {} } as const;
    const gap = { type: 'gap', of: 'the list of kind agent', why: '403' } as const;
    const [both, gone] = [agentOf(1), agentOf(2)];
    const renamed = { ...both, record: { ...both.record, name: 'Other' } };
    const [whole, part] = await Promise.all(
      [
        [both, gone, list],
        [renamed, gap],
      ].map(async (records) => {
        const { file } = await written(records);
        return openSnapshot(file, KEYS);
      }),
    );
    if (whole === undefined || part === undefined) throw new Error('nothing was written');
    for (const [earlier, later, where] of [
      [whole, part, 'in the earlier snapshot was not compared: the later snapshot has a gap'],
      [part, whole, 'in the later snapshot was not compared: the earlier snapshot has a gap'],
    ] as const) {
      const { changes, notes } = await compareSnapshots(earlier, later, new Date(), () => []);
      expect(changes.map(({ id, action }) => [id, action])).toEqual([[both.id, 'update']]);
      expect(notes.map(({ message }) => message).join()).toContain(where);
    }
    const { changes } = await compareSnapshots(whole, whole, new Date(), () => []);
    expect(changes).toEqual([]);
    // Nor one that could not be read itself, in a list that was read to its end.
    const lacking = { type: 'gap', of: `agent ${gone.id}`, why: '403' } as const;
    const { file } = await written([both, list, lacking]);
    const less = await openSnapshot(file, KEYS);
    expect((await compareSnapshots(whole, less, new Date(), () => [])).changes).toEqual([]);
  });

  staged(
    'of one organization is asked for by its name, its name in the stack or its id',
    async (stage) => {
      await stage.apply();
      const [{ id = '', name = '' } = {}] = stage.sim.organizations;
      const resources = { agent: 2, custom_voice: 1 };
      for (const organization of longRows(
        [id.toUpperCase(), id, name, name.toUpperCase(), 'harbor'],
        (_, index) => index === 0,
      )) {
        const { made } = await take(stage, `${organization}.snapshot`, { organization });
        expect(made.organization, organization).toBe(id);
        expect(made.resources, organization).toMatchObject(resources);
      }
      const wrong = { dir: stage.folder, format: 'text', organization: 'Harbour Dental' } as const;
      const { err } = await stage.run((context) => create(wrong, context), { exit: 1 });
      expect(err).toContain('there is no organization Harbour Dental that the key reaches');
    },
  );

  staged('on a base holds what differs, and is read like any other', async (stage) => {
    await stage.apply();
    const base = await take(stage, 'base.snapshot');
    await stage.edit('agents.yaml', 'status: active\n    model', 'status: inactive\n    model');
    await stage.apply();
    const whole = await take(stage, 'whole.snapshot');
    const small = await take(stage, 'small.snapshot', { base: base.file });
    const third = await take(stage, 'third.snapshot', { base: small.file });
    expect((await linesOf(small.file)).filter(({ type }) => type === 'resource')).toHaveLength(1);
    expect((await linesOf(third.file)).filter(({ type }) => type === 'resource')).toHaveLength(0);
    expect(third.made.resources).toEqual(whole.made.resources);
    for (const { file } of [small, third]) {
      const { changes, summary } = await difference(stage, whole.file, file);
      expect([changes, summary.no_op]).toEqual([[], 8]);
    }
    // The chain is as strong as its links.
    const { rename } = await import('node:fs/promises');
    await rename(base.file, `${base.file}.away`);
    const text = { dir: stage.folder, format: 'text' } as const;
    const gone = await stage.run((context) => show(third.file, undefined, text, context), {
      exit: 1,
    });
    expect(gone.err).toContain('needs its base small.snapshot');
    expect(gone.err).toContain('base.snapshot cannot be read: there is no such file');
    await rename(whole.file, base.file);
    const other = await stage.run((context) => show(small.file, undefined, text, context), {
      exit: 1,
    });
    expect(other.err).toContain('base.snapshot is another snapshot');
  });

  staged(
    'does without the lists that the platform lacks, and says so',
    async (stage) => {
      await stage.apply();
      const { made } = await take(stage);
      expect(made.resources).toMatchObject({ agent: 2, retry_policy: 1 });
      expect(made.resources).not.toHaveProperty('sms_template');
      expect(made.gaps.map(({ of }) => of)).toEqual([
        'the list of kind retry policy',
        'the list of kind sms template',
      ]);
    },
    { dialect: { absent: ['listRetryPolicies', 'listSmsTemplates', 'getSmsTemplate'] } },
  );
});

describe('an answer that is none', () => {
  const me = { account_id: 'acc' };
  const run = async (answers: Parameters<typeof openReadStage>[0]) => {
    const stage = await openReadStage({ 'GET /v1/me': me, ...answers });
    return stage.run(
      (context) => create({ dir: '.', format: 'text', out: `${stage.dir}/then.snapshot` }, context),
      { exit: 1 },
    );
  };
  const refused = new Refusal(401, { error: 'invalid_token', error_description: 'No' });
  test('makes no snapshot: half a backup is worse than none', async () => {
    const { err } = await run({
      'GET /v1/agents': refused,
      'GET /v1/billing-report': { data: [] },
    });
    expect(err).toContain('Error: ');
  });
});

/** A simulated account with a client of its own, both closed with the test. */
async function openAccountOf(options: SimulatorOptions) {
  const sim = await startSimulator(options);
  onTestFinished(() => sim.close());
  const client = createClient({
    origin: Origin.given(sim.url),
    credentials: { clientId: sim.clientId, clientSecret: sim.clientSecret },
    concurrency: 8,
    openFile: () => Promise.reject(new Error('nothing is uploaded')),
  });
  onTestFinished(() => client.close());
  return { sim, client, me: await client.call({ operation: 'getMe' }) };
}

describe('a list of agents that breaks off', () => {
  /** Reads an account whose list of agents fails after so many of them, of which these are known otherwise. */
  async function readBroken(
    organizations: number,
    most: number,
    knownOf: (ids: readonly string[]) => readonly string[],
    isNarrowed: boolean,
  ) {
    const { sim, client, me } = await openAccountOf({ organizations, agents: 30 });
    const known = knownOf([...sim.store.agents.keys()]);
    const failure = new ApiError({ method: 'GET', url: 'https://x.test/v1/agents' }, 500, {});
    const listed: string[] = [];
    const [organization] = sim.store.organizations.keys();
    const records = readAccount({
      client: {
        call: client.call,
        async *each(call) {
          for await (const item of client.each(call)) {
            if (call.operation === 'listAgents' && listed.length === most) throw failure;
            if (call.operation === 'listAgents') listed.push(String(item.id));
            yield item;
          }
        },
      },
      reader: createReader(client, me),
      me,
      organization: isNarrowed ? organization : undefined,
      known: {
        organizations: [],
        knowledgeBases: [...sim.store.knowledgeBases.keys()],
        ids: (kind) => (kind === 'agent' ? known : []),
      },
      ahead: 4,
      now: new Date(),
      sensitive: true,
      owner: () => undefined,
    });
    const read: string[] = [];
    const gaps: string[] = [];
    const bases = { read: new Set<string>(), listed: new Set<string>() };
    for await (const record of records) {
      if (record.type === 'resource' && record.kind === 'agent') read.push(record.id);
      if (record.type === 'gap') gaps.push(record.of);
      const { knowledge_base_id: base } = 'scope' in record ? record.scope : {};
      if (base !== undefined) bases[record.type === 'list' ? 'listed' : 'read'].add(base);
    }
    const ownBases = [...sim.store.knowledgeBases].flatMap(([id, { organizationId }]) =>
      organizationId === organization ? [id] : [],
    );
    const own = [...sim.store.agents.values()].filter(
      ({ record }) => record.organization_id === organization,
    );
    return {
      listed,
      known,
      read: read.toSorted(),
      gaps,
      own: own.map(({ record }) => record.id),
      bases,
      ownBases: new Set(ownBases),
    };
  }

  test('leaves a gap, and each agent once that was read or is known', async () => {
    const ends = (ids: readonly string[]) => [...ids.slice(0, 5), ...ids.slice(-5)];
    const { listed, known, read, gaps } = await readBroken(1, 10, ends, false);
    expect(listed).toHaveLength(10);
    expect(gaps).toContain('the list of kind agent');
    expect(read).toEqual([...new Set([...listed, ...known])].toSorted());
  });

  test('of one organization brings none of another, whatever the state knows', async () => {
    const { read, gaps, own, bases, ownBases } = await readBroken(3, 0, (ids) => ids, true);
    expect(gaps.join()).toContain('the list of kind agent in organization');
    expect(own.length).toBeLessThan(30);
    expect(read).toEqual(own.toSorted());
    // Nor sources of its knowledge bases, of which nobody says beforehand whose they are.
    expect(bases).toEqual({ read: ownBases, listed: ownBases });
  });
});

test('an agent that cannot be read leaves a gap, and the others are kept', async () => {
  const { sim, client, me } = await openAccountOf({ organizations: 1, agents: 4 });
  const [refused = '', ...others] = sim.store.agents.keys();
  const reader = createReader(client, me);
  const failure = new ApiError({ method: 'GET', url: 'https://x.test/v1/agents/x' }, 403, {});
  const records = readAccount({
    client,
    reader: {
      ...reader,
      read: (kind, one, apart) =>
        one.id === refused ? Promise.reject(failure) : reader.read(kind, one, apart),
    },
    me,
    organization: undefined,
    known: { organizations: [], knowledgeBases: [], ids: () => [] },
    ahead: 4,
    now: new Date(),
    sensitive: true,
    owner: () => undefined,
  });
  const read: string[] = [];
  const gaps: string[] = [];
  for await (const record of records) {
    if (record.type === 'resource' && record.kind === 'agent') read.push(record.id);
    if (record.type === 'gap') gaps.push(record.of);
  }
  expect(read.toSorted()).toEqual(others.toSorted());
  expect(gaps).toContain(`agent ${refused}`);
});

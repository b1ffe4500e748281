import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import {
  type Client,
  type ClientOptions,
  createClient,
  planStack,
  runPlan,
  type TraceEntry,
  undo,
} from '../src/index.ts';
import { type SeedDocument, startSimulator } from '../src/simulator/index.ts';
import { failure } from './platform/platform.ts';
import { temporaryFolder } from './temporary.ts';

const HARBOR = '3c6e0b8a-9c15-4f1d-9f0e-5d2b7f1a2c11';
const CLINIC = '55555555-5555-4555-a555-555555555555';
const DESK = '8b0e0a52-9d0f-4c53-8f3f-6a1f5f0b7a01';

const SEED: SeedDocument = {
  organizations: [{ id: HARBOR, name: 'Harbor Dental' }],
  agents: [{ id: DESK, organization_id: HARBOR, name: 'Front desk', system_prompt: 'You answer.' }],
  knowledge_bases: [{ id: CLINIC, organization_id: HARBOR, name: 'Clinic' }],
  calls: Array.from({ length: 3 }, (_, day) => ({
    agent_id: DESK,
    call_started_at: `2026-02-0${day + 1}T09:00:00Z`,
    call_duration: 60,
  })),
};

/** A simulated platform and a client of it. */
async function stage(options: Partial<ClientOptions> = {}) {
  const sim = await startSimulator({ seed: SEED });
  const { url: baseUrl, clientId, clientSecret } = sim;
  const client = createClient({ baseUrl, credentials: { clientId, clientSecret }, ...options });
  onTestFinished(async () => {
    await client.close();
    await sim.close();
  });
  return { sim, client };
}

/** A file of its own. */
async function fileWith(name: string, text: string): Promise<string> {
  const folder = temporaryFolder();
  const path = join(folder, name);
  await writeFile(path, text);
  return path;
}

test('numbers, flags and lists of a query go out as text', async () => {
  const { sim, client } = await stage();
  const limits = { path: { agentId: DESK }, query: { limit: 2 } };
  await client.list({ operation: 'listAgentHistory', ...limits });
  const path = { agentId: DESK };
  await client.call({ operation: 'getPaymentReadiness', path, query: { refresh: true } });
  const days = { start_date: '2026-02-01', end_date: '2026-02-28' };
  const report = await client.call({
    operation: 'getBillingReport',
    query: { ...days, 'organization_ids[]': [HARBOR] },
  });
  expect(report.data.map(({ organization_id }) => organization_id)).toEqual([HARBOR]);
  const asked = sim.requests.map((request) => new URL(request.path, sim.url).search);
  expect(asked).toEqual(expect.arrayContaining(['?limit=2', '?refresh=true']));
});

test('a list is whole, and its items come one by one as well', async () => {
  const { client } = await stage();
  const logs = { operation: 'listCallLogs', path: { agentId: DESK } } as const;
  const whole = await client.list(logs);
  const starts: (string | undefined)[] = [];
  for await (const { call_started_at } of client.each(logs)) starts.push(call_started_at);
  expect(starts).toHaveLength(3);
  expect(whole.map(({ call_started_at }) => call_started_at)).toEqual(starts);
});

test('a clip is sent from the disk', async () => {
  const { sim, client } = await stage();
  const path = await fileWith('harbor.wav', 'RIFF0000WAVEfmt ');
  const { data } = await client.call({
    operation: 'createCustomVoice',
    form: {
      clip: { path, type: 'audio/wav' },
      name: 'Harbor',
      consent: 'true',
      organizationId: HARBOR,
    },
  });
  expect(data.name).toBe('Harbor');
  expect(sim.store.voices.size).toBe(1);
});

test('a document is announced, uploaded and enqueued', async () => {
  const { sim, client } = await stage();
  const text = 'cleaning,90\n';
  const file = { path: await fileWith('prices.csv', text), type: 'text/csv' };
  const { data } = await client.call({
    operation: 'createKnowledgeSource',
    path: { knowledgeBaseId: CLINIC },
    body: { sourceType: 'file', fileName: 'prices.csv', fileMime: 'text/csv', fileSize: 12 },
  });
  await client.upload(data.presignedUrl ?? '', file);
  await client.call({
    operation: 'enqueueKnowledgeSource',
    path: { knowledgeBaseId: CLINIC, sourceId: data.sourceId },
  });
  const [source] = [...sim.store.sources.values()];
  expect(String(source?.upload?.bytes)).toBe(text);
});

test('a file that is not there is a mistake with its name', async () => {
  const { client } = await stage();
  const file = { path: '/nowhere/prices.csv', type: 'text/csv' };
  const error = await failure(client.upload('https://storage.example.test/k', file));
  expect(error).toMatchObject({ code: 'usage', message: '/nowhere/prices.csv cannot be read' });
});

test('what is told of the requests is told without secrets', async () => {
  const entries: TraceEntry[] = [];
  const { client } = await stage({ trace: (entry) => entries.push(entry) });
  const smsProvider = { account_sid: 'AC1', auth_token: 'canary-sms' };
  await client.call({
    operation: 'updateAgent',
    path: { agentId: DESK },
    body: { integrations: { smsProvider } },
  });
  expect(entries.map(({ operation }) => operation)).toEqual(['createToken', 'updateAgent']);
  expect(JSON.stringify(entries)).not.toContain('canary');
});

test.each<{ what: string; options: Partial<ClientOptions>; says: RegExp }>([
  { what: 'an address in clear', options: { baseUrl: 'http://example.test' }, says: /plain http/ },
  {
    what: 'an operation elsewhere without its parameter',
    options: { endpoints: { deleteAgent: { path: '/agents' } } },
    says: /lacks \{agentId\}/,
  },
])('a client is not opened with $what', ({ options, says }) => {
  expect(() => createClient({ baseUrl: 'https://example.test', ...options })).toThrow(says);
});

test('what is only assumed is refused where the options say so, and made where it is placed', async () => {
  const { client } = await stage({ assume: false });
  const error = await failure(client.list({ operation: 'listSmsTemplates' }));
  expect(error).toMatchObject({ code: 'refused' });
  const endpoints = { listSmsTemplates: { path: '/v1/sms-templates' } } as const;
  const placed: Client = (await stage({ assume: false, endpoints })).client;
  await expect(placed.list({ operation: 'listSmsTemplates' })).resolves.toEqual([]);
});

/** A stack of one agent, with a greeting that is a variable. */
async function stackOf(sim: { readonly url: string; clientId: string; clientSecret: string }) {
  const dir = temporaryFolder();
  const settings = [
    'callsheet: 1',
    `platform: { base_url: "${sim.url}" }`,
    `organizations: { harbor: ${HARBOR} }`,
    'organization: harbor',
    'variables: { greeting: { default: Hello. } }',
  ];
  await writeFile(join(dir, 'callsheet.yaml'), settings.join('\n'));
  const desk =
    '{ name: Night desk, system_prompt: You answer., greeting_message: "${var.greeting}" }';
  await writeFile(join(dir, 'agents.yaml'), `agents:\n  night: ${desk}\n`);
  const env = {
    CALLSHEET_CLIENT_ID: sim.clientId,
    CALLSHEET_CLIENT_SECRET: sim.clientSecret,
    CALLSHEET_FINGERPRINT_KEY: 'a key of this test alone',
  };
  return { dir, env };
}

test('a stack is planned, applied and undone, with variables and events', async () => {
  const { sim } = await stage();
  const seen: string[] = [];
  const onEvent = ({ type }: { readonly type: string }) => void seen.push(type);
  const stack = { ...(await stackOf(sim)), onEvent };
  const greeted = { ...stack, variables: { greeting: 'Good evening.' } };
  const made = await runPlan(await planStack(stack), stack);
  expect(made).toMatchObject({ format: 'callsheet-run', status: 'done' });
  const plan = await planStack(greeted);
  expect(plan.changes.flatMap(({ fields }) => fields)).toMatchObject([
    { path: 'greeting_message', after: 'Good evening.' },
  ]);
  expect(await runPlan(plan, greeted)).toMatchObject({ status: 'done' });
  expect((await planStack(greeted)).changes).toEqual([]);
  expect(await undo(greeted)).toMatchObject({ status: 'done' });
  expect((await planStack(stack)).changes).toEqual([]);
  expect(seen).toContain('reading');
});

test('a plan that was changed since it was made is not carried out', async () => {
  const { sim } = await stage();
  const stack = await stackOf(sim);
  const plan = await planStack(stack);
  const changed = { ...plan, options: { ...plan.options, force: true } };
  await expect(runPlan(changed, stack)).rejects.toMatchObject({
    code: 'stale',
    message: expect.stringContaining('the plan was changed after it was made'),
  });
  await expect(runPlan(plan, { ...stack, variables: { greeting: 'x' } })).rejects.toMatchObject({
    code: 'stale',
  });
  expect(sim.store.agents.size).toBe(SEED.agents?.length);
});

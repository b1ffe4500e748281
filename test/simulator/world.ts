import { type FormData, fetch } from 'undici';
import { expect, test } from 'vitest';
import type { JsonObject } from '../../src/core/value.ts';
import { type OperationId, operations } from '../../src/platform/operations.generated.ts';
import {
  type SeedDocument,
  type Simulator,
  type SimulatorOptions,
  startSimulator,
} from '../../src/simulator/index.ts';
import { getRules, validatorAt } from '../../src/simulator/validation.ts';
import { INVENTIONS } from '../inventions.ts';

/** A simulator and a way to call it as anybody would: over a socket. */
export type World = {
  readonly sim: Simulator;
  readonly call: (operation: OperationId, request?: Request) => Promise<Reply>;
};

export type Request = {
  readonly path?: { readonly [name: string]: string };
  /** A list gives a parameter for each member. */
  readonly query?: { readonly [name: string]: string | readonly string[] };
  /** Headers beside those that every request has. */
  readonly headers?: { readonly [name: string]: string };
  readonly body?: unknown;
  readonly form?: FormData;
  /** The Authorization header; null sends none. The account's own token otherwise. */
  readonly authorization?: string | null;
};

export type Reply = {
  readonly status: number;
  readonly body: JsonObject;
  readonly headers: Headers;
};
type Headers = { readonly get: (name: string) => string | null };

/** One rule: what is done, and what comes back. */
export type Row = {
  readonly rule: string;
  readonly seed?: SeedDocument;
  readonly options?: SimulatorOptions;
  readonly does: (world: World) => Promise<Reply>;
  readonly status: number;
  /** What the body has at least. */
  readonly body?: unknown;
  /** What else is true afterwards. */
  readonly also?: (world: World, reply: Reply) => void | Promise<void>;
};

/** Runs the rows of a section of the specification, each in a world of its own. */
export function section(title: string, rows: readonly Row[], seed: SeedDocument = SEED): void {
  test.each(rows.map((row) => ({ name: `${title}: ${row.rule}`, row })))(
    '$name',
    async ({ row }) => {
      await using world = await createWorld({ seed: row.seed ?? seed, ...row.options });
      const reply = await row.does(world);
      expect({ status: reply.status, body: reply.body }).toMatchObject({
        status: row.status,
        ...(row.body === undefined ? {} : { body: row.body }),
      });
      await row.also?.(world, reply);
    },
  );
}

type WorldOptions = SimulatorOptions & {
  /** The contract describes the default dialect; others may answer what it does not have. */
  readonly outsideContract?: boolean;
};

export async function createWorld({
  outsideContract = false,
  ...options
}: WorldOptions): Promise<World & AsyncDisposable> {
  const sim = await startSimulator({
    ...options,
    dialect: { inventions: INVENTIONS, ...options.dialect },
  });
  let bearer: string | undefined;
  const send = async (id: OperationId, request: Request): Promise<Reply> => {
    const { method, path } = operations[id];
    const url = new URL(
      sim.url +
        path.replaceAll(/\{(\w+)\}/g, (_, name: string) =>
          encodeURIComponent(request.path?.[name] ?? ''),
        ),
    );
    for (const [name, values] of Object.entries(request.query ?? {}))
      for (const value of [values].flat()) url.searchParams.append(name, value);
    const response = await fetch(url, {
      method,
      headers: {
        ...request.headers,
        ...(typeof request.authorization === 'string'
          ? { authorization: request.authorization }
          : {}),
        ...(request.body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      body: request.form ?? (request.body === undefined ? null : JSON.stringify(request.body)),
    });
    const text = await response.text();
    const isJson = response.headers.get('content-type')?.includes('json') === true;
    const body: unknown = text === '' ? {} : isJson ? JSON.parse(text) : { text };
    if (!outsideContract) keepsToContract(id, response.status, text === '' ? undefined : body);
    return { status: response.status, body: body as JsonObject, headers: response.headers };
  };
  const call = async (id: OperationId, request: Request = {}): Promise<Reply> => {
    if (request.authorization === undefined && operations[id].auth === 'bearer') {
      bearer ??= await mint(sim, send);
      return send(id, { ...request, authorization: `Bearer ${bearer}` });
    }
    return send(id, request);
  };
  return { sim, call, [Symbol.asyncDispose]: sim.close };
}

async function mint(
  { url, clientId, clientSecret }: Pick<Simulator, 'url' | 'clientId' | 'clientSecret'>,
  send: (id: OperationId, request: Request) => Promise<Reply>,
): Promise<string> {
  const body = {
    client_id: clientId,
    client_secret: clientSecret,
    audience: `${url}/`,
    grant_type: 'client_credentials',
  };
  return String((await send('createToken', { body })).body.access_token);
}

/** A token of another key of the seed. */
export async function tokenOf(
  { sim, call }: World,
  clientId: string,
  clientSecret: string,
): Promise<string> {
  const body = {
    client_id: clientId,
    client_secret: clientSecret,
    audience: `${sim.url}/`,
    grant_type: 'client_credentials',
  };
  return `Bearer ${String((await call('createToken', { body })).body.access_token)}`;
}

/** Every answer has a status and a body that the contract gives the operation. */
function keepsToContract(id: OperationId, status: number, body: unknown): void {
  const { answers } = getRules(id);
  expect([...answers.keys()], `${id} may answer ${status}`).toContain(String(status));
  const pointer = answers.get(String(status));
  if (pointer === undefined) {
    if (status !== 429) expect(body, `${id} answers ${status} without a body`).toBeUndefined();
    return;
  }
  const validate = validatorAt(pointer);
  const errors = validate(body) ? [] : validate.errors;
  expect(errors, `${id} answers ${status} with ${JSON.stringify(body)}`).toEqual([]);
}

export const IDS = {
  harbor: '3c6e0b8a-9c15-4f1d-9f0e-5d2b7f1a2c11',
  north: '7b1d2f10-41aa-4d0f-8a55-0c9d3f3e9b22',
  desk: '11111111-1111-4111-a111-111111111111',
  recall: '22222222-2222-4222-a222-222222222222',
  foreign: '33333333-3333-4333-a333-333333333333',
  policy: '44444444-4444-4444-a444-444444444444',
  base: '55555555-5555-4555-a555-555555555555',
  voice: '66666666-6666-4666-a666-666666666666',
  email: '77777777-7777-4777-a777-777777777777',
  sms: '88888888-8888-4888-a888-888888888888',
  server: '99999999-9999-4999-a999-999999999999',
  nobody: '00000000-0000-4000-a000-000000000000',
} as const;

/** A small account: a reseller, two organizations, three agents and one of everything else. */
export const SEED: SeedDocument = {
  account_id: 'account-1',
  resellers: [{ id: 'reseller-1', name: 'Tidewater' }],
  organizations: [
    { id: IDS.harbor, name: 'Harbor Dental', reseller_id: 'reseller-1' },
    { id: IDS.north, name: 'Northside' },
  ],
  keys: [
    {
      client_id: 'scoped',
      client_secret: 'scoped-secret',
      scope: { level: 'organization', id: IDS.north },
    },
    {
      client_id: 'reseller',
      client_secret: 'reseller-secret',
      scope: { level: 'reseller', id: 'reseller-1' },
    },
  ],
  agents: [
    {
      id: IDS.desk,
      organization_id: IDS.harbor,
      name: 'Front desk',
      agent_type: 'receptionist',
      system_prompt: 'You answer the phone.',
      greeting_message: 'Harbor Dental.',
      voice_settings: { voice_id: 'builtin-1', speed: 1 },
      transfer_enabled: true,
      web_transfer_enabled: true,
      extensions: {
        tools: [webhook('crm_lookup', 'during_call')],
        mcp_servers: [
          {
            id: IDS.server,
            connection_name: 'Calendar',
            mcp_endpoint_url: 'https://mcp.example.test/mcp',
            transport_type: 'http',
            fingerprint: 'tested',
            tools: [{ name: 'find_slot', description: 'Find a free time.' }],
          },
        ],
      },
      integrations: {
        smsProvider: { account_sid: 'AC01', auth_token: 'sms-token', fromNumber: '+15550100' },
        ehrProvider: { username: 'desk', password: 'ehr-password' },
        pbxProvider: { client_id: 'pbx', client_secret: 'pbx-secret' },
        calendarA: { calendar_name: 'Desk', access_token: 'access', refresh_token: 'refresh' },
      },
      sip_registration_data: {
        sipDomain: 'sip.example.test',
        username: 'desk',
        password: 'sip-password',
        proxy: 'proxy.example.test',
        port: 5060,
        transport: 'udp',
        subscribe: false,
        extension: '100',
        registrationEnabled: true,
      },
      default_retry_policy_id: IDS.policy,
    },
    { id: IDS.recall, organization_id: IDS.north, name: 'Recall', agent_type: 'outbound' },
    { id: IDS.foreign, organization_id: IDS.harbor, name: 'Legacy', supported: false },
  ],
  retry_policies: [
    {
      id: IDS.policy,
      name: 'Gentle',
      rules: {
        no_answer: { delay_seconds: 900, max_attempts: 3 },
        busy: { delay_seconds: 60, max_attempts: 2 },
      },
      contact_policy: { max_per_day: 2 },
    },
  ],
  email_templates: [
    {
      id: IDS.email,
      organization_id: IDS.harbor,
      name: 'Confirmation',
      subject: 'See you',
      status: 'active',
    },
  ],
  sms_templates: [
    { id: IDS.sms, organization_id: IDS.harbor, name: 'Reminder', message_type: 'sms', body: 'Hi' },
  ],
  knowledge_bases: [{ id: IDS.base, organization_id: IDS.harbor, name: 'Clinic' }],
  custom_voices: [{ id: IDS.voice, organization_id: IDS.harbor, name: 'Harbor', language: 'fr' }],
};

export function webhook(name: string, condition: string): JsonObject {
  return { type: 'webhook', name, condition, method: 'GET', url: 'https://crm.example.test/c' };
}

/** The seed with locks on one of its levels. */
export function locked(
  level: 'account' | 'reseller' | 'organization',
  ...locks: readonly string[]
): SeedDocument {
  const [harbor, ...others] = SEED.organizations ?? [];
  const [reseller] = SEED.resellers ?? [];
  if (harbor === undefined || reseller === undefined) throw new Error('the seed has both');
  if (level === 'account') return { ...SEED, locks };
  return level === 'reseller'
    ? { ...SEED, resellers: [{ ...reseller, locks }] }
    : { ...SEED, organizations: [{ ...harbor, locks }, ...others] };
}

/** The seed with some fields of the front desk replaced. */
export function withDesk(fields: JsonObject, seed: SeedDocument = SEED): SeedDocument {
  const [desk, ...others] = seed.agents ?? [];
  if (desk === undefined) throw new Error('the seed has a desk');
  return { ...seed, agents: [{ ...desk, ...fields }, ...others] };
}

/** The front desk as it is stored. */
export function desk({ sim }: World): JsonObject {
  return sim.store.agents.get(IDS.desk)?.record ?? {};
}

/** The path of an agent, the desk unless told otherwise. */
export const at = (agentId: string = IDS.desk) => ({ path: { agentId } });

export const update = (body: unknown, agentId?: string) => (world: World) =>
  world.call('updateAgent', { ...at(agentId), body });

export const create = (body: object) => (world: World) =>
  world.call('createAgent', { body: { name: 'New', organizationId: IDS.harbor, ...body } });

/** The history of the desk. */
export async function entries({ call }: World, limit?: string): Promise<readonly JsonObject[]> {
  const { body } = await call('listAgentHistory', {
    ...at(),
    ...(limit === undefined ? {} : { query: { limit } }),
  });
  return Array.isArray(body.data) ? body.data.map((entry) => Object(entry)) : [];
}

/** Reverts the desk. */
export function revert({ call }: World, versionId: unknown): Promise<Reply> {
  return call('revertAgent', { path: { ...at().path, versionId: String(versionId) } });
}

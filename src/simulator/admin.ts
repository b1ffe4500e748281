/**
 * Steers a running simulator from outside, for tests that are no Node programs and for people. It
 * is no part of the platform: it lies under a path of its own, takes a token of its own, answers to the
 * machine itself alone, and leaves no trace in the log of requests.
 */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { errorMessage } from '../core/errors.ts';
import { findText, isObject, type Json, type JsonObject } from '../core/value.ts';
import type { Kind } from '../kinds/kind.ts';
import { withoutSecrets } from './agent-fields.ts';
import { isSameSecret } from './auth.ts';
import { DEFAULT_DIALECT, readDialect } from './dialect.ts';
import type { Fault } from './faults.ts';
import { readJson } from './perform.ts';
import type { Platform, Simulator } from './platform.ts';
import type { RateLimit } from './rate-limit.ts';
import type { RequestLog } from './server.ts';
import { checkFault, checkRateLimit } from './simulation.ts';
import { dumpStore, type Level, MERCHANT_STATUSES, type Merchant, recordIn } from './store.ts';
import { TABLES } from './tables.ts';
import { ajv, problemsIn } from './validation.ts';

/** Under which all of it lies. */
export const ADMIN_PATH = '/__simulator';

/** The header that has the token. */
export const ADMIN_HEADER = 'x-simulator-token';

type Said = { readonly status: number; readonly body: Json };

/** Adds the admin endpoint to a server. */
export function serveAdmin(server: FastifyInstance, controls: Controls, token: string): void {
  const serve =
    (run: (request: FastifyRequest) => Said) =>
    async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
      const { status, body } = stranger(request, token) ?? run(request);
      return reply
        .code(status)
        .header('content-type', 'application/json')
        .send(JSON.stringify(body));
    };
  for (const command of COMMANDS) {
    const [method = '', path = ''] = command.name.split(' ');
    const handler = serve((request) => obey(command, controls, request));
    server.route({ method, url: `${ADMIN_PATH}/${path}`, handler });
  }
  const list = COMMANDS.map(({ name, does }) => ({ command: name, does }));
  const none = refuse(404, `there is no such command; GET ${ADMIN_PATH} lists them`);
  server.get(
    ADMIN_PATH,
    serve(() => ({ status: 200, body: list })),
  );
  server.all(
    `${ADMIN_PATH}/*`,
    serve(() => none),
  );
}

/** Refuses callers from other machines, and those without the token. */
function stranger({ raw, headers }: FastifyRequest, token: string): Said | undefined {
  if (!isLoopback(raw.socket.remoteAddress))
    return refuse(404, 'the admin endpoint answers on this machine alone');
  const given = headers[ADMIN_HEADER];
  return typeof given === 'string' && isSameSecret(given, token)
    ? undefined
    : refuse(401, `the header ${ADMIN_HEADER} must have the token that was printed`);
}

function obey(command: Command, controls: Controls, request: FastifyRequest): Said {
  const bytes = Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0);
  const reading = readJson(bytes);
  if ('problem' in reading) return refuse(400, reading.problem);
  const body = reading.body ?? {};
  const problems = listProblems(command, body);
  if (problems.length > 0) return refuse(400, problems.join('; '));
  try {
    return { status: 200, body: command.run(controls, isObject(body) ? body : {}) };
  } catch (error) {
    return refuse(400, errorMessage(error));
  }
}

function listProblems({ body: schema, check }: Command, body: Json): readonly string[] {
  if (schema === undefined) return [];
  const problems = problemsIn(ajv.compile(schema), body);
  return problems.length === 0 && isObject(body) ? (check?.(body) ?? []) : problems;
}

function refuse(status: number, error: string): Said {
  return { status, body: { error } };
}

function isLoopback(address: string | undefined): boolean {
  return address !== undefined && /^(::1|(::ffff:)?127\.\d+\.\d+\.\d+)$/.test(address);
}

type Controls = Omit<Simulator, 'url' | 'requests' | 'close'> & {
  readonly platform: Platform;
  readonly log: RequestLog;
};

/** One thing that can be asked of a running simulator from outside. */
type Command = {
  /** Method and what follows `/__simulator/`. */
  readonly name: string;
  readonly does: string;
  /** Schema of the body; without one there is none. */
  readonly body?: JsonObject;
  /** Returns problems that the schema cannot find. */
  readonly check?: (body: JsonObject) => readonly string[];
  /** Throws an error in words for what cannot be done. */
  readonly run: (controls: Controls, body: JsonObject) => Json;
};

const TEXT: JsonObject = { type: 'string', minLength: 1 };
const ANYTHING: JsonObject = { type: 'object' };

/** A body with these members, the first few of which are required. */
function members(properties: JsonObject, ...required: readonly string[]): JsonObject {
  return { type: 'object', additionalProperties: false, required, properties };
}

const LOCK = members(
  { level: { enum: ['account', 'reseller', 'organization'] }, id: TEXT, feature: TEXT },
  'level',
  'feature',
);

const dialectProblems = (body: JsonObject) => readDialect(body).problems;

export const COMMANDS: readonly Command[] = [
  {
    name: 'GET dialect',
    does: 'the dialect',
    run: ({ dialect }) => asJson(dialect),
  },
  {
    name: 'PATCH dialect',
    does: 'changes some options of the dialect',
    body: ANYTHING,
    check: dialectProblems,
    run: ({ dialect }, body) => asJson(Object.assign(dialect, readDialect(body).dialect)),
  },
  {
    name: 'PUT dialect',
    does: 'sets the dialect; options that are left out have their defaults',
    body: ANYTHING,
    check: dialectProblems,
    run: ({ dialect }, body) => {
      const defaults = { ...DEFAULT_DIALECT, inventions: dialect.inventions };
      return asJson(Object.assign(dialect, defaults, readDialect(body).dialect));
    },
  },
  {
    name: 'GET faults',
    does: 'the faults that are not spent',
    run: ({ faults }) => asJson(faults.list()),
  },
  {
    name: 'POST faults',
    does: 'adds a fault',
    body: ANYTHING,
    check: checkFault,
    run: ({ faults }, body) => {
      // Checked just above.
      faults.add(body as unknown as Fault);
      return { pending: faults.pending() };
    },
  },
  {
    name: 'DELETE faults',
    does: 'forgets all faults',
    run: ({ faults }) => {
      faults.clear();
      return { pending: 0 };
    },
  },
  {
    name: 'GET requests',
    does: 'the requests to the platform, without their bodies',
    run: ({ log }) => log.all.map(({ body: _, ...request }) => request),
  },
  {
    name: 'DELETE requests',
    does: 'forgets the requests',
    run: ({ log }) => {
      log.clear();
      return [];
    },
  },
  {
    name: 'PUT rate-limit',
    does: 'sets the rate limit',
    body: ANYTHING,
    check: checkRateLimit,
    run: ({ limiter }, body) => {
      // Checked just above.
      limiter.set(body as unknown as RateLimit);
      return body;
    },
  },
  {
    name: 'DELETE rate-limit',
    does: 'takes any number of requests again',
    run: ({ limiter }) => {
      limiter.set(undefined);
      return {};
    },
  },
  {
    name: 'PUT latency',
    does: 'lets every request wait',
    body: members({ latencyMs: { type: 'number', minimum: 0, maximum: 600_000 } }, 'latencyMs'),
    run: ({ platform }, body) => {
      platform.latencyMs = Number(body.latencyMs);
      return body;
    },
  },
  {
    name: 'POST clock',
    does: 'moves the clock on',
    body: members({ advanceMs: { type: 'number', minimum: 0, maximum: 1e12 } }, 'advanceMs'),
    run: ({ platform, advance }, { advanceMs }) => {
      advance(Number(advanceMs));
      return { now: platform.now().toISOString() };
    },
  },
  {
    name: 'POST edit',
    does: 'edits an agent in the dashboard, in the names that reads use',
    body: members({ agentId: TEXT, patch: ANYTHING, actor: TEXT }, 'agentId', 'patch'),
    run: ({ edit, store }, { agentId, patch, actor }) =>
      edit(findAgentId(store, String(agentId)), isObject(patch) ? patch : {}, findText(actor)),
  },
  {
    name: 'POST delete',
    does: 'deletes an agent in the dashboard',
    body: members({ agentId: TEXT }, 'agentId'),
    run: ({ store, platform }, { agentId }) => {
      const id = findAgentId(store, String(agentId));
      platform.callers.callUntilNow(id);
      if (!store.agents.delete(id)) throw new Error(`no agent ${id}`);
      return { deleted: id };
    },
  },
  {
    name: 'POST lock',
    does: 'locks a feature on a level; the account needs no id',
    body: LOCK,
    run: ({ lock }, body) => {
      lock(...getLock(body));
      return body;
    },
  },
  {
    name: 'POST unlock',
    does: 'lifts a lock',
    body: LOCK,
    run: ({ unlock }, body) => {
      unlock(...getLock(body));
      return body;
    },
  },
  {
    name: 'POST rotate',
    does: "gives a key, the account's own unless named, a new secret",
    body: members({ clientId: TEXT }),
    run: ({ rotateSecret }, { clientId }) => ({ clientSecret: rotateSecret(findText(clientId)) }),
  },
  {
    name: 'POST merchant',
    does: 'changes a payment account at the payment processor',
    body: members(
      {
        organizationId: TEXT,
        status: { enum: MERCHANT_STATUSES },
        charges: { type: 'boolean' },
      },
      'organizationId',
      'status',
      'charges',
    ),
    run: ({ store }, { organizationId, status, charges }) => {
      const organization = store.organizations.get(String(organizationId));
      if (organization === undefined) throw new Error(`no organization ${String(organizationId)}`);
      // The schema has no other states.
      organization.merchant = { status: status as Merchant['status'], charges: charges === true };
      return asJson(organization.merchant);
    },
  },
  {
    name: 'POST texts',
    does: 'has an agent send a text message',
    body: members({ agentId: TEXT, templateId: TEXT, to: TEXT }, 'agentId', 'to'),
    run: ({ sendText }, { agentId, templateId, to }) =>
      asJson(
        sendText({
          agentId: String(agentId),
          to: String(to),
          ...(typeof templateId === 'string' ? { templateId } : {}),
        }),
      ),
  },
  {
    name: 'GET registrations',
    does: 'which agents the registrar has registered',
    run: ({ store, isRegistered }) =>
      [...store.agents.keys()].map((id) => ({ agentId: id, registered: isRegistered(id) })),
  },
  {
    name: 'GET dump',
    does: 'what the platform holds, without secrets',
    run: ({ store }) => {
      const dump = dumpStore(store);
      const bare = TABLES.map(({ kind, stored }) => {
        const records = dump[stored];
        const entries = Object.entries(isObject(records) ? records : {});
        return [
          stored,
          Object.fromEntries(
            entries.map(([id, one]) => [id, isObject(one) ? strip(kind, one) : one]),
          ),
        ];
      });
      return { ...dump, ...Object.fromEntries(bare) };
    },
  },
];

/** An entry of a table without the secrets of its record. */
function strip({ schema }: Kind, entry: JsonObject): JsonObject {
  const bare = withoutSecrets(recordIn(entry), schema);
  return recordIn(entry) === entry ? bare : { ...entry, record: bare };
}

function getLock({ level, id, feature }: JsonObject): [Level, string, string] {
  // The schema has no other levels.
  return [level as Level, findText(id) ?? '', String(feature)];
}

/** Plain data as the type that answers have. */
function asJson(value: object): Json {
  return JSON.parse(JSON.stringify(value)) as Json;
}

/** The id of an agent that is named by its id, or by a name that no other has. */
function findAgentId({ agents }: Simulator['store'], given: string): string {
  if (agents.has(given)) return given;
  const named = [...agents].filter(([, { record }]) => record.name === given);
  const [first, ...others] = named;
  return first !== undefined && others.length === 0 ? first[0] : given;
}

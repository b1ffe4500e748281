import type { Json, JsonObject } from '../../core/value.ts';
import { withoutSecrets } from '../agent-fields.ts';
import { DEFAULT_DIALECT, type Dialect } from '../dialect.ts';
import { readDialect } from '../dialect-reading.ts';
import type { Fault } from '../faults.ts';
import type { Simulator } from '../index.ts';
import { isRecord, without } from '../json.ts';
import type { Platform } from '../platform.ts';
import type { RateLimit } from '../rate-limit.ts';
import type { RequestLog } from '../request-log.ts';
import { checkFault, checkRateLimit } from '../simulation.ts';
import { dumpStore, type Level, type Merchant } from '../store.ts';

/** What the commands work on. */
export type Controls = Omit<Simulator, 'url' | 'requests' | 'close'> & {
  readonly platform: Platform;
  readonly log: RequestLog;
};

/** One thing that can be asked of a running simulator from outside. */
export type Command = {
  /** Method and what follows `/__simulator/`. */
  readonly name: string;
  readonly does: string;
  /** Schema of the body; without one there is none. */
  readonly body?: JsonObject;
  /** What is wrong with a body that keeps to the schema. */
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
    run: ({ dialect }, body) => asJson(Object.assign(dialect, body)),
  },
  {
    name: 'PUT dialect',
    does: 'sets the dialect; options that are left out have their defaults',
    body: ANYTHING,
    check: dialectProblems,
    run: ({ dialect }, body) =>
      asJson(Object.assign(dialect, { ...DEFAULT_DIALECT, inventions: dialect.inventions }, body)),
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
    run: ({ edit }, { agentId, patch, actor }) =>
      edit(String(agentId), isRecord(patch) ? patch : {}, textOf(actor)),
  },
  {
    name: 'POST lock',
    does: 'locks a feature on a level; the account needs no id',
    body: LOCK,
    run: ({ lock }, body) => {
      lock(...lockOf(body));
      return body;
    },
  },
  {
    name: 'POST unlock',
    does: 'lifts a lock',
    body: LOCK,
    run: ({ unlock }, body) => {
      unlock(...lockOf(body));
      return body;
    },
  },
  {
    name: 'POST rotate',
    does: "gives a key, the account's own unless named, a new secret",
    body: members({ clientId: TEXT }),
    run: ({ rotateSecret }, { clientId }) => ({ clientSecret: rotateSecret(textOf(clientId)) }),
  },
  {
    name: 'POST merchant',
    does: 'changes a payment account at the payment processor',
    body: members(
      {
        organizationId: TEXT,
        status: { enum: ['not_started', 'onboarding', 'active', 'restricted'] },
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
      const agents = isRecord(dump.agents) ? Object.entries(dump.agents) : [];
      return { ...dump, agents: Object.fromEntries(agents.map(([id, one]) => [id, bare(one)])) };
    },
  },
];

function bare(agent: Json): Json {
  if (!isRecord(agent) || !isRecord(agent.record)) return agent;
  return { ...without(agent, 'record'), record: withoutSecrets(agent.record) };
}

function lockOf({ level, id, feature }: JsonObject): [Level, string, string] {
  // The schema has no other levels.
  return [level as Level, textOf(id) ?? '', String(feature)];
}

function textOf(value: Json | undefined): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

/** Plain data as the type that answers have. */
function asJson(value: Dialect | readonly Fault[] | object): Json {
  return JSON.parse(JSON.stringify(value)) as Json;
}

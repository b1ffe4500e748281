/**
 * `simulator/` is the platform itself, in memory and over real HTTP: tests, the quickstart and rehearsals
 * run against it. Operations, paths and validation come from the OpenAPI document (`contract.ts`,
 * `validation.ts`); kinds with plain REST endpoints from one row each (`tables.ts`, `rest.ts`). Agents,
 * sources and voices have a file of their own with the rules that no schema states. A request passes
 * `server.ts` (rate limit and faults), `perform.ts` (who calls, and whether it keeps to the contract) and its
 * route; the answer leaves in the notation of `wire.ts`. Where the specification is silent, `dialect.ts` says
 * which way the simulator goes. `seed.ts` and `plant.ts` fill the `store.ts`, `account.ts` and `fleet.ts` make
 * up what to fill it with, `calls/` has who calls, what was said on the phone and its reports. `admin.ts` steers one
 * that runs, `simulation.ts` reads how one is to behave from a file.
 *
 * This file starts one.
 */
import { type GeneratedOptions, plantGenerated } from './account.ts';
import { serveAdmin } from './admin.ts';
import { sendText } from './agent-rules.ts';
import { editedRecord } from './agent-write.ts';
import { isRegistered } from './agents.ts';
import { rotateSecret } from './auth.ts';
import { startCallers } from './calls/callers.ts';
import { buildCatalogue, setLock } from './catalogue.ts';
import { DEFAULT_DIALECT, type Dialect, drawSeed } from './dialect.ts';
import { createFaults, type Seed } from './faults.ts';
import { recordHistory, viewEntry } from './history.ts';
import { countIds, createClock, makeUuid } from './ids.ts';
import type { Platform, Simulator } from './platform.ts';
import { createLimiter, type RateLimit } from './rate-limit.ts';
import { plantSeed, type SeedDocument } from './seed.ts';
import { createRequestLog, createServer } from './server.ts';
import { dumpStore, emptyStore, type Key } from './store.ts';

export type SimulatorOptions = GeneratedOptions & {
  /** 0, the default, takes any free port. */
  readonly port?: number;
  /** 127.0.0.1 unless given. */
  readonly host?: string;
  readonly seed?: SeedDocument | undefined;
  readonly now?: () => Date;
  readonly dialect?: Partial<Dialect> | undefined;
  /** How many requests the platform takes; any number unless given. */
  readonly rateLimit?: RateLimit | undefined;
  /** Milliseconds that every request waits. */
  readonly latencyMs?: number | undefined;
  /** The seed of the draws for faults with a probability. */
  readonly chaosSeed?: Seed | undefined;
  /** Keeps its identifiers apart from those of another simulator, whose records a seed may bring. */
  readonly idSalt?: string;
  /** Ends the process as a crash would. Without it no fault may kill. */
  readonly kill?: () => void;
  /** The token of the admin endpoint, which does not exist without one. */
  readonly admin?: string;
  /** Requests are remembered unless this is false. */
  readonly log?: boolean;
};

/** Who edits in the dashboard unless a test says otherwise. */
const DASHBOARD_USER = 'user:dashboard';

/** Starts a simulated platform on a loopback port. It runs until `close` is called. */
export async function startSimulator(options: SimulatorOptions = {}): Promise<Simulator> {
  const { port = 0, host = '127.0.0.1', seed = {}, log = true } = options;
  const dialect = { ...DEFAULT_DIALECT, ...options.dialect };
  const clock = createClock(options.now ?? (() => new Date()));
  const store = emptyStore(seed.account_id ?? makeUuid('account'));
  const key: Key = {
    clientId: 'simulated-client',
    clientSecret: 'simulated-secret',
    generation: 1,
    scope: undefined,
  };
  store.keys.set(key.clientId, key);
  const platform: Platform = {
    store,
    catalogue: buildCatalogue(seed),
    dialect: { ...dialect, inventions: dialect.inventions ?? drawSeed() },
    faults: createFaults(options.chaosSeed),
    limiter: createLimiter(clock.now, options.rateLimit),
    callers: { callUntilNow: () => {} },
    latencyMs: options.latencyMs ?? 0,
    kill: options.kill ?? refuseToDie,
    ids: countIds(options.idSalt),
    now: clock.now,
    stamp: clock.stamp,
    url: '',
    signingKey: makeUuid('signing key'),
  };
  plantSeed(platform, seed);
  plantGenerated(platform, seed, options);
  if (options.callers !== undefined) platform.callers = startCallers(platform, options.callers);

  const requests = createRequestLog();
  const server = createServer(platform, log ? requests.add : () => {});
  const simulator: Omit<Simulator, 'url'> = {
    clientId: key.clientId,
    clientSecret: key.clientSecret,
    organizations: [...store.organizations.values()].map(({ id, name }) => ({ id, name })),
    store,
    dialect: platform.dialect,
    faults: platform.faults,
    limiter: platform.limiter,
    requests: requests.all,
    forgetRequests: requests.clear,
    dump: () => dumpStore(store),
    edit: (agentId, patch, actor = DASHBOARD_USER) => {
      const agent = store.agents.get(agentId);
      if (agent === undefined) throw new Error(`no agent ${agentId}`);
      platform.callers.callUntilNow(agentId);
      agent.record = editedRecord(platform, agent.record, patch);
      return viewEntry(
        platform,
        recordHistory(platform, agent, 'updated', { actor, source: 'dashboard' }),
      );
    },
    lock: (level, id, feature) => setLock(platform, { level, id, feature }, true),
    unlock: (level, id, feature) => setLock(platform, { level, id, feature }, false),
    rotateSecret: (clientId = key.clientId) => {
      const rotated = store.keys.get(clientId);
      if (rotated === undefined) throw new Error(`no key ${clientId}`);
      return rotateSecret(platform, rotated);
    },
    advance: clock.advance,
    isRegistered: (agentId) => isRegistered(platform, agentId),
    sendText: (order) => sendText(platform, order),
    close: () => server.close(),
  };
  if (options.admin !== undefined)
    serveAdmin(server, { ...simulator, platform, log: requests }, options.admin);
  platform.url = await server.listen({ port, host });
  return { ...simulator, url: platform.url };
}

function refuseToDie(): never {
  throw new Error('only a simulator that runs alone can be killed by a fault');
}

export { ADMIN_HEADER, ADMIN_PATH } from './admin.ts';
export {
  DEFAULT_DIALECT,
  DIALECT_OPTIONS,
  type Dialect,
  drawSeed,
  readDialectFlags,
} from './dialect.ts';
export type { Fault } from './faults.ts';
export type { LoggedRequest, Simulator } from './platform.ts';
export {
  readSeed,
  type SeedAgent,
  type SeedDocument,
  type SeedKey,
} from './seed.ts';
export { readSimulation, readSimulationFlags, type SimulationFlags } from './simulation.ts';
export { MERCHANT_STATUSES, type Merchant, recordIn, recordsIn } from './store.ts';
export { RESTS, TABLES } from './tables.ts';

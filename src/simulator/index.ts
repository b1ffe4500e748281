/**
 * `simulator/` is the platform itself, in memory and over real HTTP: tests, the quickstart and rehearsals
 * run against it. Operations, paths and validation come from the OpenAPI document (`contract.ts`,
 * `validation.ts`), facts about an agent's fields from its schema (`agent-fields.ts`); `routes/` has one
 * file per area with the rules that no schema states. Where the specification is silent, `dialect.ts`
 * says which way the simulator goes; `faults.ts` makes it fail on purpose.
 *
 * This file starts one.
 */
import type { JsonObject } from '../core/value.ts';
import { editedRecord } from './agent-write.ts';
import { rotateSecret } from './auth.ts';
import { DEFAULT_DIALECT, type Dialect } from './dialect.ts';
import { createFaults, type Faults } from './faults.ts';
import { generateFleet } from './fleet.ts';
import { recordHistory, viewEntry } from './history.ts';
import { countIds, uuidOf } from './ids.ts';
import { plantSeed } from './plant.ts';
import { type Platform, strictlyLater } from './platform.ts';
import type { LoggedRequest } from './request-log.ts';
import type { SeedDocument } from './seed.ts';
import { createServer } from './server.ts';
import { dumpStore, emptyStore, type Key, type Store } from './store.ts';

export type SimulatorOptions = {
  /** 0, the default, takes any free port. */
  readonly port?: number;
  /** 127.0.0.1 unless given. */
  readonly host?: string;
  readonly seed?: SeedDocument;
  /** Generates that many agents, over the seed's organizations or over five of its own. */
  readonly agents?: number;
  readonly now?: () => Date;
  readonly dialect?: Partial<Dialect>;
  /** Whether requests are remembered; they are unless this is false. */
  readonly log?: boolean;
};

export type Simulator = {
  /** `http://127.0.0.1:port`, without a trailing slash. */
  readonly url: string;
  readonly clientId: string;
  readonly clientSecret: string;
  readonly organizations: readonly { readonly id: string; readonly name: string }[];
  /** What the platform holds, secrets as they are stored. Changes to it are seen by the next request. */
  readonly store: Store;
  /** Can be changed while the simulator runs. */
  readonly dialect: Dialect;
  readonly faults: Faults;
  /** Every request since the start, in the order in which they ended. */
  readonly requests: readonly LoggedRequest[];
  /** The whole store as plain JSON. */
  readonly dump: () => JsonObject;
  /**
   * Edits an agent in the dashboard, in the names that reads use: nested objects are merged, null clears.
   * History records it with a person's id and the source `dashboard`. Returns the entry.
   */
  readonly edit: (agentId: string, patch: JsonObject, actor?: string) => JsonObject;
  /** Gives the account's key a new secret, which ends its tokens. Returns the secret. */
  readonly rotateSecret: () => string;
  readonly close: () => Promise<void>;
};

/** Who edits in the dashboard unless a test says otherwise. */
const DASHBOARD_USER = 'user:dashboard';

/** Starts a simulated platform on a loopback port. It runs until `close` is called. */
export async function startSimulator(options: SimulatorOptions = {}): Promise<Simulator> {
  const { port = 0, host = '127.0.0.1', seed = {}, now = () => new Date() } = options;
  const dialect: Dialect = { ...DEFAULT_DIALECT, ...options.dialect };
  const store = emptyStore(seed.account_id ?? uuidOf('account'));
  const key: Key = {
    clientId: 'simulated-client',
    clientSecret: 'simulated-secret',
    generation: 1,
    scope: undefined,
  };
  store.keys.set(key.clientId, key);
  const platform: Platform = {
    store,
    dialect,
    ids: countIds(),
    now,
    stamp: strictlyLater(now),
    url: '',
    signingKey: uuidOf('signing key'),
  };
  plantSeed(platform, seed);
  if (options.agents !== undefined || seed.organizations === undefined)
    plantSeed(platform, generateFleet(options.agents ?? 0, seed.organizations));

  const faults = createFaults();
  const requests: LoggedRequest[] = [];
  const server = createServer(platform, faults, (request) => {
    if (options.log !== false) requests.push(request);
  });
  platform.url = await server.listen({ port, host });

  return {
    url: platform.url,
    clientId: key.clientId,
    clientSecret: key.clientSecret,
    organizations: [...store.organizations.values()].map(({ id, name }) => ({ id, name })),
    store,
    dialect,
    faults,
    requests,
    dump: () => dumpStore(store),
    edit: (agentId, patch, actor = DASHBOARD_USER) => {
      const agent = store.agents.get(agentId);
      if (agent === undefined) throw new Error(`no agent ${agentId}`);
      agent.record = editedRecord(platform, agent.record, patch);
      return viewEntry(recordHistory(platform, agent, 'updated', { actor, source: 'dashboard' }));
    },
    rotateSecret: () => rotateSecret(platform, key),
    close: () => server.close(),
  };
}

export type { Dialect } from './dialect.ts';
export type { Fault, Faults } from './faults.ts';
export type { LoggedRequest } from './request-log.ts';
export { readSeed, type SeedDocument } from './seed.ts';
export type { Store } from './store.ts';

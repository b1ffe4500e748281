import { randomUUID } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { DesiredResource } from '../../src/core/desired.ts';
import {
  isObject,
  type Json,
  type JsonObject,
  Ref,
  Secret,
  type Value,
} from '../../src/core/value.ts';
import { kindNamed } from '../../src/kinds/index.ts';
import { buildPin, fastRefreshPin } from '../../src/plan/refresh.ts';
import { rememberResource } from '../../src/plan/state-entry.ts';
import { type Simulator, startSimulator } from '../../src/simulator/index.ts';
import { loadStack } from '../../src/stack/index.ts';
import { createFingerprinter } from '../../src/state/fingerprint.ts';
import type { ResourceState, State } from '../../src/state/model.ts';
import { emptyState } from '../../src/state/replay.ts';
import { piecesOfState } from '../../src/state/state-text.ts';
import { temporaryFolder } from '../temporary.ts';

/** A stack, a platform that has all of it, and a state that knows so. */
export type KnownFleet = {
  readonly dir: string;
  readonly sim: Simulator;
  /** What commands need in their environment. */
  readonly env: Readonly<Record<string, string>>;
  readonly close: () => Promise<void>;
};

const SECRET = 'a key of the benchmark';
const KEY = 'a key for fingerprints of the benchmark';
const GROUP = '3c6e0b8a-9c15-4f1d-9f0e-5d2b7f1a2c11';

/** Long before anything is read. */
const MADE = '2026-01-01T00:00:00.000Z';

/** Makes a fleet of `size` agents that was applied, without applying it: that would take as many creations. */
export async function knownFleet(
  size: number,
  write: (dir: string, size: number) => void,
): Promise<KnownFleet> {
  const dir = temporaryFolder();
  write(dir, size);
  const main = join(dir, 'callsheet.yaml');
  await writeFile(main, (await readFile(main, 'utf8')).replace(/^platform:.*\n/m, ''));
  const sim = await startSimulator({
    seed: { organizations: [{ id: GROUP, name: 'Group' }] },
    log: false,
  });
  const env = {
    CALLSHEET_BASE_URL: sim.url,
    CALLSHEET_CLIENT_ID: sim.clientId,
    CALLSHEET_CLIENT_SECRET: sim.clientSecret,
    CALLSHEET_FINGERPRINT_KEY: KEY,
    CRM_BENCH_KEY: SECRET,
  };
  const { stack, diagnostics } = await loadStack({
    dir,
    env,
    vars: {},
    varFiles: [],
    secrets: 'check',
  });
  if (stack === undefined) throw new Error(JSON.stringify(diagnostics));
  const begun: State = { ...emptyState(randomUUID()), serial: 1, account_id: sim.store.account.id };
  const fingerprints = createFingerprinter({ key: KEY, salt: begun.salt, stack: begun.lineage });
  const world = { findId: () => undefined, findSecret: () => SECRET, fingerprints };
  const resources: Record<string, ResourceState> = {};
  for (const desired of stack.resources) {
    const record = plantOne(desired, sim);
    const kind = kindNamed(desired.kind);
    const id = String(record.id);
    const scope = { organization_id: GROUP };
    const live = {
      id,
      scope,
      extent: 'whole',
      document: record,
      record,
      readAt: Date.now(),
    } as const;
    const pin = fastRefreshPin(kind, live, buildPin(kind, live, null));
    resources[desired.address] = rememberResource(
      kind,
      desired,
      { id, scope, pin },
      undefined,
      EVERY,
      world,
    );
  }
  const pieces = await piecesOfState({ ...begun, resources });
  const { mkdir } = await import('node:fs/promises');
  await mkdir(join(dir, '.callsheet'));
  await writeFile(join(dir, '.callsheet/state.json'), pieces);
  return {
    dir,
    sim,
    env,
    async close() {
      await sim.close();
    },
  };
}

/** Everything counts as written. */
const EVERY = Object.assign(new Set<string>(), { has: () => true });

function plantOne({ document }: DesiredResource, { store }: Simulator): JsonObject {
  const record = { ...(plain(document) as JsonObject), created_at: MADE, updated_at: MADE };
  const id = randomUUID();
  const whole = { id, stt_model: 'voxc', tts_model: 'cartx', ...record };
  store.agents.set(id, {
    id,
    organizationId: GROUP,
    record: whole,
    payments: { enabled: false, limits: {} },
    supported: true,
  });
  return whole;
}

function plain(value: Value): Json {
  if (value instanceof Secret) return SECRET;
  if (value instanceof Ref) throw new Error('the fleet has no references');
  if (Array.isArray(value)) return value.map(plain);
  if (!isObject(value)) return value as Json;
  return Object.fromEntries(
    Object.entries<Value>(value).map(([key, member]) => [key, plain(member)]),
  );
}

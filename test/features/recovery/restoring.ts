import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Json, JsonObject } from '../../../src/core/value.ts';
import type { RestorationSummary } from '../../../src/features/recovery/restoration.ts';
import { type RestoreFlags, restore } from '../../../src/features/recovery/restore.ts';
import { generateAccount } from '../../../src/simulator/account.ts';
import type { Simulator } from '../../../src/simulator/index.ts';
import type { Stage } from '../../apply/stage.ts';
import { CLINIC } from '../../e2e/clinic.ts';

/** An account that is made up: a platform starts with it, and no stack knows it. */
export function accountOf(size: Parameters<typeof generateAccount>[0]) {
  const account = '5c1f0d7e-2c57-4a4e-8d0f-6f2c3f0c9b11';
  const now = Date.parse('2026-11-01T00:00:00Z');
  return { account_id: account, ...generateAccount(size, account, now) };
}

/** What a restoration of such an account is told: the files that people supply, and a state of its own. */
export async function suppliesOf(stage: Stage) {
  return {
    dir: '.',
    media: await mediaOf(stage.sim, join(stage.folder, 'media')),
    secrets: await secretsFile(stage.folder),
    state: ownState(stage),
  };
}

type Options = NonNullable<Parameters<Stage['run']>[1]>;

/** Takes everything away that the API can make: what is left is what people make in the dashboard. */
export function wipe({ store }: Pick<Simulator, 'store'>): void {
  const { agents, retryPolicies, emailTemplates, smsTemplates, sources, voices } = store;
  for (const all of [agents, retryPolicies, emailTemplates, smsTemplates, sources, voices])
    all.clear();
}

/** Takes every lock away: what was made before a lock was placed cannot be made again behind it. */
export function unlockAll({ store }: Pick<Simulator, 'store'>): void {
  store.account.locks.clear();
  for (const { locks } of [...store.resellers.values(), ...store.organizations.values()])
    locks.clear();
}

/** A file of secrets: of every agent's providers, each from one variable. */
export async function secretsFile(folder: string): Promise<string> {
  const file = join(folder, 'restore-secrets.yaml');
  const lines = SECRETS.map(([path, name]) => `  ${path}: env:${name}`);
  await writeFile(file, `agent:\n${lines.join('\n')}\n`);
  return file;
}

const SECRETS = [
  ['integrations.smsProvider.auth_token', 'RESTORED_SMS'],
  ['integrations.pbxProvider.client_secret', 'RESTORED_PBX'],
  ['integrations.ehrProvider.password', 'RESTORED_EHR'],
  ['integrations.calendarA.refresh_token', 'RESTORED_CALENDAR'],
  ['integrations.calendarB.refresh_token', 'RESTORED_CALENDAR'],
] as const;

export const RESTORED = Object.fromEntries(SECRETS.map(([, name]) => [name, `value of ${name}`]));

/**
 * Restores a snapshot on a stage, and gives what it said. It is begun outside of the project's own repository, whose
 * commit each of them would ask Git for.
 */
export async function restoreOn(
  stage: Stage,
  file: string,
  flags: Partial<RestoreFlags> = {},
  options: Options = {},
) {
  const given = {
    dir: stage.folder,
    format: 'json',
    autoApprove: true,
    ...flags,
  } as const;
  const before = process.cwd();
  process.chdir(dirname(stage.folder));
  const said = await stage
    .run((context) => restore(file, given, context), options)
    .finally(() => process.chdir(before));
  const summary = (): RestorationSummary => JSON.parse(said.out);
  return { ...said, summary };
}

/** A state of the restoration's own, beside the stack's. */
export function ownState({ folder }: Stage): string {
  return join(folder, 'restored.json');
}

/**
 * Moved on by every write, told by the platform in its own time, or bytes: those of an account that is made up
 * are none. Secrets are those that were supplied, and registrations have no endpoint.
 */
const MOVING = new Set([
  ...['auth_token', 'client_secret', 'password', 'refresh_token', 'access_token', 'api_key_secret'],
  'updated_at',
  'created_at',
  'version',
  'last_synced_at',
  'chunk_count',
  'upload',
  'clip',
  'isDoomed',
  'sip_registration_data',
]);
const DEFAULT_LIMITS = {
  max_per_call_cents: 100_000,
  success_url: 'https://pay.example.test/thank-you',
};
/** What no endpoint brings back, and what is none of a fleet. */
const NEVER = ['history', 'calls', 'texts', 'sipChanges', 'organizations', 'account', 'resellers'];

/**
 * What a platform holds but for the exceptions that a restoration names: names stand in the place of ids, and
 * what every write moves on is left out.
 */
export function fleetOf({ store, dump }: Pick<Simulator, 'store' | 'dump'>): Json {
  const names = new Map<string, string>();
  const { agents, retryPolicies, emailTemplates, smsTemplates, sources, voices } = store;
  for (const [kind, records] of [
    ['agent', [...agents.values()].map(({ record }) => record)],
    ['policy', [...retryPolicies.values()]],
    ['email', [...emailTemplates.values()]],
    ['sms', [...smsTemplates.values()]],
    ['source', [...sources.values()].map(({ record }) => record)],
    [
      'voice',
      [...voices.values()].map(({ record, organizationId }) => ({
        ...record,
        organization_id: organizationId,
      })),
    ],
  ] as const) {
    for (const record of records) {
      const { id, name, organization_id: owner, knowledge_base_id: base } = record as JsonObject;
      names.set(String(id), `${kind} ${String(base ?? owner ?? '')} ${String(name)}`);
    }
  }
  const kept = Object.entries(dump()).filter(([part]) => !NEVER.includes(part));
  const text = JSON.stringify(Object.fromEntries(kept)).replaceAll(
    /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g,
    (id) => names.get(id)?.replaceAll(/["\\]/g, '') ?? id,
  );
  return JSON.parse(text, (key, value: Json) => {
    if (MOVING.has(key)) return undefined;
    // What was not told has these values, and reads say so.
    if (key === 'limits') return { ...DEFAULT_LIMITS, ...Object(value) };
    // Connections are numbered anew, like everything else, and nobody has tested them yet.
    if (key === 'mcp_servers' && Array.isArray(value))
      return value.map((one) => ({ ...Object(one), id: null, tools: [], fingerprint: null }));
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
    return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)));
  });
}

/** The same without documents that were announced and whose bytes never came: the platform deletes none. */
export function wholeFleetOf(sim: Pick<Simulator, 'store' | 'dump'>): Json {
  for (const [id, { record }] of [...sim.store.sources])
    if (record.status !== 'active') sim.store.sources.delete(id);
  return fleetOf(sim);
}

/** Knowledge bases of a platform: it lists none, so whoever takes a snapshot names them. */
export function knowledgeBasesOf({ store }: Pick<Simulator, 'store'>): readonly string[] {
  return [...store.knowledgeBases.keys()];
}

/** Puts the clips and documents of a platform into a folder, as people would have them. */
export async function mediaOf(
  { store }: Pick<Simulator, 'store'>,
  folder: string,
): Promise<string> {
  const sample = await readFile(join(CLINIC, 'voices/harbor.wav'));
  const put = async (place: string, name: string, bytes: Buffer) => {
    await mkdir(join(folder, place), { recursive: true });
    await writeFile(join(folder, place, name), bytes);
  };
  for (const { record, clip, organizationId } of store.voices.values())
    await put(organizationId, `${String(record.name)}.wav`, clip.length > 0 ? clip : sample);
  for (const { record, upload, knowledgeBaseId } of store.sources.values())
    if (upload !== undefined)
      await put(
        knowledgeBaseId,
        String(record.name),
        upload.bytes?.length ? upload.bytes : Buffer.from('%PDF-1.7 prices'),
      );
  return folder;
}

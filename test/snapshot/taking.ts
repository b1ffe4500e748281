import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Json, JsonObject } from '../../src/core/value.ts';
import { type CreateFlags, create } from '../../src/features/recovery/snapshot-create.ts';
import type { Simulator } from '../../src/simulator/index.ts';
import type { SnapshotSummary } from '../../src/snapshot/format.ts';
import type { Stage } from '../apply/stage.ts';
import { IDENTITY, RECIPIENT } from './files.ts';

/** Takes a snapshot of a stage and returns where it is. */
export async function take(
  stage: Stage,
  name = 'then.snapshot',
  flags: Partial<CreateFlags> = {},
  env: Readonly<Record<string, string>> = {},
): Promise<{ readonly file: string; readonly made: SnapshotSummary }> {
  const file = join(stage.folder, name);
  const { out } = await stage.run(
    (context) => create({ dir: stage.folder, format: 'json', out: file, ...flags }, context),
    { env },
  );
  return { file, made: JSON.parse(out) };
}

/** A snapshot is encrypted so for a key. A passphrase costs half a second of processor time wherever it is used. */
export const FOR_KEY = { recipient: [RECIPIENT] } as const;

/** Writes the key that opens what was encrypted for it, and gives the flag that names it. */
export async function withKey({ folder }: Pick<Stage, 'folder'>) {
  const file = join(folder, 'key.txt');
  await writeFile(file, `${IDENTITY}\n`);
  return { identity: [file] };
}

/** Moved on by every write, or told by the platform in its own time. */
const MOVING = new Set(['updated_at', 'created_at', 'version', 'last_synced_at']);

/** What a platform holds, without what every write moves on and without the history. */
export function settled(sim: Pick<Simulator, 'dump'>): JsonObject {
  const { history: _, organizations: __, ...store } = sim.dump();
  return JSON.parse(JSON.stringify(store, (key, value: Json) => (MOVING.has(key) ? null : value)));
}

/** The same with names in the place of ids, for what was made again under new ones. */
export function nameless(sim: Simulator): Json {
  const names = new Map<string, string>();
  const { agents, retryPolicies, emailTemplates, smsTemplates } = sim.store;
  for (const [kind, records] of [
    ['agent', [...agents.values()].map(({ record }) => record)],
    ['policy', [...retryPolicies.values()]],
    ['email', [...emailTemplates.values()]],
    ['sms', [...smsTemplates.values()]],
  ] as const) {
    for (const record of records) names.set(String(record.id), `${kind} ${String(record.name)}`);
  }
  const text = [...names].reduce(
    (all, [id, name]) => all.replaceAll(id, name),
    JSON.stringify(settled(sim)),
  );
  const sorted = JSON.parse(text, (_key, value: Json) =>
    typeof value === 'object' && value !== null && !Array.isArray(value)
      ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
      : value,
  );
  return sorted;
}

import type { JsonObject } from '../core/value.ts';
import { fieldSchema, READABLE, withoutSecrets } from './agent-fields.ts';
import { dress, fill } from './dress.ts';
import { isRecord, without } from './json.ts';
import type { Platform } from './platform.ts';
import type { Agent, Fields } from './store.ts';

/** What a single read returns: the whole record but its secrets (Agent). */
export function viewAgent({ dialect }: Platform, { record: stored }: Agent): JsonObject {
  const record = dress(dialect, fill(dialect, stored));
  const unset = dialect.unset === 'null' ? UNSET : {};
  return {
    ...unset,
    ...withoutSecrets(record),
    is_active: record.status === 'active',
    interpreter_config: viewInterpreter(record),
    email_tool_instructions: record.email_tool_instructions ?? null,
    sip_registration_data:
      withoutSecrets({ sip_registration_data: record.sip_registration_data ?? null })
        .sip_registration_data ?? null,
  };
}

/** Null in every field. */
const UNSET: JsonObject = Object.fromEntries(READABLE.map((name) => [name, null]));

/** `speaker_identification` is only returned with some of its values (Agent, interpreter_config). */
function viewInterpreter({ interpreter_config: config }: JsonObject) {
  if (!isRecord(config)) return null;
  const echoes = fieldSchema('interpreter_config').properties?.speaker_identification?.['x-echoes'];
  const spoken = config.speaker_identification;
  return echoes?.some((value) => value === spoken)
    ? config
    : without(config, 'speaker_identification');
}

const LISTED = [
  'id',
  'organization_id',
  'name',
  'description',
  'status',
  'agent_type',
  'model',
  'language',
  'timezone',
  'created_at',
];

const FEWEST = ['id', 'organization_id', 'name'];

/** What a list says of an agent: a part of its fields (Agent). */
export function listAgent(platform: Platform, agent: Agent): JsonObject {
  const { listFields, listUpdatedAt } = platform.dialect;
  if (listFields === 'all') {
    const whole = viewAgent(platform, agent);
    return listUpdatedAt ? whole : without(whole, 'updated_at');
  }
  const record = dress(platform.dialect, agent.record);
  const item: Fields = listFields === 'some' ? { is_active: record.status === 'active' } : {};
  for (const name of listFields === 'some' ? LISTED : FEWEST)
    if (record[name] !== undefined) item[name] = record[name];
  if (listUpdatedAt) item.updated_at = record.updated_at ?? null;
  return item;
}

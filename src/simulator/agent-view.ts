import type { JsonObject } from '../core/value.ts';
import { fieldSchema, withoutSecrets } from './agent-fields.ts';
import { isRecord, without } from './json.ts';
import type { Platform } from './platform.ts';
import type { Agent } from './store.ts';

/** What a single read returns: the whole record but its secrets (Agent). */
export function viewAgent({ record }: Agent): JsonObject {
  return {
    ...withoutSecrets(record),
    is_active: record.status === 'active',
    interpreter_config: viewInterpreter(record),
    email_tool_instructions: record.email_tool_instructions ?? null,
    sip_registration_data:
      withoutSecrets({ sip_registration_data: record.sip_registration_data ?? null })
        .sip_registration_data ?? null,
  };
}

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

/** What a list says of an agent: a part of its fields (Agent). */
export function listAgent({ dialect }: Platform, { record }: Agent): JsonObject {
  const fields = dialect.listUpdatedAt ? [...LISTED, 'updated_at'] : LISTED;
  const item: { [name: string]: JsonObject[string] } = { is_active: record.status === 'active' };
  for (const name of fields) if (record[name] !== undefined) item[name] = record[name];
  return item;
}

import { isObject, type Json, type JsonObject, objectsIn } from '../core/value.ts';
import { fieldSchema, keepSecrets, RECORD_NAMES, recordName } from './agent-fields.ts';
import type { Dialect } from './dialect.ts';
import { compact, inside, mergeDeep, replaceWhole, without } from './json.ts';
import type { Platform } from './platform.ts';
import type { Fields } from './store.ts';
import { invalid, refusedNulls, violation } from './validation.ts';

/** Fields that an agent has before it is configured. */
export const NEW_AGENT: JsonObject = {
  agent_type: 'simple',
  model: 'alpha-4.1',
  stt_model: 'voxc',
  tts_model: 'cartx',
  language: 'en-US',
};

/** The record of a new agent. */
export function newRecord(platform: Platform, id: string, body: JsonObject): JsonObject {
  const at = platform.stamp();
  const identity: JsonObject = { id, organization_id: body.organizationId ?? null };
  const blank = { status: platform.dialect.newAgentStatus, ...NEW_AGENT, ...identity };
  const record = patched(platform, blank, fromWrite(platform, {}, body));
  return { ...record, created_at: at, updated_at: at };
}

/** The record after an update in write names: fields that are left out stay (Agents, PUT). */
export function updatedRecord(
  platform: Platform,
  before: JsonObject,
  body: JsonObject,
): JsonObject {
  const moved = body.organizationId ?? before.organization_id;
  if (moved !== before.organization_id)
    throw invalid('details', [violation('organizationId', 'an agent stays with its organization')]);
  return {
    ...patched(platform, before, fromWrite(platform, before, body)),
    updated_at: platform.stamp(),
  };
}

/** The record after an edit in its own names, as the dashboard makes one: it merges whatever the API does. */
export function editedRecord(
  platform: Platform,
  before: JsonObject,
  patch: JsonObject,
): JsonObject {
  return { ...patched(platform, before, patch, 'deep'), updated_at: platform.stamp() };
}

/** A body in the record's names. */
function fromWrite(platform: Platform, before: JsonObject, body: JsonObject): JsonObject {
  const refused = refusedNulls(platform, body, (name) => fieldSchema(recordName(name) ?? name));
  if (refused.length > 0) throw invalid('details', refused);
  const patch: Fields = {};
  for (const [name, value] of Object.entries(body)) {
    const field = recordName(name);
    if (field === undefined) continue;
    const isNew = !RECORD_NAMES.has(field);
    if (!isNew || platform.dialect.newFields === 'snake_case') patch[field] = value;
    else if (platform.dialect.newFields === 'as_sent') patch[name] = value;
  }
  const { extensions } = patch;
  if (isObject(extensions) && Array.isArray(extensions.mcp_servers)) {
    const saved = objectsIn(inside(before.extensions, 'mcp_servers'));
    const servers = storedConnections(platform, objectsIn(extensions.mcp_servers), saved);
    patch.extensions = { ...extensions, mcp_servers: servers };
  }
  return patch;
}

function patched(
  platform: Platform,
  before: JsonObject,
  patch: JsonObject,
  merge: Dialect['merge'] = platform.dialect.merge,
): JsonObject {
  const next: Fields = { ...before };
  for (const [name, value] of Object.entries(patch)) {
    if (value === null) delete next[name];
    else next[name] = mergedField(merge, name, before[name], value);
  }
  return withListing(
    platform,
    before,
    withVoiceLanguage(platform, keptInterpreter(platform, before, next), patch),
  );
}

function mergedField(
  merge: Dialect['merge'],
  name: string,
  before: Json | undefined,
  value: Json,
): Json {
  if (!isObject(value)) return value;
  return merge === 'deep'
    ? mergeDeep(before, value)
    : replaceWhole(keepSecrets(name, before, value));
}

/** Null clears the interpreter's settings on an agent that is no translator (Agent, interpreter_config). */
function keptInterpreter(
  { dialect }: Pick<Platform, 'dialect'>,
  before: JsonObject,
  next: JsonObject,
): JsonObject {
  const config = before.interpreter_config;
  const cleared = next.interpreter_config === undefined && config !== undefined;
  const isTranslator = next.agent_type === 'translator';
  return cleared && isTranslator && dialect.translatorNull === 'kept'
    ? { ...next, interpreter_config: config }
    : next;
}

/** A cloned voice brings its language along (Custom voices). */
function withVoiceLanguage(
  { store, dialect }: Platform,
  next: JsonObject,
  patch: JsonObject,
): JsonObject {
  if (dialect.voiceLanguage === 'spoken') return next;
  const [settings, given] = [next.voice_settings, patch.voice_settings];
  if (!isObject(settings) || !isObject(given) || given.voice_id === undefined) return next;
  const language = store.voices.get(String(settings.voice_id))?.record.language;
  const isNamed = given.language !== undefined && dialect.voiceLanguage !== 'imposed';
  if (language === undefined || isNamed) return next;
  return { ...next, voice_settings: { ...settings, language } };
}

/** The platform looks a listing up when it is linked, and forgets it with the link (Agent, place_data). */
function withListing(platform: Platform, before: JsonObject, next: JsonObject): JsonObject {
  const { place_id: place } = next;
  if (place === before.place_id) return next;
  if (typeof place !== 'string')
    return without(next, 'place_data', 'place_context', 'place_fetched_at');
  return {
    ...next,
    place_data: { listing: place, name: next.name ?? null },
    place_context: `The listing ${place} is open on weekdays.`,
    place_fetched_at: platform.stamp(),
  };
}

/**
 * MCP connections are written in camelCase and stored, and returned, in snake_case (MCP connection). A
 * connection that is written with the id of a saved one keeps what the platform found out about it.
 */
function storedConnections(
  { ids }: Platform,
  written: readonly JsonObject[],
  saved: readonly JsonObject[],
): readonly JsonObject[] {
  const seen = new Set<string>();
  return written.map((connection, index) => {
    const before = saved.find(({ id }) => id === connection.id);
    const place = `extensions.mcp_servers.${index}.id`;
    if (typeof connection.id === 'string') {
      if (before === undefined)
        throw invalid('details', [violation(place, 'no saved connection has this id')]);
      if (seen.has(connection.id)) throw invalid('details', [violation(place, 'named twice')]);
      seen.add(connection.id);
    }
    const { id: _, connectionName, mcpEndpointUrl, transportType, ...rest } = connection;
    const { authHeaders, initializationOptions, allowedToolNames, preAnswerCalls, ...newer } = rest;
    return compact({
      ...newer,
      id: before?.id ?? ids.uuid('mcp'),
      connection_name: connectionName,
      mcp_endpoint_url: mcpEndpointUrl,
      transport_type: transportType,
      auth_headers: given(authHeaders),
      initialization_options: given(initializationOptions),
      fingerprint: before?.fingerprint,
      tools: before?.tools ?? [],
      allowed_tool_names: given(allowedToolNames),
      pre_answer_calls: Array.isArray(preAnswerCalls)
        ? objectsIn(preAnswerCalls).map(storedCall)
        : undefined,
    });
  });
}

function storedCall({
  toolName,
  arguments: values,
  inputSchema,
  ...newer
}: JsonObject): JsonObject {
  return compact({
    ...newer,
    tool_name: toolName,
    arguments: given(values),
    input_schema: given(inputSchema),
  });
}

function given<T>(value: T | null | undefined): T | undefined {
  return value ?? undefined;
}

import type { JsonObject } from '../core/value.ts';
import { compact, recordsOf } from './json.ts';
import type { Platform } from './platform.ts';
import { invalid, violation } from './violations.ts';

/**
 * MCP connections are written in camelCase and stored, and returned, in snake_case (MCP connection). A
 * connection that is written with the id of a saved one keeps what the platform found out about it.
 */
export function storedConnections(
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
    return compact({
      id: before?.id ?? ids.uuid('mcp'),
      connection_name: connection.connectionName,
      mcp_endpoint_url: connection.mcpEndpointUrl,
      transport_type: connection.transportType,
      auth_headers: given(connection.authHeaders),
      initialization_options: given(connection.initializationOptions),
      fingerprint: before?.fingerprint,
      tools: before?.tools ?? [],
      allowed_tool_names: given(connection.allowedToolNames),
      pre_answer_calls: Array.isArray(connection.preAnswerCalls)
        ? recordsOf(connection.preAnswerCalls).map(storedCall)
        : undefined,
    });
  });
}

function storedCall({ toolName, arguments: values, inputSchema }: JsonObject): JsonObject {
  return compact({
    tool_name: toolName,
    arguments: given(values),
    input_schema: given(inputSchema),
  });
}

function given<T>(value: T | null | undefined): T | undefined {
  return value ?? undefined;
}

import { memberSchema } from '../core/schema.ts';
import type { JsonObject } from '../core/value.ts';
import { type OperationId, operations } from '../platform/operations.generated.ts';
import { agentFieldsNaming, withoutSecrets } from './agent-fields.ts';
import {
  type Answer,
  assumedPage,
  coded,
  created,
  data,
  deleted,
  dress,
  flat,
  GONE,
  missing,
  ordered,
  updated,
} from './answer.ts';
import {
  forbidden,
  getOrganization,
  namedOrganization,
  organizationFilter,
  ownedBy,
} from './auth.ts';
import { organizationLocks } from './catalogue.ts';
import { without } from './json.ts';
import type { Answerer, Input, Platform } from './platform.ts';
import { type Fields, getTable } from './store.ts';
import { RESTS, type Rest } from './tables.ts';
import { getRules, invalid, refusedNulls, violation } from './validation.ts';

/** How the operations of the kinds in `REST_TABLES` are answered. */
export const rests: { readonly [operation: string]: Answerer } = Object.fromEntries(
  RESTS.flatMap((rest): [string, Answerer][] => {
    const { list, get, create, update, remove } = rest.operations;
    return [
      [list, (input, platform) => listRecords(rest, input, platform)],
      [get, (input, platform) => data(view(rest, platform, reached(rest, input, platform)))],
      [create, (input, platform) => createRecord(rest, input, platform)],
      [update, (input, platform) => updateRecord(rest, input, platform)],
      [remove, (input, platform) => deleteRecord(rest, input, platform)],
    ];
  }),
);

/** A record whose fields are not known beforehand, as a seed plants it. */
export function plantRecord(rest: Rest, platform: Platform, record: JsonObject): void {
  const planted = { id: newId(rest, platform), ...rest.empty, ...first(rest, platform), ...record };
  getTable(platform.store, rest.section).set(String(planted.id), planted);
}

/** Filters by those parameters of the query that are fields of the record. */
function listRecords(rest: Rest, input: Input, platform: Platform): Answer {
  const {
    kind,
    operations: { list },
    key,
  } = rest;
  const { dialect, store } = platform;
  const wanted = isOwned(rest) ? organizationFilter(platform, input) : () => true;
  const filters = getRules(list)
    .parameters.map(({ name }) => name)
    .filter((name) => name !== 'organization_id' && kind.schema.properties?.[name] !== undefined);
  const found = [...getTable(store, rest.section).values()].filter(
    (record) =>
      wanted(String(record.organization_id)) &&
      filters.every((name) => [undefined, record[name]].includes(input.query[name] as undefined)),
  );
  const all = ordered(dialect, found, (record) => record[key.at(-1) ?? 'name']);
  return assumedPage(dialect, all, input, (record) => view(rest, platform, record));
}

function createRecord(rest: Rest, input: Input, platform: Platform): Answer {
  const { body, key } = input;
  const { dialect } = platform;
  if (isOwned(rest)) {
    const organization = namedOrganization(platform, key, String(body.organization_id), () =>
      rest.errors === 'flat'
        ? flat(403, 'organization not accessible')
        : forbidden('No access to this organization'),
    );
    refuseLocked(rest, platform, organization.id);
  }
  const blank = Object.fromEntries(
    rest.key.map((name) => [name, name === 'organization_id' ? null : '']),
  );
  const record: Fields = { ...blank, ...rest.empty, ...written(rest, body) };
  refuseBroken(rest, rest.operations.create, platform, body, record);
  const id = newId(rest, platform);
  const stored = { id, ...record, ...first(rest, platform) };
  getTable(platform.store, rest.section).set(id, stored);
  const shown = view(rest, platform, stored);
  if (rest.created === 'assumed') return created(dialect, shown);
  if (rest.created === 'assumed status') return data(shown, dialect.createdStatus);
  if (rest.created === 'record') return data(shown, 201);
  return data(Object.fromEntries(rest.created.map((name) => [name, shown[name] ?? null])), 201);
}

function updateRecord(rest: Rest, input: Input, platform: Platform): Answer {
  const {
    kind: { schema },
    operations: { update },
  } = rest;
  const record = reached(rest, input, platform);
  if (isOwned(rest)) refuseLocked(rest, platform, String(record.organization_id));
  const patch = written(rest, input.body);
  const moved = Object.keys(patch).filter(
    (name) =>
      memberSchema(schema, schema, name)['x-immutable'] === true && patch[name] !== record[name],
  );
  if (moved.length > 0)
    throw invalid(
      getRules(update).invalid,
      moved.map((name) => violation(name, 'cannot be changed')),
    );
  refuseBroken(rest, update, platform, input.body, { ...record, ...patch }, record);
  Object.assign(record, patch, next(rest, platform, record));
  const answer = data(view(rest, platform, record));
  return operations[update].documented ? answer : updated(platform.dialect, answer);
}

/** Agents that named the record name none afterwards (States and transitions). */
function deleteRecord(rest: Rest, input: Input, platform: Platform): Answer {
  const { store, dialect, stamp } = platform;
  const { id } = reached(rest, input, platform);
  getTable(store, rest.section).delete(String(id));
  const { deletedPolicy } = dialect;
  const fields = deletedPolicy === 'dangling' ? [] : agentFieldsNaming(rest.kind.name);
  for (const agent of fields.length === 0 ? [] : store.agents.values()) {
    const emptied = fields.filter((name) => agent.record[name] === id);
    if (emptied.length > 0)
      agent.record = {
        ...without(agent.record, ...emptied),
        ...(deletedPolicy === 'emptied' ? { updated_at: stamp() } : {}),
      };
  }
  return operations[rest.operations.remove].documented ? GONE : deleted(dialect);
}

/** The record of the path, or 404. */
function reached(rest: Rest, { key, path }: Input, platform: Platform): Fields {
  const record = getTable(platform.store, rest.section).get(path[rest.parameter] ?? '');
  const isReached = isOwned(rest) ? ownedBy(platform, key, record?.organization_id) : true;
  if (record === undefined || !isReached) throw missing(rest.noun);
  return record;
}

function isOwned({ kind }: Rest): boolean {
  return kind.scope.includes('organization_id');
}

function view({ kind }: Rest, { dialect }: Platform, record: JsonObject): JsonObject {
  return dress(dialect, withoutSecrets(record, kind.schema));
}

/** Translates the write names of a body into the record's names. Members that no writable field has are dropped. */
function written({ kind: { schema } }: Rest, body: JsonObject): JsonObject {
  const names = new Map(
    Object.entries(schema.properties ?? {}).flatMap(([name, field]) =>
      field.readOnly === true || field['x-local'] === true
        ? []
        : [[field['x-write'] ?? name, name] as const],
    ),
  );
  return Object.fromEntries(
    Object.entries(body).flatMap(([name, value]) => {
      const field = names.get(name);
      return field === undefined ? [] : [[field, value] as const];
    }),
  );
}

/** Throws for nulls that the dialect refuses, and for a key that another record has. */
function refuseBroken(
  rest: Rest,
  operation: OperationId,
  platform: Platform,
  body: JsonObject,
  next: JsonObject,
  own?: JsonObject,
): void {
  const {
    kind: { schema, refusesTwins },
    key,
    noun,
  } = rest;
  const wrong = refusedNulls(platform, body, (name) => memberSchema(schema, schema, name));
  if (wrong.length > 0) throw invalid(getRules(operation).invalid, wrong);
  if (!refusesTwins || (own !== undefined && key.every((name) => next[name] === own[name]))) return;
  for (const other of getTable(platform.store, rest.section).values())
    if (other !== own && key.every((name) => other[name] === next[name])) {
      const { taken } = getStatuses(rest, platform);
      throw rest.errors === 'flat'
        ? flat(taken, `A ${noun.toLowerCase()} with this name already exists.`)
        : coded(taken, 'conflict', `A ${noun.toLowerCase()} with this name exists`);
    }
}

/** Throws while the kind's own feature is locked for the organization. */
function refuseLocked(rest: Rest, platform: Platform, organization: string): void {
  const feature = rest.kind.schema['x-lock'];
  const locks = organizationLocks(platform, getOrganization(platform, organization));
  if (feature === undefined || !locks.has(feature)) return;
  const { locked } = getStatuses(rest, platform);
  throw rest.errors === 'flat'
    ? flat(locked, `${feature}_locked`)
    : coded(locked, 'forbidden', `The feature ${feature} is locked for the organization`);
}

function getStatuses({ statuses }: Rest, { dialect }: Platform) {
  return statuses?.(dialect) ?? { locked: 403, taken: 409 };
}

/** `template` of the path's `{templateId}` tells its ids from those of others. */
function newId({ parameter }: Rest, { ids }: Platform): string {
  return ids.uuid(parameter.replace(/Id$/, ''));
}

function first({ moves }: Rest, { stamp }: Platform): JsonObject {
  if (moves === 'version') return { version: 1 };
  const at = stamp();
  return { created_at: at, updated_at: at };
}

function next({ moves }: Rest, { stamp }: Platform, { version }: JsonObject): JsonObject {
  return moves === 'version' ? { version: Number(version) + 1 } : { updated_at: stamp() };
}

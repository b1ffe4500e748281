import type { Address } from '../core/address.ts';
import type { DesiredResource } from '../core/desired.ts';
import { parsePath } from '../core/path.ts';
import type { Change, FieldChange, Note, PlanDocument } from '../core/plan-document.ts';
import {
  findFilled,
  findText,
  getOwn,
  isObject,
  isUuid,
  type Json,
  valuesIn,
} from '../core/value.ts';
import { schemaAt } from '../core/walk.ts';
import { kindNamed, kinds } from '../kinds/index.ts';
import type { State } from '../state/model.ts';
import type { Identity } from './identify.ts';
import { listKnown, listScopes } from './natural-key.ts';
import type { Reader } from './reader.ts';

/**
 * Names that people have for ids and addresses, from what planning has read anyway: the names of organizations, the
 * lists that resources were looked for in, the configuration and the state. A plan carries the names of what it shows.
 */
export type Names = ReadonlyMap<string, string>;

/** The data that names are read from. */
type Sources = {
  readonly identities: readonly Identity[];
  readonly desired: readonly DesiredResource[];
  readonly state: State;
  /** Its lists were read to find the resources; it keeps them. */
  readonly reader: Pick<Reader, 'list'>;
  readonly organizations: PlanDocument['organizations'];
};

/** The names of everything that planning came across. A live name wins: it is what the dashboard shows. */
export async function collectNames({
  identities,
  desired,
  state,
  reader,
  organizations,
}: Sources): Promise<Names> {
  const names = new Map<string, string>();
  const add = (key: string | undefined, name: string | undefined) => {
    if (key !== undefined && name !== undefined && name !== key) names.set(key, name);
  };
  for (const [address, { id, name }] of Object.entries(state.resources)) {
    add(id, name);
    add(address, name);
  }
  for (const [id, name] of parentNames(desired)) add(id, name);
  for (const { address, desired: wanted, found } of identities) {
    const name = findFilled(wanted?.document.name);
    add(address, name);
    add(found?.id, name);
  }
  const places = kinds.flatMap((kind) =>
    listScopes(kind, desired, state).map((scope) => ({ kind, scope })),
  );
  const lists = await Promise.all(places.map(({ kind, scope }) => listKnown(reader, kind, scope)));
  for (const { id, record } of lists.flatMap((list) => list ?? []))
    add(id, findFilled(record.name));
  for (const { found } of identities) add(found?.id, findFilled(found?.record.name));
  for (const [id, name] of Object.entries(organizations)) add(id, name);
  return names;
}

/** Lists names that only the configuration has: `clinic` of `knowledge_source.clinic.faq`, by the id that is inherited there. */
function parentNames(
  desired: readonly DesiredResource[],
): readonly (readonly [id: string, name: string])[] {
  return desired.flatMap(({ address, kind, document }) => {
    const { nested } = kindNamed(kind);
    const [, name] = address.split('.');
    if (nested === undefined || name === undefined) return [];
    return Object.values(nested.inherit).flatMap((field) => {
      const id = findFilled(document[field]);
      return id === undefined ? [] : [[id, name] as const];
    });
  });
}

/** The names of the ids and addresses that a plan shows, in the order of their keys; undefined where it shows none. */
export function namesShown(
  changes: readonly Change[],
  notes: readonly Note[],
  names: Names,
): PlanDocument['names'] {
  const shown = new Set<string>();
  const show = (key: string) => {
    if (names.has(key)) shown.add(key);
  };
  for (const change of changes) {
    for (const field of change.fields) for (const id of idsIn(field, change)) show(id);
    if (change.action === 'delete')
      for (const id of textsIn(change.before)) if (isUuid(id)) show(id);
  }
  const known = new Set(changes.map(({ address }) => address));
  for (const { address } of notes) if (address !== null && !known.has(address)) show(address);
  if (shown.size === 0) return undefined;
  return Object.fromEntries([...shown].sort().map((key) => [key, names.get(key) ?? key]));
}

/** Lists the ids and addresses in a field that stand for resources. */
function idsIn(
  { path, before, after, base = null, configured = null }: FieldChange,
  { kind }: Change,
): readonly (string | Address)[] {
  const { schema } = kindNamed(kind);
  const isReference = schemaAt(schema, parsePath(path) ?? [path])['x-ref'] !== undefined;
  return [before, after, base, configured].flatMap((value) => [
    ...textsIn(value).filter((text) => isReference || isUuid(text)),
    ...addressesIn(value),
  ]);
}

function textsIn(value: Json): readonly string[] {
  return valuesIn(value).flatMap((one) => findText(one) ?? []);
}

function addressesIn(value: Json): readonly Address[] {
  return valuesIn(value).flatMap((one) =>
    isObject(one) ? (findText(getOwn(one, '$ref')) ?? []) : [],
  );
}

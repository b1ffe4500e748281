import { basename } from 'node:path';
import { isAddress } from '../core/address.ts';
import { isList, isObject, type Json, type JsonObject } from '../core/value.ts';
import { kinds } from '../kinds/index.ts';

type Check = (value: Json | undefined) => boolean;

const text: Check = (value) => typeof value === 'string';
const count: Check = (value) => Number.isInteger(value) && Number(value) >= 0;
const map: Check = (value) => isObject(value);
const orNull =
  (check: Check): Check =>
  (value) =>
    value === null || check(value);
const texts: Check = (value) => isList(value) && value.every(text);
const scope: Check = (value) => isObject(value) && Object.values<Json>(value).every(text);
const kind: Check = (value) => kinds.some(({ name }) => name === value);
const address: Check = (value) => typeof value === 'string' && isAddress(value);
/** What a state said of a resource; more of it is not relied on. */
const resourceState: Check = (value) => isObject(value) && isObject(value.leaves);
/** A base is looked for beside the file and nowhere else. */
const base: Check = (value) =>
  isObject(value) &&
  [value.file, value.id, value.sha256].every(text) &&
  basename(String(value.file)) === value.file;
const platform: Check = (value) =>
  isObject(value) && text(value.base_url) && text(value.account_id);

/**
 * What is relied on of each type of line. The digest tells that a file is as it was written; this, that nobody
 * wrote it by hand, or a Callsheet that knows more kinds. It asks for no more than it needs, so that no backup is
 * refused for a detail.
 */
const SHAPES: { readonly [type: string]: { readonly [member: string]: Check } } = {
  header: {
    id: text,
    made_at: text,
    made_by: text,
    platform,
    stack: orNull(map),
    base: orNull(base),
  },
  resource: {
    kind,
    id: text,
    scope,
    record: map,
    facets: map,
    history: orNull(map),
    withheld: texts,
    address: orNull(address),
    state: orNull(resourceState),
  },
  organization: { id: text, name: orNull(text), reseller_id: orNull(text) },
  answer: { operation: text, organization_id: orNull(text), reseller_id: orNull(text) },
  list: { kind, scope },
  media: {
    sha256: text,
    name: text,
    mime: text,
    size: count,
    part: count,
    parts: count,
    data: text,
  },
  gap: { of: text, why: text },
  same: { key: text, digest: text },
  end: { records: map, resources: map, sha256: text },
};

/** The member of a line that is not what its type of line has; null where all are. */
export function misshapenMember(line: JsonObject): string | null {
  const shape = SHAPES[String(line.type)] ?? {};
  const found = Object.entries(shape).find(([member, isSound]) => !isSound(line[member]));
  return found?.[0] ?? null;
}

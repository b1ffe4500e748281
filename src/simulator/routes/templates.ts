import type { KindSchema } from '../../core/schema.ts';
import { memberSchema } from '../../core/schema.ts';
import type { JsonObject } from '../../core/value.ts';
import { flat, missing } from '../answer.ts';
import { organizationLocks } from '../locks.ts';
import { assign } from '../merge.ts';
import { refusedNulls } from '../nulls.ts';
import type { Input, Platform } from '../platform.ts';
import { namedOrganization, organizationOf, ownedBy } from '../reach.ts';
import type { Fields } from '../store.ts';
import { invalid, violation } from '../violations.ts';

/** What e-mail and SMS templates have in common. */
export type TemplateKind = {
  readonly schema: KindSchema;
  readonly records: Map<string, Fields>;
  readonly feature: string;
  /** The body of the 403 while the feature is locked; it tells this 403 from the other. */
  readonly locked: string;
  readonly statuses: { readonly locked: number; readonly taken: number };
  readonly empty: JsonObject;
};

/** A new template, stored. */
export function createTemplate(
  platform: Platform,
  kind: TemplateKind,
  { key, body }: Input,
): Fields {
  const organization = namedOrganization(platform, key, String(body.organization_id), () =>
    flat(403, 'organization not accessible'),
  );
  refuseLockedKind(platform, kind, organization.id);
  const id = platform.ids.uuid('template');
  const template: Fields = {
    id,
    ...assign({ ...kind.empty, status: 'draft' }, body, writtenFields(kind)),
    version: 1,
  };
  check(platform, kind, body, template);
  kind.records.set(id, template);
  return template;
}

/** A template with some fields changed, stored; its version counts up. */
export function updateTemplate(platform: Platform, kind: TemplateKind, input: Input): Fields {
  const template = reachedTemplate(platform, kind, input);
  const { body } = input;
  refuseLockedKind(platform, kind, String(template.organization_id));
  const fixed = writtenFields(kind).filter(
    (name) => memberSchema(kind.schema, kind.schema, name)['x-immutable'] === true,
  );
  const moved = fixed.filter((name) => body[name] !== undefined && body[name] !== template[name]);
  if (moved.length > 0)
    throw invalid(
      'issues',
      moved.map((name) => violation(name, 'cannot be changed')),
    );
  const next = assign(template, body, writtenFields(kind));
  check(platform, kind, body, next, template);
  return Object.assign(template, next, { version: Number(template.version) + 1 });
}

/** The template of the path, or 404. */
export function reachedTemplate(
  platform: Platform,
  { records }: TemplateKind,
  { key, path }: Input,
): Fields {
  const template = records.get(path.templateId ?? '');
  if (template === undefined || !ownedBy(platform, key, template.organization_id))
    throw missing('Template');
  return template;
}

function check(
  platform: Platform,
  { schema, records, statuses }: TemplateKind,
  body: JsonObject,
  next: JsonObject,
  own?: Fields,
): void {
  const wrong = refusedNulls(platform, body, (name) => memberSchema(schema, schema, name));
  if (wrong.length > 0) throw invalid('issues', wrong);
  for (const other of records.values())
    if (other !== own && other.organization_id === next.organization_id && other.name === next.name)
      throw flat(statuses.taken, 'A template with this name already exists.');
}

function refuseLockedKind(
  platform: Platform,
  { feature, locked, statuses }: TemplateKind,
  id: string,
): void {
  if (organizationLocks(platform, organizationOf(platform, id)).has(feature))
    throw flat(statuses.locked, locked);
}

function writtenFields({ schema }: TemplateKind): readonly string[] {
  return Object.entries(schema.properties ?? {})
    .filter(([, field]) => field.readOnly !== true)
    .map(([name]) => name);
}

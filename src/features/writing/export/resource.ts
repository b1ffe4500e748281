import type { Address } from '../../../core/address.ts';
import type { Export } from '../../../core/documents.generated.ts';
import { formatPath, type Path } from '../../../core/path.ts';
import { memberContext, rootContext, sensitivity } from '../../../core/redact.ts';
import { memberSchema } from '../../../core/schema.ts';
import {
  isMoment,
  type Json,
  type JsonObject,
  Ref,
  type Secret,
  type ValueObject,
} from '../../../core/value.ts';
import { mapIds, pickReturned } from '../../../core/walk.ts';
import { inAnyKind } from '../../../kinds/index.ts';
import { type Kind, withoutIdleFacets } from '../../../kinds/kind.ts';
import { type HeldSecret, type SecretPlace, secretsIn } from '../../../live/secrets.ts';
import { type LiveResource, snakeCase } from '../../../plan/reader.ts';
import { findDestination } from '../../../plan/secrets.ts';
import { knownSpelling } from '../../../stack/resource.ts';
import { configName } from '../../../stack/schema.ts';
import {
  type Unwritable,
  type Writable,
  type WriteOptions,
  type WrittenResources,
  writeResources,
} from '../edit/write.ts';
import { type Fault, faultsIn, fromLive, HOLDS, TELLING, without } from './live-document.ts';

/** A note for people on something that the stack does not have, or not as a field. */
export type Remark = Export.Document['remarks'][number];

/** A live resource as it is to be written; nothing can be where the configuration cannot say it, and a remark says why. */
type Exported = {
  readonly one:
    | { readonly writable: Writable; readonly secrets: readonly HeldSecret[] }
    | undefined;
  readonly remarks: readonly Remark[];
};

type ResourceContext = {
  readonly kind: Kind;
  readonly address: Address;
  /** The address of a live resource that the stack has. */
  readonly findAddress: (kind: string, id: string) => Address | undefined;
  /** True if others of its organization have its name, so that the id must tell which one it is. */
  readonly isTwin: boolean;
  /** Its name within its organization, and that of the organization. */
  readonly own: string;
  readonly organization: string;
  /** Returns the placeholder in the document until the variables of all secrets have their names. */
  readonly standIn: (place: SecretPlace) => Secret;
  /** The names of fields that no schema knows and that change by themselves; undefined where none is to be owned. */
  readonly moving?: ReadonlySet<string> | undefined;
};

/** Turns what is live into what the stack says of it. What `validate` would refuse is never written. */
export function exportResource(live: LiveResource, context: ResourceContext): Exported {
  const { kind, address } = context;
  const secrets: HeldSecret[] = [];
  const remarks: Remark[] = [];
  const remark = (path: Path, reason: string) => {
    remarks.push({ address, path: path.length === 0 ? null : formatPath(path), reason });
  };
  const { own, organization } = context;
  const plain = fromLive(kind, pickReturned(kind.schema, withoutIdleFacets(kind, live.document)), {
    secret: (path, value, beside) => {
      const destination = findDestination(kind.schema, [live.document], path);
      const place = { address, own, organization, path, destination, beside, value };
      const secret = context.standIn(place);
      secrets.push({ ...place, secret });
      return secret;
    },
    leaveOut: remark,
  });
  const findAddress = inAnyKind(context.findAddress);
  const taken = mapIds(kind.schema, plain, ({ kind: name, id, isValue }) => {
    const target = isValue ? findAddress(name, id) : undefined;
    return target === undefined ? undefined : new Ref(target);
  });
  const { document, fault } = sound(kind, taken, remark);
  if (fault !== undefined || !Object.keys(document).some((field) => isConfigurable(kind, field))) {
    const reason = whyNot(kind, fault);
    return { one: undefined, remarks: [{ address, path: null, reason }] };
  }
  const writable = {
    address,
    kind: kind.name,
    document: { ...document, ...newFields(kind, live.document, context.moving, remark) },
    lifecycle: { protect: false, ignore: [], ...(context.isTwin && { adopt: live.id }) },
  };
  return { one: { writable, secrets: secretsIn(document, secrets) }, remarks };
}

/** The fields of a live document that no schema knows. */
export function unknownFields({ schema }: Kind, document: JsonObject): readonly [string, Json][] {
  const known = schema.properties ?? {};
  return Object.entries<Json>(document).filter(([field]) => !Object.hasOwn(known, field));
}

/** The remark on a field that the stack does have, with `--unchecked`. */
export const UNCHECKED = 'no schema knows the field: it is written under unchecked';

/** Fields that are newer than the schema and to be owned, under the names that they would be sent under. */
function newFields(
  kind: Kind,
  document: JsonObject,
  moving: ResourceContext['moving'],
  remark: (path: Path, reason: string) => void,
): Record<string, Json> {
  const { schema } = kind;
  const unknown = unknownFields(kind, document).filter(([, value]) => !isEmpty(value));
  // The schema knows all fields of nearly every resource.
  if (unknown.length === 0) return {};
  const isCamel = Object.entries(schema.properties ?? {}).some(
    ([name, field]) => field['x-write'] !== undefined && field['x-write'] !== name,
  );
  const members = unknown.flatMap(([field, value]): [string, Json][] => {
    const found = sensitivity(memberContext(rootContext(schema), field), value);
    const against =
      found === 'open'
        ? whyNotOwned(knownSpelling(kind, field), field, value, moving)
        : found === 'part'
          ? HOLDS
          : TELLING;
    remark([field], against ?? UNCHECKED);
    return against === undefined ? [[isCamel ? camel(field, document) : field, value]] : [];
  });
  return Object.fromEntries(members);
}

/** Why a field that no schema knows stays the platform's, in neither files nor state; undefined for one to be owned. */
function whyNotOwned(
  known: string | undefined,
  field: string,
  value: Json,
  moving: ResourceContext['moving'],
): string | undefined {
  if (known !== undefined) return `it is ${known} in another spelling; it is left out`;
  if (moving === undefined)
    return 'no schema knows the field: it stays as it is, unless you write it under unchecked';
  if (moving.has(field))
    return 'no schema knows the field, and it changes by itself: it is left out';
  const isTime = typeof value === 'string' && isMoment(value);
  return isTime ? 'no schema knows the field, and it is a time: it is left out' : undefined;
}

function isEmpty(value: Json): boolean {
  return (
    value === null || value === '' || (typeof value === 'object' && Object.keys(value).length === 0)
  );
}

/** The name in camelCase, where reading finds the field again under it. */
function camel(name: string, document: JsonObject): string {
  const wanted = name.replace(/(?<=[a-z0-9])_([a-z])/g, (_, letter: string) =>
    letter.toUpperCase(),
  );
  return snakeCase(wanted) === name && !Object.hasOwn(document, wanted) ? wanted : name;
}

/** A document without what `validate` would refuse. `fault` is what stands against the document as a whole. */
function sound(
  kind: Kind,
  taken: ValueObject,
  remark: (path: Path, reason: string) => void,
): { readonly document: ValueObject; readonly fault: Fault | undefined } {
  let document = taken;
  for (;;) {
    const faults = faultsIn(kind, document);
    const fault = faults.find(({ path }) => path.length > 0);
    if (fault === undefined) return { document, fault: faults[0] };
    const { path, reason } = fault;
    remark(path, `${reason}; it is left out`);
    document = without(kind.schema, document, path);
  }
}

/** Why the configuration cannot say a resource at all. */
function whyNot({ schema }: Kind, fault: Fault | undefined): string {
  const hasFile = Object.values(schema.properties ?? {}).some(
    (field) => field['x-file'] !== undefined,
  );
  if (hasFile) return 'it needs a file, which the platform does not give back';
  return fault === undefined
    ? 'the platform returns nothing of it that could be configured'
    : `the configuration cannot say it: ${fault.reason}`;
}

function isConfigurable({ schema }: Kind, field: string): boolean {
  const { 'x-config': name, 'x-facet': isFacet } = memberSchema(schema, schema, field);
  return (
    configName(field, memberSchema(schema, schema, field)) !== undefined &&
    name === undefined &&
    !isFacet
  );
}

/**
 * Returns what `export` and `pull --new` write of a live resource. Fields that the language has no words for are left
 * out and reported. Its secrets have no names yet.
 */
export function sayOne(
  live: LiveResource,
  context: ResourceContext,
  options: WriteOptions,
): Exported {
  const exported = exportResource(live, context);
  const { one, remarks } = exported;
  if (one === undefined) return exported;
  const { unwritable } = writeFile([one.writable], options);
  if (unwritable.length === 0) return exported;
  const writable = withoutFields(one.writable, unwritable);
  const left = unwritable.map((field) => ({
    ...field,
    reason: `${field.reason}; it is left out`,
  }));
  const secrets = secretsIn(writable.document, one.secrets);
  return { one: { writable, secrets }, remarks: [...remarks, ...left] };
}

/** Writes resources as one file, and their long texts as files of their own. */
export function writeFile(resources: readonly Writable[], options: WriteOptions): WrittenResources {
  return withFinalNewlines(writeResources(resources, options));
}

/** Files of prose end with a line feed, which is not compared. */
export function withFinalNewlines({ files, ...written }: WrittenResources): WrittenResources {
  const ended = [...files].map(([path, text]): [string, string] => [
    path,
    text.endsWith('\n') ? text : `${text}\n`,
  ]);
  return { ...written, files: new Map(ended) };
}

function withoutFields(writable: Writable, unwritable: readonly Unwritable[]): Writable {
  const paths = unwritable.map(({ path }) => path.replace(/^unchecked\./, ''));
  const isSaid = (field: string) =>
    !paths.some(
      (path) => path === field || path.startsWith(`${field}.`) || path.startsWith(`${field}[`),
    );
  const document = Object.entries(writable.document).filter(([field]) => isSaid(field));
  return { ...writable, document: Object.fromEntries(document) };
}

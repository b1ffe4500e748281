import { configName } from '../config/schema.ts';
import type { Writable } from '../config/write.ts';
import type { Address } from '../core/address.ts';
import { formatPath, type Path } from '../core/path.ts';
import { memberContext, rootContext, sensitivity } from '../core/redact.ts';
import { memberSchema } from '../core/schema.ts';
import {
  isObject,
  type Json,
  type JsonObject,
  Ref,
  Secret,
  type Value,
  type ValueObject,
} from '../core/value.ts';
import { type Kind, withoutIdleFacets } from '../kinds/kind.ts';
import type { LiveResource } from '../plan/reader.ts';
import { type Fault, faultsIn, without } from './check-document.ts';
import { fromLive, HOLDS, TELLING } from './live-document.ts';
import { type SecretUse, secretName } from './secret-names.ts';

/** What a person should know of something that the stack does not say, or not as a field. */
export type Remark = {
  readonly address: Address;
  /** Null where it is said of the resource as a whole. */
  readonly path: string | null;
  readonly reason: string;
};

/** A live resource as it is to be written. */
export type Exported = {
  /** Undefined where the configuration cannot say it; a remark says why. */
  readonly writable: Writable | undefined;
  readonly secrets: readonly SecretUse[];
  readonly remarks: readonly Remark[];
};

export type ResourceContext = {
  readonly kind: Kind;
  readonly address: Address;
  /** The address of a live resource that the stack has. */
  readonly addressOf: (kind: string, id: string) => Address | undefined;
  /** Whether others of its organization have its name, so that the id must tell which one it is. */
  readonly isTwin: boolean;
  /** Whether the stack reads something else from an environment variable. */
  readonly isVariableTaken?: (name: string) => boolean;
};

/** Turns what is live into what the stack says of it. What `validate` would refuse is never written. */
export function exportResource(live: LiveResource, context: ResourceContext): Exported {
  const { kind, address } = context;
  const secrets: SecretUse[] = [];
  const remarks: Remark[] = [];
  const remark = (path: Path, reason: string) => {
    remarks.push({ address, path: path.length === 0 ? null : formatPath(path), reason });
  };
  const taken = fromLive(kind, withoutIdleFacets(kind, live.document), {
    reference: (name, id) => {
      const target = context.addressOf(name, id);
      return target === undefined ? id : new Ref(target);
    },
    secret: (path, value) => {
      const plain = secretName(address, path);
      // Headers may differ by case alone.
      const isTaken =
        secrets.some(({ name }) => name === plain) || context.isVariableTaken?.(plain) === true;
      const name = isTaken ? secretName(address, path, true) : plain;
      secrets.push({ name, address, path: formatPath(path), value });
      return new Secret(`env:${name}`);
    },
    leaveOut: remark,
  });
  const { document, fault } = sound(kind, taken, remark);
  if (fault !== undefined || !Object.keys(document).some((field) => isConfigurable(kind, field))) {
    return {
      writable: undefined,
      secrets: [],
      remarks: [{ address, path: null, reason: whyNot(kind, fault) }],
    };
  }
  const used = new Set(secrets.length === 0 ? [] : secretsOf(document));
  return {
    writable: {
      address,
      kind: kind.name,
      document: { ...document, ...unknownFields(kind, live.document, remark) },
      lifecycle: { protect: false, ignore: [], ...(context.isTwin && { adopt: live.id }) },
    },
    secrets: secrets.filter(({ name }) => used.has(`env:${name}`)),
    remarks,
  };
}

/** Fields that are newer than the schema, under the names that they would be sent under. */
function unknownFields(
  { schema }: Kind,
  document: JsonObject,
  remark: (path: Path, reason: string) => void,
): Record<string, Json> {
  const known = schema.properties ?? {};
  const unknown = Object.entries(document).filter(
    ([field, value]) => !Object.hasOwn(known, field) && !isEmpty(value),
  );
  // Of nearly every resource the schema knows everything.
  if (unknown.length === 0) return {};
  const isCamel = Object.entries(known).some(
    ([name, field]) => field['x-write'] !== undefined && field['x-write'] !== name,
  );
  const members = unknown.flatMap(([field, value]): [string, Json][] => {
    const found = sensitivity(memberContext(rootContext(schema), field), value);
    if (found !== 'open') {
      remark([field], found === 'part' ? HOLDS : TELLING);
      return [];
    }
    remark([field], 'no schema knows it: it stands under unchecked');
    return [[isCamel ? camel(field) : field, value]];
  });
  return Object.fromEntries(members);
}

function isEmpty(value: Json): boolean {
  return (
    value === null || value === '' || (typeof value === 'object' && Object.keys(value).length === 0)
  );
}

function camel(name: string): string {
  return name.replace(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
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
    const fault = faults.find(({ spot }) => spot.length > 0);
    if (fault === undefined) return { document, fault: faults[0] };
    const { spot, reason } = fault;
    remark(spot, `${reason}; it is left out`);
    document = without(kind.schema, document, spot);
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

function secretsOf(value: Value): readonly string[] {
  if (value instanceof Secret) return [value.source];
  if (Array.isArray(value)) return value.flatMap(secretsOf);
  return isObject(value) ? Object.values(value).flatMap(secretsOf) : [];
}

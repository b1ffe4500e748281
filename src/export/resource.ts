import { createHash } from 'node:crypto';
import type { Address } from '../core/address.ts';
import { formatPath, isIdentity, type Path } from '../core/path.ts';
import { memberContext, rootContext, sensitivity } from '../core/redact.ts';
import { memberSchema } from '../core/schema.ts';
import {
  type Json,
  type JsonObject,
  Ref,
  Secret,
  type ValueObject,
  valuesIn,
} from '../core/value.ts';
import { type Kind, withoutIdleFacets } from '../kinds/kind.ts';
import type { LiveResource } from '../plan/reader.ts';
import type { WrittenResources } from '../stack/edit/write.ts';
import {
  type Unwritable,
  type Writable,
  type WriteOptions,
  writeResources,
} from '../stack/edit/write.ts';
import { configName } from '../stack/schema.ts';
import { type Fault, faultsIn, fromLive, HOLDS, TELLING, without } from './live-document.ts';
import { slugOf } from './names.ts';

/** What a person should know of something that the stack does not say, or not as a field. */
export type Remark = {
  readonly address: Address;
  /** Null where it is said of the resource as a whole. */
  readonly path: string | null;
  readonly reason: string;
};

/** A live resource as it is to be written. */
type Exported = {
  /** Undefined where the configuration cannot say it; a remark says why. */
  readonly writable: Writable | undefined;
  readonly secrets: readonly SecretUse[];
  readonly remarks: readonly Remark[];
};

type ResourceContext = {
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
  const used = new Set(
    secrets.length === 0
      ? []
      : valuesIn(document).map((value) => (value instanceof Secret ? value.source : undefined)),
  );
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

/** A live resource as a file of a stack. */
type WrittenOne = {
  readonly writable: Writable;
  readonly written: WrittenResources;
  readonly secrets: readonly SecretUse[];
};

/** What came of it; nothing is written where the configuration cannot say it, and a remark says why. */
type Attempt = { readonly one: WrittenOne | undefined; readonly remarks: readonly Remark[] };

/**
 * What `export` and `pull --new` write of a live resource, as a file of its own. Fields that the language has no
 * words for are left out, and told.
 */
export function writeOne(
  live: LiveResource,
  context: ResourceContext,
  options: WriteOptions,
): Attempt {
  const { writable, secrets, remarks }: Exported = exportResource(live, context);
  if (writable === undefined) return { one: undefined, remarks };
  const first = writeFile([writable], options);
  if (first.unwritable.length === 0) {
    return { one: { writable, written: first, secrets }, remarks };
  }
  const sayable = withoutFields(writable, first.unwritable);
  const left = first.unwritable.map(
    (one): Remark => ({
      ...one,
      reason: `${one.reason}; it is left out`,
    }),
  );
  return {
    one: { writable: sayable, written: writeFile([sayable], options), secrets },
    remarks: [...remarks, ...left],
  };
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

/** A secret that an exported stack reads from the environment. */
export type SecretUse = {
  /** Name of the environment variable. */
  readonly name: string;
  readonly address: Address;
  /** Text of the path of the field. */
  readonly path: string;
  /** What the platform returned, where it does so; never printed. */
  readonly value: string | undefined;
};

/** Members that say nothing to people: what holds a list, and the value of what was named already. */
const SILENT = new Set(['integrations', 'extensions', 'tools', 'mcp_servers', 'headers', 'value']);

/**
 * `AGENT_FRONT_DESK__SMS_PROVIDER_AUTH_TOKEN` of `integrations.smsProvider.auth_token` of
 * `agent.front_desk`: the same for the same address and field. Of two fields whose names differ by case
 * alone, one must be `marked`.
 */
export function secretName(address: Address, path: Path, marked = false): string {
  const names = path
    .filter((segment) => !SILENT.has(segment))
    .map((segment) => (isIdentity(segment) ? segment.replace(/^\["?|"?\]$/g, '') : segment));
  const words = slugOf(names.join(' '));
  // What slugs leave out, two fields may differ by.
  const isPlain =
    !marked && words === names.map((name) => slugOf(name)).join('_') && names.every(isTold);
  const suffix = isPlain
    ? ''
    : `_${createHash('sha256').update(path.join('\0')).digest('hex').slice(0, 6)}`;
  const owner = address.replaceAll('.', '_');
  return `${owner}__${words}${suffix}`.replace(/__+$/, '').toUpperCase();
}

/** Whether a name can be read from its slug again, but for case, words and separators. */
function isTold(name: string): boolean {
  return /^[A-Za-z0-9]+(?:[ _-][A-Za-z0-9]+)*$/.test(name);
}

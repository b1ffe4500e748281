import type { JsonObject } from '../core/value.ts';
import { kinds } from '../kinds/index.ts';
import type { Kind } from '../kinds/kind.ts';
import { type OperationId, operations } from '../platform/operations.generated.ts';
import type { Dialect } from './dialect.ts';

/**
 * The kinds whose records are made, read, changed and deleted one at a time, by their section: a row is all
 * that the simulator needs of one. Its list in a seed with that list's schema, its map in the store and the
 * dump, its records as they are planted, its routes (`rest.ts`) and its part of a rehearsal's copy follow.
 * Paths, parameters and bodies stand in the contract, fields and their rules in the kind's schema.
 */
const REST_TABLES = {
  retry_policies: {
    noun: 'Retry policy',
    empty: {
      rules: {},
      contact_policy: null,
      on_exhausted: 'end',
      on_exhausted_target: null,
      reschedule_out_of_window: false,
    },
    moves: 'times',
    created: 'assumed',
    errors: 'coded',
  },
  email_templates: {
    noun: 'Template',
    empty: { subject: '', body_html: '', from_name: null, status: 'draft' },
    moves: 'version',
    created: 'assumed status',
    errors: 'flat',
    // The specification gives these errors no status.
    statuses: ({ emailErrors }) =>
      emailErrors === 'apart' ? { locked: 403, taken: 409 } : { locked: 400, taken: 400 },
  },
  sms_templates: {
    noun: 'Template',
    empty: {
      message_type: 'sms',
      description: null,
      body: '',
      tags: [],
      from_number: null,
      status: 'draft',
    },
    moves: 'version',
    created: ['id', 'name', 'status', 'version'],
    errors: 'flat',
  },
} as const satisfies { readonly [section: string]: RestTable };

type RestTable = {
  /** Messages name a record so: `Retry policy not found`. */
  readonly noun: string;
  /** Members of a record that was written with the least. */
  readonly empty: JsonObject;
  /** A change moves `updated_at` (beside `created_at`), or a `version` that counts up. */
  readonly moves: 'times' | 'version';
  /** Creation answers 201 with the record or these members of it. Or the answer, or its status, is assumed. */
  readonly created: 'record' | readonly string[] | 'assumed' | 'assumed status';
  /** The shape of its errors for a lock and a taken name (Errors). */
  readonly errors: 'coded' | 'flat';
  /** Statuses of those errors; 403 and 409 unless given. */
  readonly statuses?: (dialect: Dialect) => { readonly locked: number; readonly taken: number };
};

export type RestSection = keyof typeof REST_TABLES;

/** Kinds with endpoints of another form: they have routes of their own and are planted in their own way. */
const OTHERS: { readonly [kind: string]: { readonly stored: string; readonly seeded: string } } = {
  agent: { stored: 'agents', seeded: 'agents' },
  custom_voice: { stored: 'voices', seeded: 'custom_voices' },
  knowledge_source: { stored: 'sources', seeded: 'sources' },
};

type Table = {
  readonly kind: Kind;
  /** The member of the store, and of its dump. */
  readonly stored: string;
  /** The list of a seed. */
  readonly seeded: string;
};

/** Every kind with the place of its records. */
export const TABLES: readonly Table[] = kinds.map((kind) => {
  const { name, section } = kind;
  const other = OTHERS[name];
  if (other !== undefined) return { kind, ...other };
  if (!isRest(section))
    throw new Error(`src/simulator/tables.ts: ${section} has no row, so there is no kind ${name}`);
  return { kind, stored: camelCase(section), seeded: section };
});

/** A table of `REST_TABLES` with what follows from its kind. */
export type Rest = RestTable & {
  readonly kind: Kind;
  readonly section: RestSection;
  /** The fields that name a record. */
  readonly key: readonly string[];
  /** The parameter of its path: `policyId`. */
  readonly parameter: string;
  readonly operations: {
    readonly [call in 'list' | 'get' | 'create' | 'update' | 'remove']: OperationId;
  };
};

export const RESTS: readonly Rest[] = kinds.flatMap((kind) => {
  const { name, section, list, get, operations: named, naturalKey } = kind;
  if (!isRest(section)) return [];
  const read = get?.('');
  const [parameter] = Object.keys(read?.path ?? {});
  const calls = {
    list: list({}).operation,
    get: read?.operation,
    create: named.create[0],
    update: named.update[0],
    remove: named.delete[0],
  };
  const odd = Object.values(calls).find((id) => !Object.hasOwn(operations, String(id)));
  const [key] = naturalKey;
  if (odd !== undefined || parameter === undefined || key === undefined)
    throw new Error(`the kind ${name} is no table of REST: ${odd ?? 'its path has no id'}`);
  // Looked up just above.
  const known = calls as Rest['operations'];
  return [{ ...REST_TABLES[section], kind, section, key, parameter, operations: known }];
});

function isRest(section: string): section is RestSection {
  return Object.hasOwn(REST_TABLES, section);
}

/** The name of a section in the store: `retry_policies` is `retryPolicies` there. */
export type Camel<Text extends string> = Text extends `${infer Head}_${infer Rest}`
  ? `${Head}${Capitalize<Camel<Rest>>}`
  : Text;

/** A section's name in the store. */
export function camelCase<Text extends string>(text: Text): Camel<Text> {
  const joined = text.replaceAll(/_(\w)/g, (_, letter: string) => letter.toUpperCase());
  // Does what the type says.
  return joined as Camel<Text>;
}

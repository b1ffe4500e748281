/**
 * The facts about fields, as the kinds' JSON Schemas state them. Standard keywords are used where they
 * exist; the others start with `x-`:
 *
 * | keyword          | meaning                                                                      |
 * |------------------|------------------------------------------------------------------------------|
 * | `readOnly`       | owned by the platform: never compared, never written                         |
 * | `writeOnly`      | never returned: compared by fingerprint with what was last written           |
 * | `x-write`        | name that the field is written under; its own name otherwise                 |
 * | `x-write-with`   | fields that must be written together with it                                 |
 * | `x-secret`       | a secret: only ever given as `$secret`                                       |
 * | `x-secret-of`    | the member beside it that the platform returns where the secret is set; every |
 * |                  | write-only field says one, or false where nothing tells                      |
 * | `x-secrets-inside` | whatever is given as `$secret` below it is a secret                        |
 * | `x-destination`  | member with the address that the platform sends the values of the object to; |
 * |                  | `{key}`: each member is a provider, and its values go to that provider       |
 * | `x-sensitive`    | returned in clear, masked all the same; holds for everything below           |
 * | `x-clearable`    | false where null cannot be written                                           |
 * | `x-identity`     | a list whose elements are recognised by that member                          |
 * | `x-repeats`      | with `x-identity`: several elements may have the same one; their order counts |
 * | `x-set`          | a list without order                                                         |
 * | `x-whole`        | an object that is owned and compared as one leaf                             |
 * | `x-ref`          | kind of the resource whose id the field holds                                |
 * | `x-created-as`   | the only values that a new resource may have; others follow by an update     |
 * | `x-immutable`    | another value means another resource                                         |
 * | `x-revert`       | false where a history revert leaves the field as it is                       |
 * | `x-revert-takes` | fields that a revert which switches it off switches off as well              |
 * | `x-lock`         | feature that switching it on takes; `{value}` and `{key}` are filled in. With |
 * |                  | `x-ref`, only ids of that kind take it; on a kind, every write but a delete  |
 * | `x-one-of`       | catalogue of the platform that its value stands in (`kinds/catalogues.ts`)   |
 * | `x-ready`        | switching it on takes what its facet asks of the platform first              |
 * | `x-file`         | a file of the stack, sent as bytes                                           |
 * | `x-distinct`     | no two resources of one scope may have the same content there                |
 * | `x-facet`        | written through an endpoint of its own                                       |
 * | `x-address`      | an address that tells the resource apart: compared as WHATWG URL writes it   |
 * | `x-format`       | format that is checked beyond what the platform says of the field           |
 * | `x-ids-inside`   | text or open settings in which people write ids of resources: a text and what |
 * |                  | the schema says nothing of below it take a `$ref` of any kind                |
 * | `x-prose`        | written for a reader: `instructions` for the model, `speech`, or a `message` |
 * | `x-config`       | the name the configuration uses, or false where it cannot be given           |
 * | `x-local`        | Callsheet's own: never sent as it is                                         |
 * | `x-verbatim`     | in settings: a feature reads it as it is written, with no form followed      |
 * | `x-echoes`       | the only values that the platform returns; others read as absent             |
 * | `x-told-while`   | path of a flag; the platform tells the field's value only while it is true   |
 * | `x-follows`      | path of a field; the platform sets this one along with it, unless it is written |
 * | `x-section`      | sections of the specification that state its rules, by keyword; a value that  |
 * |                  | breaks another rule is a warning. `properties`: the section lists its members: |
 * |                  | another one is a warning, and they are cleared one by one                    |
 * | `x-assumption`   | assumption that writing it rests on, where the specification is silent       |
 * | `x-assumes`      | assumptions that a detail of it rests on: a limit, a form, its lock          |
 * | `x-operations`   | operations that writing it takes, beside those of its kind                   |
 * | `x-stamped`      | false where its value may change without the resource's stamp (`Kind.stamp`) |
 * | `x-echo-back`    | read-only, yet sent back on a write so that the platform knows the element   |
 */
export type FieldSchema = {
  readonly $ref?: string;
  readonly title?: string;
  readonly description?: string;
  readonly type?: string | readonly string[];
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly format?: string;
  readonly required?: readonly string[];
  readonly properties?: { readonly [name: string]: FieldSchema };
  /** A condition over the whole of a resource, and what it then has to be. */
  readonly if?: FieldSchema;
  readonly then?: FieldSchema;
  readonly additionalProperties?: boolean | FieldSchema;
  readonly items?: FieldSchema;
  readonly oneOf?: readonly FieldSchema[];
  readonly $defs?: { readonly [name: string]: FieldSchema };
  readonly examples?: readonly unknown[];
  readonly default?: unknown;
  readonly readOnly?: boolean;
  readonly writeOnly?: boolean;
  readonly 'x-write'?: string;
  readonly 'x-write-with'?: readonly string[];
  readonly 'x-secret'?: boolean;
  readonly 'x-secret-of'?: string | boolean;
  readonly 'x-secrets-inside'?: boolean;
  readonly 'x-destination'?: string;
  readonly 'x-sensitive'?: boolean;
  readonly 'x-clearable'?: boolean;
  readonly 'x-identity'?: string;
  readonly 'x-repeats'?: boolean;
  readonly 'x-set'?: boolean;
  readonly 'x-whole'?: boolean;
  readonly 'x-ref'?: string;
  readonly 'x-created-as'?: readonly string[];
  readonly 'x-immutable'?: boolean;
  readonly 'x-revert'?: boolean;
  readonly 'x-revert-takes'?: readonly string[];
  readonly 'x-lock'?: string;
  readonly 'x-one-of'?: string;
  readonly 'x-ready'?: boolean;
  readonly 'x-file'?: string;
  readonly 'x-distinct'?: boolean;
  readonly 'x-facet'?: boolean;
  readonly 'x-address'?: boolean;
  readonly 'x-format'?: string;
  readonly 'x-prose'?: string;
  readonly 'x-ids-inside'?: boolean;
  readonly 'x-config'?: string | boolean;
  readonly 'x-local'?: boolean;
  readonly 'x-verbatim'?: boolean;
  readonly 'x-echoes'?: readonly string[];
  readonly 'x-told-while'?: string;
  readonly 'x-follows'?: string;
  readonly 'x-section'?: { readonly [keyword: string]: string };
  readonly 'x-assumption'?: string;
  readonly 'x-assumes'?: readonly string[];
  readonly 'x-operations'?: readonly string[];
  readonly 'x-stamped'?: boolean;
  readonly 'x-echo-back'?: boolean;
};

/** A kind's whole schema. */
export type KindSchema = FieldSchema & { readonly $id: string };

/** Follows a local `$ref` (`#/$defs/name`); members beside the `$ref` win. */
export function dereference(root: FieldSchema, schema: FieldSchema): FieldSchema {
  if (schema.$ref === undefined) return schema;
  // Every value of a stack comes through here.
  const known = dereferenced.get(schema);
  if (known?.root === root) return known.found;
  const found = follow(root, schema, schema.$ref);
  dereferenced.set(schema, { root, found });
  return found;
}

const dereferenced = new WeakMap<
  FieldSchema,
  { readonly root: FieldSchema; readonly found: FieldSchema }
>();

function follow(root: FieldSchema, schema: FieldSchema, ref: string): FieldSchema {
  const name = ref.replace('#/$defs/', '');
  const target = root.$defs?.[name];
  if (target === undefined) throw new Error(`schema ${ref} does not exist`);
  const { $ref: _, ...beside } = schema;
  const found = dereference(root, target);
  // Most stand alone.
  return Object.keys(beside).length === 0 ? found : { ...found, ...beside };
}

const FREE: FieldSchema = {};

/** The schema of a member of an object, named or additional. An unknown member gets an empty schema. */
export function memberSchema(root: FieldSchema, object: FieldSchema, key: string): FieldSchema {
  // A free key may be named like something that every object inherits, such as `constructor`.
  const { properties } = object;
  const named = properties && Object.hasOwn(properties, key) ? properties[key] : undefined;
  if (named !== undefined) return dereference(root, named);
  return typeof object.additionalProperties === 'object'
    ? dereference(root, object.additionalProperties)
    : FREE;
}

/**
 * Returns true if the schema names a top-level field. Another one is newer than the schema: the platform's own, or
 * given under `unchecked`, which stands in documents under the name that it is sent under.
 */
export function namesField({ properties }: FieldSchema, field: string): boolean {
  return properties !== undefined && Object.hasOwn(properties, field);
}

/**
 * Returns true if a document can be relied on for a top-level field: one that is newer than the schema need not be
 * returned.
 */
export function isEchoed(root: FieldSchema, field: string, document: object): boolean {
  return namesField(root, field) || Object.hasOwn(document, field);
}

/** The schema of a list's elements. */
export function itemSchema(root: FieldSchema, list: FieldSchema): FieldSchema {
  return list.items === undefined ? FREE : dereference(root, list.items);
}

/** The members of an object that are set where another one is there: `x-secret-of`. Asked of every leaf that is live. */
export function listSecrets(object: FieldSchema, member: string): readonly NamedSchema[] {
  let known = secretsByMember.get(object);
  if (known === undefined) {
    const members = Object.entries(object.properties ?? {});
    known = Map.groupBy(members, ([, schema]) => schema['x-secret-of']);
    secretsByMember.set(object, known);
  }
  return known.get(member) ?? [];
}

type NamedSchema = readonly [name: string, schema: FieldSchema];

const secretsByMember = new WeakMap<
  FieldSchema,
  ReadonlyMap<FieldSchema['x-secret-of'], readonly NamedSchema[]>
>();

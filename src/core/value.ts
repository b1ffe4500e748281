/**
 * `core/` holds what every other folder speaks of: values, paths, addresses, diagnostics and errors.
 * It imports nothing of Callsheet and does nothing but compute.
 *
 * This file: the values that documents are made of. What the platform returns is plain `Json`. What
 * the configuration wants may also hold a `Ref`, a `Secret` or a `Blob`: things whose content is not
 * in the YAML. They are classes so that platform data that merely looks alike (`{"$ref": …}` inside an
 * MCP tool's JSON Schema, say) can never be taken for one.
 */

export type JsonScalar = null | boolean | number | string;
export type Json = JsonScalar | readonly Json[] | JsonObject;
export type JsonObject = { readonly [key: string]: Json };

/** `{ $ref: kind.name }`: the id of another resource, known only once that resource exists. */
export class Ref {
  readonly address: string;
  constructor(address: string) {
    this.address = address;
  }
  toJSON(): JsonObject {
    return { $ref: this.address };
  }
}

/** `{ $secret: env:NAME }`: read at the moment of writing. It carries its source, never its value. */
export class Secret {
  readonly source: string;
  constructor(source: string) {
    this.source = source;
  }
  toJSON(): JsonObject {
    return { $secret: this.source };
  }
}

/** A file of the stack whose bytes go to the platform: a voice clip, a knowledge document. */
export class Blob {
  /** Relative to the stack folder, with forward slashes. */
  readonly path: string;
  /** Lower-case hex of the content. */
  readonly sha256: string;
  /** Bytes. */
  readonly size: number;
  readonly mime: string;
  constructor(path: string, sha256: string, size: number, mime: string) {
    this.path = path;
    this.sha256 = sha256;
    this.size = size;
    this.mime = mime;
  }
  toJSON(): JsonObject {
    return { $blob: `sha256:${this.sha256}`, path: this.path, size: this.size, mime: this.mime };
  }
}

/** What a desired document is made of. */
export type Value = JsonScalar | Ref | Secret | Blob | readonly Value[] | ValueObject;
export type ValueObject = { readonly [key: string]: Value };

/** An object of members: neither null, nor an array, nor one of the special values. */
export function isObject(value: Json | undefined): value is JsonObject;
export function isObject(value: Value | undefined): value is ValueObject;
export function isObject(value: unknown): boolean {
  return (
    typeof value === 'object' &&
    value !== null &&
    !Array.isArray(value) &&
    !(value instanceof Ref) &&
    !(value instanceof Secret) &&
    !(value instanceof Blob)
  );
}

/** A value as a field of a form, which has texts alone. */
export function formText(value: Json): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** A list of values. (`Array.isArray` does not narrow readonly arrays well.) */
export function isList(value: Json | undefined): value is readonly Json[];
export function isList(value: Value | undefined): value is readonly Value[];
export function isList(value: unknown): boolean {
  return Array.isArray(value);
}

import type { Address } from './address.ts';
import type { SourcePosition } from './diagnostics.ts';
import type { ValueObject } from './value.ts';

/** A resource's `lifecycle` block. */
export type Lifecycle = {
  /** Never deleted by Callsheet. */
  readonly protect: boolean;
  /** Paths that are neither compared nor written, such as `greeting_message` or `extensions.tools[crm].url`. */
  readonly ignore: readonly string[];
  /** Id of the live resource to take over, where its natural key is not unique. */
  readonly adopt?: string;
  /** True if `callsheet watch --heal` undoes drift of the resource. */
  readonly heal?: boolean;
};

/** A resource as it was, and the paths of values that were not kept. */
export type WholeDocument = {
  readonly document: ValueObject;
  readonly withheld: readonly string[];
};

/** A piece of a text of the configuration: as it is written there, or the value of an expression such as `${each.name}`. */
export type TextPart =
  | string
  | {
      readonly expression: string;
      readonly value: string;
      /** The one column that the value comes from, and the file of its table. */
      readonly column?: string;
      readonly file?: string;
    };

/** One resource as the configuration wants it, everything resolved but secrets and unborn ids. */
export type DesiredResource = {
  readonly address: Address;
  readonly kind: string;
  /**
   * In the platform's field names, snake_case, with `Ref`, `Secret` and `Blob` leaves. What stood under `unchecked`
   * stands beside them, under the names that it is sent under (`namesField`).
   */
  readonly document: ValueObject;
  readonly lifecycle: Lifecycle;
  /** True if only the fields of `document` are meant: no other field counts as removed (a rollback). */
  readonly isPartial: boolean;
  /** True if live fields that are not in `document` count as removed (back to a snapshot). */
  readonly isExact?: boolean;
  /**
   * All of it as it was, where `document` is the part that is to be undone: a history revert restores more
   * than that part, and what it moves beside it goes back to this.
   */
  readonly whole?: WholeDocument;
  /** Paths of values with the name of a secret that stand in the files in clear. */
  readonly inClear?: readonly string[];
  /** Addresses of the resources that `document` refers to. */
  readonly references: readonly Address[];
  /** Undefined where no file has the resource (a rollback). */
  readonly position: SourcePosition | undefined;
  /** Finds a field in the files; returns the resource's own place for a field that is not written out. */
  readonly locate: (path: string) => SourcePosition | undefined;
};

/** The values with the name of a secret that the files have in clear; undefined where there are none. */
export function valuesInClear({ inClear = [] }: Pick<DesiredResource, 'inClear'>) {
  if (inClear.length === 0) return undefined;
  const paths = new Set(inClear);
  return (path: string) => paths.has(path);
}

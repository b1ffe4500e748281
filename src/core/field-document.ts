import type { Json } from './value.ts';

/** What is known of a field, for people and for `--format json` (`schemas/field.schema.json`). */
export type FieldDocument = {
  readonly format: 'callsheet-field';
  readonly version: 1;
  /** What was asked for, in its canonical form: `agent.extensions.tools[].url`. */
  readonly field: string;
  /** Null for a setting of `callsheet.yaml`. */
  readonly kind: string | null;
  readonly description: string;
  /** What it is and its limits, in words: `number, greater than 0`. */
  readonly type: string;
  /** The values that it takes, where they are few. */
  readonly values: readonly Json[];
  readonly default: Json;
  /** As it is written in YAML. */
  readonly example: string | null;
  readonly required: boolean;
  /** Whether null may be given, which clears it. */
  readonly clearable: boolean;
  /** Only the platform sets it, or it follows from something else. */
  readonly settable: boolean;
  /** Forms that it takes beside a plain value. */
  readonly forms: readonly string[];
  readonly secret: boolean;
  readonly sensitive: boolean;
  /** Kind of the resource whose id it holds. */
  readonly refers_to: string | null;
  /** Whether another value means another resource. */
  readonly immutable: boolean;
  /** Whether a history revert brings it back; null where its kind has no history. */
  readonly restored_by_revert: boolean | null;
  /** The feature whose lock governs it, with `…` for what depends on the value. */
  readonly lock: string | null;
  /** The field that is written through an endpoint of its own, where it is one or belongs to one. */
  readonly facet: string | null;
  /** The command that lists what it takes. */
  readonly listed_by: string | null;
  /** The assumption that writing it rests on; `callsheet assumptions` shows it. */
  readonly assumption: string | null;
  /** What an element of the list is recognised by. */
  readonly identity: string | null;
  /** A list whose order means nothing. */
  readonly unordered: boolean;
  /** Always written whole. */
  readonly whole: boolean;
  readonly members: readonly FieldMember[];
};

export type FieldMember = {
  readonly name: string;
  readonly type: string;
  readonly required: boolean;
  readonly settable: boolean;
  readonly description: string;
};

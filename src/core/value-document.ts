import type { Address } from './address.ts';
import type { SourcePosition } from './diagnostics.ts';
import type { Json } from './value.ts';

/** Where a value of a resource came from, for people and for `--format json` (`schemas/value.schema.json`). */
export type ValueDocument = {
  readonly format: 'callsheet-value';
  readonly version: 1;
  readonly address: Address;
  /** `voice_settings.speed`; empty for the resource as a whole. */
  readonly field: string;
  /** Whether the resource has it. */
  readonly given: boolean;
  /** Masked as in a plan; null where it is not given. */
  readonly value: Json;
  /** Who says something of it, the lowest first: the last one with a value wins. */
  readonly layers: readonly ValueLayer[];
  /** What expressions and files in it stand for. */
  readonly filled: readonly ValueFilling[];
};

export type ValueLayer = {
  readonly by: string;
  readonly says: 'value' | 'removed' | 'empty';
  readonly text: string;
  readonly position: SourcePosition;
};

export type ValueFilling = {
  readonly expression: string;
  /** Null for a file, and where it stands for nothing. */
  readonly value: string | null;
  readonly by: string;
  /** Null where it comes from the command line or the environment. */
  readonly position: SourcePosition | null;
};

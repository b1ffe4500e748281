import type { Address } from './address.ts';
import type { SourcePosition } from './diagnostics.ts';
import type { Json } from './value.ts';

/** Types of the JSON documents that commands print. Plans, and what plans hold, are in `plan-document.ts`. */

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

/** What an export came to, for people and for `--format json`. No value of a secret is in it. */
export type ExportDocument = {
  readonly format: 'callsheet-export';
  readonly version: 1;
  /** The folder of the stack, as it was given. */
  readonly dir: string;
  readonly organizations: readonly { readonly id: string; readonly name: string }[];
  /** Resources by kind, in the order of kinds. */
  readonly resources: readonly { readonly kind: string; readonly count: number }[];
  /** Bases that common settings were lifted into. */
  readonly bases: number;
  readonly files: number;
  /** Files that were in the folder and belong to the stack all the same. */
  readonly kept: readonly string[];
  /** Whether a state was written. */
  readonly state: boolean;
  /** What must be supplied. `told`: whether the platform returns its value. */
  readonly secrets: readonly {
    readonly name: string;
    readonly address: string;
    readonly path: string;
    readonly told: boolean;
  }[];
  /** Where the values went that the platform returns; null where nobody asked for them. */
  readonly secrets_file: string | null;
  /** What the stack does not say, or not as a field. */
  readonly remarks: readonly {
    readonly address: string;
    readonly path: string | null;
    readonly reason: string;
  }[];
  /** Kinds that could not be listed. */
  readonly unlisted: readonly { readonly kind: string; readonly reason: string }[];
  /** Variables that stand for ids of what the stack cannot have as a resource. */
  readonly variables: readonly { readonly name: string; readonly id: string }[];
};

/** What an import came to, for people and for `--format json`. */
export type ImportDocument = {
  readonly format: 'callsheet-import';
  readonly version: 1;
  /** The edit of the state; null where there was nothing to do. */
  readonly run: string | null;
  readonly serial: number | null;
  readonly bound: readonly {
    readonly address: string;
    readonly id: string;
    /** Fields in which the configuration says something else: the next plan shows them. */
    readonly differing: readonly string[];
  }[];
  /** Addresses of which nobody can tell which live resource is meant. */
  readonly unclear: readonly {
    readonly address: string;
    readonly reason: string;
    readonly ids: readonly string[];
    /** One for each id, of which one is to be typed. */
    readonly commands: readonly string[];
  }[];
  /** Addresses that nothing live answers to: the next plan makes them. */
  readonly absent: readonly string[];
};

/** What `pull` did or would do, as `--format json` prints it. No live value is in it. */
export type PullDocument = {
  readonly format: 'callsheet-pull';
  readonly version: 1;
  /** `refused`: something cannot be pulled, and nothing was written. */
  readonly status: 'written' | 'dry_run' | 'refused' | 'nothing';
  readonly pulled: readonly {
    readonly address: string;
    readonly path: string;
    /** Where it is written; of a value that follows from others, what it is put together from. */
    readonly file: string;
    /** Where it stood; null for a text that is a file of its own. */
    readonly line: number | null;
  }[];
  /** Changed in the configuration and not applied yet. */
  readonly kept: readonly PullLeft[];
  readonly refused: readonly PullLeft[];
  /** What new files do not say as the platform has it, and why; the path is null for a resource as a whole. */
  readonly remarks?: readonly {
    readonly address: string;
    readonly path: string | null;
    readonly reason: string;
  }[];
  /** Values that the new files ask for, and where from. */
  readonly secrets?: readonly {
    readonly address: string;
    readonly path: string;
    readonly source: string;
  }[];
  readonly files: readonly {
    readonly path: string;
    /** Whether it is a new file. */
    readonly created: boolean;
    /** In the unified format; with `--dry-run` alone. */
    readonly diff?: string;
  }[];
};

/** A live value that is not pulled. */
export type PullLeft = {
  readonly address: string;
  /** Empty for the resource as a whole. */
  readonly path: string;
  readonly reason: string;
  readonly advice: string;
};

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

/** The blocks that a metrics answer is made of (Metrics). Apart, as every start of the program names them. */
export const METRICS_BLOCKS = [
  'totals',
  'outcomes',
  'daily',
  'hourly',
  'agents',
  'reasons',
  'insights',
] as const;

export type MetricsBlock = (typeof METRICS_BLOCKS)[number];

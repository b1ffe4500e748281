import type { Export, Field, Import, Pull, Run, Value } from './documents.generated.ts';

/**
 * The JSON documents that commands print, as their schemas describe them member by member. Plans, and what plans
 * hold, are in `plan-document.ts`.
 */

/** The output of `callsheet explain` for a field. */
export type FieldDocument = Field.Document;
export type FieldMember = FieldDocument['members'][number];

/** The result of an export, without values of secrets. */
export type ExportDocument = Export.Document;

export type ImportDocument = Import.Document;

/** The result of a `pull`, done or not, without live values. */
export type PullDocument = Pull.Document;
/** A live value that is not pulled. */
export type PullLeft = Pull.Left;

/** The result of reading everything again after a rollback. */
export type Verification = NonNullable<Run.Run['verification']>;

/** The origin of a resource's value. */
export type ValueDocument = Value.Document;
export type ValueLayer = ValueDocument['layers'][number];
export type ValueFilling = ValueDocument['filled'][number];

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

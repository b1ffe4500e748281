import type { Export, Field, Import, Pull, Run, Value } from './documents.generated.ts';

/**
 * The JSON documents that commands print, as their schemas describe them member by member. Plans, and what plans
 * hold, are in `plan-document.ts`.
 */

/** What is known of a field (`callsheet explain`). */
export type FieldDocument = Field.Document;
export type FieldMember = FieldDocument['members'][number];

/** What an export came to. No value of a secret is in it. */
export type ExportDocument = Export.Document;

/** What an import came to. */
export type ImportDocument = Import.Document;

/** What `pull` did or would do. No live value is in it. */
export type PullDocument = Pull.Document;
/** A live value that is not pulled. */
export type PullLeft = Pull.Left;

/** What came of reading everything again after a rollback. */
export type Verification = NonNullable<Run.Run['verification']>;

/** Where a value of a resource came from. */
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

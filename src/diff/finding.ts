import type { Path } from '../core/path.ts';
import type { FieldCause } from '../core/plan-document.ts';
import type { FieldSchema } from '../core/schema.ts';
import { type Json, Secret, type Value } from '../core/value.ts';
import { type Leaf, leafSensitivity } from './leaves.ts';

/**
 * One leaf that plan has something to say about. `before` is live, `after` is desired, both unmasked:
 * they never leave this process. `after` is undefined where the leaf goes away.
 */
export type LeafChange = {
  readonly path: Path;
  readonly text: string;
  readonly before: Value | undefined;
  readonly after: Value | undefined;
  readonly cause: FieldCause;
  /** Of a conflict: what was last written, where the state remembers the value and not its digest. */
  readonly base?: Json;
  /** Whether all of it is masked. Credentials in a text are masked in any case. */
  readonly sensitive: boolean;
  /** Whether the platform never returns it, so that nobody can see whether it took. */
  readonly unreadable: boolean;
  readonly schema: FieldSchema;
};

/** Causes that write nothing; the plan mentions them. */
const SILENT: ReadonlySet<FieldCause> = new Set(['released', 'unknown_secret', 'unknown_content']);

/** Whether a change is one that apply writes. */
export function isWritten({ cause }: Pick<LeafChange, 'cause'>): boolean {
  return !SILENT.has(cause);
}

/** Whether it would empty a leaf that null cannot clear: that is never sent. */
export function isUnclearable({ after, schema }: Pick<LeafChange, 'after' | 'schema'>): boolean {
  return (after ?? null) === null && schema['x-clearable'] === false;
}

/** Why it is not sent. */
export const UNCLEARABLE = 'the platform cannot clear it, so what the run set stays';

/** What is said of a leaf. */
export function leafChange(
  leaf: Leaf,
  before: Value | undefined,
  after: Value | undefined,
  cause: FieldCause,
): LeafChange {
  const { path, text, schema, facts } = leaf;
  const { unreadable } = facts;
  const sensitive =
    unreadable ||
    [before, after].some(
      (value) => value instanceof Secret || leafSensitivity(leaf, value) === 'whole',
    );
  return { path, text, before, after, cause, sensitive, unreadable, schema };
}

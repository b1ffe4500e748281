import type { DesiredResource } from '../core/desired.ts';
import { CallsheetError } from '../core/errors.ts';
import { type Path, parsePath } from '../core/path.ts';
import type { Change, PlanDocument, PlannedOperation, PlanOptions } from '../core/plan-document.ts';
import { Secret } from '../core/value.ts';
import { compare, isWritten, type LeafChange } from '../diff/compare.ts';
import type { World } from '../diff/world.ts';
import type { Facet, Io, Kind, Scope } from '../kinds/kind.ts';
import { fieldsOf, type LiveResource, type Reader, readWith } from '../plan/reader.ts';
import { isTold } from '../plan/recall.ts';
import type { Interleaved } from '../state/journal.ts';
import type { ResourceState } from '../state/model.ts';
import type { RunDeps } from './deps.ts';
import type { Evidence } from './witness.ts';

/** One change being carried out. */
export type Work = {
  readonly change: Change;
  readonly kind: Kind;
  readonly desired: DesiredResource | undefined;
  readonly recorded: ResourceState | undefined;
  readonly options: PlanOptions;
  readonly world: World;
  readonly deps: RunDeps;
  /** Names of organizations, by id. */
  readonly organizations: PlanDocument['organizations'];
  /** Whether another address stands for the resource of an id. */
  readonly isTaken: (id: string) => boolean;
  /** Has the change's address stand for the resource of an id from now on. */
  readonly claim: (id: string) => void;
  /** Requests of a step, each checked before it leaves; without evidence none of them may have a body. */
  readonly io: (step: PlannedOperation['step'], id: string | null, evidence?: Evidence) => Io;
  /** What the plan knows to be refused, in a rollback: it is neither written nor expected. */
  readonly refused: readonly Left[];
};

/** A leaf that a rollback leaves as it is, since the platform refuses it. */
export type Left = { readonly path: Path; readonly text: string; readonly why: string };

/** Where a change has got to: the live resource after each step. */
export type Progress = {
  readonly live: LiveResource | undefined;
  /** Leaves that were written, by path. */
  readonly written: ReadonlySet<string>;
  /** What a person should know of steps that were taken. */
  readonly remarks: readonly string[];
  /** What the history says once the last step is taken; undefined before, and where there is none. */
  readonly history?: HistoryAfter | undefined;
  /** What a rollback had to leave as it was. */
  readonly left: readonly Left[];
};

/** The newest entry before and after a change, and the entries of others in between. */
export type HistoryAfter = {
  readonly before: number | null;
  readonly after: number | null;
  readonly interleaved: readonly Interleaved[];
};

/** Reads a resource as the plan did. */
export function readLive(
  { kind, desired, recorded, deps }: Pick<Work, 'kind' | 'desired' | 'recorded' | 'deps'>,
  at: { readonly id: string; readonly scope: Scope; readonly isUnread?: boolean },
): ReturnType<Reader['read']> {
  return readWith(deps.reader, kind, at, fieldsOf(kind, desired?.document, recorded?.leaves));
}

/**
 * What differs from the configuration and is to be written, as far as the platform tells. `resend` counts secrets that
 * are to be sent again although nothing says that they changed. A secret that the plan does not write does not count.
 */
export function remaining(work: Work, live: LiveResource, resend: boolean): readonly LeafChange[] {
  const { kind, desired, world, change, recorded } = work;
  if (desired === undefined) return [];
  const sides = {
    address: change.address,
    applied: change.adopted ? undefined : recorded?.leaves,
    ignore: ignoredPaths(work),
    isPartial: desired.isPartial,
    isExact: desired.isExact ?? false,
    resend,
  };
  const isMeant = ({ after, text }: LeafChange) =>
    !(after instanceof Secret) || world.secretOf(after.source, text) !== undefined;
  return compare(kind.schema, desired.document, live.document, sides, world).filter(
    (change) => isWritten(change) && isMeant(change) && isTold(live, change.path[0] ?? ''),
  );
}

/** The resource after something was written to it. */
export async function reread(work: Work, live: LiveResource): Promise<LiveResource> {
  // Not the record that was read before: it is what was there.
  const { id, scope } = live;
  const after = await readLive(work, { id, scope });
  if (after !== undefined) return after;
  throw new CallsheetError(
    'api',
    `${work.change.address} (${live.id}) disappeared while it was written`,
  );
}

/** The live resource that a step needs. */
export function required({ live }: Progress): LiveResource {
  if (live === undefined) throw new Error('a step that needs a live resource has none');
  return live;
}

/** The facet of a top-level field, if it is one. */
export function facetOf(kind: Kind, field: string | undefined): Facet | undefined {
  return kind.facets.find((facet) => facet.field === field);
}

/** What goes away, by path. */
export function clearedIn(changes: readonly LeafChange[]): ReadonlySet<string> {
  return new Set(changes.filter(({ after }) => after === undefined).map(({ text }) => text));
}

/** Paths that are neither compared nor written: `lifecycle.ignore`, and what is known to be refused. */
export function ignoredPaths({
  desired,
  refused,
}: Pick<Work, 'desired' | 'refused'>): readonly Path[] {
  const ignored = (desired?.lifecycle.ignore ?? []).map(parsePath);
  return [
    ...ignored.filter((path): path is Path => path !== undefined),
    ...refused.map(({ path }) => path),
  ];
}
